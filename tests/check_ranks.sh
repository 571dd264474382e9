#!/bin/bash
# SPDX-License-Identifier: MIT
# check_ranks.sh [BUILD [ROUNDS]]: on a host with several NVIDIA GPUs: copies between all pairs of devices, and jobs of
# torchrun with a rank on each, under `proton`, against what was planted; at last what it costs. Needs a build folder as
# check_gpu.sh does, and PyTorch.
#
# BUILD is the argument, the variable or the current folder. With fewer than two GPUs: exit status 77.
set -u
here=$(cd "$(dirname "$0")" && pwd)
n_devices=$(nvidia-smi -L 2>/dev/null | grep -c GPU)
if [ "$n_devices" -lt 2 ]; then
	echo "check_ranks: skipped: there are not two NVIDIA GPUs (nvidia-smi lists $n_devices)"
	exit 77
fi
[ "${1:-}" = --probe ] && exit 0
build=$(cd "${1:-${BUILD:-.}}" && pwd) || exit 99
rounds=${2:-5}
builddir=$build
. "$here/tools/cli_help.sh"
PROTON=$build/proton
bench=$(cd "$here/../bench" && pwd)
last=$((n_devices - 1))

# job [--OPTION VALUE…] MODE: the command in ${job[@]}
job() {
	job=(torchrun --nproc-per-node "$n_devices" "$bench/ranks.py" "$@")
}

# ---- copies between all pairs: pairs NAME COMMAND…
pairs() {
	local name=$1; shift
	"$PROTON" record -q -o peers.hatchet -- "$@" >out 2>err
	check "$name: status" 0 $?
	"$PROTON" export -f json peers.hatchet | python3 -c '
import json, re, sys
p, want, have = json.load(sys.stdin), {}, {}
for line in open("out"):
    if line.startswith("pair "):
        _, a, b, n, size = line.split()
        want[a, b] = int(n), int(size)
place = lambda end: "host" if end["where"] == "host" else str(end["device"])
for t in p["traffic"]:
    pair = place(t["from"]), place(t["to"])
    n, size = have.get(pair, (0, 0))
    have[pair] = n + t["count"], size + t["bytes"]
for pair in sorted(want.keys() | have.keys()):
    if want.get(pair) != have.get(pair):
        print(*pair, "want", want.get(pair), "got", have.get(pair))
print(len(want), "pairs")' >diff
	check "$name: copies and bytes of each pair" "$((n_devices * (n_devices + 1))) pairs" "$(cat diff)"
	check "$name: losses" "" "$(losses peers.hatchet)"
}
pairs "one process" "$build/bench/cuda_peers"
"$PROTON" report --ascii --view transfers peers.hatchet
pairs "a process each" sh -c "for d in $(seq -s ' ' 0 $last); do '$build/bench/cuda_peers' -d \$d & done; wait"

# ---- ranks: each has its file, and all are live in one screen
forwarded() { # forwarded NAME OPTION… MODE
	local name=$1 status; shift
	rm -rf ranks; mkdir ranks
	"$PROTON" top -b 0 -q -o ranks/all.hatchet "unix:$PWD/ranks/socket" >ranks/top 2>&1 &
	local top=$!
	wait_for 20 test -S ranks/socket
	timeout 200 torchrun --nproc-per-node "$n_devices" --no-python sh -c "exec '$PROTON' record -q -o ranks/run.%r.hatchet \
		--forward unix:$PWD/ranks/socket -- python3 '$bench/ranks.py' $*" >out 2>err
	check "$name: status" 0 $?
	wait $top # it ends when all have left
	check "$name: files" "$n_devices" "$(find ranks -name 'run.*.hatchet' | wc -l)"
	"$PROTON" merge --ranks -n 12 --width 120 ranks/run.*.hatchet >ranks/files
	"$PROTON" merge --ranks -n 12 --width 120 ranks/all.hatchet >ranks/live
	check "$name: the files say what the live one says" "$(cat ranks/files)" "$(cat ranks/live)"
	check "$name: losses" "" "$(losses ranks/all.hatchet)"
	head -n 14 ranks/live
	"$PROTON" advise ranks/all.hatchet >ranks/advice
}
forwarded "ddp, a slow rank" --slow "$last" --steps 60 ddp
grep -E -A 6 'rank' ranks/advice | head -40
has "ddp: a finding names the planted rank" "rank $last" ranks/advice
forwarded "fsdp" --steps 40 fsdp
forwarded "pipe, a slow link" --link 1 --steps 60 pipe
grep -E -A 6 'rank' ranks/advice | head -40

# ---- one clock
"$PROTON" record -q --trace -o trace.hatchet -- torchrun --nproc-per-node "$n_devices" "$bench/ranks.py" --steps 20 ddp >out 2>err
check "trace: status" 0 $?
"$PROTON" export -f chrome trace.hatchet | python3 -c '
import collections, json, sys
# The collectives of a step end on all ranks at once: the i-th of each rank, the spread of their ends.
ends = collections.defaultdict(list)
for e in json.load(sys.stdin)["traceEvents"]:
    if e.get("ph") == "X" and "AllReduce" in e["name"] and "ncclDev" in e["name"]:
        ends[e["pid"]].append(e["ts"] + e["dur"])
n = min(map(len, ends.values())) if ends else 0
apart = sorted(max(v[i] for v in map(sorted, ends.values())) - min(v[i] for v in map(sorted, ends.values())) for i in range(n))
print("%d ranks, %d collectives, their ends apart: median %.1f us" % (len(ends), n, apart[n // 2] if n else -1))
sys.exit(not (len(ends) == int(sys.argv[1]) and n >= 20 and apart[n // 2] < 100))' "$n_devices" >diff
check "ranks are on one clock: $(cat diff)" 0 $?

# ---- killed
job --seconds 10 ddp
"$PROTON" record -q -o killed.hatchet -- "${job[@]}" >out 2>err &
proton=$!
wait_for 60 grep -q "it runs" out; sleep 3
victim=$(pgrep -f "ranks.py --seconds 10" | while read -r p; do
	tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qx RANK=1 && grep -q '^python' "/proc/$p/comm" && echo "$p"; done | head -n 1)
kill -9 "$victim"; wait $proton
check "a rank was killed: kernels of all ranks" "$n_devices" "$("$PROTON" export -f json killed.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
print(len({r["process"] for n in p["nodes"] if n["kind"] == "kernel" for r in n["rows"]}))')"
"$PROTON" record -q -o gone.hatchet --save-interval 2 -- "${job[@]}" >out 2>err &
proton=$!
wait_for 60 grep -q "it runs" out; sleep 5; kill -9 $proton; wait $proton 2>/dev/null
wait_for 60 grep -q steps_s out
has "proton was killed: the job ends as it would" "result steps_s" out
check "and what was saved is there" yes "$("$PROTON" report gone.hatchet >saved && grep -q ncclDev saved && echo yes)"

# ---- what it costs
job --seconds 4 ddp
for round in $(seq "$rounds"); do
	"${job[@]}" >out 2>err; echo "bare $(sed -n 's/^result steps_s=//p' out)"
	"$PROTON" record -q -o cost.hatchet -- "${job[@]}" >out 2>err; echo "record $(sed -n 's/^result steps_s=//p' out)"
done | tee costs
python3 - costs <<'PY'
import statistics, sys
of = {}
for line in open(sys.argv[1]):
    way, n = line.split()
    of.setdefault(way, []).append(float(n))
print({way: (statistics.median(v), max(v)) for way, v in of.items()},
      "record / bare, median: %.3f, best: %.3f" % (statistics.median(of["record"]) / statistics.median(of["bare"]),
                                                   max(of["record"]) / max(of["bare"])))
PY
rm cost.hatchet
"$PROTON" top -b 0 -q -o cost.hatchet -- "${job[@]}" >out 2>err &
top=$!
# What the job prints is not in sight under top.
wait_for 60 grep -q ncclDevKernel_AllReduce cost.hatchet; a=$(awk '{ print $1 }' /proc/$top/schedstat); sleep 2; b=$(awk '{ print $1 }' /proc/$top/schedstat)
wait $top
echo "top: $(((b - a) / 20000000)).$(((b - a) / 2000000 % 10)) % of a core"
finish
