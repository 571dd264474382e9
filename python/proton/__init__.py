# SPDX-License-Identifier: MIT
"""Profile the GPU work of Python programs: sessions, scopes, states and metrics.

    import proton

    session = proton.start("train", context="python")
    with proton.scope("step", {"flops": 2.0 * m * n * k}):
        ...
    proton.finalize(session)          # train.hatchet

The functions and what they mean are those of Triton's Proton. proton-python(7) has them all. In a program
that `proton record` or `proton top` started, scopes, states and metrics need no session; where nobody
profiles, they do nothing.
"""
from . import context, data, hooks, mode, specs
from ._load import load
from ._native import Error, Invalid, Missing, Unknown
from .metric import TypeMismatch
from .profile import DEFAULT_PROFILE_NAME, activate, deactivate, finalize, profile, start
from .scope import cpu_timed_scope, enter_scope, exit_scope, scope
from .state import enter_state, exit_state, metadata_state, state

__version__ = "0.1.0"

__all__ = [
    "DEFAULT_PROFILE_NAME",
    "Error",
    "Invalid",
    "Missing",
    "TypeMismatch",
    "Unknown",
    "activate",
    "context",
    "cpu_timed_scope",
    "data",
    "deactivate",
    "enter_scope",
    "enter_state",
    "exit_scope",
    "exit_state",
    "finalize",
    "hooks",
    "load",
    "metadata_state",
    "mode",
    "profile",
    "scope",
    "specs",
    "start",
    "state",
]


def __getattr__(name):
    if name == "viewer":  # only for who asks for it
        import importlib

        return importlib.import_module(".viewer", __name__)
    if name == "language":
        raise AttributeError(
            "proton has no 'language': scopes within kernels are Triton's own, as triton.profiler.language"
        )
    raise AttributeError("module %r has no attribute %r" % (__name__, name))


def load_ipython_extension(ipython):
    """%load_ext proton: the cell magic %%proton."""
    from . import _ipython

    _ipython.load(ipython)
