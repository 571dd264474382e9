# SPDX-License-Identifier: MIT
"""The functions of libproton by name, through ctypes: `_native.enter_scope(b"step")` is
proton_api_enter_scope(), and so on for each of PROTOTYPES. proton/proton.h says what they do.

The library is opened when a function is first asked for, so that importing the package costs a
program nothing. What cannot be called (no library, or one that is older than this package) is a
function that raises Missing with a sentence.
"""
import ctypes
import threading

from . import _find

OK, NOBODY, INVALID, UNKNOWN, FULL, UNWRITTEN, BUSY = range(0, -7, -1)
ALL_SESSIONS = -1


class Error(RuntimeError):
    """A function of libproton failed. `status` is what it returned (NOBODY, INVALID, ...)."""

    status = None

    def __init__(self, message, status=None):
        super().__init__(message)
        if status is not None:
            self.status = status


class Nobody(Error):
    """Nobody is profiling this program."""


class Invalid(Error, ValueError):
    """An argument is not known, or not there yet."""


class Unknown(Error, ValueError):
    """No such session: never started, finalized, or a parent process's."""


class Missing(Error):
    """There is no library, or it has no such function."""


_ERRORS = {NOBODY: Nobody, INVALID: Invalid, UNKNOWN: Unknown}


class SessionOptions(ctypes.Structure):
    """struct proton_session_options. Texts are bytes, or None for what is usual."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("context", ctypes.c_char_p),
        ("data", ctypes.c_char_p),
        ("backend", ctypes.c_char_p),
        ("mode", ctypes.c_char_p),
        ("hook", ctypes.c_char_p),
    ]

    def __init__(self, **texts):
        super().__init__(ctypes.sizeof(type(self)), **texts)


class MemoryOperation(ctypes.Structure):
    """struct memory_record (src/collect/memory_log.h)."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("at_ns", "address", "bytes")] + [
        (name, ctypes.c_uint32)
        for name in (
            "operation",
            "kind",
            "correlation",
            "device",
            "context",
            "stream",
            "is_async",
            "unused",
        )
    ]


_TEXT = ctypes.c_char_p
_INT = ctypes.c_int
_F64 = ctypes.c_double
_SIZE = ctypes.c_size_t

# name: (does it wait for something, what it returns, its arguments). What does not wait is called
# with the interpreter's lock held, which costs less than letting go of it.
PROTOTYPES = {
    "enter_scope": (False, _INT, (_TEXT,)),
    "exit_scope": (False, _INT, ()),
    "metric_f64": (False, None, (_TEXT, _F64)),
    "metric_u64": (False, None, (_TEXT, ctypes.c_uint64)),
    "property_f64": (False, None, (_TEXT, _F64)),
    "property_u64": (False, None, (_TEXT, ctypes.c_uint64)),
    "active": (False, _INT, ()),
    "session_start": (True, _INT, (_TEXT, ctypes.POINTER(SessionOptions))),
    "session_activate": (True, _INT, (_INT,)),
    "session_deactivate": (True, _INT, (_INT, _INT)),
    "session_flush": (True, _INT, (_INT,)),
    "session_finalize": (True, _INT, (_INT, _TEXT)),
    "session_error": (False, _TEXT, ()),
    "state_enter": (False, _INT, (_TEXT,)),
    "state_exit": (False, _INT, ()),
    "metric_i64": (False, None, (_TEXT, ctypes.c_int64)),
    "metric_vector": (False, _INT, (_TEXT, ctypes.POINTER(_F64), _SIZE)),
    "metric_vector_i64": (False, _INT, (_TEXT, ctypes.POINTER(ctypes.c_int64), _SIZE)),
    "launch_begin": (False, _INT, (_TEXT,)),
    "launch_end": (False, _INT, ()),
    "phase_advance": (True, _INT, (_INT,)),
    "phase_is_complete": (True, _INT, (_INT, _INT)),
    "phase_clear": (True, _INT, (_INT, _INT, _INT)),
    "session_data": (
        True,
        _INT,
        (_INT, _INT, _TEXT, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(_SIZE)),
    ),
    "data_free": (False, None, (ctypes.c_void_p,)),
    "context_depth": (False, _INT, ()),
    "memory_log": (False, _INT, ()),
    "memory_read": (
        False,
        _INT,
        (ctypes.POINTER(ctypes.c_uint64), ctypes.POINTER(MemoryOperation), _SIZE),
    ),
    "property_text": (False, None, (_TEXT, _TEXT)),
    "metric_float": (False, None, (_TEXT, _F64)),
    "scope_timed": (False, None, ()),
    "metric_device": (False, _INT, (_TEXT, ctypes.c_uint64, _INT, _SIZE, ctypes.c_void_p)),
}

# Those of them that look for signals while they wait: what a handler raises, as Ctrl-C does, ends the wait. They let go
# of the interpreter's lock themselves (src/collect/python_waits.c).
INTERRUPTIBLE = (
    "session_start", "session_deactivate", "session_flush", "session_finalize", "session_data",
    "phase_advance",
)

_lock = threading.RLock()
_state = {"loaded": False, "path": None, "missing": frozenset(PROTOTYPES)}


def _missing(sentence):
    def refuse(*_arguments):
        raise Missing(sentence)

    return refuse


def _interruptible(library):
    """The functions of this library that can be called so: none where it is older, or the interpreter is another."""
    try:
        waits = library.proton_python_waits
        functions = [
            ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p)
            for name in ("PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals")
        ]
    except AttributeError:
        return ()
    waits.restype = None
    waits.argtypes = [ctypes.c_void_p] * 3
    waits(*functions)
    return [name for name in INTERRUPTIBLE if hasattr(library, "proton_python_" + name)]


def _bind(path):
    """The functions of the library at path, and the names of those that it lacks; raises OSError
    where it cannot be opened."""
    handles = {False: ctypes.PyDLL(path), True: ctypes.CDLL(path)}
    bound = {}
    missing = set()
    interruptible = _interruptible(handles[False])
    for name, (waits, result, arguments) in PROTOTYPES.items():
        try:
            if name in interruptible:
                function = handles[False]["proton_python_" + name]
            else:
                function = handles[waits]["proton_api_" + name]
        except AttributeError:
            missing.add(name)
            bound[name] = _missing(
                "%s has no proton_api_%s(): it is older than this package" % (path, name)
            )
            continue
        function.restype = result
        function.argtypes = arguments
        bound[name] = function
    return bound, missing


def load():
    """Open the library, once a process, and bind its functions as attributes of this module.
    Returns its path, or None where there is none. Any thread."""
    if _state["loaded"]:
        return _state["path"]
    with _lock:
        if _state["loaded"]:
            return _state["path"]
        path = _find.find_library()
        why = "no libproton is found: is proton installed?"
        bound, missing = None, set(PROTOTYPES)
        if path:
            try:
                bound, missing = _bind(path)
            except OSError as error:
                why = "cannot open libproton: %s" % error
        if bound is None:
            path = None
            bound = {name: _missing(why) for name in PROTOTYPES}
        globals().update(bound)
        _state.update(loaded=True, path=path, missing=missing)
        return path


def has(name):
    """Can this function of PROTOTYPES be called? Any thread."""
    load()
    return name not in _state["missing"]


def made_functions(*names):
    """Functions that the library makes for the interpreter itself, which cost a fraction of what ctypes takes
    (src/collect/triton_calls.h). None where it cannot (another interpreter than CPython)."""
    path = load()
    if path is None:
        return None
    try:
        make = ctypes.PyDLL(path)["proton_seam_functions"]
        make.restype = ctypes.py_object
        make.argtypes = (ctypes.py_object,)
        made = make(encode)
        return tuple(made[name] for name in names)
    except (AttributeError, KeyError, ValueError, SystemError):
        return None


def __getattr__(name):
    if name in PROTOTYPES:
        load()
        return globals()[name]
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


def error_text():
    """Why the last function of sessions that failed on this thread did."""
    load()
    text = globals()["session_error"]()
    return text.decode("utf-8", "replace") if text else "libproton gave no reason"


def check(status):
    """The status where it is not an error (>= 0); else raises Error or one of its kin, with the
    library's sentence. For functions of sessions and phases, on the thread that called them."""
    if status >= 0:
        return status
    raise _ERRORS.get(status, Error)(error_text(), status)


def encode(name):
    """A name as libproton takes it: bytes without NUL, which it would end at. Text that is not
    Unicode (file names, lone surrogates) goes through as it came. Raises TypeError for what is
    neither str nor bytes. Any thread."""
    if isinstance(name, str):
        try:
            name = name.encode()
        except UnicodeEncodeError:
            try:
                name = name.encode("utf-8", "surrogateescape")
            except UnicodeEncodeError:
                name = name.encode("utf-8", "backslashreplace")
    elif not isinstance(name, bytes):
        raise TypeError("a name is a str, not %s" % type(name).__name__)
    return name.replace(b"\0", b"\\0") if b"\0" in name else name
