# SPDX-License-Identifier: MIT
"""Sessions: profiles that the program starts and ends itself.

A session is a number. In a run of `proton record` or `proton top` it is beside the profile of the run;
alone, the program has `proton` started as its receiver. All take `session_id` as another word for
`session`. They may be called from any thread, not from signal handlers; a fork child has none of its
parent's sessions.
"""
import atexit
import functools
import importlib
import os
import sys
import warnings

from . import _native, metric
from .flags import context_word, data_word, flags, is_disabled, is_recorded, is_run
from .hooks import Hook, HookManager, LaunchHook

DEFAULT_PROFILE_NAME = "proton"
_NVTX = "NVTX_INJECTION64_PATH"
_NVTX_OWN = "/proc/self/task/"  # … of the process that it is for; another may name its own

_live = set()  # sessions of this process that are not finalized
_once = {"warned": False, "started": False, "gone": False, "nvtx": None}


def _unknown(session):
    """In the words of Triton's Proton, which programs look for."""
    return _native.Unknown("Session has not been initialized: %s" % session, _native.UNKNOWN)


def check(status, session=None):
    """The status of a function of sessions; raises proton.Error and its kin."""
    try:
        return _native.check(status)
    except _native.Unknown as error:
        raise _unknown(session) from error


def one_session(session, session_id):
    """The session that is meant; both words for it must not name different ones."""
    if session_id is not None:
        session = session_id
    if session is not None and (isinstance(session, bool) or not isinstance(session, int)):
        raise TypeError("a session is a number that start() returned, not %r" % (session,))
    if session is not None and session >= 1 << 31:  # libproton's are of 32 bits
        raise _unknown(session)
    if flags.command_line and session not in (None, 0):
        raise ValueError("the command line has one session, number 0: there is no %d" % session)
    return session


def _meant(session):
    """The sessions that are meant. None: all that this module started, and nobody else's (proton.gmp has one)."""
    if session is None:
        return [0] if flags.command_line else sorted(_live)
    if session < 0:
        raise _unknown(session)
    return [session]


def _switch(function, session, *arguments):
    """Of sessions that are meant by None, another thread may have ended one; and who profiled may be gone, of which
    a warning tells once: the program goes on."""
    for number in _meant(session):
        try:
            check(function(number, *arguments), number)
        except _native.Nobody as error:
            if number not in _live:  # nor was there ever one: a fork child has none of its parent's
                raise _unknown(number) from error
            if not _once["gone"]:
                _once["gone"] = True
                warnings.warn("nothing is profiled any more: %s" % error, RuntimeWarning, stacklevel=3)
        except _native.Unknown:
            if session is not None:
                raise


def _text(value, what):
    if value is None:
        return None
    if not isinstance(value, (str, os.PathLike)) and what == "name":
        raise TypeError("the name of a session is a path, not %r" % (value,))
    value = os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    if "\0" in value:
        raise ValueError("%s has a NUL in it" % what)
    return os.fsencode(value) if what == "name" else _native.encode(value)


def _hook_of(hook):
    if hook is None or hook == "":
        return None
    if isinstance(hook, Hook):
        return hook
    if hook == "triton":
        return LaunchHook()
    raise ValueError("there is no hook %r: None, 'triton', or a proton.hooks.Hook" % (hook,))


def _is_nobody():
    """Has nobody ever profiled this process?"""
    return not flags.profiling_on and not _once["started"]


def _nobody(why):
    """There is nobody to record: said once, for the program is to run on."""
    if not _once["warned"]:
        _once["warned"] = True
        warnings.warn("nothing is profiled: %s" % why, RuntimeWarning, stacklevel=3)


def _at_exit():
    if _live:
        try:
            finalize()
        except Exception as error:  # the program is at its end: it has nobody to catch it
            warnings.warn("a profile is not written: %s" % error, RuntimeWarning)


def _forked():
    _live.clear()
    _close_nvtx()
    metric.forget()
    HookManager.forget()
    flags.profiling_on = is_recorded()


os.register_at_fork(after_in_child=_forked)


def _open_nvtx():
    """NVTX looks for a tool at the first call of each library that uses it, which is still to come as a rule, and
    in the environment alone. Under a run of `proton` it is named already; TRITON_ENABLE_NVTX=0 leaves its ranges
    out."""
    if is_run() or context_word("shadow") != "shadow":
        return
    library = _native.load()
    if library is not None and os.environ.get(_NVTX, _NVTX_OWN).startswith(_NVTX_OWN):
        _once["nvtx"] = os.environ[_NVTX] = _of_this_process(library)


def _of_this_process(library):
    """A path of the library that is none in what this program starts, which inherits the environment and is not to
    load it. Without /proc it has to be the library's own."""
    path = "%s%d/root%s" % (_NVTX_OWN, os.getpid(), os.path.abspath(library))
    return path if os.path.exists(path) else library


def _close_nvtx():
    """Without sessions nobody is to be told of them, least of all what this program starts. What the user named, or
    has named since, stays."""
    if _once["nvtx"] is not None and os.environ.get(_NVTX) == _once["nvtx"]:
        del os.environ[_NVTX]
    _once["nvtx"] = None


def start(name=None, *, context="shadow", data="tree", backend=None, mode=None, hook=None):
    """Start a session and activate it: a profile of what is launched from now on.

    name      path of the file without its suffix; None: "proton" in the current folder. A name that a
              live session has activates that one
    context   what kernels stand under: "shadow" scopes, "python" frames of Python
    data      "tree": what ran is added up by calling context. Others are refused where libproton has
              them not ("trace": each operation by itself; with backend "instrumentation" each scope of each warp)
    backend   whose devices: "cupti", "opencl", ...; None: all; "instrumentation": scopes within kernels of Triton, too,
              which mode says more of
    mode      text, or an object of proton.mode
    hook      "triton": names and metrics of launch_metadata; or a proton.hooks.Hook
    returns   number of the session; None in the command line's mode of one session, with
              PROTON_DISABLE=1 or TRITON_PROTON_DISABLE=1, and where nobody can record it, of which a
              warning tells once
    errors    proton.Invalid (a ValueError): what is not known; proton.Error: too many sessions;
              RuntimeError: backend "instrumentation" without Triton, or behind its own collector. It waits 10 s
              at most for the proton that it has started; Ctrl-C, and whatever a handler of signals raises, ends the wait
    thread    any
    """
    if flags.command_line or is_disabled():
        return None
    hooks = [_hook_of(hook)]
    if isinstance(backend, str) and backend.lower() == "instrumentation":
        hooks.append(_inside().make_hook(str(mode or "")))
        mode = None
        if isinstance(data, str) and data.lower() == "trace":
            data = "warps"
    options = _native.SessionOptions(
        context=_text(context_word(context) if isinstance(context, str) else context, "context"),
        data=_text(data_word(data) if isinstance(data, str) else data, "data"),
        backend=_text(backend, "backend"),
        mode=_text(mode, "mode"),
    )
    path = _text(DEFAULT_PROFILE_NAME if name is None else name, "name")
    _open_nvtx()
    try:
        session = _native.check(_native.session_start(path, options))
    except BaseException as error:
        if not _live:
            _close_nvtx()
        if isinstance(error, (_native.Nobody, _native.Missing)):
            return _nobody(error)
        raise
    if not _once["started"]:
        _once["started"] = True
        atexit.register(_at_exit)
    _live.add(session)
    flags.profiling_on = True
    _register([hook for hook in hooks if hook is not None], session)
    return session


def _inside():
    """Of sessions that look inside kernels, which few do."""
    return importlib.import_module(__package__ + ".triton_inside")


def _register(hooks, session):
    try:
        for hook in hooks:
            HookManager.register(hook, session)
    except BaseException:  # it is not the session that was asked for
        finalize(session)
        raise


def _settle():
    """Sessions that look inside kernels get what was launched, if there are any."""
    inside = sys.modules.get(__package__ + ".triton_inside")
    if inside:
        inside.settle()


def is_live(session):
    """Is this a session of this module that was not finalized? Any thread."""
    return session in _live


def activate(session=None, *, session_id=None):
    """Record again. session: None for all. Does nothing while nobody profiles.

    errors  proton.Unknown (a ValueError): no such session; proton.Error
    thread  any
    """
    session = one_session(session, session_id)
    if _is_nobody():
        return
    _switch(_native.session_activate, session)
    HookManager.activate(session)


def deactivate(session=None, flushing=False, *, session_id=None):
    """Stop recording: what was launched before still counts, however late it runs.

    session   None for all. Does nothing while nobody profiles
    flushing  wait until what was launched is recorded: at most 10 s after the last record. Phases before
              the present one are complete then
    errors    proton.Unknown (a ValueError): no such session; proton.Error
    thread    any
    """
    session = one_session(session, session_id)
    if _is_nobody():
        return
    HookManager.deactivate(session)
    _switch(_native.session_deactivate, session, bool(flushing))


def finalize(session=None, output_format="", *, session_id=None):
    """End a session and have its file written, which is there afterwards.

    session        None for all. Does nothing while nobody profiles, and in the command line's mode
    output_format  "hatchet", "hatchet_msgpack" for trees, "chrome_trace" for traces; "": the first that fits
    errors         proton.Unknown (a ValueError): no such session; proton.Invalid (a ValueError): no
                   such format, and the session goes on; proton.Error: the file was not written. It waits
                   60 s at most for a proton that stands still; Ctrl-C, and whatever a handler of signals
                   raises, ends the wait. The file is written in either case, when that goes on
    thread         any
    """
    session = one_session(session, session_id)
    if _is_nobody() or flags.command_line:
        return
    form = _text(output_format or None, "output_format")
    failed = None
    for number in _meant(session):
        try:
            _finalize(number, form)
        except _native.Invalid:
            raise
        except _native.Unknown as error:  # another thread was faster
            failed = failed if session is None else error
        except _native.Error as error:  # the others are to be written all the same
            failed = failed or error
    if session is None:
        HookManager.unregister()
    if failed is not None:
        raise failed


def _finalize(session, form):
    try:
        _settle()
        check(_native.session_finalize(session, form), session)
    except _native.Error as error:
        if error.status in (_native.UNWRITTEN, _native.UNKNOWN):
            _ended(session)
        raise
    except BaseException:  # of a signal's handler: the session is over, and its file will be written
        _ended(session)
        raise
    _ended(session)


def _ended(session):
    HookManager.unregister(session)
    _live.discard(session)
    if not _live:
        _close_nvtx()
        metric.forget()
        flags.profiling_on = is_recorded()


def profile(
    func=None, *, name=None, context="shadow", data="tree", backend=None, mode=None, hook=None
):
    """A session around each call of a function: started before it, deactivated after it, also where it
    raises. finalize() writes the file. With and without arguments:

        @proton.profile
        def step(): ...

        @proton.profile(name="step", context="python")
        def step(): ...

        proton.profile(step, name="step")(arguments)

    Arguments, errors and threads are those of start(); the call returns what the function returns.
    """
    options = dict(name=name, context=context, data=data, backend=backend, mode=mode, hook=hook)
    if func is None:
        return functools.partial(profile, **options)

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        session = start(**options)
        try:
            return func(*args, **kwargs)
        finally:
            if session is not None and session in _live:
                deactivate(session)

    return wrapper
