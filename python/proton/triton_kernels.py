# SPDX-License-Identifier: MIT
"""Scopes within Triton's kernels: what Triton's layer knows of each kernel that it compiled with scopes, handed on to
libproton, which reads what their warps recorded (src/collect/kernel_scopes.h)."""
import ctypes
import json
import sys

from . import _native
from .mode import instrumentation_options, warp_ids

SHIFT = {"cuda": 7}  # cycles that a record costs, as Triton's Proton has it
# How long what was launched may take to end, once somebody asks for it: 10 s, but for times when the process stands still.
_LOOKS, _LOOK_MS = 100, 100
# Of the buffer (src/intra/warp_records.h).
_HEAD_BYTES, _RECORD_BYTES = 40, 8

_told = set()


class Scope(ctypes.Structure):
    """struct kernel_scope"""

    _fields_ = [("id", ctypes.c_uint32), ("parent", ctypes.c_int32), ("name", ctypes.c_char_p)]


class Kernel(ctypes.Structure):
    """struct scoped_kernel"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("scopes", ctypes.POINTER(Scope)),
        ("recording", ctypes.POINTER(ctypes.c_uint32)),
    ] + [
        (name, ctypes.c_uint32)
        for name in ("n_scopes", "n_recording", "n_warps", "block_bytes", "shift")
    ]


def _library():
    return ctypes.CDLL(_native.load())  # lets go of the interpreter's lock


def check_mode(text):
    """The mode of a session, "cuda:default:…". ValueError or RuntimeError in the words of Triton's Proton."""
    device, _, mode = text.partition(":")
    if not device:
        raise RuntimeError("Mode cannot be empty")
    if device.lower() not in SHIFT:
        raise RuntimeError("Unknown device type: %s" % device)
    options = instrumentation_options(mode)
    if options["granularity"] not in ("", "warp"):
        raise RuntimeError("Only warp granularity is supported for now")
    if options["buffer_strategy"] not in ("", "circular"):
        raise RuntimeError("Only circular buffers are supported for now, not '%s'" % options["buffer_strategy"])


def teach_words():
    """Triton's layer reads modes, too: what the tutorial for it calls shared memory, it does not know."""
    types = getattr(sys.modules.get("triton.profiler.mode"), "buffer_types", None)
    if types and "shared" in types:
        types.setdefault("shared_mem", types["shared"])


def _in_order(scopes, parents):
    """Scope, parent and name of each, behind its parent."""
    names, parents = dict(scopes), dict(parents)
    done = []

    def add(scope):
        if scope in names:
            name, parent = names.pop(scope), parents.get(scope, -1)
            add(parent)
            done.append((scope, parent, _native.encode(name)))

    for scope, _name in scopes:
        add(scope)
    return done


def _recording(options, n_warps):
    """Which warps record."""
    if options["sampling_strategy"] != "selective":
        return list(range(n_warps))
    chosen = warp_ids(options["sampling_options"])
    if chosen and chosen[-1] >= n_warps:
        raise ValueError("sampling_options name warp %d, and it has %d warps" % (chosen[-1], n_warps))
    return chosen or list(range(n_warps))


def _tell_buffer(name, options, n_warps, n_recording, size):
    """How much the compiler chose where nobody said it: of each warp the last records of a launch are kept."""
    if options["buffer_size"] or not n_recording:
        return
    segment = (size - _HEAD_BYTES - 4 * n_warps) // n_recording
    if segment < _RECORD_BYTES:
        return
    segment = 1 << (segment.bit_length() - 1)
    text = "Triton's kernel '%.64s' records into %d bytes of %s memory of a thread block, %d entries and exits of each warp" % (
        name, segment * n_recording, options["buffer_type"] or "shared", segment // _RECORD_BYTES)
    if text not in _told:
        _told.add(text)
        _library().proton_seam_tell(_native.encode(text))


def _kernel(name, scopes, parents, path):
    with open(path, encoding="utf-8") as file:
        metadata = json.load(file)
    n_warps = metadata["num_warps"]
    options = instrumentation_options(metadata.get("instrumentation_mode", ""))
    shift = SHIFT[metadata["target"]["backend"]] if "time_shift" in options["optimizations"] else 0
    scopes, recording = _in_order(scopes, parents), _recording(options, n_warps)
    _tell_buffer(name, options, n_warps, len(recording), metadata.get("profile_scratch_size", 0))
    return Kernel(
        _native.encode(name),
        (Scope * len(scopes))(*scopes),
        (ctypes.c_uint32 * len(recording))(*recording),
        len(scopes),
        len(recording),
        n_warps,
        metadata.get("profile_scratch_size", 0),
        shift,
    )


def tell(function, name, scopes, parents, path, note):
    """A function has been loaded that is this kernel. note(text): why its scopes are left out."""
    forget(function)
    try:
        kernel = _kernel(name, scopes, parents, path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        note("scopes within kernel '%.64s' are left out: %s: %s" % (name, type(error).__name__, error))
        return
    if _library().proton_kernel_scopes(ctypes.c_uint64(function), ctypes.byref(kernel)) < 0:
        note("scopes within kernel '%.64s' are left out: they are not as they can be, or are too many" % name)


def forget(function):
    """There is no such function any more."""
    _library().proton_kernel_scopes(ctypes.c_uint64(function), None)


def read(wait_ms):
    """What has ended is read. Is that all?"""
    return bool(_library().proton_kernel_scopes_read(ctypes.c_uint32(wait_ms)))


def read_all():
    """… of what was launched up to now, as far as it ends."""
    for _ in range(_LOOKS):
        if read(_LOOK_MS):
            return
