# SPDX-License-Identifier: MIT
"""What launch_metadata of a Triton kernel says becomes the name and the metrics of that launch."""
import contextvars
import itertools
import re
import threading
from numbers import Number

from .. import _native, metric
from ..flags import triton_version
from ..scope import encoded
from ..state import COMPUTE_METADATA_SCOPE_NAME, metadata_state
from .hook import Hook

__all__ = ["COMPUTE_METADATA_SCOPE_NAME", "LaunchHook", "id", "op_name"]

# Of the launch that is under way, or the last one of a thread: no two are alike.
id = contextvars.ContextVar("id")  # pylint: disable=redefined-builtin
op_name = contextvars.ContextVar("op_name", default=None)  # its name
_ids = itertools.count()

# What Triton itself puts there.
_NO_METRICS = frozenset(("name", "function", "stream"))


class _Thread(threading.local):
    def __init__(self):
        self.busy = False  # metadata are computed: what is launched meanwhile has none
        self.open = False  # launch_begin() without its end


_thread = _Thread()


def _is_metric(name, value):
    return name not in _NO_METRICS and (isinstance(value, Number) or hasattr(value, "data_ptr"))


class LaunchHook(Hook):
    """The hook "triton". There is one in a process, whoever makes it."""

    priority = 100
    # Names that launch_metadata of Triton's own kernels have.
    flops_width = [8, 16, 32, 64]
    metrics = ["flops8", "flops16", "flops32", "flops64", "bytes", "flops"]
    _instance = None

    def __new__(cls):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
            cls._instance.configure()
        return cls._instance

    def configure(self, *, include=None, exclude=None):
        """Whose metadata are computed: kernels whose names match `include` (None: all) and not `exclude`
        (None: none), regular expressions from the beginning of the name. Others launch as without
        the hook. Raises re.error."""
        self._include = re.compile(include) if include else None
        self._exclude = re.compile(exclude) if exclude else None

    def _wants(self, name):
        if name is None:
            return True
        if self._include is not None and self._include.match(name) is None:
            return False
        return self._exclude is None or self._exclude.match(name) is None

    def enter(self, metadata):
        """Begin a launch: name and metrics. What user code raises in its metadata goes to it, and the
        launch has begun with what there was."""
        if _thread.busy:
            return
        name = metadata.data.get("name")
        if not self._wants(name):
            return
        _thread.busy = True
        try:
            # Before Triton 3.8 nothing told whose the metadata are.
            with metadata_state(name if triton_version() >= (3, 8) else None):
                values = metadata.get()
            name = values.get("name", name)
            if not self._wants(name):
                return
            id.set(next(_ids))
            op_name.set(name)
            _native.launch_begin(encoded(str(name)))
            _thread.open = True
            for key, value in values.items():
                if _is_metric(key, value):
                    metric.add(key, value)
        finally:
            _thread.busy = False

    def exit(self, metadata):
        """End it."""
        if _thread.open and not _thread.busy:
            _thread.open = False
            _native.launch_end()
