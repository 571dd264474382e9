# SPDX-License-Identifier: MIT
"""GMP's Python interface under the name that programs import; proton.gmp says what it does."""
from proton.gmp import *  # noqa: F401,F403
