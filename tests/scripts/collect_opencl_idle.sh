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
# than the scope was there, and not for another reason as long? But for what is between a launch and its work, which a
# machine adds that does not let the driver run; and where it lets the host stand between launch and wait, or between two
# launches, the work may be over by then.
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
    least = int(least) * (0.5 if PARTS[name] in ("sync", "queued") else 0.999)
    others = [v for k, v in of.items() if k not in ("idle (ns)", "idle_launch (ns)")]
    fits = least <= part and part == max(others) and whole <= int(most) * 1.3 + 1e8
    fits &= whole == sum(v for k, v in of.items() if k != "idle (ns)" and "graphs" not in k)
    print(name, "fits" if fits else "is %s, expected %s" % (of, line))
END

# recorded OPTIONS…: what is timed
recorded() { timeout 120 "$PROTON" record -q "$@" -- "$app" >expected 2>err; }
# led FILE: does an arrow lead from a call to each of the forty pieces of work in scopes? That before the first scope may
# be within it where the clock was set.
led() {
	"$PROTON" export -f chrome "$1" | python3 -c '
import json, sys
events = json.load(sys.stdin)["traceEvents"]
starts = {e["id"]: e["ts"] for e in events if e.get("ph") == "s"}
ends = {e["id"]: e["ts"] for e in events if e.get("ph") == "f"}
early = [starts[i] - ends[i] for i in starts if i in ends and starts[i] > ends[i]]
print(min(len(starts), 40) if starts.keys() == ends.keys() and not early else (len(starts), len(ends), early))'
}
fits=$'late fits\nfinish fits\ncopy fits\nqueued fits'
steadily recorded --sync --trace -o sync.hatchet
check "status" 0 $?
"$PROTON" export -f json sync.hatchet >sync.json
check "as planted" "$fits" "$(python3 charged.py expected <sync.json)"
"$PROTON" report --view devices sync.hatchet >report
has "in the table of devices" "What they waited for" report
has "from the start of the run to the first work" "START-UP" report

# All of it happened after the calls, and within the run.
check "flows lead from calls to work" 40 "$(led sync.hatchet)"
# … where CLOCK_REALTIME, which has the work, is set back by more than lies between a scope and the call in it, too
LD_PRELOAD=$(dirname "$PROTON")/tests/mocks/.libs/clock_step.so CLOCK_STEP_AT_MS=300 CLOCK_STEP_US=-100 steadily recorded --sync --trace -o f.hatchet
check "clock is set: status" 0 $?
check "clock is set: flows lead from calls to work" 40 "$(led f.hatchet)"

steadily recorded -o f.hatchet
check "without waits: status" 0 $?
check "without waits: late" "$fits" "$("$PROTON" export -f json f.hatchet | python3 charged.py expected without-waits)"
recorded --no-idle -o f.hatchet
check "not wanted: nothing" "" "$(grep -o 'idle (ns)": [1-9]' f.hatchet)"
finish
