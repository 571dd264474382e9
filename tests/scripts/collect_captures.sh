#!/bin/bash
# SPDX-License-Identifier: MIT
# Threads that end while they capture, forks, streams that another thread ends or nobody: what a program says of its
# scopes counts once all the same, and numbers that nobody takes are in no one's way.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_captures
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so

timeout 120 "$PROTON" record -q -o run.hatchet -- "$app" "$libs/libcuda.so.1" >out 2>err
check "status" 0 $?
"$PROTON" export -f json run.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
for n in p["nodes"]:
    for name in ("said", "taken"):
        if n["metrics"].get(name):
            print("%s=%d" % (n["name"], n["metrics"][name]))
print(sorted(k for k, v in p["losses"].items() if v and k not in ("pipe_full", "intervals", "wire_gaps")))' | sort >tree
check "nothing is lost" "[]" "$(grep '^\[' tree)"
for scope in begin "before a node" "next thread" "thread after that" "ended elsewhere" child "after fork" "after two" \
	"after the same" "at the end"; do
	check "counts once: $scope" "$scope=1" "$(grep "^$scope=" tree)"
done
check "and not what waits for its graph" "" "$(grep -E '^(not ended|second of two)=' tree)"
check "numbers of all runs, whatever others leave" "numbers=100000" "$(grep '^numbers=' tree)"
check "names and numbers of many nodes" "named=20000" "$(grep '^named=' tree)"
"$PROTON" report run.hatchet >report
has "numbers that are none have a note" "'not a number' is not a finite number in some runs" report
check "one note is for all that is refused" 1 "$(grep -c '1 to 64 numbers are read at once' report)"
check "what is captured and never launched stands in the tree" "1 0" "$("$PROTON" report --view tree run.hatchet | grep -c 'never launched') $(
	"$PROTON" report --view kernels run.hatchet | grep -c 'never launched')"
check "… and is no kernel of those that ran" 1 "$("$PROTON" report --view summary run.hatchet | awk '$1 == "kernels" { print $2 }')"
finish
