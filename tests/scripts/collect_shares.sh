#!/bin/bash
# SPDX-License-Identifier: MIT
# Kernels within CUDA graphs that are recorded whole, by the shares of a run by nodes (--graph-shares): what is joined,
# that it is marked everywhere, that sums stay, and which files are refused.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_shares
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
export MOCK_CUPTI_IN_ORDER=1
run() { # HOW OPTIONS…
	timeout 300 "$PROTON" record -q "${@:2}" -- "$app" "$libs/libcuda.so.1" "$1" >out 2>err
}

# Paths with their numbers; the sum of each number.
tree() {
	"$PROTON" export -f json "$@" | python3 -c '
import json, sys
p, path, sums = json.load(sys.stdin), {}, {}
names = {"time (ns)": "time", "estimated (ns)": "estimated", "estimated_runs": "runs", "count": "count", "graph_launches": "launches"}
for n in p["nodes"]:
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), n["name"] if n["parent"] is not None else "")))
    m = {names[k]: v for k, v in n["metrics"].items() if k in names and v}
    for k in m:
        sums[k] = sums.get(k, 0) + m[k]
    if m:
        print(path[n["id"]], *("%s=%g" % (k, m[k]) for k in sorted(m)))
print("sums", *("%s=%d" % (k, sums[k]) for k in sorted(sums)))'
}
# What of the tree is below a path.
below() { grep "^$1/" "$2" | sed "s#^$1/##" | LC_ALL=C sort | tr '\n' '|'; }

like() { # WHAT EXPRESSION FILE
	if grep -qE -- "$2" "$3"; then echo "ok: $1"; else echo "FAILED: $1: nothing like '$2' in:"; cat "$3"; n_failed=$((n_failed + 1)); fi
}

run nodes --graphs nodes -o nodes.hatchet
check "by nodes: status" 0 $?
tree nodes.hatchet >nodes
check "by nodes: how often graphs were launched stands where they were captured" \
	"built/<captured_at>/hand launches=6|changed/<captured_at>/set before launches=3|decode/<captured_at>/sizes launches=8|either/<captured_at>/either launches=2|either/<captured_at>/either/<form 2> launches=2|grids/<captured_at>/grids launches=5|grids/<captured_at>/grids/<form 2> launches=5|mixed/<captured_at>/mixed launches=6|mixed/<captured_at>/mixed/<form 2> launches=6|other size/<captured_at>/resized launches=10|replay/<captured_at>/model launches=10|" \
	"$(grep launches= nodes | grep -v '^sums\|^updated\|changed>' | sort | tr '\n' '|')"
check "by nodes: kernels of another form stand below it" \
	"<form 2> launches=6|<form 2>/c count=6 time=6000|<form 2>/d count=6 time=18000|a count=6 time=6000|b count=6 time=6000|" \
	"$(below 'mixed/<captured_at>/mixed' nodes)"
check "by nodes: grids are forms" "<form 2>/attention count=5 time=40000|attention count=5 time=5000|" \
	"$(below 'grids/<captured_at>/grids' nodes | tr '|' '\n' | grep attention | tr '\n' '|')"
check "by nodes: by hand, one form, for kernels are not known" "0" "$(grep '^built' nodes | grep -c '<form')"
# Each kernel that ran, wherever its record found the graph before and after a change.
# Each that ran, wherever its record found the graph: before a change or after it.
check "by nodes: graphs that are changed" "a=6 b=6 c=4 d=4 launches=10" "$(grep '^updated' nodes | python3 -c '
import collections, re, sys
n = collections.Counter()
for line in sys.stdin:
    path, number = re.match("(.*) (?:count|launches)=([0-9]+)", line).groups()
    n[path.split("/")[-1] if "count=" in line else "launches"] += int(number)
print(*("%s=%d" % i for i in sorted(n.items())))')"
run whole --graphs whole -o whole.hatchet
check "whole: status" 0 $?
tree whole.hatchet >whole

# Shares of 29, 7, 24 and 5 of 65 parts; 7 launches of 20,001 ns.
model='layer 0/gemm estimated=62464 runs=7 time=62464|layer 0/relu estimated=15078 runs=7 time=15078|layer 1/gemm estimated=51695 runs=14 time=51695|layer 1/memcpy ? estimated=10770 runs=7 time=10770|'
joined() { # WHAT FILE
	at='<captured_at>/model/<graph: 4 kernels, 1 copy>'
	check "$1: shares" "$model" "$(below "replay/$at/<estimated>" "$2" )"
	check "$1: the graph keeps the rest" "replay/$at count=7" "$(grep "^replay/$at [a-z]" "$2")"
	check "$1: launched from elsewhere" "layer 0/gemm estimated=1338 runs=3 time=1338" \
		"$(grep "^elsewhere/.*layer 0/gemm" "$2" | sed 's,.*<estimated>/,,')"
	check "$1: graphs of the same kernels share a place" "attention estimated=3003 runs=8 time=3003|mlp estimated=9009 runs=8 time=9009|" \
		"$(below 'decode/<captured_at>/sizes/<graph: 2 kernels>/<estimated>' "$2")"
	check "$1: graphs of one place are told apart by their form" \
		"<graph 2: 2 kernels>/<estimated>/a estimated=6000 runs=6 time=6000|<graph 2: 2 kernels>/<estimated>/b estimated=6000 runs=6 time=6000|<graph: 2 kernels>/<estimated>/c estimated=3000 runs=6 time=3000|<graph: 2 kernels>/<estimated>/d estimated=9000 runs=6 time=9000|" \
		"$(below 'mixed/<captured_at>/mixed' "$2" | tr '|' '\n' | grep estimated= | tr '\n' '|')"
	check "$1: captured in one run and added by hand in the other" \
		"a estimated=1000 runs=2 time=1000|b estimated=3000 runs=2 time=3000|c estimated=1000 runs=2 time=1000|d estimated=3000 runs=2 time=3000|" \
		"$(below 'either/<captured_at>/either' "$2" | tr '|' '\n' | sed -n 's,.*<estimated>/,,p' | sort | tr '\n' '|')"
	check "$1: with the same grids alone" \
		"<graph 2: 2 kernels> count=5|<graph 2: 2 kernels>/<estimated>/attention estimated=7500 runs=5 time=7500|<graph 2: 2 kernels>/<estimated>/mlp estimated=7500 runs=5 time=7500|<graph: 2 kernels> count=5 time=15000|" \
		"$(below 'grids/<captured_at>/grids' "$2")"
	check "$1: what does not fit stays whole" "built/<captured_at>/hand/<graph: 2 kernels> count=6 time=12000|grids/<captured_at>/grids/<graph: 2 kernels> count=5 time=15000|new/<captured_at>/only whole/<graph: 1 kernel> count=2 time=6000|other size/<captured_at>/resized/<graph: 2 kernels> count=10 time=40000|" \
		"$(grep '<graph' "$2" | grep -v 'estimated\|^updated\|changed>' | grep time= | sort | tr '\n' '|')"
	check "$1: sums stay" "$(grep ^sums whole)" "$(grep ^sums "$2" | sed 's/ estimated=[0-9]*//; s/ runs=[0-9]*//')"
}
tree --graph-shares nodes.hatchet whole.hatchet >saved
joined "saved" saved

"$PROTON" report --graph-shares nodes.hatchet whole.hatchet >report
like "report: marked in the tree" ' ~ <estimated>$' report
has "report: and kernels below" '~ gemm' report
like "report: among the kernels" '^ .*  ~ relu$' report
check "report: what was measured is not" "" "$(grep -E '~ (<graph|replay|model|new)' report)"
has "report: what the mark means" '(~ not measured: shares of whole CUDA graphs)' report
like "report: a note" "times below <estimated> are no measurements.*'nodes.hatchet'" report
has "report: another number of nodes" "<graph: 2 kernels> in 'resized' stays whole: graphs captured there hold other nodes in 'nodes.hatchet': 4 kernels" report
has "report: a graph that is not there" "<graph: 1 kernel> in 'only whole' stays whole: 'nodes.hatchet' has no nodes" report
like "report: graphs that are not told apart" "<graph: 2 kernels> in 'hand' stays whole: .* does not tell several graphs apart" report
like "report: another form" "<graph: 2 kernels> in 'grids' stays whole: graphs captured there run other kernels, or with other grids, in 'nodes.hatchet'" report
like "report: some nodes are switched off" "<graph changed> in 'off' stays whole: it is not known what it holds" report
like "report: how much is divided" "'nodes.hatchet' divides [0-9]* of [0-9]* rows of whole CUDA graphs: [0-9.]* % of what they took" report
check "report: a mean is of the executions that are estimated, too" "1.27us" \
	"$("$PROTON" report --flat --graph-shares nodes.hatchet whole.hatchet -m time,avg | awk '/~ mlp/ {print $2}')"
for view in bottom-up flame callers=relu; do
	"$PROTON" report --view $view --graph-shares nodes.hatchet whole.hatchet >view
	like "report: marked in $view" '~ .*relu' view
	has "report: $view says what that means" '(~ not measured' view
done
check "report: callers of what is estimated have shares" 1 "$(grep -c '~ .*layer 0' view)"
COLUMNS=120 "$PROTON" view --graph-shares nodes.hatchet whole.hatchet >view
has "view as text" '~ gemm' view

"$PROTON" export -f csv --graph-shares nodes.hatchet whole.hatchet >csv
has "csv: a column" 'estimated (ns)' csv
has "csv: a path that says it" '<estimated>' csv
"$PROTON" export -f flamegraph --graph-shares nodes.hatchet whole.hatchet >svg
has "flame graph: marked" '<title>~ gemm: ' svg
check "flame graph: for its script, too" 1 "$(grep -cx '~ gemm' svg)"
check "flame graph: what was measured is not" 0 "$(grep -c '<title>~ replay' svg)"
for format in folded pprof hatchet; do
	"$PROTON" export -f $format --graph-shares nodes.hatchet whole.hatchet -o out.$format
	check "$format: status" 0 $?
	has "$format: a path that says it" '<estimated>' <(gunzip -cf out.$format)
done
tree out.hatchet >again
check "a joined file keeps all of it" "$(sort saved)" "$(sort again)"
tree --graph-shares nodes.hatchet out.hatchet >again
check "joined twice is joined once" "$(sort saved)" "$(sort again)"
"$PROTON" report out.hatchet >report
has "a joined file is marked" '~ gemm' report
"$PROTON" export -f json --compact --graph-shares nodes.hatchet whole.hatchet >json
has "json: a metric beside the time" '"estimated (ns)":62464' json

run whole --graph-shares nodes.hatchet -o live.hatchet
check "recorded: status, and whole by itself" "0" $?
tree live.hatchet >live
joined "recorded" live
timeout 300 "$PROTON" top --batch 0 --graph-shares nodes.hatchet -o top.hatchet -- "$app" "$libs/libcuda.so.1" whole >out 2>err
check "top: status" 0 $?
has "top: marked" '~ gemm' out
tree top.hatchet >top
joined "top" top
"$PROTON" record -q --graphs whole --forward - -o one.hatchet -- "$app" "$libs/libcuda.so.1" whole 2>err |
	"$PROTON" top --batch 0 --graph-shares nodes.hatchet -o forwarded.hatchet - >out 2>>err
tree forwarded.hatchet >forwarded
joined "forwarded" forwarded
run whole --graph-shares nodes.hatchet --tape tape -o live.hatchet
tree --graph-shares nodes.hatchet tape >live
joined "a tape" live

# ---- compared with a run by nodes ----
"$PROTON" diff nodes.hatchet whole.hatchet >diff
has "a comparison says that graphs were recorded in two ways" "CUDA graphs were recorded by their nodes in one and whole in the other" diff
check "and shows no kernel of one as gone, nor a graph as new" "" "$(grep -E 'relu|<graph|layer 0|mlp' diff)"
check "but what graphs took" "650us 140us changed" \
	"$(awk '/replay .*<captured_at>$/ {print $1, $2, $5}' diff)"
"$PROTON" diff --format json nodes.hatchet whole.hatchet >diff
has "as JSON" '"graphs": "by nodes and whole"' diff
cat nodes.hatchet | "$PROTON" diff - whole.hatchet >diff
has "from standard input" "recorded by their nodes in one" diff
"$PROTON" diff whole.hatchet live.hatchet >diff
hasnt "whole ones are compared as they are" "recorded by their nodes" diff
"$PROTON" diff nodes.hatchet nodes.hatchet >diff
hasnt "nodes are compared as they are" "recorded by their nodes" diff
"$PROTON" diff --flat nodes.hatchet live.hatchet >diff
has "kernels that were estimated are compared by name" "relu" diff

# ---- wrong files ----
printf '\200\005\225\020\0\0\0\0\0\0\0}' >annotations.pkl
: >empty
head -c 1000 nodes.hatchet >torn
echo '[{"frame": {"name": "ROOT"}, "children": [], "metrics": {}}, {}]' >none.hatchet
refused() { # WHAT FILE SENTENCE
	timeout 300 "$PROTON" report --graph-shares "$2" whole.hatchet >out 2>err
	check "$1: refused" 1 $?
	like "$1: why" "$3" err
	check "$1: nothing is printed" "" "$(cat out)"
	touch began
	timeout 300 "$PROTON" record --graph-shares "$2" -o never.hatchet -- rm began >out 2>err
	check "$1: not recorded with" 125 $?
	check "$1: before the run" "began, no file" "$([ -e began ] && echo began), $([ -e never.hatchet ] || echo no file)"
	like "$1: why, there" "$3" err
}
refused "a file that is not there" missing "missing: No such file"
refused "an empty file" empty "^proton: .*empty: the file is empty"
refused "a torn file" torn "^proton: .*torn: truncated"
refused "a pickle" annotations.pkl "a pickle of Python: to read one is to run what is in it"
mkfifo fifo
mkdir folder
truncate -s 1T huge
ln -sf loop loop
head -c 3000 /dev/zero | tr '\0' '[' >deep
refused "a FIFO" fifo "fifo: a pipe or a device: shares of graphs are read from a file"
refused "a device" /dev/zero "/dev/zero: a pipe or a device"
refused "a folder" folder "folder: Is a directory"
refused "a huge file" huge "huge: no format that is read"
refused "a link to itself" loop "loop: Too many levels"
refused "a file of another kind" deep "deep: "
timeout 60 "$PROTON" record --graph-shares - -o never.hatchet -- true <nodes.hatchet >out 2>err
check "standard input, of the program: refused" 125 $?
has "standard input, of the program: why" "-: standard input is the program's" err
"$PROTON" report --graph-shares - whole.hatchet <nodes.hatchet >report
has "standard input of a report" '~ gemm' report
refused "a file without graphs" none.hatchet "none.hatchet: has no times of nodes of CUDA graphs: 'proton record --graphs nodes' makes"
refused "a file of whole graphs" whole.hatchet "whole.hatchet: has no times of nodes of CUDA graphs"
"$PROTON" record --graphs nodes --graph-shares nodes.hatchet -- true >out 2>err
check "with --graphs nodes" 2 $?
has "with --graphs nodes: why" "for graphs that are recorded whole, not for --graphs nodes" err
"$PROTON" report --graph-shares nodes.hatchet nodes.hatchet >report
check "a profile by nodes: status" 0 $?
has "a profile by nodes is joined with nothing" "no CUDA graph was recorded whole: 'nodes.hatchet' is joined with nothing" report
check "a profile by nodes stays as it is" "$(sort nodes)" "$(tree --graph-shares nodes.hatchet nodes.hatchet | sort)"
finish
