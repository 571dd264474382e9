#!/bin/bash
# SPDX-License-Identifier: MIT
# What lets a device wait: how long, whose it is, and why, end to end.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_idle
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so

cat >charged.py <<'END'
# A scope a line: how long devices were idle for it, then late, sync, copy, launch, queued and in graphs, in ns.
import json, sys
PARTS = ["idle (ns)"] + ["idle_%s (ns)" % m for m in ("late", "sync", "copy", "launch", "queued", "in_graphs")]
p = json.load(sys.stdin)
nodes, found = {n["id"]: n for n in p["nodes"]}, {}
for n in p["nodes"]:
    at = n
    while at is not None and at["kind"] != "scope":
        at = nodes.get(at["parent"])
    if "idle (ns)" in n["metrics"]:
        sums = found.setdefault(at["name"] if at else "ROOT", [0] * len(PARTS))
        for i, part in enumerate(PARTS):
            sums[i] += n["metrics"].get(part, 0)
if len(sys.argv) == 1:
    for name in sorted(found):
        print(name, *found[name])
    sys.exit()
for line in open(sys.argv[1]):
    name, whole, *parts = line.split()
    if name == "latency":
        continue
    sums = found.pop(name, [0] * len(PARTS))
    fits = abs(sums[0] - 1000 * int(whole)) < 1000 and sums[0] == sum(sums[1:])
    for ns, bounds in zip(sums[1:], parts):
        least, most = map(int, bounds.split("-"))
        fits &= least * 1000 <= ns <= most * 1000
    print(name, "fits" if fits else "is %s, expected %s" % (sums, line))
if found:
    print("besides:", found)
END
# recorded OPTIONS…: what is timed
recorded() { timeout 120 "$PROTON" record -q "$@" >expected 2>err; }
charged() { "$PROTON" export -f json "$1" | python3 charged.py "${@:2}"; }

# The time from calls to their work is what the program says, of seven launches at the least, and each is a part of it.
timed() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
sums = [0, 0, 0]
for n in json.load(sys.stdin)["nodes"]:
    for i, m in enumerate(("launch_latency (ns)", "launches_timed", "launch_latency_max (ns)")):
        sums[i] += n["metrics"].get(m, 0)
least, most = (int(v) for v in sys.argv[1:])
print(sums[1] >= 7 and least <= sums[0] <= most and sums[2] < sums[0] or (sums, least, most))' $(sed -n 's/^latency //p' expected)
}

fits=$'late fits\ncopy fits\nasync fits\nsync fits\nqueued fits'
steadily recorded --sync --tape f.tape -o sync.hatchet -- "$app" "$libs/libcuda.so.1"
check "status" 0 $?
check "as planted" "$fits" "$(charged sync.hatchet expected)"
check "in the tape" "$fits" "$(charged f.tape expected)"
check "launches are timed" "True" "$(timed sync.hatchet)"

# The machine does not let the program run for a while, before each of its calls.
MOCK_CUPTI_SLOW=60 steadily recorded --sync -o f.hatchet -- "$app" "$libs/libcuda.so.1"
check "held up: as planted" "$fits" "$(charged f.hatchet expected)"
check "held up: launches are timed" "True" "$(timed f.hatchet)"

# Whether the host waited is known where that is recorded; else it was late.
steadily recorded -o f.hatchet -- "$app" "$libs/libcuda.so.1"
check "without waits: status" 0 $?
"$PROTON" merge -o merged.hatchet f.hatchet sync.hatchet
check "merged" "$({ charged f.hatchet; charged sync.hatchet; } | awk '
	{ for (i = 2; i <= 8; i++) sum[$1, i] += $i; names[$1] }
	END { for (n in names) printf "%s %.0f %.0f %.0f %.0f %.0f %.0f %.0f\n", n, sum[n, 2], sum[n, 3],
		sum[n, 4], sum[n, 5], sum[n, 6], sum[n, 7], sum[n, 8] }' | sort)" "$(charged merged.hatchet | sort)"
sed -i 's/^\(sync [0-9]*\) \([^ ]*\) \([^ ]*\)/\1 \3 \2/' expected
check "without waits: late" "$fits" "$(charged f.hatchet expected)"

recorded --no-idle -o f.hatchet -- "$app" "$libs/libcuda.so.1"
check "not wanted: status" 0 $?
check "not wanted: nothing" "" "$(charged f.hatchet)$(grep -o 'launch_latency (ns)": [0-9].*' f.hatchet)"

# Records of which some were lost say nothing of what ran between the others.
MOCK_CUPTI_DROP_EVERY=2 recorded -o f.hatchet -- "$app" "$libs/libcuda.so.1"
check "lost: nothing is charged" "" "$(charged f.hatchet)"

# Between nodes of one launch of a graph: told, and not charged. A launch between two graphs is queued.
PROTON_FAKE='kernel a 1000;after 500 9000 7;kernel b 1000;after 300 10300 7;kernel c 1000;after 4000 100;kernel d 10;after 70 1000;kernel e 10' \
	steadily recorded --no-cuda -o f.hatchet -- true
check "graph: status" 0 $?
"$PROTON" export -f json f.hatchet | python3 -c '
import json, sys
for n in json.load(sys.stdin)["nodes"]:
    if "idle_gaps" in n["metrics"]:
        print(n["name"], {k: v for k, v in n["metrics"].items() if k.startswith("idle") and v})' >out
check "graph: as scripted" "b {'idle_gaps': 1, 'idle (ns)': 500, 'idle_queued (ns)': 500}
c {'idle_in_graphs (ns)': 300}
d {'idle_gaps': 1, 'idle (ns)': 4000, 'idle_late (ns)': 3900, 'idle_launch (ns)': 100}
e {'idle_gaps': 1, 'idle (ns)': 70, 'idle_queued (ns)': 70}" "$(cat out)"

# Where main() has left, the last thread's end is the last of what ran, too.
# Of what it launched before, in its scope or not, nothing is asked.
PROTON_FAKE='kernel a 1000;after 60000000000 1000;kernel b 1000' steadily recorded --no-cuda -o f.hatchet -- \
	"$(dirname "$app")/collect_odd" main-leaves
check "main() has left: status" 0 $?
check "main() has left: what its device waited for" "60000000000 59999999000 0 0 1000 0 0" "$(charged f.hatchet | cut -d ' ' -f 2-)"

# Two at a time, on three streams: 400 us of work while the device is busy for 200 us. Three launches are on their way for
# 400 us each, of the 300 us from the first work to the last.
PROTON_FAKE='kernel a 100000;after 100000 400000;kernel b 100000;stream 2;after -100000 400000;kernel c 100000;stream 3;after -100000 400000;kernel d 100000' \
	steadily recorded --no-cuda -o f.hatchet -- true
check "depth: status" 0 $?
"$PROTON" export -f json -o f.json f.hatchet
python3 "$tests/tools/validate_json.py" "$tests/../data/proton-profile.schema.json" f.json >out
check "depth: as its schema says" yes "$([[ $? = 0 || $(tail -1 out) = skipped:* ]] && echo yes)"
check "depth: JSON" "0 200000 400000 100000 1200000 3 4.0 2.0 0" "$(python3 -c '
import json
for d in json.load(open("f.json"))["idle"]:
    print(*(d[k] for k in ("device", "busy_ns", "work_ns", "idle_ns", "launch_latency_ns", "launches_timed", "queue_depth", "concurrency", "idle_sync_ns")))')"
check "depth: CSV" "GPU0 200000 400000 100000 1200000 3 4 2" "$("$PROTON" export -f csv --table devices f.hatchet | python3 -c '
import csv, sys
for d in csv.DictReader(sys.stdin):
    print(*(d[k] for k in ("device", "busy (ns)", "work (ns)", "idle (ns)", "launch_latency (ns)", "launches_timed", "queue_depth", "concurrency")))')"
check "depth: Markdown" "| GPU0" "$("$PROTON" export -f markdown --table devices f.hatchet | tail -1 | cut -c 1-6)"
check "depth: report" "DEPTH ONCE 4.00 2.00 GPU0" "$("$PROTON" report --ascii --width 200 --view devices f.hatchet |
	sed -n '/^What they waited for/,/^$/p' | awk 'NR == 2 { print $(NF - 3), $(NF - 1) } NR == 3 { print $(NF - 2), $(NF - 1), $NF }' | xargs)"
"$PROTON" export -f csv -i b --table devices f.hatchet >out 2>err
has "depth: of the whole" "how long devices were busy is of the whole profile" err
timeout 120 env PROTON_FAKE='kernel a 1000' "$PROTON" record -q --no-cuda --no-idle -o f.hatchet -- true 2>err
check "depth: not wanted" "[] 0" "$("$PROTON" export -f json f.hatchet | python3 -c 'import json, sys; print(json.load(sys.stdin)["idle"])') $("$PROTON" export -f csv --table devices f.hatchet | grep -c GPU)"

# What people read of it.
mkfifo executed # by which the program waits for the script
PROTON_FAKE='kernel load 1000000;after 0 0;kernel forward 2000000;pause 1200;kernel backward 1000000;after 2000000 0;copy HtoD pinned 4096 100000;after 70000000 7000;kernel step 3000000;after 3000000 9000000;kernel allreduce 100000;touch executed' \
	steadily recorded --no-cuda -o f.hatchet -- cat executed
check "report: status" 0 $?
"$PROTON" report --ascii --view devices f.hatchet >out
check "report: devices" "COPY 70.0ms LAUNCH 7.00us QUEUED 3.00ms ONCE 1.00 GPU0" \
	"$(sed -n '/^What they waited for/,/^$/p' out | awk 'NR == 3 { print "COPY", $4, "LAUNCH", $5, "QUEUED", $6, "ONCE", $(NF - 1), $NF }')"
"$PROTON" report --width 80 --view devices f.hatchet >narrow
check "report: no wider than the terminal" "" "$(LC_ALL=C.UTF-8 grep -E '^.{81,}' narrow)"
has "report: why they waited stays" "IDLE    LATE    SYNC    COPY" <(sed 's/  */    /g' narrow)
check "report: contexts" "backward step allreduce memcpy HtoD pinned" \
	"$(sed -n '/^Calling contexts by the time that devices waited/,$p' out | awk 'NR > 2 { $1 = $2 = $3 = $4 = $5 = $6 = $7 = ""; print }' | xargs)"
"$PROTON" advise --width 200 f.hatchet >out
has "advise: why" "the host was late 1." out
has "advise: whom" "at backward" out

finish
