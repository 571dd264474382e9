# SPDX-License-Identifier: MIT
"""Values of metrics that lie in a device's memory: what Triton's layer hands on of a GPU tensor.

They are read by the CUDA driver that the program has loaded, on the stream that Triton named before. The copy is
no work of the program's: who calls read() hides it.
"""
import ctypes
import threading

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


def _is_capturing(cuda, stream):
    status = ctypes.c_int()
    return cuda.cuStreamIsCapturing(stream, ctypes.byref(status)) != 0 or status.value != 0


def read(tensor, note):
    """A number, a list of them, or None where it cannot be read, which a note says."""
    stream = ctypes.c_void_p(getattr(_stream, "handle", None))
    kind = ctypes.c_double if tensor.index in (DOUBLE, VECTOR_DOUBLE) else ctypes.c_int64
    values = (kind * tensor.size)()
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
        if _is_capturing(cuda, stream):
            note("metrics that lie in a GPU's memory are left out while a CUDA graph is captured")
            return None
        pointer = ctypes.c_uint64(tensor.ptr)
        size = ctypes.c_size_t(ctypes.sizeof(values))
        failed = cuda.cuMemcpyDtoHAsync_v2(values, pointer, size, stream)
        failed = failed or cuda.cuStreamSynchronize(stream)
    except (OSError, AttributeError) as error:
        failed = error
    if failed:
        note("metrics that lie in a GPU's memory cannot be read: %s" % failed)
        return None
    return values[0] if tensor.index in (INT64, DOUBLE) else list(values)
