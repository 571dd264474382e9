#!/bin/bash
# SPDX-License-Identifier: MIT
# CUDA graphs as a whole (--graphs whole) and by node: what is counted, where it stands, and what is told of it.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_whole
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
# Graphs that read alike are numbered in the order of their first records, which buffers that come at once do not have.
export MOCK_CUPTI_IN_ORDER=1

# Paths with their numbers, and losses.
tree() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
p, path = json.load(sys.stdin), {}
for n in p["nodes"]:
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), n["name"] if n["parent"] is not None else "")))
    names = ("count", "graph_nodes", "graph_kernels", "rows", "flops")
    m = {k: v for k, v in n["metrics"].items() if k in names and v}
    if m:
        print(path[n["id"]], *("%s=%g" % (k, m[k]) for k in sorted(m)))
print("kinds", *sorted({n["kind"] for n in p["nodes"] if "graph:" in n["name"]}))
print("losses", *("%s=%d" % (k, v) for k, v in sorted(p["losses"].items())
                  if v and k not in ("pipe_full", "intervals", "wire_gaps")))'
}

timeout 300 "$PROTON" record --graphs whole -o whole.hatchet -- "$app" "$libs/libcuda.so.1" 1100000 >out 2>err
check "status" 0 $?
tree whole.hatchet >whole
at='<captured_at>/model'
check "a launch is one, below where it was captured" \
	"replay/$at/<graph: 2 kernels, 1 copy> count=5 graph_kernels=10 graph_nodes=15" "$(grep '^replay.*<graph' whole)"
check "what was said in the capture counts each time" "replay/$at/layer 0 rows=15|replay/$at/layer 1 flops=40|" \
	"$(grep '^replay' whole | grep -v '<graph' | sort | tr '\n' '|')"
check "made executable twice, the original gone" \
	"twice/$at/<graph: 2 kernels, 1 copy> count=4 graph_kernels=8 graph_nodes=12" "$(grep '^twice.*<graph' whole)"
check "by hand, a node less, and one that is a graph" \
	"built/<captured_at>/hand/<graph: 3 kernels, 1 graph, 1 other> count=3 graph_kernels=9 graph_nodes=9" \
	"$(grep '^built' whole)"
check "as many kernels with other grids are another graph" \
	"sizes/<captured_at>/capture/<graph 2: 2 kernels> count=16 graph_kernels=32 graph_nodes=32|sizes/<captured_at>/capture/<graph 3: 2 kernels> count=64 graph_kernels=128 graph_nodes=128|sizes/<captured_at>/capture/<graph: 2 kernels> count=2 graph_kernels=4 graph_nodes=4|" \
	"$(grep '^sizes' whole | sort | tr '\n' '|')"
check "made before anybody looked" "before us/<graph> count=2" "$(grep '^before us' whole)"
updated='updated/<captured_at>'
check "updated: what it runs is where that was captured" \
	"$updated/another rows=60|$updated/another/<graph: 2 kernels> count=6 graph_kernels=12 graph_nodes=12|$updated/one rows=2|$updated/one/<graph: 2 kernels> count=2 graph_kernels=4 graph_nodes=4|" \
	"$(grep '^updated' whole | sort | tr '\n' '|')"
check "updated once more" "again $updated/a third/<graph: 2 kernels> count=2 graph_kernels=4 graph_nodes=4" \
	"$(grep '^again updated.*<graph' whole)"
check "updated, and nobody tells of nodes" \
	"untold/<captured_at>/a third/<graph changed: 2 kernels> count=2 graph_kernels=4 graph_nodes=4" \
	"$(grep '^untold.*<graph' whole)"
for place in here there; do
	check "launched by a kernel that was launched $place" \
		"$place/<captured_at>/inner/<graph: 2 kernels> count=1 graph_kernels=2 graph_nodes=2|$place/<captured_at>/outer/<graph: 2 kernels> count=1 graph_kernels=2 graph_nodes=2|" \
		"$(grep "^$place" whole | sort | tr '\n' '|')"
done
check "a graph that is gone when its record comes" \
	"late/<captured_at>/<graph: 2 kernels> count=1 graph_kernels=2 graph_nodes=2" "$(grep '^late' whole)"
check "graphs that come and go share a row" \
	"many/<captured_at>/again/<graph: 2 kernels> count=40000 graph_kernels=80000 graph_nodes=80000" \
	"$(grep '^many' whole)"
check "a million replays" "long/$at/<graph: 2 kernels, 1 copy> count=1.1e+06 graph_kernels=2.2e+06 graph_nodes=3.3e+06" \
	"$(grep '^long.*<graph' whole)"
check "no memory is taken by them" 1 "$(awk '/^grown/ {print $2 < 2048}' out)"
check "bad times are counted and not summed" "" "$(grep '^bad' whole)"
check "what is lost" "losses early_timestamps=2 reversed_timestamps=1 zero_timestamps=1" "$(grep '^losses' whole)"
check "of a kind of its own" "kinds graph_run" "$(grep '^kinds' whole)"
check "others are as ever" "outside count=1" "$(grep '^outside' whole)"
# Beside steps, of which these copies are in none.
timeout 120 "$PROTON" record -o steps.hatchet -- "$(dirname "$app")/collect_steps" grows 41 "$libs/libcuda.so.1" >out 2>err
"$PROTON" merge -o both.hatchet steps.hatchet whole.hatchet
missing="copies within graphs recorded whole are not counted"
has "bytes of steps lack copies in graphs: told" "Bytes: $missing (--graphs nodes)" <("$PROTON" report --view steps both.hatchet)
has "… in a finding of them" "at most; $missing" <("$PROTON" advise --width 300 both.hatchet)
hasnt "… not where there are none" "$missing" <("$PROTON" report --view steps,findings steps.hatchet)
sed 's/, 1 copy//; s/<graph>/<graph: 1 kernel>/' whole.hatchet >pure.hatchet
"$PROTON" merge -o both.hatchet steps.hatchet pure.hatchet
hasnt "… nor where graphs hold no copies" "$missing" <("$PROTON" report --view steps both.hatchet)
"$PROTON" report whole.hatchet >report
has "a report says what is lost" "records with a start before the launch" report
check "nodes that are gone leave their places" 0 "$(grep -c "more nodes than are kept" report)"
"$PROTON" report --view kernels whole.hatchet >kernels
has "graphs are among the kernels" "<graph: 2 kernels, 1 copy>" kernels
"$PROTON" export -f csv whole.hatchet >csv
has "csv has what they hold" "graph_kernels" csv
"$PROTON" export -f hatchet whole.hatchet -o again.hatchet
check "a file keeps it" "$(grep -v '^losses' whole)" "$(tree again.hatchet | grep -v '^losses')"

timeout 300 "$PROTON" record -q --trace --graphs whole -o traced.hatchet -- "$app" "$libs/libcuda.so.1" >out 2>err
"$PROTON" export -f chrome -o traced.json traced.hatchet
check "a trace brings them back as what they are" "kinds graph_run" "$(tree traced.json | grep '^kinds')"

timeout 300 "$PROTON" record -q --graphs nodes -o nodes.hatchet -- "$app" "$libs/libcuda.so.1" 1100000 >out 2>err
check "by node: status" 0 $?
tree nodes.hatchet >nodes
check "by node: a million replays" "long/$at/layer 0/node count=1.1e+06 graph_nodes=1.1e+06" "$(grep '^long.*node ' nodes)"
check "by node: … count what was said of it" "long/$at/layer 0 rows=3.3e+06" "$(grep '^long.*rows' nodes)"
# Records of 20,000 nodes may be under way where the machine is busy: 4 MiB. Eight bytes a replay would be more than this.
check "by node: no memory is taken by them" 1 "$(awk '/^grown/ {print $2 < 8192}' out)"
check "by node: each that runs" "replay/node count=15 graph_nodes=15" "$(grep '^replay' nodes)"
check "by node: made before anybody looked" "before us/<graph>/node count=2 graph_nodes=2" "$(grep '^before us' nodes)"
"$PROTON" export -f hatchet nodes.hatchet -o again.hatchet
sed -i 's/"kind": *"[a-z_]*",*//g' again.hatchet
check "by node: a file without kinds keeps it" "graph" "$("$PROTON" export -f json again.hatchet | python3 -c '
import json, sys
print(*{n["kind"] for n in json.load(sys.stdin)["nodes"] if n["name"] == "<graph>"})')"
check "by node: updated" \
	"$updated/another rows=30|$updated/another/node count=6 graph_nodes=6|$updated/one rows=1|$updated/one/node count=2 graph_nodes=2|" \
	"$(grep '^updated' nodes | sort | tr '\n' '|')"
check "by node: updated, and nobody tells of nodes" \
	"untold/<captured_at>/a third/<form changed>/node count=2 graph_nodes=2" "$(grep '^untold.*node ' nodes)"
check "by node: bad times, too" "losses early_timestamps=2 reversed_timestamps=1 zero_timestamps=1" \
	"$(grep '^losses' nodes)"
check "by node: what is outside of graphs is not of them" "outside count=1" "$(grep '^outside' nodes)"

MOCK_CUPTI_GRAPHS=1 timeout 300 "$PROTON" record -q --graphs whole -o old.hatchet -- "$app" "$libs/libcuda.so.1" >out 2>err
check "an old CUPTI: status" 0 $?
check "an old CUPTI: by node" "replay/node count=15 graph_nodes=15" "$(tree old.hatchet | grep '^replay')"
has "an old CUPTI: why" "CUDA graphs are recorded by their nodes, not whole" <("$PROTON" report old.hatchet)

"$PROTON" record --graphs some -- true >out 2>err
check "another word is refused" 2 $?
finish
