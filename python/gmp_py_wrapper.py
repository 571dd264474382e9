# SPDX-License-Identifier: MIT
"""GMP's compiled module under the name that programs import: numbers where gmp_python has words.
proton.gmp says what it does."""
import enum

from proton import gmp

__all__ = [
    "GmpOutputKernelReduction",
    "GmpProfileType",
    "GmpProfiler",
    "GmpResult",
    "MEMORY_KIND_DEVICE",
    "MEMORY_KIND_MANAGED",
    "MEMORY_KIND_PINNED",
    "MEMORY_OP_ALLOCATION",
    "MEMORY_OP_RELEASE",
]


class GmpResult(enum.IntEnum):
    SUCCESS = 0
    WARNING = 1
    ERROR = 2


class GmpProfileType(enum.IntEnum):
    CONCURRENT_KERNEL = 0
    MEMORY = 1


class GmpOutputKernelReduction(enum.IntEnum):
    SUM = 0
    MAX = 1
    MEAN = 2


class GmpProfiler(gmp.GmpProfiler):
    """As gmp.GmpProfiler, but that ends of ranges say how they went."""

    def push_range(self, name, profile_type=0):
        super().push_range(name, profile_type)
        return GmpResult.SUCCESS

    def pop_range(self, name, profile_type=0):
        super().pop_range(name, profile_type)
        return GmpResult.SUCCESS


# CUPTI's numbers.
MEMORY_OP_ALLOCATION, MEMORY_OP_RELEASE = 1, 2
MEMORY_KIND_DEVICE, MEMORY_KIND_MANAGED, MEMORY_KIND_PINNED = 3, 5, 2
