# SPDX-License-Identifier: MIT
"""What `proton script.py` and `proton pytest` run in the script's interpreter:

    python3 triton_command.py NAME BACKEND CONTEXT MODE DATA HOOK SCRIPT [ARGS]

One session, number 0, around a script that is run as `python3 SCRIPT` would: there are no others, so
start() of the script returns None, whether it imports triton.profiler or proton. The exit status is that of
the script; 1 for an exception and for Ctrl-C.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# The interpreter put our folder there, without symbolic links: neither the script nor the standard library, of which
# cProfile imports `profile`, is to find a file of ours for its own.
if __name__ == "__main__" and sys.path and os.path.realpath(sys.path[0] or ".") == os.path.realpath(HERE):
    del sys.path[0]

import importlib
import importlib.util
import runpy
import traceback
import types


def _package():
    """The package that this file is in, under its private name."""
    name = "_proton_profiler"
    if name not in sys.modules:
        package = types.ModuleType(name)
        package.__path__ = [HERE]
        sys.modules[name] = package
    # For who asks whether there is one session: triton_seam.py.
    sys.modules[name].command_line = True
    return name


def _module(name):
    return importlib.import_module(_package() + "." + name)


def _one_session(flags):
    flags.profiling_on = True
    flags.command_line = True


def _tell_public():
    """The package `proton`, if that is ours, has the one session, too. Where there is none it is ours, last of all
    folders."""
    spec = importlib.util.find_spec("proton")
    if spec is None and os.path.basename(HERE) == "proton":
        sys.path.append(os.path.dirname(HERE))
        spec = importlib.util.find_spec("proton")
    for folder in spec.submodule_search_locations or () if spec else ():
        if os.path.exists(os.path.join(folder, "triton_seam.py")):
            _one_session(importlib.import_module("proton.flags").flags)


def _run_pytest(arguments):
    try:
        import pytest
    except ImportError:
        print("proton: this interpreter has no pytest: %s" % sys.executable, file=sys.stderr)
        return 1
    return int(pytest.main(arguments))


def _run_file(script, arguments):
    sys.argv = [script] + arguments
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 1
    except BaseException as error:
        _print(error)
        return 1
    return 0


def _print(error):
    """As the interpreter would, from the script's own lines on."""
    tb = error.__traceback__
    while tb and tb.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
        tb = tb.tb_next
    traceback.print_exception(type(error), error, tb)


def _run(script, arguments):
    if os.path.basename(script) == "pytest":
        return _run_pytest(arguments)
    if not os.path.exists(script):
        print("proton: cannot open '%s': No such file or directory" % script, file=sys.stderr)
        return 2
    return _run_file(script, arguments)


# What is one of several for Triton's Proton is all that there is for ours.
TRITONS = ("cupti", "rocprofiler", "roctracer")


def main():
    words, command = sys.argv[1:7], sys.argv[7:]
    name, backend, context, mode, data, hook = (word or None for word in words)
    if backend == "instrumentation" and importlib.util.find_spec("triton") is None:
        print("proton: backend 'instrumentation' is Triton's, which is not there for %s" % sys.executable, file=sys.stderr)
        return 1
    profile, flags = _module("profile"), _module("flags").flags
    try:
        session = profile.start(
            name,
            context=context or "shadow",
            data=data or "tree",
            backend=None if backend in TRITONS else backend,
            mode=mode,
            hook=hook,
        )
    except Exception as error:
        print("proton: %s" % error, file=sys.stderr)
        return 2
    if session is not None:
        _one_session(flags)
        _tell_public()
    status = _run(command[0], command[1:])
    if session is not None:
        flags.command_line = False
        try:
            profile.finalize(session)
        except Exception as error:
            print("proton: %s" % error, file=sys.stderr)
            return status or 1
    return status


if __name__ == "__main__":
    sys.exit(main())
