# SPDX-License-Identifier: MIT
"""States: what a thread is doing, one more frame directly above its kernels.

A thread is in one state at most: another takes its place, and leaving leaves none, not the one before.
"""
import functools
import threading

from . import _native
from .flags import flags
from .scope import encoded

COMPUTE_METADATA_SCOPE_NAME = "__proton_launch_metadata"
COMPUTE_METADATA_SCOPE_PREFIX = COMPUTE_METADATA_SCOPE_NAME + ":"  # with a kernel's name behind it


class _Thread(threading.local):
    def __init__(self):
        self.name = None


_thread = _Thread()


def enter_state(name):
    """Put this thread into a state. Does nothing while nobody profiles.

    errors  TypeError: name is no text
    thread  any; belongs to the caller
    """
    if flags.profiling_on:
        _native.state_enter(encoded(name))
        _thread.name = name


def exit_state():
    """Leave the state, whichever it is. Does nothing while nobody profiles, or where there is none.

    thread  the one that entered it
    """
    if flags.profiling_on or _thread.name is not None:
        _native.state_exit()
        _thread.name = None


class state:
    """A state around a block or a function, also where these raise.

        with proton.state("warm up"):
            ...

        @proton.state("warm up")
        def warm_up(): ...

    errors  TypeError when it is entered: name is no text
    thread  any; belongs to the caller
    """

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        enter_state(self.name)
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        exit_state()

    def __call__(self, func):
        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            enter_state(self.name)
            try:
                return func(*args, **kwargs)
            finally:
                exit_state()

        return wrapper


def metadata_state_name(kernel_name=None):
    """The name of the state in which metadata of a kernel's launch are computed."""
    if kernel_name:
        return COMPUTE_METADATA_SCOPE_PREFIX + kernel_name
    return COMPUTE_METADATA_SCOPE_NAME


get_metadata_state_name = metadata_state_name  # as Triton's Proton calls it


class metadata_state(state):
    """A state that hides what is launched in it: helper kernels and copies that only compute metrics.
    Views leave them out. The state of before is the thread's again afterwards.

    kernel_name  whose metadata they are; None: nobody's
    thread       any; belongs to the caller
    """

    def __init__(self, kernel_name=None):
        super().__init__(metadata_state_name(kernel_name))
        self._before = []

    def __enter__(self):
        self._before.append(_thread.name)
        return super().__enter__()

    def __exit__(self, exc_type, exc_value, traceback):
        before = self._before.pop()
        if before is None:
            exit_state()
        else:
            enter_state(before)
