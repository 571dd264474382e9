# SPDX-License-Identifier: MIT
"""The calling context of a thread."""
from . import _native
from .flags import flags


def depth(session=0, *, session_id=None):
    """How many scopes this thread has open.

    session  is not looked at: scopes are the same in all sessions
    returns  a count from 0; None while nobody profiles
    errors   proton.Error: libproton is older than this package
    thread   any; of the caller
    """
    return _native.context_depth() if flags.profiling_on else None
