#!/bin/bash
# SPDX-License-Identifier: MIT
# The timeline of traces that other tools recorded, on a real terminal (tmux): search, the next match and the one before,
# from a range of the host to its work and back.
tests=$(cd "${srcdir:-.}" && pwd)/tests
. "${srcdir:-.}/tests/tools/cli_window.sh"
gunzip -c "$tests/databases/nsys-2025.3-torch.sqlite.gz" >nsys.sqlite

# ---- PyTorch's profiler, in Chrome's format
window 140x40 "$PROTON view --view timeline $tests/chrome/torch.json"
see "chrome: the timeline" "stream 7"
keys / nobody Enter; see "chrome: not found" "is not in Timeline"
keys / gemm Enter; see "chrome: found" " 31.250us  took 8.13us"
keys n; see "chrome: the next" " 121.000us  took 10.0us"
keys n; see "chrome: from the beginning" " 31.250us  took 8.13us"
keys N; see "chrome: the one before" " 121.000us  took 10.0us"
keys u; see "chrome: who launched it" "111.000us  took 30.0us  launches first after 5.00us  MmBackward0"
keys L; see "chrome: and back" " 121.000us  took 10.0us"
keys q; window_close

# ---- Nsight Systems
window 140x40 "$PROTON view --view timeline nsys.sqlite"
see "nsys: the timeline" "stream 7"
keys / softmax Enter; see "nsys: found" " 354.409464ms  took 39.0us"
keys n; see "nsys: the next" " 371.268785ms  took 38.8us"
keys N; see "nsys: the one before" " 354.409464ms  took 39.0us"
keys u; see "nsys: who launched it" "287.202137ms  took 83.2ms  launches first after 133us  iter 0"
keys L; see "nsys: its first work" " 287.360820ms  took 342us"
keys q; window_close
finish
