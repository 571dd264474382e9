# SPDX-License-Identifier: MIT
"""feed.py FILE COMMAND ...: the lines of FILE are the command's input."""
import subprocess, sys

with open(sys.argv[1]) as keys:
    sys.exit(subprocess.run(sys.argv[2:], stdin=keys).returncode)
