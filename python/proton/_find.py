# SPDX-License-Identifier: MIT
"""Where the collector (libproton) and the command (proton) are.

In this order:

* the library that loaded this package (triton_seam);
* what the environment names: PROTON_LIBRARY, which `proton` sets for the programs that it starts,
  PROTON_LIBRARY_PATH, PROTON_COMMAND;
* `_lib/` in this package, which is how a wheel brings both;
* what `make install` wrote down, and the prefix that the package lies under;
* a build tree that the package's sources lie in, in the folder `build` or the top itself;
* the command `proton` on PATH, if it is a program and not Triton's script of that name.

A program that gained privileges takes nothing from its environment.
"""
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY_NAMES = ("libproton.so.0", "libproton.so")
# Beside the command: a build tree (where it may lie in .libs itself), a wheel, a prefix.
BESIDE_COMMAND = (".libs", "", "../lib/proton", "../lib")


def environment(name):
    """The variable, or None where it is not set, empty, or not to be trusted."""
    if os.getuid() != os.geteuid() or os.getgid() != os.getegid():
        return None
    return os.environ.get(name) or None


def _installed():
    """The module that `make install` writes, with COMMAND and LIBRARY; None elsewhere."""
    try:
        from . import _installed as module
    except ImportError:
        return None
    return module


def _is_program(path):
    """Is this a program of ours: compiled, or what libtool puts in its place in a build tree?"""
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        return False
    if os.path.exists(os.path.join(os.path.dirname(path), ".libs", "libproton.so")):
        return True
    try:
        with open(path, "rb") as f:
            return f.read(4) == b"\x7fELF"
    except OSError:
        return False


def _on_path():
    """Programs called `proton` on PATH; Triton's and the wheel's scripts of that name are none."""
    path = environment("PATH") or os.defpath
    for folder in path.split(os.pathsep):
        found = shutil.which("proton", path=folder) if folder else None
        if found and _is_program(os.path.realpath(found)):
            yield os.path.realpath(found)


def commands():
    """Each place in which the command is, best first."""
    named = environment("PROTON_COMMAND")
    if named and _is_program(os.path.realpath(named)):  # not a script that would look here again
        yield os.path.realpath(named)
    installed = _installed()
    top = os.path.dirname(os.path.dirname(HERE))
    # From PREFIX/share/proton/python/proton to PREFIX.
    prefix = os.path.join(HERE, *[os.pardir] * 4)
    for path in (
        os.path.join(HERE, "_lib", "proton"),
        installed and installed.COMMAND,
        os.path.join(prefix, "bin", "proton"),
        os.path.join(top, "build", "proton"),
        os.path.join(top, "proton"),
    ):
        if path and _is_program(path):
            yield os.path.realpath(path)
    for path in _on_path():
        yield path


def libraries():
    """Each place in which the collector is, best first. Paths are absolute; a name without a folder
    is never looked for, for the loader might find another."""
    # The collector that brought us into its process is that of the process.
    ours = getattr(sys.modules.get(__package__), "LIBRARY", None)
    if ours:
        yield ours
    for variable in ("PROTON_LIBRARY", "PROTON_LIBRARY_PATH"):
        named = environment(variable)
        if named:
            yield os.path.abspath(named)
    installed = _installed()
    for command in commands():
        if installed and command == os.path.realpath(installed.COMMAND):
            yield installed.LIBRARY
        for rest in BESIDE_COMMAND:
            for name in LIBRARY_NAMES:
                yield os.path.normpath(os.path.join(os.path.dirname(command), rest, name))
    for name in LIBRARY_NAMES:
        yield os.path.join(HERE, "_lib", name)


def find_command():
    """Path of the command `proton`, or None. Any thread."""
    return next(commands(), None)


def find_library():
    """Path of libproton, or None. Any thread."""
    if not sys.platform.startswith("linux"):
        return None
    return next((path for path in libraries() if os.path.exists(path)), None)
