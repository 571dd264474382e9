#!/bin/sh
# SPDX-License-Identifier: MIT
# 'proton viewer' beside Triton's proton-viewer, for its own example files.
set -eu
srcdir=${srcdir:-.}
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
exec python3 "$srcdir/tests/tools/compare_viewer.py" ./proton "$srcdir/tests/hatchet"
