#!/bin/bash
# SPDX-License-Identifier: MIT
# What lets an OpenCL device wait, over the installed loader and whatever device there is.
. "${srcdir:-.}/tests/tools/cli_help.sh"
app=$(dirname "$PROTON")/tests/programs/opencl_idle
export LC_ALL=C.UTF-8
[ -w "${HOME:-/}" ] || export POCL_CACHE_DIR=$PWD/pocl
[ -e "$app" ] || { echo "built without OpenCL"; exit 77; }
"$app" >out 2>&1
[ $? -ne 77 ] || { echo "no OpenCL platform (Debian: pocl-opencl-icd)"; exit 77; }

cat >charged.py <<'END'
# A scope a line: was it for that reason that its work waited, at least so long as the program made it, and not longer
# than the scope was there? What the machine adds may be for any reason, but is not more than half of it; and where
# it lets the host stand between launch and wait, the work may be over by then.
import json, sys
PARTS = {"late": "late", "finish": "sync", "copy": "copy", "queued": "queued"}
if "without-waits" in sys.argv:
    PARTS["finish"] = "late"
p = json.load(sys.stdin)
nodes, sums = {n["id"]: n for n in p["nodes"]}, {}
for n in p["nodes"]:
    scope = nodes.get(n["parent"], {}).get("name")
    for metric, value in n["metrics"].items():
        if metric.startswith("idle_") and metric.endswith("(ns)") or metric == "idle (ns)":
            of = sums.setdefault(scope, {})
            of[metric] = of.get(metric, 0) + value
for line in open(sys.argv[1]):
    name, least, most = line.split()
    of = sums.get(name, {})
    whole, part = of.get("idle (ns)", 0), of.get("idle_%s (ns)" % PARTS[name], 0)
    # A second of the device's clock is one of ours, to a thousandth.
    least = int(least) * (0.5 if PARTS[name] == "sync" else 0.999)
    fits = least <= part and whole <= int(most) * 1.3 + 1e8 and 2 * part > whole
    fits &= whole == sum(v for k, v in of.items() if k != "idle (ns)" and "graphs" not in k)
    print(name, "fits" if fits else "is %s, expected %s" % (of, line))
END

fits=$'late fits\nfinish fits\ncopy fits\nqueued fits'
timeout 120 "$PROTON" record -q --sync --trace -o sync.hatchet -- "$app" >expected 2>err
check "status" 0 $?
"$PROTON" export -f json sync.hatchet >sync.json
check "as planted" "$fits" "$(python3 charged.py expected <sync.json)"
"$PROTON" report --view devices sync.hatchet >report
has "in the table of devices" "What they waited for" report
has "from the start of the run to the first work" "START-UP" report

# All of it happened after the calls, and within the run.
"$PROTON" export -f chrome sync.hatchet >trace.json
check "flows lead from calls to work" "True" "$(python3 -c '
import json
events = json.load(open("trace.json"))["traceEvents"]
starts = {e["id"]: e["ts"] for e in events if e.get("ph") == "s"}
ends = {e["id"]: e["ts"] for e in events if e.get("ph") == "f"}
print(len(starts) >= 40 and starts.keys() == ends.keys() and all(starts[i] <= ends[i] for i in starts))')"

timeout 120 "$PROTON" record -q -o f.hatchet -- "$app" >expected 2>err
check "without waits: status" 0 $?
check "without waits: late" "$fits" "$("$PROTON" export -f json f.hatchet | python3 charged.py expected without-waits)"
timeout 120 "$PROTON" record -q --no-idle -o f.hatchet -- "$app" >expected 2>err
check "not wanted: nothing" "" "$(grep -o 'idle (ns)": [1-9]' f.hatchet)"
finish
