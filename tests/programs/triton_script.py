# SPDX-License-Identifier: MIT
# A script for Triton's Proton, whose kernels are those of a mock libcuda: triton_script.py LIBCUDA WHAT. It
# says what it sees. Nothing in it knows of proton.
import ctypes
import os
import sys

import triton
import triton.profiler as proton
from triton.backends.compiler import GPUTarget
from triton.compiler import LazyDict

cuda = ctypes.CDLL(sys.argv[1])
cuda.cuLaunchKernel.argtypes = [ctypes.c_void_p] + [ctypes.c_uint32] * 7 + [ctypes.c_void_p] * 3
keep = ctypes.CDLL(None).strdup  # the driver keeps pointers to names
keep.restype = ctypes.c_void_p
names = {}
cuda.cuInit(0)


class Driver:
    """There is no GPU that Triton's own would find."""

    def get_current_target(self):
        return GPUTarget("cuda", 90, 32)


triton.runtime.driver.set_active(Driver())


def launch(name, n=1):
    for _ in range(n):
        text = names.get(name) or names.setdefault(name, keep(name.encode()))
        cuda.cuLaunchKernel(text, 1, 1, 1, 1, 1, 1, 0, None, None, None)


def kernel(name, metadata=None):
    """As Triton's launcher does it."""
    data = LazyDict({"name": name, "function": 0, "stream": 0})
    if metadata:
        data.add(metadata, ())
    triton.knobs.runtime.launch_enter_hook(data)
    launch(name)
    triton.knobs.runtime.launch_exit_hook(data)


def sessions():
    a = proton.start("a", context="shadow")
    with proton.scope("outer", {"flops": 8.0, "count me": 2}):
        launch("add")
        with proton.scope("inner"):
            launch("add", 2)
    b = proton.start("b")
    launch("mul")
    proton.deactivate(a)
    launch("mul")
    proton.activate(a)
    print(a, b, proton.start("b"))
    proton.finalize(b)
    launch("mul")
    proton.finalize(a, "hatchet_msgpack")
    for wrong in (lambda: proton.finalize(a), lambda: proton.start("c", backend="nonsense")):
        try:
            wrong()
        except RuntimeError as error:
            print(error)


def scopes():
    proton.start("s")
    with proton.cpu_timed_scope("timed"):
        launch("add")
    outer = proton.enter_scope("outer", metrics={"given": 1})
    proton.enter_scope("inner")
    print("depth", proton.context.depth())
    launch("add")
    proton.exit_scope("inner", metrics={"late": 2.5, "big (ns)": 1 << 70, "less": -3})
    proton.exit_scope(metrics={"late": 4.0})
    with proton.state("warm"):
        launch("mul")

    @proton.scope("decorated", {"three (%)": [1.0, 2.0, 3.0]})
    def function():
        launch("add")

    function()
    for name in ("", "a\0b", "\udcff", "é" * 3):
        with proton.scope(name):
            pass
    try:
        with proton.scope(3):
            pass
    except TypeError as error:
        print("TypeError")
    print("depth", proton.context.depth(), outer)
    proton.finalize()


def odd():
    proton.start("o")
    with proton.scope("bad", {"a": 1.0}):
        pass
    try:
        with proton.scope("bad", {"a": 1}):
            pass
    except RuntimeError as error:
        print(error)
    proton.finalize()
    proton.start("o")
    with proton.scope("bad", {"a": 1, "kind (pty)": "sgd"}):
        pass
    proton.enter_scope("outer")
    proton.enter_state("state")
    proton.enter_scope("inner", metrics={"a": 2})
    print("depth", proton.context.depth())
    launch("add")
    proton.exit_state()
    proton.finalize()
    proton.start("p")
    print("depth", proton.context.depth())
    launch("mul")
    proton.finalize()


def hook():
    def metadata(*_):
        launch("helper")
        return {"name": "matmul 64", "flops16": 64.0, "bytes": 32}

    proton.start("h", hook="triton")
    with proton.scope("step"):
        for _ in range(3):
            kernel("_matmul", metadata)
        kernel("_plain")
    proton.deactivate()
    kernel("_off")
    proton.activate()
    kernel("_on", lambda *_: {"name": "on"})
    proton.finalize()
    kernel("_after", metadata)


@proton.profile(name="f")
def decorated():
    launch("add")


def profile():
    decorated()
    launch("add")
    decorated()
    proton.finalize()
    print(sorted(f for f in os.listdir(".") if f.startswith("f.")))


def trace():
    proton.start("t", data="trace")
    with proton.scope("init"):
        launch("ones", 2)
    with proton.scope("test"):
        launch("foo")
    proton.finalize()


def inside():
    """Triton's own collector beside ours, by the functions that its layer calls."""
    from triton._C.libproton import proton as libproton

    ours = libproton.start("ours", "shadow", "tree", "cupti")
    theirs = libproton.start("theirs", "shadow", "trace", "instrumentation", "hip")
    again = libproton.start("theirs", "shadow", "trace", "instrumentation", "hip")
    print("two" if ours != theirs else "one", again == theirs)
    scope = libproton.record_scope()
    libproton.enter_scope(scope, "outer")
    libproton.add_metrics(scope, {"given": 2.0})
    libproton.enter_state("state")
    launch("add")
    libproton.exit_state()
    print("depth", libproton.get_context_depth(ours), libproton.get_context_depth(theirs))
    libproton.exit_scope(scope, "outer")
    libproton.deactivate(theirs)
    libproton.activate(theirs)
    try:
        libproton.activate(theirs + 1)
    except RuntimeError as error:
        print(str(error).partition(": ")[0])
    libproton.finalize(theirs, "chrome_trace")
    libproton.finalize_all("hatchet")


def compiled():
    """A kernel with scopes inside, as Triton compiles it, and its hook around a launch; what its warps would have recorded is
    made here."""
    import struct
    import triton.language as tl
    import triton.profiler.language as pl
    from triton.profiler.hooks import HookManager

    class Utils:
        def get_device_properties(self, device):
            return {"max_shared_mem": 232448}

    class Buffer:
        def __init__(self, data):
            self.data = ctypes.create_string_buffer(data, len(data))

        def data_ptr(self):
            return ctypes.addressof(self.data)

        def element_size(self):
            return 1

        def numel(self):
            return len(self.data)

    Driver.utils = Utils()
    Driver.get_current_device = lambda self: 0
    pl.enable_semantic("triton")

    def copy(x, out, BLOCK: tl.constexpr):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        with pl.scope("whole"):
            with pl.scope("load"):
                a = tl.load(x + offsets)
            tl.store(out + offsets, a)

    copy.__globals__.update(tl=tl, pl=pl)
    session = proton.start("t", backend="instrumentation", mode="default:optimizations=clock32", hook="triton")
    source = triton.compiler.ASTSource(
        fn=triton.jit(copy), constexprs={"BLOCK": 256},
        signature={"x": "*fp32", "out": "*fp32", "BLOCK": "constexpr"},
    )
    code = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    HookManager.init_handle(None, 0x5000, code.metadata.name, code.metadata_group, code.hash)
    size, warps = code.metadata.profile_scratch_size, code.metadata.num_warps
    segment = (size - 128) // warps // 8 * 8
    records = struct.pack("<8I", 0, 100, 1 << 23, 110, 1 << 31 | 1 << 23, 140, 1 << 31, 200)
    head = struct.pack("<4I3Q", 0xDEADBEEF, 0, 0, segment * warps, 1, 2, 3)
    head += struct.pack("<I", len(records) // 4) * warps
    block = (head + records.ljust(segment, b"\0") * warps).ljust(size, b"\0")
    hook = next(h for h in HookManager.active_hooks if hasattr(h, "allocator"))
    with proton.scope("outer"):
        for _ in range(3):
            hook.buffer = Buffer(block * 2)
            data = LazyDict({"name": "copy", "function": 0x5000, "stream": 0})
            triton.knobs.runtime.launch_enter_hook(data)
            launch("copy")
            triton.knobs.runtime.launch_exit_hook(data)
    proton.finalize(session)


def tensors():
    """Metrics that lie on the device, as the layer of Triton 3.7 and newer hands them on."""
    from triton._C.libproton import proton as libproton

    class Metric(libproton.TensorMetric):
        def __init__(self, values, index):
            super().__init__(ctypes.addressof(values), index, len(values))
            self.values = values

    def one(value):
        return Metric((ctypes.c_double * 1)(value), libproton.metric_type_double_index)

    session = libproton.start("t", "shadow", "tree", "cupti")
    op = libproton.record_scope()
    libproton.set_metric_kernels(0, 0, 0)
    libproton.enter_op(op, "matmul 64")
    three = Metric((ctypes.c_int64 * 3)(1, 2, 3), libproton.metric_type_vector_int64_index)
    libproton.add_metrics(op, {"given": 1}, {"flops": one(8.0), "three": three})
    launch("matmul")
    libproton.exit_op(op, "matmul 64")
    libproton.enter_state("state")
    scope = libproton.record_scope()
    libproton.enter_scope(scope, "scope")
    libproton.add_metrics(scope, {}, {"loss": one(0.5)})
    launch("add")
    libproton.set_metric_kernels(0, 0, 1)  # a stream that is captured
    libproton.add_metrics(scope, {}, {"computed": one(1.5)})
    cuda.mock_graph_instantiate()
    for _ in range(3):
        cuda.mock_graph_launch()
    libproton.exit_scope(scope, "scope")
    libproton.exit_state()
    libproton.finalize(session, "hatchet")


def worker():
    rank = os.environ["RANK"]
    print(proton.start("rank" + rank))
    with proton.scope("rank " + rank):
        launch("add", 1 + int(rank))
    proton.finalize()


def many():
    proton.start("m")
    for i in range(int(sys.argv[3])):
        with proton.scope("step"):
            pass
    proton.finalize()


globals()[sys.argv[2]]()
