# SPDX-License-Identifier: MIT
# A program with Triton kernels that have launch_metadata, which knows of no profiler; launches are those of a
# mock libcuda: triton_hook.py LIBCUDA [profiler].
import ctypes
import sys

import triton
from triton.compiler import LazyDict

cuda = ctypes.CDLL(sys.argv[1])
cuda.cuLaunchKernel.argtypes = [ctypes.c_void_p] + [ctypes.c_uint32] * 7 + [ctypes.c_void_p] * 3
keep = ctypes.CDLL(None).strdup  # the driver keeps pointers to names
keep.restype = ctypes.c_void_p
names = {}
cuda.cuInit(0)


def launch(name):
    text = names.get(name) or names.setdefault(name, keep(name.encode()))
    cuda.cuLaunchKernel(text, 1, 1, 1, 1, 1, 1, 0, None, None, None)


def run(function):
    """As Triton's launcher does it."""
    name = function.__name__
    data = LazyDict({"name": name, "function": 0, "stream": 0})
    if function.launch_metadata:
        data.add(function.launch_metadata, ((1,), None, {}))
    triton.knobs.runtime.launch_enter_hook(data)
    launch(name)
    triton.knobs.runtime.launch_exit_hook(data)


def metadata(grid, kernel, arguments):
    launch("helper")
    return {"name": "matmul 64", "flops16": 64.0, "bytes": 32}


@triton.jit
def plain(x):
    pass


print("hooks", len(triton.knobs.runtime.launch_enter_hook.calls))


@triton.jit(launch_metadata=metadata)
def matmul(x):
    pass


print("hooks", len(triton.knobs.runtime.launch_enter_hook.calls))
print(triton.runtime.jit.__file__, triton.runtime.jit.__spec__.loader.__class__.__name__, plain.__class__.__name__)
if sys.argv[2:] == ["profiler"]:
    import triton.profiler
for _ in range(3):
    run(matmul)
run(plain)
