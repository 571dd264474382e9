# SPDX-License-Identifier: MIT
"""Values of metrics that lie in a device's memory: what Triton's layer hands on of a GPU tensor.

They are read by the CUDA driver that the program has loaded, on the stream that Triton named before. The copy is
no work of the program's: who calls read() hides it. While that stream is captured into a graph they are there when
it has run: kind_of() says what they are for the library, which takes them then.
"""
import ctypes
import threading

from .metric import DEVICE_KINDS

INT64, DOUBLE, VECTOR_INT64, VECTOR_DOUBLE = 1, 2, 5, 6

_stream = threading.local()


class TensorMetric:
    """So many numbers of 64 bits at ptr; index is one of the above. Triton's layer derives from it, and
    gives the three to the constructor of its release: __new__ or __init__."""

    def __new__(cls, ptr=None, index=None, size=1):
        self = object.__new__(cls)
        if isinstance(ptr, int):
            TensorMetric.__init__(self, ptr, index, size)
        return self

    def __init__(self, ptr, index, size=1):
        self._place = ptr, index, size

    ptr = property(lambda self: self._place[0])
    index = property(lambda self: self._place[1])
    size = property(lambda self: self._place[2])


def set_stream(stream):
    _stream.handle = stream


def stream():
    """Of this thread, as the driver has it."""
    return getattr(_stream, "handle", None) or 0


def is_capturing():
    """Is that stream captured? A driver that cannot say is too old for graphs."""
    status = ctypes.c_int()
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        failed = cuda.cuStreamIsCapturing(ctypes.c_void_p(stream()), ctypes.byref(status))
    except (OSError, AttributeError):
        return False
    return failed != 0 or status.value != 0


def kind_of(tensor):
    """enum cuda_value_kind"""
    return DEVICE_KINDS["float64" if tensor.index in (DOUBLE, VECTOR_DOUBLE) else "int64"]


def read(tensor, note):
    """A number, a list of them, or None where it cannot be read, which a note says."""
    kind = ctypes.c_double if tensor.index in (DOUBLE, VECTOR_DOUBLE) else ctypes.c_int64
    values = (kind * tensor.size)()
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        handle = ctypes.c_void_p(stream())
        pointer = ctypes.c_uint64(tensor.ptr)
        size = ctypes.c_size_t(ctypes.sizeof(values))
        failed = cuda.cuMemcpyDtoHAsync_v2(values, pointer, size, handle)
        failed = failed or cuda.cuStreamSynchronize(handle)
    except (OSError, AttributeError) as error:
        failed = error
    if failed:
        note("metrics that lie in a GPU's memory cannot be read: %s" % failed)
        return None
    return values[0] if tensor.index in (INT64, DOUBLE) else list(values)
