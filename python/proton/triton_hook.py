# SPDX-License-Identifier: MIT
"""The hook "triton" by itself: in a run with `--context auto`, from the first kernel on that has
launch_metadata (src/collect/triton_seam_boot.py looks for it), its launches have the names and metrics that
those say. A program that uses Triton's Proton, or hooks of the package `proton`, says itself what it wants.
"""
import sys

from . import _native, triton_seam
from .hooks import HookManager, LaunchHook

RUN = -1  # in place of a session
PUBLIC = "proton.hooks.hook"  # the package under the name that programs import


class AutomaticHook(LaunchHook):
    """As that, for kernels that have launch_metadata."""

    _instance = None

    def enter(self, metadata):
        if not metadata.extras:
            return
        others = sys.modules.get(PUBLIC)
        if others is not None and others.HookManager.active_hooks:
            return
        try:
            super().enter(metadata)
        except Exception as error:  # nobody asked for them: the program is not to fail of it
            triton_seam.note(
                "launch_metadata of Triton's kernel '%.64s' are left out: %s: %.128s"
                % (metadata.data.get("name"), type(error).__name__, error)
            )


def start():
    """The program has such a kernel. Once a process."""
    if triton_seam.MADE in sys.modules or not _native.active() or not triton_seam.is_automatic():
        return
    HookManager.register(AutomaticHook(), RUN)


def stop():
    """The program uses Triton's Proton."""
    HookManager.unregister(RUN)
