# SPDX-License-Identifier: MIT
"""Sessions of this package with backend="instrumentation": Triton's compiler puts scopes into kernels, by its own layer, and what
their warps record comes to us. Under a run of `proton` that layer reaches us by itself. In a program that profiles itself it finds us
in place of Triton's collector while such a session is active, also where it has imported that before (triton.profiler.language does).
"""
import contextlib
import functools
import importlib
import importlib.machinery
import importlib.util
import sys
import types

from . import triton_kernels
from .flags import is_run
from .hooks import Hook
from .mode import without_ranges

COLLECTOR = "triton._C.libproton"


class InsideHook(Hook):
    """Its sessions look inside kernels while it is active: Triton's own hook does it."""

    def __init__(self, mode):
        self._mode = mode
        self._manager = None

    def activate(self):
        _answer()
        try:
            hooks = importlib.import_module("triton.profiler.hooks")
            triton_kernels.teach_words()
            self._manager = hooks.HookManager
            self._manager.register(hooks.InstrumentationHook(self._mode), id(self))
        except BaseException:
            self.deactivate()
            raise

    def deactivate(self):
        if self._manager:
            self._manager.unregister(id(self))
        _give_back()

    def enter(self, metadata):
        """Nothing."""

    def exit(self, metadata):
        """Nothing."""


def make_hook(mode):
    """For a session in that mode. RuntimeError or ValueError: why there cannot be one."""
    triton_kernels.check_mode("cuda:" + mode)
    if importlib.util.find_spec("triton") is None:
        raise RuntimeError("backend 'instrumentation' is Triton's, which is not there for %s" % sys.executable)
    if _theirs() and getattr(_layer("flags"), "profiling_on", False):
        raise RuntimeError("backend 'instrumentation': a session of triton.profiler is under way, whose collector is Triton's own")
    return InsideHook(without_ranges(mode))


def _theirs():
    """Triton's own collector, where its layer has that."""
    proton = getattr(sys.modules.get(COLLECTOR), "proton", None)
    # Ours is of a class of ours, under whatever name the package was loaded.
    return None if type(proton).__module__.endswith(".triton_seam") else proton


def _layer(name):
    """What a module of Triton's layer has of that name."""
    return getattr(sys.modules.get("triton.profiler." + name), name, None)


def _find_tritons():
    path = importlib.import_module("triton._C").__path__
    return importlib.machinery.PathFinder.find_spec(COLLECTOR, path)


@functools.lru_cache(maxsize=None)
def _ours():
    """One for the process: it knows what kernels there are."""
    from . import triton_seam

    return triton_seam.make_module(COLLECTOR + ".proton", _find_tritons)


_replaced = []  # Triton's own, while we are in its place


def _put(proton):
    """In place of the collector that Triton's layer has: all of its modules have it by one name."""
    theirs = sys.modules[COLLECTOR].proton
    for name, module in list(sys.modules.items()):
        if name.startswith("triton.profiler") and getattr(module, "libproton", None) is theirs:
            module.libproton = proton
    sys.modules[COLLECTOR].proton = sys.modules[COLLECTOR + ".proton"] = proton


def _answer():
    """Triton's layer has us. In a run it does anyway, unless that is over, or only its variables are there."""
    if COLLECTOR not in sys.modules and is_run():
        with contextlib.suppress(ImportError):
            importlib.import_module(COLLECTOR)
    theirs = _theirs()
    if theirs:
        _replaced.append(theirs)
        _put(_ours())
    elif COLLECTOR not in sys.modules:
        sys.modules[COLLECTOR] = types.ModuleType(COLLECTOR)
        sys.modules[COLLECTOR].proton = sys.modules[COLLECTOR + ".proton"] = _ours()


def _give_back():
    """… and what was there before."""
    while _replaced:
        _put(_replaced.pop())


def settle():
    """What was launched is read, before somebody asks for it."""
    triton_kernels.read_all()
