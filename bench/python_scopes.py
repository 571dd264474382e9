#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a scope of the Python package costs, beside two calls of ctypes that do next to nothing.

    proton record -q -- python3 bench/python_scopes.py      # somebody profiles
    python3 bench/python_scopes.py                          # nobody does

Rounds are interleaved and short: the minimum is of one that nothing came between. ns, minimum and median.
"""
import ctypes
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import proton  # noqa: E402

ROUNDS, TIMES = 101, 2000
nothing = ctypes.CDLL("libc.so.6").gnu_get_libc_version  # returns the address of a constant


def two_calls(n):
    for _ in range(n):
        nothing()
        nothing()


def with_scope(n):
    for _ in range(n):
        with proton.scope("step"):
            pass


def enter_and_exit(n):
    for _ in range(n):
        proton.enter_scope("step")
        proton.exit_scope()


def with_metrics(n):
    metrics = {"bytes": 4096, "flops": 1e6}
    for _ in range(n):
        with proton.scope("step", metrics):
            pass


def loop(n):
    for _ in range(n):
        pass


def main():
    which = (loop, two_calls, with_scope, enter_and_exit, with_metrics)
    took = {f: [] for f in which}
    for f in which:
        f(1000)
    for _ in range(ROUNDS):
        for f in which:
            begin = time.perf_counter_ns()
            f(TIMES)
            took[f].append((time.perf_counter_ns() - begin) / TIMES)
    empty = min(took.pop(loop))
    base = [t - empty for t in took[two_calls]]
    for f, times in took.items():
        times = [t - empty for t in times]
        print(
            "%-15s %6.0f, %6.0f   %.2fx"
            % (f.__name__, min(times), statistics.median(times), min(times) / min(base))
        )


main()
