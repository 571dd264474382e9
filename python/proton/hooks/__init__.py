# SPDX-License-Identifier: MIT
"""Hooks around launches of Triton's kernels."""
from .hook import Hook, HookManager
from .instrumentation import InstrumentationHook
from .launch import LaunchHook

__all__ = ["Hook", "HookManager", "InstrumentationHook", "LaunchHook"]
