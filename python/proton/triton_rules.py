# SPDX-License-Identifier: MIT
"""Scopes within kernels of Triton that the program knows nothing of: from the first kernel that it runs on
(src/collect/triton_seam_boot.py waits for it), or that torch.compile compiles, Triton's compiler is told to let warps record, in the mode of
PROTON_TRITON_MODE, and kernels get records by the rules of PROTON_TRITON_RULES (src/ttgir/rules.h) as they are compiled.

A kernel that cannot have them is compiled as ever, and a note says why.
"""
import ctypes
import functools
import hashlib
import importlib
import os
import sys
import tempfile
import threading

from . import _native, triton_kernels, triton_seam
from .mode import without_ranges

MODE, RULES = "PROTON_TRITON_MODE", "PROTON_TRITON_RULES"
RUN = -2  # in place of a session
WHY_BYTES = 256

_first = threading.Lock()  # taken for good


def _library():
    library = ctypes.CDLL(_native.load())
    library.proton_ttgir_insert.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                            ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_size_t]
    library.proton_ttgir_free.argtypes = [ctypes.c_void_p]
    return library


class Refused(Exception):
    """A text has no records, for the reason that it says."""


def insert(text, rules):
    """A kernel in Triton's GPU dialect with records, or None: no rule is about it."""
    library, made, why = _library(), ctypes.c_void_p(), ctypes.create_string_buffer(WHY_BYTES)
    text = text.encode()
    n = library.proton_ttgir_insert(text, len(text), rules, ctypes.byref(made), why, WHY_BYTES)
    if n < 0:
        raise Refused(why.value.decode(errors="replace") or os.strerror(-n))
    if not made:
        return None
    try:
        return ctypes.string_at(made).decode()
    finally:
        library.proton_ttgir_free(made)


def _parse(text, context):
    """The module that a text is; what is wrong with it Triton's compiler says on standard error."""
    ir = importlib.import_module("triton._C.libtriton").ir
    with tempfile.NamedTemporaryFile("w", suffix=".ttgir", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        module = ir.parse_mlir_module(file.name, context)
    module.context = context
    return module


def _check_shared(metadata):
    driver = importlib.import_module("triton.runtime").driver.active
    most = driver.utils.get_device_properties(driver.get_current_device())["max_shared_mem"]
    if metadata.get("shared", 0) > most:
        raise Refused(
            "with its buffer it takes %d bytes of shared memory, and %d are there (--intra-mode default:buffer_type=global)"
            % (metadata["shared"], most)
        )


class _Compilation:
    """Of one kernel: the stages of the compiler, from its GPU dialect on."""

    def __init__(self, stages, rules):
        self._make, self._rules = dict(stages), rules
        names = list(stages)
        self._later = names[names.index("ttgir") + 1 :]
        self._plain = self._context = None  # as it was, once it has records
        stages["ttgir"] = self._put
        for name in self._later:
            stages[name] = functools.partial(self._stage, name)

    def _put(self, source, metadata):
        module = self._make["ttgir"](source, metadata)
        plain, self._name = str(module), metadata.get("name", "")
        try:
            text = insert(plain, self._rules)
            if text is not None:
                self._context = module.context
                module = _parse(text, self._context)
                self._plain = plain
        except Exception as error:
            self._note(plain, error)
        return module

    def _stage(self, name, source, metadata):
        if self._plain is None:
            return self._make[name](source, metadata)
        try:
            made = self._make[name](source, metadata)
            _check_shared(metadata)
            return made
        except Exception as error:
            self._note(self._plain, error)
        source, self._plain = _parse(self._plain, self._context), None
        for stage in self._later[: self._later.index(name) + 1]:
            source = self._make[stage](source, metadata)
        return source

    def _note(self, text, error):
        name = text.partition(" @")[2].partition("(")[0]
        triton_seam.note("no scopes within Triton's kernel '%.64s': %.160s" % (name, error))


def _wrap(compiler, rules):
    """A backend's compiler puts records in; what it makes is kept apart from what it makes without, or by other rules."""
    add_stages, make_hash = compiler.add_stages, compiler.hash
    digest = "-proton-" + hashlib.sha256(rules).hexdigest()[:16]

    @functools.wraps(add_stages)
    def add(self, stages, *arguments, **options):
        add_stages(self, stages, *arguments, **options)
        if "ttgir" in stages and self.instrumentation:
            _Compilation(stages, rules)

    @functools.wraps(make_hash)
    def hashed(self):
        return make_hash(self) + digest

    compiler.add_stages, compiler.hash = add, hashed


def _register():
    hooks = importlib.import_module("triton.profiler.hooks")
    triton_kernels.teach_words()
    if not hooks.InstrumentationHook.active_count:
        hooks.HookManager.register(hooks.InstrumentationHook(without_ranges(os.environ[MODE])), RUN)


def _is_worker():
    """Does torch.compile have kernels compiled here that another process runs?"""
    main = getattr(sys.modules.get("__main__"), "__file__", None) or ""
    return os.path.normpath(main).endswith(os.path.join("torch", "_inductor", "compile_worker", "__main__.py"))


def start():
    """The program runs its first kernel, or several of its threads do: once a process."""
    if not _first.acquire(blocking=False) or not _native.active():
        return
    if _is_worker():
        triton_seam.note(
            "kernels that torch.compile compiles in processes of its own have no scopes: TORCHINDUCTOR_COMPILE_THREADS is not 1"
        )
        return
    triton_kernels.check_mode("cuda:" + os.environ[MODE])
    rules = os.environ.get(RULES, "").encode()
    if rules:
        for backend in importlib.import_module("triton.backends").backends.values():
            _wrap(backend.compiler, rules)
    _register()


def stop():
    """The program looks inside kernels itself: in its mode, then."""
    hooks = sys.modules.get("triton.profiler.hooks")
    if hooks:
        hooks.HookManager.unregister(RUN)


def resume():
    """It does so no longer."""
    _register()
