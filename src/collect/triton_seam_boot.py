# SPDX-License-Identifier: MIT
# What the interpreter executes in place of three modules of Triton's: triton._C.libproton, of which
# triton_seam.py has another one, and triton.runtime.jit and triton.compiler.compiler, which are Triton's own, but for a
# look at the first kernel with launch_metadata (triton_hook.py), and at the first one that runs, or that somebody
# compiles who runs it in another way, as torch.compile does (triton_rules.py). Our Python files are found beside LIBRARY (a wheel, a build tree,
# an installation moved or not), as the package _proton_profiler, since another `proton` may be importable. Where
# anything fails, Triton's module is imported as ever. The build makes this a string of C, without the lines
# that begin with #; LIBRARY and DATA come before it.


def load():
    import functools
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
        return module

    def find_folder():
        here, base = os.path.split(os.path.dirname(os.path.abspath(LIBRARY)))
        above = os.path.dirname(here)
        for folder in (
            here if base == "_lib" else here + "/python/proton",
            above + "/python/proton",
            os.path.dirname(above) + "/python/proton",
            above + "/share/proton/python/proton",
            DATA + "/python/proton",
        ):
            if os.path.exists(folder + "/triton_seam.py"):
                return folder
        raise ImportError("its Python files are not beside %s" % LIBRARY)

    def import_ours(name):
        package = "_proton_profiler"
        if package not in sys.modules:
            sys.modules[package] = types.ModuleType(package)
            sys.modules[package].__path__ = [find_folder()]
            sys.modules[package].LIBRARY = os.path.abspath(LIBRARY)
        return importlib.import_module(package + "." + name)

    def note(what, error):
        try:
            import ctypes

            text = "%s: %s: %s" % (what, type(error).__name__, error)
            ctypes.PyDLL(LIBRARY).proton_seam_note(os.fsencode(text))
        except Exception:
            pass

    def load_collector():
        try:
            proton = import_ours("triton_seam").make_module(__name__ + ".proton", find_tritons)
        except Exception as error:
            proton = None
            note("scripts for Triton's Proton do not reach proton", error)
        if proton:
            globals()["proton"] = sys.modules[__name__ + ".proton"] = proton
        else:
            load_tritons()

    def watch(function):
        make = function.__init__

        @functools.wraps(make)
        def __init__(self, *arguments, **options):
            make(self, *arguments, **options)
            if getattr(self, "launch_metadata", None) is None or function.__init__ is make:
                return
            function.__init__ = make
            try:
                import_ours("triton_hook").start()
            except Exception as error:
                note("launch_metadata of Triton's kernels is left out", error)

        function.__init__ = __init__

    class First:
        """In place of a function that kernels have, until somebody asks for that: on no stack of who does."""

        def __init__(self, owner, name):
            self.owner, self.name, self.function = owner, name, getattr(owner, name)
            setattr(owner, name, self)

        def __get__(self, kernel, owner=None):
            if kernel is None:
                return self.function
            setattr(self.owner, self.name, self.function)
            try:
                import_ours("triton_rules").start()
            except Exception as error:
                note("scopes within Triton's kernels are left out", error)
            return self.function.__get__(kernel, owner)

    if __name__ == "triton._C.libproton":
        load_collector()
    else:
        module = load_tritons()
        if hasattr(module, "JITFunction"):
            watch(module.JITFunction)
        for owner, name in ("JITFunction", "run"), ("ASTSource", "parse_options"):
            owner = vars(module).get(owner)
            if "PROTON_TRITON_MODE" in os.environ and getattr(owner, "__module__", "") == __name__ and hasattr(owner, name):
                First(owner, name)


load()
del load
