# SPDX-License-Identifier: MIT
"""What a hook is, and which of them are called.

A hook belongs to sessions: it is active while one of them is. Triton calls the manager, which calls the
active hooks, those of high priority first at a launch's begin and last at its end.
"""
import importlib.util
import sys
import threading
from collections import defaultdict


class Hook:
    """To be made a class of one's own. Exceptions go to the program that launches."""

    priority = 0

    def init_handle(self, module, function, name, metadata_group, hash):
        """A kernel was loaded."""

    def enter(self, metadata):
        """A launch begins. metadata: Triton's, whose `data` has what is known, and whose get() computes
        the rest. Runs on the thread that launches."""
        raise NotImplementedError

    def exit(self, metadata):
        """It has been made: the work itself may run later."""
        raise NotImplementedError

    def activate(self):
        """The first of its sessions is active."""

    def deactivate(self):
        """None of its sessions is."""

    def destroy_handle(self, *arguments):
        """A kernel is unloaded."""


class HookManager:
    """The hooks of this process. Called from any thread, by sessions and by Triton."""

    active_hooks = []
    session_hooks = defaultdict(lambda: defaultdict(bool))  # session -> hook -> is it active?
    _lock = threading.RLock()

    @staticmethod
    def init_handle(*arguments):
        for hook in tuple(HookManager.active_hooks):
            hook.init_handle(*arguments)

    @staticmethod
    def destroy_handle(*arguments):
        for hook in tuple(HookManager.active_hooks):
            hook.destroy_handle(*arguments)

    @staticmethod
    def enter(metadata):
        for hook in tuple(HookManager.active_hooks):
            hook.enter(metadata)

    @staticmethod
    def exit(metadata):
        for hook in reversed(tuple(HookManager.active_hooks)):
            hook.exit(metadata)

    @staticmethod
    def _sessions(session):
        return list(HookManager.session_hooks) if session is None else [session]

    @staticmethod
    def _update():
        """Activate and deactivate what the sessions say now."""
        with HookManager._lock:
            wanted = []
            for hooks in HookManager.session_hooks.values():
                wanted += [h for h, active in hooks.items() if active and h not in wanted]
            for hook in [h for h in HookManager.active_hooks if h not in wanted]:
                HookManager.active_hooks.remove(hook)
                hook.deactivate()
            for hook in wanted:
                if hook not in HookManager.active_hooks:
                    hook.activate()
                    HookManager.active_hooks.append(hook)
            HookManager.active_hooks.sort(key=lambda h: h.priority, reverse=True)
            if HookManager.active_hooks:
                _install()
            else:
                _remove()

    @staticmethod
    def _set(session, active):
        with HookManager._lock:
            for number in HookManager._sessions(session):
                for hook in HookManager.session_hooks.get(number, ()):
                    HookManager.session_hooks[number][hook] = active
            HookManager._update()

    @staticmethod
    def activate(session=None):
        """The hooks of a session; None: of all."""
        HookManager._set(session, True)

    @staticmethod
    def deactivate(session=None):
        """The same, the other way."""
        HookManager._set(session, False)

    @staticmethod
    def register(hook, session):
        """A hook for a session, active from now on. Once, however often it is registered."""
        with HookManager._lock:
            HookManager.session_hooks[session][hook] = True
            HookManager._update()

    @staticmethod
    def unregister(session=None):
        """A session is over; None: all are."""
        with HookManager._lock:
            for number in HookManager._sessions(session):
                HookManager.session_hooks.pop(number, None)
            HookManager._update()

    @staticmethod
    def forget():
        """In a fork child: sessions are the parent's. Triton may be in the middle of anything."""
        HookManager._lock = threading.RLock()
        HookManager.active_hooks.clear()
        HookManager.session_hooks.clear()


# ---- where Triton looks for hooks ----

# Its names for them, and ours. Before Triton 3.4 they are attributes of a class.
_HOOKS = {
    "launch_enter_hook": HookManager.enter,
    "launch_exit_hook": HookManager.exit,
    "kernel_load_end_hook": HookManager.init_handle,
    "init_handle_hook": HookManager.init_handle,
    "kernel_unload_hook": HookManager.destroy_handle,
}


def _triton_places():
    """What has the attributes: triton.knobs.runtime, else triton.compiler.CompiledKernel."""
    if "triton" not in sys.modules and importlib.util.find_spec("triton") is None:
        return None
    try:
        from triton import knobs

        return knobs.runtime
    except ImportError:
        pass
    try:
        from triton.compiler import CompiledKernel

        return CompiledKernel
    except ImportError:
        return None


def _install():
    place = _triton_places()
    for name, function in _HOOKS.items():
        if not hasattr(place, name):
            continue
        there = getattr(place, name)
        if hasattr(there, "add") and hasattr(there, "remove"):  # a chain
            if function not in getattr(there, "calls", ()):
                there.add(function)
        elif there is None:
            setattr(place, name, function)


def _remove():
    if "triton" not in sys.modules:
        return
    place = _triton_places()
    for name, function in _HOOKS.items():
        there = getattr(place, name, None)
        if hasattr(there, "add") and hasattr(there, "remove"):
            if function in getattr(there, "calls", ()):
                there.remove(function)
        elif there is function:
            setattr(place, name, None)
