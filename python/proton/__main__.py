# SPDX-License-Identifier: MIT
"""The command `proton`: this process becomes it."""
import os
import sys

from . import _find


def main():
    """Run the command with the arguments of this process. Returns only where it cannot be run."""
    command = _find.find_command()
    if command is None:
        print("proton: the command is not found: is proton installed?", file=sys.stderr)
        return 127
    # For scripts that it profiles: proton-script(1).
    os.environ.setdefault("PROTON_PYTHON", sys.executable)
    try:
        os.execv(command, ["proton"] + sys.argv[1:])
    except OSError as error:
        print("proton: cannot run '%s': %s" % (command, error.strerror), file=sys.stderr)
        return 126


if __name__ == "__main__":
    sys.exit(main())
