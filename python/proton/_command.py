# SPDX-License-Identifier: MIT
"""The command `proton`, run for its answer."""
import os
import subprocess

from . import _find
from ._native import Error, Missing


def path():
    """The command's path; raises Missing."""
    found = _find.find_command()
    if found is None:
        raise Missing("the command proton is not found: is it installed, or in PROTON_COMMAND?")
    return found


def _environment():
    """Without what makes a program a part of a run: the command is not to be profiled."""
    private = ("LD_PRELOAD", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH")
    private += ("OPENCL_LAYERS", "OMP_TOOL_LIBRARIES")
    return {
        name: value
        for name, value in os.environ.items()
        if name not in private and not name.startswith("PROTON_FAKE")
    }


def output(*arguments):
    """What it writes on its standard output, as bytes. Raises Error with its message where it fails,
    FileNotFoundError and the like where a file among the arguments cannot be read."""
    done = subprocess.run(
        (path(),) + tuple(map(os.fspath, arguments)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=_environment(),
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip()
        raise Error(said or "proton failed with status %d" % done.returncode)
    return done.stdout
