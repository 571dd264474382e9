# SPDX-License-Identifier: MIT
"""Triton with all of its compiler, for a GPU that is not here (compute capability 9.0): kernels are compiled, launched on the mock
libcuda of NO_GPU_CUDA where that is set, and their warps "record" each scope once: those of a kernel in each other, 100 cycles the
outermost one, 10 less the next. Imported before kernels run; tensors are Tensor(type, shape…)."""
import ctypes
import os
import struct
import sys
import types

import triton
from triton.backends.compiler import GPUTarget

CUDA = ctypes.CDLL(os.environ["NO_GPU_CUDA"]) if "NO_GPU_CUDA" in os.environ else None
if CUDA:
    CUDA.cuLaunchKernel.argtypes = [ctypes.c_void_p] + [ctypes.c_uint32] * 7 + [ctypes.c_void_p] * 3
    CUDA.cuInit(0)


class Tensor:
    def __init__(self, dtype, *shape):
        self.dtype, self.shape = dtype, list(shape)

    def data_ptr(self):
        return 4096

    def stride(self):
        strides = [1]
        for size in self.shape[:0:-1]:
            strides.insert(0, strides[0] * size)
        return strides


class Bytes:
    """What torch.empty() gives, of bytes."""

    def __init__(self, size):
        self.data = ctypes.create_string_buffer(size)

    def data_ptr(self):
        return ctypes.addressof(self.data)

    def element_size(self):
        return 1

    def numel(self):
        return len(self.data)


def empty(shape, dtype, device):
    assert device == "cuda" and dtype == "uint8", (dtype, device)
    return Bytes(shape[0])


sys.modules.setdefault("torch", types.SimpleNamespace(empty=empty, uint8="uint8"))


class Utils:
    functions = {}

    def get_device_properties(self, device):
        return {"max_shared_mem": 232448, "max_num_regs": 65536, "multiprocessor_count": 132, "warpSize": 32}

    def load_binary(self, name, kernel, shared, device):
        name = ctypes.create_string_buffer(name.encode())
        function = ctypes.addressof(name)
        self.functions[function] = name
        return 1, function, 32, 0, 1024

    def unload_module(self, module):
        pass


def record(ends, scope, clock):
    return struct.pack("<II", ends << 31 | scope << 23, clock)


def block(size, warps, n_scopes):
    """A thread block's share of the buffer."""
    records = b"".join(record(0, i, 5 * i) for i in range(n_scopes))
    records += b"".join(record(1, i, 100 - 5 * i) for i in reversed(range(n_scopes)))
    segment = (size - 40 - 4 * warps) // warps // 8 * 8
    head = struct.pack("<4I3Q", 0xDEADBEEF, 0, 0, segment * warps, 1, 2, 3)
    head += struct.pack("<I", len(records) // 4) * warps
    return (head + records[:segment].ljust(segment, b"\0") * warps).ljust(size, b"\0")


class Launcher:
    def __init__(self, source, metadata):
        self.metadata = metadata

    def __call__(self, x, y, z, stream, function, packed, launch, enter, leave, *arguments):
        m, hooks = self.metadata, sys.modules.get("triton.profiler.hooks")
        size = m.profile_scratch_size
        if size:
            buffer = triton.runtime._allocation._profile_allocator.get()(size * x * y * z, 128, stream)
            buffer.data[:] = block(size, m.num_warps, self.n_scopes(function)) * (x * y * z)
        if enter:
            enter(launch)
        if CUDA:
            CUDA.cuLaunchKernel(function, x, y, z, 32 * m.num_warps, 1, 1, 0, stream, None, None)
        if leave:
            leave(launch)

    def n_scopes(self, function):
        return SCOPES.get(function, 0)


SCOPES = {}


def count_scopes(module, function, name, group, hash):
    with open(next(path for key, path in group.items() if key.endswith("ttgir"))) as file:
        SCOPES[function] = file.read().count("proton.record start")


class Driver:
    utils, launcher_cls = Utils(), Launcher

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)

    def get_current_device(self):
        return 0

    def get_current_stream(self, device=0):
        return 0


triton.runtime.driver.set_active(Driver())
triton.knobs.runtime.kernel_load_end_hook.add(count_scopes)
