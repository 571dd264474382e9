# SPDX-License-Identifier: MIT
# What the interpreter executes in place of triton._C.libproton: find triton_seam.py beside LIBRARY (a wheel,
# a build tree, an installation moved or not), as the package _proton_profiler, since another `proton` may be
# importable. Where that fails, Triton's own module is imported as ever. The build makes it a string of C,
# without the lines that begin with #; LIBRARY and DATA come before it.


def load():
    import importlib.machinery
    import importlib.util
    import os
    import sys
    import types

    def find_tritons():
        path = sys.modules[__name__.rpartition(".")[0]].__path__
        return importlib.machinery.PathFinder.find_spec(__name__, path)

    def load_tritons():
        spec = find_tritons()
        if not spec:
            raise ModuleNotFoundError("No module named %r" % __name__, name=__name__)
        module = importlib.util.module_from_spec(spec)
        sys.modules[__name__] = module
        spec.loader.exec_module(module)

    def find_folder():
        here, base = os.path.split(os.path.dirname(os.path.abspath(LIBRARY)))
        above = os.path.dirname(here)
        for folder in (
            here if base == "_lib" else here + "/python/proton",
            above + "/python/proton",
            above + "/share/proton/python/proton",
            DATA + "/python/proton",
        ):
            if os.path.exists(folder + "/triton_seam.py"):
                return folder
        raise ImportError("its Python files are not beside %s" % LIBRARY)

    def note(error):
        import ctypes

        text = "scripts for Triton's Proton do not reach proton: %s: %s"
        text %= (type(error).__name__, error)
        ctypes.PyDLL(LIBRARY).proton_seam_note(os.fsencode(text))

    try:
        package = "_proton_profiler"
        if package not in sys.modules:
            sys.modules[package] = types.ModuleType(package)
            sys.modules[package].__path__ = [find_folder()]
        seam = importlib.import_module(package + ".triton_seam")
        proton = seam.make_module(__name__ + ".proton", find_tritons)
    except Exception as error:
        try:
            note(error)
        except Exception:
            pass
        load_tritons()
    else:
        if proton:
            globals()["proton"] = sys.modules[__name__ + ".proton"] = proton
        else:
            load_tritons()


load()
del load
