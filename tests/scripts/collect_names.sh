#!/bin/bash
# A million names of scopes, with a launch in each: no count is lost, and the collector's memory does not
# grow. Those that count up are a few rows; for others there are bounds.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_names
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
if grep -q 'define PROTON_SANITIZED 1' "$(dirname "$PROTON")/config.h" 2>/dev/null; then
	echo "skipped: a sanitizer has memory of its own"
	exit 77
fi
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
cuda=$libs/libcuda.so.1

# record OPTIONS… -- KIND NAMES LAUNCHES: $half and $all are the program's memory, at half of it and at the end
record() {
	local options=()
	while [ "$1" != -- ]; do options+=("$1"); shift; done
	timeout 240 "$PROTON" record "${options[@]}" --save-interval 60 -o f.hatchet -- "$app" "$cuda" "${@:2}" >out 2>err
	read -r half all <out
}
# Of the profile: scopes entered, executions (kernels without a node of their own are "<other>"), rows of scopes, losses, but
# that of how so many kernels were launched: there are 65,536 of these.
sums() {
	"$PROTON" export -f json f.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
scopes = [n for n in p["nodes"] if n["kind"] in ("scope", "other")]
print(sum(n["metrics"].get("cpu_count", 0) for n in scopes),
      sum(n["metrics"].get("count", 0) for n in p["nodes"]),
      len(scopes), sorted(k for k, v in p["losses"].items() if v and k not in ("pipe_full", "intervals", "wire_gaps", "launch_configs_full")))'
}
at_most() { # at_most "what" LIMIT GOT
	check "$1 (is $3)" yes "$([ "$3" -le "$2" ] && echo yes)"
}

record -- count 1 1
check "one" "1 1 1 []" "$(sums)"
one=$all

record -- count 1000000 0
at_most "names that count up: KiB more in the second half" 256 $((all - half))
at_most "… than with one" 4096 $((all - one))
record -- count 1000000 1
has "the summary says so" "note: 999984 names that only count up are in 1 row, 'step #' (see --no-fold-numbers)" err
check "and a kernel in each" "1000000 1000000 17 []" "$(sums)"
check "the report says so" "999984 names that only count up are in 1 row, 'step #'" \
	"$("$PROTON" report --section notes f.hatchet | grep names)"
"$PROTON" export -f json --fold-numbers f.hatchet >folded.json
check "and read as one" "step # 1000000 1000000" "$(python3 -c '
import json
p = json.load(open("folded.json"))
for n in p["nodes"]:
    if n["kind"] == "scope":
        print(n["name"], n["metrics"]["cpu_count"], n["metrics"]["folded"])')"

record -- spell 100000 1
check "100,000 scopes, a kernel in each" "100000 100000 100000 []" "$(sums)"
at_most "KiB more than with one" 73728 $((all - one))
record --no-fold-numbers -- count 100000 1
check "--no-fold-numbers" "100000 100000 100000 []" "$(sums)"
at_most "KiB more than with one" 73728 $((all - one))

record -- spell 1000000 0
at_most "names beyond the bounds: KiB more in the second half" 256 $((all - half))
record -- spell 1000000 1
check "and a kernel in each" "1000000 1000000" "$(sums | cut -d ' ' -f 1,2)"
finish
