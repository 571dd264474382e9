# SPDX-License-Identifier: MIT
"""Whether anything is to be done at all.

`flags.profiling_on` says that scopes, states and metrics of this process go to libproton: there is a
run of `proton`, or this program has started a session. `flags.command_line` is the mode of one
session: `proton script.py` has started it, number 0, and start() and finalize() of the script do
nothing. Who sets it also sets `profiling_on`.
"""
import os
import re
import sys

from . import _find, _native


NEWEST_TRITON = (1 << 16, 0)


class _Flags:
    """Each belongs to the process. Who keeps what follows from `profiling_on` is called when it changes."""

    def __init__(self):
        self._profiling_on = False
        self.instrumentation_on = False
        self.command_line = False
        self.listeners = []

    @property
    def profiling_on(self):
        return self._profiling_on

    @profiling_on.setter
    def profiling_on(self, on):
        self._profiling_on = on
        for listener in self.listeners:
            listener()


flags = _Flags()


def _is_set(name):
    return os.environ.get(name, "").strip().lower() in ("1", "on", "true", "yes", "y")


def is_disabled():
    """Has the user turned the package off, by PROTON_DISABLE or TRITON_PROTON_DISABLE?"""
    return _is_set("PROTON_DISABLE") or _is_set("TRITON_PROTON_DISABLE")


def context_word(context):
    """What libproton calls a context of Triton's: TRITON_ENABLE_NVTX=0 leaves ranges of NVTX out of "shadow"."""
    off = os.environ.get("TRITON_ENABLE_NVTX", "1").strip().lower() in ("0", "off", "false", "no", "n")
    return "scopes" if off and context.lower() == "shadow" else context


def triton_version():
    """Major and minor number of the Triton that this program has imported; what its releases do differently, we do
    as the one that is there. None imported: as the newest."""
    version = getattr(sys.modules.get("triton"), "__version__", "")
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return tuple(map(int, numbers.groups())) if numbers else NEWEST_TRITON


def data_word(data):
    """What libproton calls data of Triton's: before 3.8 a trace had no names of processes and threads."""
    return "events" if data.lower() == "trace" and triton_version() < (3, 8) else data


def is_run():
    """Did `proton record` or `proton top` start this program?"""
    return _find.environment("PROTON_LIBRARY") is not None


def is_recorded():
    """Does what this process does go to a run of `proton`, also without a session?"""
    return is_run() and not is_disabled() and _native.load() is not None


flags.profiling_on = is_recorded()
