# SPDX-License-Identifier: MIT
"""A kernel without a word about profiling, into whose code in Triton's GPU dialect records are put.

In one step, of a program that is started as ever:

    proton record --intra=ttgir:func,ld,st -- python3 example_override.py --unprofiled

In three, with the code in files that can be looked at and changed by hand:

    proton kernel dump --stage ttgir -o ttgir_dump -- python3 example_override.py --increase-accuracy
    proton kernel insert --rules func,ld,st ttgir_dump
    TRITON_ALWAYS_COMPILE=1 TRITON_KERNEL_OVERRIDE=1 TRITON_OVERRIDE_DIR=ttgir_dump \\
        python3 example_override.py --increase-accuracy

Wants PyTorch and Triton 3.6 or later.
"""
import argparse

import torch
import triton
import triton.language as tl
import triton.profiler as proton


@triton.jit
def vector_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    a = tl.load(x + at, mask=inside)
    b = tl.load(y + at, mask=inside)
    tl.store(out + at, a + b, mask=inside)


def run(n=1 << 20, block=1024):
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    out = torch.empty_like(x)
    vector_add[(triton.cdiv(n, block),)](x, y, out, n, BLOCK=block)
    if not torch.equal(out, x + y):
        raise SystemExit("the sum is wrong")


def parse_arguments():
    parser = argparse.ArgumentParser(description="Scopes put into a kernel that has none")
    parser.add_argument("--op-measure", action="store_true", help="add up cycles by scope (default: a timeline)")
    parser.add_argument("--increase-accuracy", action="store_true",
                        help="clocks of 32 bits, and what records cost taken out")
    parser.add_argument("--unprofiled", action="store_true", help="leave profiling to who started this")
    return parser.parse_args()


def main():
    options = parse_arguments()
    if options.unprofiled:
        run()
        return
    mode = proton.mode.Default(optimizations="clock32,time_shift" if options.increase_accuracy else "")
    proton.start("vector-add", data="tree" if options.op_measure else "trace", backend="instrumentation", mode=mode)
    run()
    proton.finalize()


if __name__ == "__main__":
    main()
