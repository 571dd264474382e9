#!/bin/bash
# SPDX-License-Identifier: MIT
# What a program says of launches that it captures into a CUDA graph counts each time the graph runs, and not
# when it is captured.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_graphs
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
# Which number is of which run is known by the order of records, which buffers that come at once do not have.
export MOCK_CUPTI_IN_ORDER=1

timeout 120 "$PROTON" record -o run.hatchet -- "$app" "$libs/libcuda.so.1" >out 2>err
check "status" 0 $?
has "the summary says what busy has beside the time" "devices were busy with it, no time has it" err
"$PROTON" export -f json run.hatchet | python3 -c '
import json, sys
p, path = json.load(sys.stdin), {}
for n in p["nodes"]:
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), n["name"] if n["parent"] is not None else "")))
    names = ("count", "flops", "bytes", "rows", "columns", "last", "part[0]", "part[1]", "many 39")
    m = {k: v for k, v in n["metrics"].items() if k in names and v}
    if m:
        print(path[n["id"]], *("%s=%g" % (k, m[k]) for k in sorted(m)))
print([k for k, v in p["losses"].items() if v and k not in ("pipe_full", "intervals", "wire_gaps")])' >tree
check "nothing is lost" "[]" "$(grep '^\[' tree)"
check "five times all of it, where it runs and was captured" \
	"replay/<captured_at>/capture/matmul 64 bytes=160 count=10 flops=320|replay/<captured_at>/capture/plain count=5|" \
	"$(grep '^replay' tree | sort | tr '\n' '|')"
# The second of five runs, and the others: 1.5, 4.5, 6 and 7.5; 1, 3, 4 and 5.
numbers='<captured_at>/numbers'
check "what the graph computes, run by run" \
	"second/$numbers columns=5 last=2 many 39=1 part[0]=2 rows=3|second/$numbers/__proton_launch_metadata/<metric> count=3|second/$numbers/owner count=1 flops=3|" \
	"$(grep '^second' tree | sort | tr '\n' '|')"
check "and at another place" \
	"others/$numbers columns=20 last=5 many 39=4 part[0]=13 rows=12|others/$numbers/__proton_launch_metadata/<metric> count=12|others/$numbers/owner count=4 flops=19.5|" \
	"$(grep '^others' tree | sort | tr '\n' '|')"
check "numbers that were overwritten come with the next" \
	"late/$numbers columns=5 last=5 many 39=1 part[0]=10 rows=3|late/$numbers/owner count=1 flops=200|" \
	"$(grep '^late' tree | grep -v metadata | sort | tr '\n' '|')"
check "what is said outside counts once" " rows=1000" "$(grep 'rows=1000' tree)"
has "values below 0 are left out, with a note" "negative values left out" <("$PROTON" report run.hatchet)

hasnt "our own memory is not the program's" "alloc pinned" <("$PROTON" report -m live_bytes run.hatchet)

check "contexts that come and go: one note" 1 "$("$PROTON" report run.hatchet | grep -c "too many contexts")"

# As a whole the same numbers are those of the contexts of the capture.
MOCK_CUDA_WHOLE=1 timeout 120 "$PROTON" record -q --graphs whole -o whole.hatchet -- "$app" "$libs/libcuda.so.1" >out 2>err
check "whole: status" 0 $?
"$PROTON" export -f json whole.hatchet | python3 -c '
import json, sys
p, path = json.load(sys.stdin), {}
for n in p["nodes"]:
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), n["name"] if n["parent"] is not None else "")))
    names = ("count", "flops", "rows", "columns", "last", "part[0]", "many 39", "graph_kernels")
    m = {k: v for k, v in n["metrics"].items() if k in names and v}
    if m:
        print(path[n["id"]], *("%s=%g" % (k, m[k]) for k in sorted(m)))' >tree
check "whole: what the graph computes, run by run" \
	"second/$numbers columns=5 flops=3 last=2 many 39=1 part[0]=2 rows=3|second/$numbers/<graph: 4 kernels> count=1 graph_kernels=4|" \
	"$(grep '^second' tree | sort | tr '\n' '|')"
check "whole: and at another place" \
	"others/$numbers columns=20 flops=19.5 last=5 many 39=4 part[0]=13 rows=12|others/$numbers/<graph: 4 kernels> count=4 graph_kernels=16|" \
	"$(grep '^others' tree | sort | tr '\n' '|')"
check "whole: numbers that were overwritten come with the next" \
	"late/$numbers columns=5 flops=200 last=5 many 39=1 part[0]=10 rows=3|" \
	"$(grep '^late' tree | grep -v '<graph' | sort | tr '\n' '|')"

MANY_METRICS=1 MOCK_CUDA_NO_JIT=1 timeout 120 "$PROTON" record -q -o left.hatchet -- "$app" "$libs/libcuda.so.1" >out 2>err
check "without the kernel: status" 0 $?
has "without the kernel: why" "is left out while a graph is captured: the driver does not load" <("$PROTON" report left.hatchet)
has "more metrics than there is room for" "there are 320 metrics, and no room for more: 'one of many" <("$PROTON" report left.hatchet)
finish
