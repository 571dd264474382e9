# SPDX-License-Identifier: MIT
"""A matrix product in Triton that says what it is: its name, its operations, its bytes.

    proton record -o run.hatchet python3 triton_matmul.py && proton report --flat run.hatchet

launch_metadata is called at each launch while somebody profiles; what it returns becomes the kernel's name and
its metrics. So one kernel shows as one row a shape, each with its share of what the device could do. The
profiler is Triton's own API: under `proton` it is answered by this profiler.
"""
import argparse

import torch
import triton
import triton.language as tl
import triton.profiler


def describe(grid, metadata, arguments):
    m, n, k = arguments["M"], arguments["N"], arguments["K"]
    return {
        "name": "matmul_%dx%dx%d" % (m, n, k),
        "flops16": 2.0 * m * n * k,
        "bytes": 2 * (m * k + k * n + m * n),
    }


@triton.jit(launch_metadata=describe)
def matmul(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    inner = tl.arange(0, BLOCK_K)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        at = start + inner
        left = tl.load(a + rows[:, None] * K + at[None, :])
        right = tl.load(b + at[:, None] * N + columns[None, :])
        total += tl.dot(left, right)
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16))


def multiply(a, b):
    (m, k), n = a.shape, b.shape[1]
    c = torch.empty((m, n), device=a.device, dtype=torch.float16)
    # Sizes are multiples of the blocks: nothing is masked.
    matmul[(m // 128, n // 128)](a, b, c, m, n, k, 128, 128, 64, num_warps=8)
    return c


def check(size):
    a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
    wrong = (multiply(a, b).double() - a.double() @ b.double()).norm() / (a.double() @ b.double()).norm()
    assert wrong < 1e-3, "the product of %d is off by %g" % (size, wrong)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=50)
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("this needs a GPU: Triton has no other")
    check(512)
    session = triton.profiler.start("triton_matmul", hook="triton")
    for size in (512, 1024, 2048, 4096):
        a, b = (torch.randn(size, size, device="cuda", dtype=torch.float16) for _ in range(2))
        with triton.profiler.scope("size_%d" % size):
            for _ in range(options.times):
                multiply(a, b)
    triton.profiler.finalize()
    print("%d products of each size" % options.times)
