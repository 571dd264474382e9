# SPDX-License-Identifier: MIT
# cython: language_level=3
# cython: linetrace=True
# cython: binding=True
"""Compiled functions that call back, raise, yield and run without the interpreter's lock."""
from libc.stdlib cimport malloc, free


def apply(function, int n):
    found = []
    for i in range(n):
        found.append(function(i))
    return found


def walk(int n):
    for i in range(n):
        yield i * i


cdef double add(int n) noexcept nogil:
    cdef double total = 0
    cdef double *p
    for i in range(n):
        p = <double *>malloc(64)
        p[0] = i
        total += p[0]
        free(p)
    return total


def without_lock(int n):
    with nogil:
        total = add(n)
    return total


cdef class Held:
    cdef object value

    def __init__(self, value):
        self.value = value

    def fail(self):
        raise LookupError(self.value)

    async def later(self):
        return self.value
