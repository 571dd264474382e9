# SPDX-License-Identifier: MIT
"""Scopes that a kernel enters and leaves itself, in Triton's words for that (triton.profiler.language): a vector addition in
Triton's own language, and a matrix multiplication in Gluon for Hopper, whose tiles TMA copies and WGMMA multiplies.

    proton record -- python3 example_dsl.py --op-measure     cycles by scope, below each kernel
    proton record -- python3 example_dsl.py                  a timeline of single warps
    python3 example_dsl.py …                                 the same, by Triton's Proton alone

Wants PyTorch, Triton 3.6 or later, and a GPU of compute capability 9.0 for the second kernel.
"""
import argparse

import torch
import triton
import triton.language as tl
import triton.profiler as proton
import triton.profiler.language as pl
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.hopper import (
    fence_async_shared,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

# Triton's own language takes scopes once it is asked to: its compiler may move what is in them.
pl.enable_semantic("triton")


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    with pl.scope("kernel"):
        at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        inside = at < n
        with pl.scope("load"):
            a = tl.load(x + at, mask=inside)
            b = tl.load(y + at, mask=inside)
        tl.store(out + at, a + b, mask=inside)


@gluon.jit
def matmul(a, b, c, K, WARPS: gl.constexpr):
    M_TILE: gl.constexpr = c.block_type.shape[0]
    N_TILE: gl.constexpr = c.block_type.shape[1]
    K_TILE: gl.constexpr = a.block_type.shape[1]
    pl.enter_scope("kernel")
    m = gl.program_id(0) * M_TILE
    n = gl.program_id(1) * N_TILE
    a_tile = gl.allocate_shared_memory(a.dtype, a.block_type.shape, a.layout)
    b_tile = gl.allocate_shared_memory(b.dtype, b.block_type.shape, b.layout)
    arrived = gl.allocate_shared_memory(gl.int64, [1], mbarrier.MBarrierLayout())
    mbarrier.init(arrived, count=1)
    layout: gl.constexpr = gl.NVMMADistributedLayout(
        version=[3, 0], warps_per_cta=[WARPS, 1], instr_shape=[16, N_TILE, 16]
    )
    sum = gl.zeros((M_TILE, N_TILE), dtype=gl.float32, layout=layout)
    phase = 0
    for k in range(0, K, K_TILE):
        with pl.scope("tma"):
            mbarrier.expect(arrived, a.block_type.nbytes + b.block_type.nbytes)
            tma.async_copy_global_to_shared(a, [m, k], arrived, a_tile)
            tma.async_copy_global_to_shared(b, [k, n], arrived, b_tile)
            mbarrier.wait(arrived, phase=phase)
        with pl.scope("wgmma"):
            sum = warpgroup_mma(a_tile, b_tile, sum, is_async=True)
            sum = warpgroup_mma_wait(num_outstanding=0, deps=(sum,))
        phase ^= 1
    mbarrier.invalidate(arrived)
    with pl.scope("store"):
        c_tile = gl.allocate_shared_memory(c.dtype, c.block_type.shape, c.layout)
        c_tile.store(sum.to(c.dtype))
        fence_async_shared()
        tma.async_copy_shared_to_global(c, [m, n], c_tile)
        tma.store_wait(pendings=0)
    pl.exit_scope("kernel")


def run_vector_add(n=1 << 20, block=1024):
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    out = torch.empty_like(x)
    vector_add[(triton.cdiv(n, block),)](x, y, out, n, BLOCK=block)
    torch.testing.assert_close(out, x + y)


def tiles(tensor, shape):
    return TensorDescriptor.from_tensor(tensor, shape, gl.NVMMASharedLayout.get_default_for(shape, gl.float16))


def run_matmul(m=1024, n=1024, k=512, tile=(128, 128, 64), warps=4):
    a = torch.randn(m, k, device="cuda", dtype=torch.float16)
    b = torch.randn(k, n, device="cuda", dtype=torch.float16)
    c = torch.empty(m, n, device="cuda", dtype=torch.float16)
    m_tile, n_tile, k_tile = tile
    matmul[(m // m_tile, n // n_tile)](
        tiles(a, [m_tile, k_tile]), tiles(b, [k_tile, n_tile]), tiles(c, [m_tile, n_tile]), k,
        WARPS=warps, num_warps=warps,
    )
    torch.testing.assert_close(c, a @ b, atol=1e-1, rtol=1e-2)


def parse_arguments():
    parser = argparse.ArgumentParser(description="Scopes within kernels, in the words of Triton's Proton")
    parser.add_argument("--op-measure", action="store_true", help="add up cycles by scope (default: a timeline)")
    parser.add_argument("--warp-sampling", action="store_true", help="some warps record, not all")
    parser.add_argument("--warp-ids", default="0", metavar="IDS", help="… these, separated by commas (0)")
    parser.add_argument("--increase-accuracy", action="store_true",
                        help="clocks of 32 bits, and what records cost taken out")
    parser.add_argument("--gmem-buffer", "--gmem_buffer", action="store_true",
                        help="record into memory of the device, not into shared memory")
    return parser.parse_args()


def mode_of(options):
    return proton.mode.Default(
        optimizations="clock32,time_shift" if options.increase_accuracy else "",
        sampling_strategy="selective" if options.warp_sampling else "none",
        sampling_options=options.warp_ids if options.warp_sampling else "",
        buffer_type="global" if options.gmem_buffer else "shared",
    )


def main():
    options = parse_arguments()
    data = "tree" if options.op_measure else "trace"
    runs = [("vector-add", run_vector_add)]
    if torch.cuda.get_device_capability()[0] == 9:
        runs.append(("gluon_matmul", run_matmul))
    for name, run in runs:
        proton.start(name, data=data, backend="instrumentation", mode=mode_of(options))
        run()
        proton.finalize()


if __name__ == "__main__":
    main()
