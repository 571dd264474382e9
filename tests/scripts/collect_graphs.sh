#!/bin/bash
# SPDX-License-Identifier: MIT
# What a program says of launches that it captures into a CUDA graph counts each time the graph runs, and not
# when it is captured.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_graphs
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so

timeout 120 "$PROTON" record -q -o run.hatchet -- "$app" "$libs/libcuda.so.1" >out 2>err
check "status" 0 $?
"$PROTON" export -f json run.hatchet | python3 -c '
import json, sys
p, path = json.load(sys.stdin), {}
for n in p["nodes"]:
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), n["name"] if n["parent"] is not None else "")))
    m = {k: v for k, v in n["metrics"].items() if k in ("count", "flops", "bytes") and v}
    if m:
        print(path[n["id"]], *("%s=%g" % (k, m[k]) for k in sorted(m)))
print([k for k, v in p["losses"].items() if v and k not in ("pipe_full", "intervals", "wire_gaps")])' >tree
check "five times all of it, where it runs" "replay/matmul 64 bytes=160 count=10 flops=320|replay/plain count=5|[]|" "$(sort tree | grep -v '^\[' | tr '\n' '|')$(grep '^\[' tree)|"
finish
