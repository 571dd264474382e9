# SPDX-License-Identifier: MIT
"""What a session has recorded so far, and its phases. Nothing here waits for the device.

Each takes a session's number (`session_id` is another word for it); None, which start() returns when
there is none, gives None. Errors are proton.Error: there is no such session, no such phase, or libproton
is older than this package. Any thread.
"""
import ctypes
import json

from . import _native
from .profile import check, one_session


def _number(phase):
    """A phase as libproton takes it. Raises TypeError and ValueError."""
    if isinstance(phase, bool) or not isinstance(phase, int):
        raise TypeError("a phase is a number, not %r" % (phase,))
    if not 0 <= phase < 1 << 31:
        raise ValueError("there is no phase %d" % phase)
    return phase


def _text(session, phase, form):
    phase = _number(phase)
    data, size = ctypes.c_void_p(), ctypes.c_size_t()
    check(
        _native.session_data(session, phase, form, ctypes.byref(data), ctypes.byref(size)), session
    )
    try:
        return ctypes.string_at(data, size.value)
    finally:
        _native.data_free(data)


def get(session=0, phase=0, *, session_id=None):
    """The tree of a phase as Python objects: [root, devices], as in a file of Hatchet."""
    session = one_session(session, session_id)
    return None if session is None else json.loads(_text(session, phase, b"hatchet").decode())


def get_json(session=0, phase=0, *, session_id=None):
    """The same as the text of JSON."""
    session = one_session(session, session_id)
    return None if session is None else _text(session, phase, b"hatchet").decode()


def get_msgpack(session=0, phase=0, *, session_id=None):
    """The same as bytes of MessagePack."""
    session = one_session(session, session_id)
    return None if session is None else _text(session, phase, b"hatchet_msgpack")


def advance_phase(session=0, *, session_id=None):
    """Begin the next phase: what is launched from now on is of it. Returns its number."""
    session = one_session(session, session_id)
    return None if session is None else check(_native.phase_advance(session), session)


def is_phase_complete(session=0, phase=0, *, session_id=None):
    """Is everything recorded that was launched in this phase?"""
    session = one_session(session, session_id)
    return session is not None and bool(
        check(_native.phase_is_complete(session, _number(phase)), session)
    )


def clear(session=0, phase=0, clear_up_to_phase=False, *, session_id=None):
    """Forget what a phase has recorded; clear_up_to_phase: those before it, too."""
    session = one_session(session, session_id)
    if session is not None:
        check(_native.phase_clear(session, _number(phase), bool(clear_up_to_phase)), session)
