# SPDX-License-Identifier: MIT
"""Scopes within kernels are put there by Triton's compiler; see start(backend=...)."""
import importlib

from .hook import Hook


def _tritons(name):
    """An attribute of Triton's class of this name, which has kernels instrumented."""

    def find():
        return importlib.import_module("triton.profiler.hooks").InstrumentationHook

    return property(lambda _: getattr(find(), name), lambda _, value: setattr(find(), name, value))


class _AsTritons(type(Hook)):
    """What programs ask Triton's class for, and tell it."""

    active_count = _tritons("active_count")
    enable_host_buffer = _tritons("enable_host_buffer")
    host_buffer = _tritons("host_buffer")
    profile_buffer_size = _tritons("profile_buffer_size")
    profile_buffer_alignment = _tritons("profile_buffer_alignment")


class InstrumentationHook(Hook, metaclass=_AsTritons):
    """Keeps its place in the order of hooks for programs that register it themselves, and does nothing
    else: it is Triton's hook of this name that has kernels instrumented. enable_host_buffer, host_buffer: what the last
    launch recorded, as Triton's has it."""

    def __init__(self, mode=""):
        self.mode = mode

    def enter(self, metadata):
        """Nothing."""

    def exit(self, metadata):
        """Nothing."""
