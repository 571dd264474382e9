#!/bin/bash
# SPDX-License-Identifier: MIT
# check_ranks.sh [BUILD]: on a host with several NVIDIA GPUs: copies between all pairs of devices, and jobs of
# torchrun with a rank on each, under `proton`, against what was planted; at last what `top` costs. What the ranks pay:
# bench/ranks_cost.py. Needs a build folder as check_gpu.sh does, and PyTorch.
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
builddir=$build
. "$here/tools/cli_help.sh"
PROTON=$build/proton
bench=$(cd "$here/../bench" && pwd)
last=$((n_devices - 1))

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

# ---- killed: of a rank among others no more is lost than of one that is alone
# steps FILE RANK: steps of a rank that are in a file, by its six activations each
steps() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
p = json.load(sys.stdin)
ranks = [str(q.get("rank")) for q in p["processes"]]
print(sum(row["metrics"].get("count", 0) for node in p["nodes"] if "GeluCUDAKernelImpl" in node["name"]
          for row in node["rows"] if ranks[row["process"]] == sys.argv[1]) // 6)' "$2"
}
# lost rank|proton RANKS: milliseconds of the last rank's steps that had ended when it or proton was killed, and are not saved
lost() {
	local whom=$1 last=$(($2 - 1)) proton victim before rate ended
	rm -f progress.* killed.hatchet
	"$PROTON" record -q -o killed.hatchet --save-interval 2 -- torchrun --nproc-per-node "$2" "$bench/ranks.py" \
		--steps 4000 --progress "$PWD/progress" ddp >out 2>err &
	proton=$!
	wait_for 60 grep -qs . "progress.$last"; sleep 3
	victim=$(pgrep -f "ranks.py --steps 4000" | while read -r p; do
		tr '\0' '\n' <"/proc/$p/environ" 2>/dev/null | grep -qx "RANK=$last" && grep -q '^python' "/proc/$p/comm" && echo "$p"; done | head -n 1)
	before=$(cat "progress.$last"); sleep 1; rate=$(($(cat "progress.$last") - before))
	[ "$whom" = proton ] && victim=$proton
	kill -9 "$victim"; ended=$(cat "progress.$last"); wait $proton 2>/dev/null
	[ "$whom" = rank ] && ended=$(cat "progress.$last") && cp killed.hatchet of_rank.hatchet
	echo $(((ended + 5 - $(steps killed.hatchet "$last")) * 1000 / rate))
	[ "$whom" = rank ] || wait_for 120 grep -q step_us out
}
# What a sender has not sent, and a save not saved.
for whom in "rank 1000" "proton 4000"; do
	read -r whom most <<<"$whom"
	for n in 1 "$n_devices"; do
		ms=$(lost "$whom" "$n")
		check "killed: $whom, $n ranks: lost $ms ms" yes "$([ "$ms" -le "$most" ] && echo yes)"
	done
done
has "proton was killed: the job ends as it would" "result step_us" out
check "a rank was killed: ranks that are saved" "$n_devices" "$(for rank in $(seq 0 $last); do steps of_rank.hatchet "$rank"; done | grep -c '^[1-9]')"

# ---- what the screen costs, beyond the first steps, whose contexts are new
cost_ms() { awk '{ print int($1 / 1e6) }' "/proc/$1/schedstat"; }
TERM=xterm script -qc "stty rows 50 cols 200; exec '$PROTON' top -q -o cost.hatchet -- torchrun --nproc-per-node $n_devices '$bench/ranks.py' \
	--seconds 10 ddp" screen </dev/null >out 2>&1 &
screen=$!
shown_or_ended() { grep -qs ncclDevKernel_AllReduce cost.hatchet || ! kill -0 $screen; }
wait_for 60 shown_or_ended
if top=$(pgrep -of "^$PROTON top -q -o cost.hatchet"); then
	sleep 3; a=$(cost_ms "$top"); sleep 3; b=$(cost_ms "$top")
	has_left() { ! kill "$top" 2>/dev/null || { sleep 1; false; }; } # the first signal is the job's, the next one leaves the screen
	wait_for 6 has_left || kill -9 "$top"
else
	a=0 b=-1
	echo "top ended by itself: $(tail -n 3 screen)"
fi
wait
check "top of $n_devices ranks: $(((b - a) / 30)).$(((b - a) / 3 % 10)) % of a core" yes "$([ $((b - a)) -ge 0 ] && [ $((b - a)) -le 150 ] && echo yes)"
finish
