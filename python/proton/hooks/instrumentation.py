# SPDX-License-Identifier: MIT
"""Scopes within kernels are put there by Triton's compiler; see start(backend=...)."""
from .hook import Hook


class InstrumentationHook(Hook):
    """Keeps its place in the order of hooks for programs that register it themselves, and does nothing
    else: it is Triton's hook of this name that has kernels instrumented."""

    def __init__(self, mode=""):
        self.mode = mode

    def enter(self, metadata):
        """Nothing."""

    def exit(self, metadata):
        """Nothing."""
