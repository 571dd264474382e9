# SPDX-License-Identifier: MIT
"""Scopes: names for parts of the program, under which its launches are shown.

A scope belongs to the thread that enters it. What a name is made of, libproton says: any text, NUL as
"\\0". While nobody profiles, entering and leaving cost next to nothing and do nothing.
"""
import functools
import itertools
import threading
import warnings

from . import _native, metric
from .flags import flags

CACHED_NAMES_MAX = 16384
CACHED_NAME_LEN_MAX = 256

_encoded = {}  # name -> bytes, of short names
_ids = itertools.count(1)


class _Thread(threading.local):
    """Scopes of enter_scope() that this thread has open: pairs of number and name."""

    def __init__(self):
        self.scopes = []


_thread = _Thread()


def encoded(name):
    """The name as libproton takes it. Raises TypeError."""
    found = _encoded.get(name) if type(name) is str else None
    if found is None:
        found = _native.encode(name)
        if len(found) <= CACHED_NAME_LEN_MAX and type(name) is str:
            if len(_encoded) >= CACHED_NAMES_MAX:
                _encoded.clear()
            _encoded[name] = found
    return found


def _enter(name, metrics):
    """Enter, with metrics; where these raise, the scope is left again."""
    _native.enter_scope(encoded(name))
    if metrics:
        try:
            metric.add_all(metrics)
        except BaseException:
            _native.exit_scope()
            raise


class scope:
    """A scope around a block or a function.

        with proton.scope("step", {"flops": 2.0 * m * n * k}):
            ...

        @proton.scope("step")
        def step(): ...

    name     str; what is no text raises TypeError when it is entered
    metrics  dict of name to value (see proton.metric), added each time that it is entered; their
             errors are raised there, and the scope is not open then
    thread   any; an exception leaves the scope
    """

    __slots__ = ("_name", "_metrics", "_missed", "__weakref__")

    def __init__(self, name, metrics=None):
        self._name = name
        self._metrics = metrics
        # How often it was entered while nobody profiled: so often it is not left.
        self._missed = 0

    def __enter__(self):
        if flags.profiling_on:
            _enter(self._name, self._metrics)
        else:
            self._missed += 1
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if self._missed:
            self._missed -= 1
        else:
            _native.exit_scope()

    def __call__(self, func):
        name, metrics = self._name, self._metrics

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            if not flags.profiling_on:
                return func(*args, **kwargs)
            _enter(name, metrics)
            try:
                return func(*args, **kwargs)
            finally:
                _native.exit_scope()

        return wrapper


class cpu_timed_scope(scope):
    """A scope whose time on the host is measured: `cpu_time (ns)`, from entering to leaving it, of this
    scope alone. The collector measures it for each scope, so this one differs in nothing; metrics
    must not bring a `cpu_time` of their own: ValueError. Otherwise as scope."""

    __slots__ = ()

    def __init__(self, name, metrics=None):
        for key in metrics or ():
            if isinstance(key, str) and key.split("(")[0].strip() == "cpu_time":
                raise ValueError("the metric 'cpu_time' is measured: give it another name")
        super().__init__(name, metrics)


def enter_scope(name, *, metrics=None):
    """Open a scope on this thread until exit_scope().

    returns  its number, never another one's in this process; -1 while nobody profiles
    errors   TypeError and those of metrics (see proton.metric): it is not open then
    thread   any; belongs to the caller
    """
    if not flags.profiling_on:
        return -1
    _enter(name, metrics)
    number = next(_ids)
    _thread.scopes.append((number, name))
    return number


def exit_scope(name=None, *, metrics=None):
    """Close the innermost scope that enter_scope() opened on this thread.

    name     its name, to be checked; None: whichever it is
    metrics  added to it before it is closed, which it is even where they raise
    returns  the number that enter_scope() returned; -1 while nobody profiles, and where none is
             open, with a warning
    errors   ValueError: it is another one's name, and nothing is closed; those of metrics
    thread   the one that opened it
    """
    if not flags.profiling_on:
        return -1
    scopes = _thread.scopes
    if not scopes:
        warnings.warn("exit_scope(): this thread has no scope open", RuntimeWarning, stacklevel=2)
        return -1
    number, open_name = scopes[-1]
    if name is not None and name != open_name:
        raise ValueError("the innermost scope is %r, not %r" % (open_name, name))
    try:
        if metrics:
            metric.add_all(metrics)
    finally:
        scopes.pop()
        _native.exit_scope()
    return number
