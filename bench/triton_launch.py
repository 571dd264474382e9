#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What scopes and hooked launches of Triton's Proton cost a script, without the launch itself:

    proton record -q --context scopes -- PYTHON bench/triton_launch.py     # our collector
    PYTHON bench/triton_launch.py                                          # Triton's own, on a GPU

PYTHON has Triton. `ours` is what of a hooked launch is in the functions that we answer for; the rest is Triton's
layer, the same in both. Rounds are interleaved; ns of the processor, minimum and median.
"""
import statistics
import time

import triton
import triton.profiler as proton
from triton._C.libproton import proton as collector
from triton.compiler import LazyDict

ROUNDS, TIMES = 7, 20000


def metadata():
    return {"name": "matmul 64", "flops16": 64.0, "bytes": 32}


def loop(n):
    for _ in range(n):
        pass


def scope(n):
    for _ in range(n):
        with proton.scope("step"):
            pass


def hooked(n):
    enter = triton.knobs.runtime.launch_enter_hook
    leave = triton.knobs.runtime.launch_exit_hook
    for _ in range(n):
        data = LazyDict({"name": "_matmul", "function": 0, "stream": 0})
        data.add(metadata, ())
        enter(data)
        leave(data)


def ours(n):
    c = collector
    values = {"flops16": 64.0, "bytes": 32}
    for _ in range(n):
        c.enter_state("__proton_launch_metadata")
        c.exit_state()
        i = c.record_scope()
        c.enter_op(i, "matmul 64")
        c.add_metrics(i, values)
        c.exit_op(i, "matmul 64")


def main():
    which = (loop, scope, hooked, ours)
    took = {f: [] for f in which}
    session = proton.start("bench", backend="cupti", hook="triton")
    for f in which:
        f(1000)
    for _ in range(ROUNDS):
        for f in which:
            begin = time.thread_time_ns()
            f(TIMES)
            took[f].append((time.thread_time_ns() - begin) / TIMES)
    empty = min(took.pop(loop))
    proton.finalize(session)
    for f, times in took.items():
        times = [t - empty for t in times]
        print("%-8s %6.0f, %6.0f" % (f.__name__, min(times), statistics.median(times)))


main()
