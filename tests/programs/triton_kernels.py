# SPDX-License-Identifier: MIT
# Kernels of Triton, compiled as they are: triton_kernels.py WHAT…. Says of each how many records its code has, bytes of the buffer of
# a thread block, and whether its code reads a clock.
import os
import sys

import triton_no_gpu
import triton
import triton.language as tl
from triton_no_gpu import Tensor


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at, mask=at < n)
    b = tl.load(y + at, mask=at < n)
    tl.store(out + at, a + b, mask=at < n)


@triton.jit
def multiply(a, b, c, M, N, K, TILE: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)
    k = tl.arange(0, DEPTH)
    left = a + rows[:, None] * K + k[None, :]
    right = b + k[:, None] * N + columns[None, :]
    sum = tl.zeros((TILE, TILE), dtype=tl.float32)
    for _ in range(0, K, DEPTH):
        sum = tl.dot(tl.load(left), tl.load(right), sum)
        left += DEPTH
        right += DEPTH * N
    tl.store(c + rows[:, None] * N + columns[None, :], sum.to(tl.float16))


@triton.jit
def share(a, b, c, M, N, K, TILE: tl.constexpr, DEPTH: tl.constexpr):
    left = tl.make_tensor_descriptor(a, [M, K], [K, 1], [TILE, DEPTH])
    right = tl.make_tensor_descriptor(b, [N, K], [K, 1], [TILE, DEPTH])
    row, column = tl.program_id(0) * TILE, tl.program_id(1) * TILE
    sum = tl.zeros((TILE, TILE), dtype=tl.float32)
    for k in tl.range(0, K, DEPTH, warp_specialize=True):
        sum = tl.dot(left.load([row, k]), right.load([column, k]).T, sum)
    rows, columns = row + tl.arange(0, TILE), column + tl.arange(0, TILE)
    tl.store(c + rows[:, None] * N + columns[None, :], sum.to(tl.float16))


@triton.jit
def early(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if tl.program_id(0) > n:
        return
    tl.store(x + at, tl.load(x + at) + 1)


def say(kernel):
    print(kernel.name, kernel.asm["ttgir"].count("proton.record"), kernel.metadata.profile_scratch_size, "clock" in kernel.asm["ptx"])


def run_add():
    t = Tensor("fp32", 1 << 12)
    say(add[(2,)](t, t, t, 2048, BLOCK=1024))


def run_multiply():
    t = Tensor("fp16", 256, 256)
    say(multiply[(2, 2)](t, t, t, 256, 256, 256, TILE=128, DEPTH=64, num_warps=8))


def run_share():
    t = Tensor("fp16", 256, 256)
    triton.set_allocator(lambda size, alignment, stream: None)
    say(share[(2, 2)](t, t, t, 256, 256, 256, TILE=128, DEPTH=64, num_warps=4, num_stages=3))


def run_early():
    say(early[(2,)](Tensor("fp32", 1 << 12), 1, BLOCK=256))


def run_session(mode="default:optimizations=clock32"):
    import triton.profiler as proton

    session = proton.start("own", data="tree", backend="instrumentation", mode=mode)
    run_add()
    proton.finalize(session)


def run_beside():
    """One session looks inside, one beside it does not: the copy that is read of the first is not in front of the kernel in the other."""
    import triton.profiler as proton

    before = proton.start("before", backend="instrumentation")
    run_early()
    proton.finalize(before)
    inside = proton.start("inside", backend="instrumentation")
    beside = proton.start("beside")
    proton.deactivate(inside)
    proton.deactivate(beside)
    proton.activate()
    run_add()
    proton.finalize()


def run_modes():
    import triton.profiler as proton

    for mode in (
        "default:buffer_type=shared_mem",
        "mma:buffer_type=global:buffer_size=4096",
        proton.mode.Default(sampling_strategy="selective", sampling_options="0,2", buffer_size=1024),
        proton.mode.MMA(optimizations="clock32,time_shift,sched_stores,sched_barriers"),
        proton.mode.Default(sampling_strategy="selective", sampling_options="0,9"),
    ):
        run_session(mode)
        os.rename("own.hatchet", "%d.hatchet" % (len([f for f in os.listdir(".") if f[0].isdigit()])))


def run_package():
    import proton

    session = proton.start("own", backend="instrumentation", mode=proton.mode.Default(optimizations=[proton.mode.Optimize.CLOCK32]))
    run_add()
    proton.finalize(session)


def run_traced():
    import proton

    session = proton.start("own", data="trace", backend="instrumentation", mode="default:optimizations=clock32")
    run_add()
    proton.finalize(session)


def run_compiled():
    """As torch.compile does it, which runs kernels in a way of its own."""
    signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = triton.compiler.ASTSource(fn=add, signature=signature, constexprs={"BLOCK": 1024})
    say(triton.compile(source, target=triton.runtime.driver.active.get_current_target()))


def run_examples():
    """Those with scopes within kernels, as far as they go without a GPU: what they compute is looked at there."""
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "intra"))
    import example_dsl
    import example_override
    import triton.profiler as proton

    session = proton.start("own", data="tree", backend="instrumentation", mode="default:optimizations=clock32")
    v = Tensor("fp32", 1 << 12)
    say(example_dsl.vector_add[(4,)](v, v, v, 1 << 12, BLOCK=1024))
    say(example_override.vector_add[(4,)](v, v, v, 1 << 12, BLOCK=1024))
    a, b, c = (Tensor("fp16", *shape) for shape in ((256, 128), (128, 256), (256, 256)))
    tiles = example_dsl.tiles
    say(example_dsl.matmul[(2, 2)](tiles(a, [128, 64]), tiles(b, [64, 128]), tiles(c, [128, 128]), 128, WARPS=4, num_warps=4))
    proton.finalize(session)


def run_behind():
    """A session of the package, where Triton's layer has its own collector already."""
    import triton.profiler
    import triton.profiler.language
    import proton

    collector, layer = sys.modules["triton._C.libproton"], sys.modules["triton.profiler.profile"]
    theirs = collector.proton
    proton.hooks.InstrumentationHook.enable_host_buffer = False
    run_package()
    print("again Triton's own:", layer.libproton is theirs is collector.proton)
    triton.profiler.start("theirs", backend="instrumentation")
    proton.start("refused", backend="instrumentation")


if __name__ == "__main__":
    for what in sys.argv[1:]:
        globals()["run_" + what]()
