# SPDX-License-Identifier: MIT
"""Profile the GPU work of Python programs with `proton`."""
