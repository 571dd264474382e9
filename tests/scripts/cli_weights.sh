#!/bin/bash
# SPDX-License-Identifier: MIT
# What stacks and pictures weigh by: the numbers that a report has, whatever the metric.
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
finish
