# SPDX-License-Identifier: MIT
"""Profiling within kernels is Triton's own; see start(backend=...)."""
from .hook import Hook


class InstrumentationHook(Hook):
    """Keeps its place in the order of hooks for programs that register it themselves, and does nothing
    else: it is Triton's compiler that would instrument kernels, for its own collector."""

    def __init__(self, mode=""):
        self.mode = mode

    def enter(self, metadata):
        """Nothing."""

    def exit(self, metadata):
        """Nothing."""
