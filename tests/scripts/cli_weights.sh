#!/bin/bash
# SPDX-License-Identifier: MIT
# What stacks and pictures weigh by: the numbers that a report has, whatever the metric.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"

# tree FILE [NAME JSON]…: a Hatchet file of kernels side by side, with these metrics.
tree() {
	local out=$1 between="" name values; shift
	{
		printf '[{"frame": {"name": "ROOT", "type": "function"}, "metrics": {}, "children": ['
		while [ $# -gt 0 ]; do
			name=$1 values=$2; shift 2
			printf '%s{"frame": {"name": "%s", "type": "function"}, "metrics": %s, "children": []}' \
				"$between" "$name" "$values"
			between=,
		done
		printf ']}]\n'
	} >"$out"
}
# exported FORMAT METRIC FILE: what is in it, on one line.
exported() { "$PROTON" export -f "$1" -m "$2" "$3" 2>err | xargs -d '\n'; }

# Operations are those of all widths, as the column of the report has them.
tree widths.hatchet a '{"time (ns)": 100, "flops16": 5000}' b '{"time (ns)": 100, "flops8": 300}'
check "flops of two widths: report" 5300 \
	"$("$PROTON" report --tree -m flops widths.hatchet | awk '$2 == "ROOT" { print $1 }')"
check "flops of two widths: folded" "a 5000 b 300" "$(exported folded flops widths.hatchet)"
for format in callgrind speedscope dot flamegraph; do
	case $format in
	callgrind) want="summary: 5300" ;;
	speedscope) want='"endValue": 5300' ;;
	dot) want='label="ROOT\n5300 (' ;;
	flamegraph) want="ROOT: 5300 (" ;;
	esac
	"$PROTON" export -f $format -m flops widths.hatchet >out
	has "flops of two widths: $format" "$want" out
done
"$PROTON" merge --ranks -m flops widths.hatchet >out
has "flops of two widths: ranks" "5300    1.00  widths.hatchet" out
tree width.hatchet a '{"time (ns)": 100, "flops64": 7}'
"$PROTON" export -f callgrind -m flops width.hatchet >out
has "flops of one width: its name" "events: flops64" out
# Whole numbers are all that some formats have: fractions are counted in a power of ten, the same for
# all, which is said. Many small ones do not vanish, and sums are those of what is written.
many() { # many N VALUE: as many kernels with this value
	local i pairs=()
	for ((i = 0; i < $1; i++)); do pairs+=("k$i" "{\"my_time\": $2}"); done
	tree many.hatchet "${pairs[@]}"
}
added_up() { awk '{ n += $NF } END { printf "%.0f\n", n }'; }
whole() { # whole WHAT SCALE SUM FILE: each of the formats says the scale and has the sum
	"$PROTON" export -f folded -m my_time "$4" >out 2>err
	check "$1: folded" "$3" "$(added_up <out)"
	check "$1: folded: units" "${2:+proton: 'standard output' counts in units of $2: its numbers are whole}" \
		"$(cat err)"
	"$PROTON" export -f callgrind -m my_time "$4" >out 2>err
	has "$1: callgrind" "summary: $3" out
	check "$1: callgrind: its costs" "$3" "$(awk '/^calls=/ { getline; next } /^[0-9]/ { n += $2 }
		END { printf "%.0f\n", n }' out)"
	has "$1: callgrind: units" " : my_time${2:+, in units of $2}" out
	"$PROTON" export -f pprof -m my_time "$4" >out 2>err
	check "$1: pprof: units" yes "$(grep -aq "${2:+x}${2:-count}" out && echo yes)"
}
many 1000 0.00042; whole "many small ones" 1e-5 42000 many.hatchet
many 1000 0.5; whole "halves" 1e-1 5000 many.hatchet
many 10 3; whole "whole numbers" "" 30 many.hatchet
many 3 0.3333333333333333; whole "thirds" 1e-9 1000000000 many.hatchet
many 2 1e-30; whole "next to nothing" 1e-30 2 many.hatchet
tree mixed.hatchet a '{"my_time": 0.5}' b '{"my_time": 1000000000}'
whole "small and large" 1e-1 10000000005 mixed.hatchet
tree mixed.hatchet a '{"my_time": 1e-6}' b '{"my_time": 1e15}'
whole "what is nothing beside the rest" "" 1000000000000000 mixed.hatchet
tree mixed.hatchet a '{"my_time": 0.5}' b '{"my_time": 1e17}'
"$PROTON" export -f callgrind -m my_time mixed.hatchet >out
has "far apart: the sum is that of the costs" "summary: 100000000000000001" out
tree mixed.hatchet a '{"my_time": 9007199254740993}' b '{"my_time": 1}'
"$PROTON" export -f callgrind -m my_time mixed.hatchet >out
has "more digits than a double has" "summary: 9007199254740994" out
empty="is empty: there are no values of 'time (ns)' to weigh by (see 'proton export -m')"
"$PROTON" merge -o many.folded many.hatchet mixed.hatchet 2>err
check "merged: without a weight" "0 proton: 'many.folded' $empty" "$? $(cat err)"
# A metric without values is no weight, as it is nothing to compare.
stacks="folded callgrind pprof speedscope dot flamegraph"
for format in $stacks; do
	"$PROTON" export -f "$format" -m bytes widths.hatchet >out 2>err
	check "no values: $format" \
		"2 0 proton: no values of 'bytes' to weigh by (see 'proton list widths.hatchet')" \
		"$? $(stat -c %s out) $(cat err)"
done
tree memory.hatchet a '{"bytes": 7}'
for format in folded flamegraph speedscope dot; do
	"$PROTON" export -f "$format" memory.hatchet >out 2>err
	check "no values of the time: $format" \
		"0 proton: 'standard output' $empty" "$? $(cat err)"
done
"$PROTON" export -f csv -m bytes widths.hatchet >out 2>err; check "no values: csv" "0 " "$? $(cat err)"
tree zero.hatchet a '{"loss": 0}'
"$PROTON" export -f folded -m loss zero.hatchet >out 2>err; check "zeros are values" "0 " "$? $(cat err)"

# What is below nothing has no width: it is left out, and counted.
tree negative.hatchet a '{"loss": -3}' b '{"loss": 2}' c '{"loss": -0.5}' d '{"loss": 1e999}'
for format in $stacks; do
	"$PROTON" export -f "$format" -m loss negative.hatchet >out 2>err
	check "negative values: $format" \
		"0 proton: 'standard output' leaves out 3 values, which are below 0 or infinite" \
		"$? $(cat err)"
done
"$PROTON" export -f csv negative.hatchet >out 2>err; check "negative values: csv" "0 " "$? $(cat err)"
"$PROTON" merge -o negative.folded negative.hatchet widths.hatchet 2>err
check "negative values: not the weight" "0 " "$? $(cat err)"
# What a format cannot hold is said, and sums of whole numbers stop at the largest.
tree large.hatchet a '{"tok": 12000000000000000000}' b '{"tok": 10000000000000000000}'
for format in callgrind pprof; do
	"$PROTON" export -f $format -m tok large.hatchet >out 2>err
	check "too large: $format" \
		"0 proton: 'standard output' holds no numbers so large: 2 values are cut to the largest" \
		"$? $(cat err)"
done
check "large: folded" "a 12000000000000000000|b 10000000000000000000|" \
	"$("$PROTON" export -f folded -m tok large.hatchet 2>&1 | tr '\n' '|')"
check "large: a sum" 18446744073709551615 "$("$PROTON" export -f csv large.hatchet | python3 -c 'import csv, sys
print(next(csv.DictReader(sys.stdin))["tok [inclusive]"])')"
# With -m a number is computed, but has no exponent.
check "large: asked for" "12000000000000000000 10000000000000000000" \
	"$("$PROTON" export -f csv -m 'tok(exc)' large.hatchet | python3 -c 'import csv, sys
print(*[r["tok(exc)"] for r in csv.DictReader(sys.stdin) if r["tok(exc)"]])')"
# Launch metadata is no work of the program: neither in stacks nor for ranks, while data keep it.
triton=$tests/hatchet/upstream-triton.json
check "launch metadata: report" 1.66us \
	"$("$PROTON" report --tree -m total "$triton" | awk '$2 == "ROOT" { print $1 }')"
check "launch metadata: folded" "scope;triton_kernel 1664" "$("$PROTON" export -f folded "$triton")"
for format in $stacks; do
	"$PROTON" export -f "$format" "$triton" >out
	check "launch metadata: $format" 0 "$(grep -ac "launch_metadata\|cuda_kernel" out)"
done
# What ran for it alone does not make a profile of a device's time.
python3 - "$triton" >host.hatchet <<'END'
import json, sys
tree = json.load(open(sys.argv[1]))
def strip(node, hidden):
    hidden = hidden or node["frame"]["name"] == "__proton_launch_metadata"
    if not hidden:
        node["metrics"].pop("time (ns)", None)
    for child in node["children"]:
        strip(child, hidden)
strip(tree[0], False)
print(json.dumps(tree))
END
check "launch metadata: alone" "scope 12345" "$("$PROTON" export -f folded host.hatchet)"
for format in json hatchet csv markdown; do
	"$PROTON" export -f $format "$triton" >out
	check "launch metadata: $format" yes "$(grep -q 'launch.*metadata' out && grep -q cuda out && echo yes)"
done
# … and whatever is left out for another reason: it goes with what it is below, and becomes no work of that.
told() { # OPTION…: of csv, all, without what is below launch metadata, and what hatchet has
	"$PROTON" export -f csv "$@" "$triton" 2>err >out || cat err
	"$PROTON" export -f hatchet "$@" "$triton" 2>err >out.hatchet || cat err
	python3 - <<'END'
import csv, json
rows = list(csv.DictReader(open("out")))
time = lambda rows, key: sum(int(r[key] or 0) for r in rows)
def add(node):
    return node["metrics"].get("time (ns)", 0) + sum(map(add, node["children"]))
print(rows[0]["time (ns) [inclusive]"], time([r for r in rows if "metadata" not in r["path"]], "time (ns)"), add(json.load(open("out.hatchet"))[0]))
END
}
all=$(told)
check "launch metadata: all" "5728 1664 5728" "$all"
for option in "-e nothing" "-i scope" "-t 1%" "-t 99%" "-t 1h" "-d 1" "-d 2" "-d 3" "-g device" "-g device -d 2" "--by scopes" --fold-numbers; do
	check "launch metadata: $option" "$all" "$(told $option)"
done
check "launch metadata: of what is included alone" "1664 1664 1664" "$(told -i triton_kernel)"
check "launch metadata: of what is around what is excluded" "4064 0 4064" "$(told -e triton_kernel)"
# Of many that come to lie below one, one is left.
python3 - >many.hatchet <<'END'
import json
def node(name, ns, children): return {"frame": {"name": name, "type": "function"}, "metrics": {"time (ns)": ns, "count": 1, "device_id": "0", "device_type": "CUDA"} if ns else {}, "children": children}
steps = [node("step%d" % i, 0, [node("add", 10, []), node("__proton_launch_metadata", 0, [node("look", 100 + i, [])])]) for i in range(5)]
print(json.dumps([node("ROOT", 0, steps + [node("train", 10000, [])])]))
END
"$PROTON" export -f csv -t 50% many.hatchet >out
check "launch metadata: one of many" "ROOT 50 10560,__proton_launch_metadata 510 510,train 10000 10000," \
	"$(python3 -c 'import csv
for r in csv.DictReader(open("out")): print(r["name"], r["time (ns)"], r["time (ns) [inclusive]"], end=",")')"
"$PROTON" merge --ranks "$triton" >out
check "launch metadata: ranks" "0 1.66us" \
	"$(grep -c "launch_metadata\|cuda_kernel" out) $(awk '$2 == "1.00" { print $1; exit }' out)"
# Stacks that name all of their contexts are no deeper than the file can bear; nothing of the sum is lost.
python3 -c 'n = 5000
print("[" + "".join("{\"frame\":{\"name\":\"f%d\"},\"metrics\":{\"time (ns)\":1},\"children\":[" % i for i in range(n)) + "]}" * n + "]")' >deep.hatchet
"$PROTON" export -f folded -o out deep.hatchet 2>err
check "a deep chain: folded" "5000 4396" "$(awk '{ s += $NF } END { print s, NR }' out)"
check "a deep chain: said" "proton: 'out' has stacks of at most 4396 contexts: the values of 604 that lie deeper are at their ends" \
	"$(cat err)"
"$PROTON" export -f pprof -o out deep.hatchet 2>err; check "a deep chain: pprof" yes "$([ "$(wc -c <out)" -lt 24000000 ] && echo yes)"
"$PROTON" export -f callgrind -o out deep.hatchet 2>err; check "a deep chain: callgrind" "" "$(cat err)"
# pprof has the unit beside the name, so that the name goes without it, but is whole.
tree named.hatchet a '{"tokens per step (1/s)": 2, "(odd)": 3}'
python3 - "$PROTON" named.hatchet >out 2>&1 <<'END'
import gzip, subprocess, sys
for metric, name in ("tokens per step", "tokens per step"), ("(odd)", "(odd)"):
    packed = subprocess.run([sys.argv[1], "export", "-f", "pprof", "-m", metric, sys.argv[2]],
                            stdout=subprocess.PIPE, check=True).stdout
    field = bytes([6 << 3 | 2])  # string_table, the one after the empty string
    assert field + b"\0" + field + bytes([len(name)]) + name.encode() + field in gzip.decompress(packed), metric
print("whole")
END
check "pprof: names of metrics" whole "$(tail -3 out)"
# Sums beyond all numbers stay numbers: no file has a place for an infinity.
tree over.hatchet a '{"loss": 1e308}' b '{"loss": 1.7e308}'
for format in dot speedscope flamegraph callgrind pprof folded; do
	"$PROTON" export -f $format -m loss over.hatchet >out 2>err
	check "beyond all numbers: $format" "0 0" \
		"$? $(sed 's/<script>.*//; /^function/,$d' out | grep -aciE '[^a-z](inf|nan|null)\b')"
done
"$PROTON" export -f speedscope -m loss over.hatchet >out
has "beyond all numbers: the sum" '"endValue": 1.79769' out
"$PROTON" export -f dot -m loss over.hatchet >out
has "beyond all numbers: a box" "b\n1.7e+308 (94.6 %)" out
finish
