# SPDX-License-Identifier: MIT
"""llnl-hatchet for our scripts: `from find_hatchet import hatchet`, an ImportError where it is missing.

A plain `import hatchet` never fails in a script of this folder: Python takes our folder of profiles,
tests/hatchet, for a package without files (a namespace)."""
import hatchet

if getattr(hatchet, "__file__", None) is None:
    raise ModuleNotFoundError("No module named 'hatchet' (pip install llnl-hatchet)", name="hatchet")
