#!/bin/bash
# SPDX-License-Identifier: MIT
# Eight ranks of one job, one of which works slowly and one of which has a slow link (programs/collect_ranks.c): the board
# of ranks, findings, files and traces, of a tape and of runs that are joined.
#
# The tape was made with the mock, in a folder with the program, by
#   MOCK_CUDA_DEVICES=8 LD_LIBRARY_PATH=… proton record --trace --tape ranks.tape -- sh -c 'for rank in 0 1 2 3 4 5 6 7; do
#       RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=8 ./collect_ranks libcuda.so.1 "$0" & done; wait' $(($(date +%s%N) + 100000000))
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK PALS_RANKID MV2_COMM_WORLD_RANK SLURM_PROCID
ranks="0 1 2 3 4 5 6 7"

# A step of 5 ms: load 80 us (of rank 2 800), forward 4 kernels of 200 (of rank 5 of 400), backward 4 of 300, a collective that
# ends 100 us after the last rank has come, and all but the last pass 400 us on. Six steps.
board="time (ns) over 8 ranks, by what waiting for the slowest costs

   TOTAL   /MEAN COLLECT  RANK
  14.9ms    0.95  5.40ms  0
  14.9ms    0.95  5.40ms  1
  19.2ms    1.22  1.08ms  2
  14.9ms    0.95  5.40ms  3
  14.9ms    0.95  5.40ms  4
  19.8ms    1.26   600us  5
  14.9ms    0.95  5.40ms  6
  12.5ms    0.79  5.40ms  7

    WAIT MAX/AVG SLOWEST    MEAN     MAX     MIN     SUM   RANKS  NAME
  4.07ms    1.26       5  15.7ms  19.8ms  12.5ms   126ms       8  ROOT
  4.20ms    1.78       5  5.40ms  9.60ms  4.80ms  43.2ms       8  step > forward
  4.20ms    1.78       5  5.40ms  9.60ms  4.80ms  43.2ms       8  step > forward > sm90_xmma_gemm_bf16
  4.07ms    1.26       5  15.7ms  19.8ms  12.5ms   126ms       8  step
  3.78ms    4.71       2  1.02ms  4.80ms   480us  8.16ms       8  step > load
  3.78ms    4.71       2  1.02ms  4.80ms   480us  8.16ms       8  step > load > memcpy HtoD pinned
  3.66ms    1.27       5  4.26ms  5.40ms   600us  34.1ms       8  step > backward > ncclDevKernel_AllReduce_Sum_bf16_RING_LL
     0ns    1.00       -  7.20ms  7.20ms  7.20ms  57.6ms       8  step > backward
     0ns    1.00       -  7.20ms  7.20ms  7.20ms  57.6ms       8  step > backward > sm90_xmma_gemm_wgrad
     0ns    1.00       -  2.40ms  2.40ms  2.40ms  16.8ms       7  step > send"
alone=$(for rank in 0 1 2 3 4 5 6; do echo "- - only $rank 2.40ms 2.40ms 2.40ms 2.40ms 1 step > send > memcpy PtoP $rank to $((rank + 1))"; done
	echo "- - only 5 120us 120us 120us 120us 1 step > checkpoint")

# The board, and the paths that one rank alone has, which are in the order in which they were seen.
boards() { # boards "what" FILE…: the board of files
	local what=$1; shift
	"$PROTON" merge --ranks --ascii "$@" >shown 2>err
	check "$what: the board" "$board" "$(sed '/  only [0-9]  /d' shown)"
	check "$what: paths of one rank" "$(sort <<<"$alone")" "$(grep '  only [0-9]  ' shown | tr -s ' ' | sed 's/^ //' | sort)"
}

# ---- a tape
gunzip -c "$tests/wire/ranks.tape.gz" >ranks.tape
boards "a tape" ranks.tape
check "a tape: a report has the same" "$(cat shown)" "$("$PROTON" report --ascii --view ranks ranks.tape)"
check "a tape: losses" "" "$(losses ranks.tape)"
timeout 60 "$PROTON" top -q -b 0 -o near.hatchet - <ranks.tape >out 2>err; check "as it comes: status" 0 $?
boards "as it comes" near.hatchet
"$PROTON" advise --width 200 ranks.tape >advice
has "the slow rank is named" "rank 5 works 19.8ms; the mean of 8 is 15.7ms, the least 12.5ms" advice
has "who comes last is named" "34.1ms in 48 collectives, 25.2 % of all kernels; 3.66ms of it a rank's wait for 5, which comes last" advice

# Waiting in collectives is no work: what rows of each rank say.
"$PROTON" export -f json ranks.tape | python3 -c '
import collections, json, sys
p, work, waits = json.load(sys.stdin), collections.Counter(), collections.Counter()
for n in p["nodes"]:
    if n["kind"] in ("kernel", "copy"):
        for r in n["rows"]:
            (waits if "nccl" in n["name"] else work)[p["processes"][r["process"]]["rank"]] += r["metrics"].get("time (ns)", 0)
print(*(f"{rank} {work[rank] // 1000} {waits[rank] // 1000}" for rank in sorted(work)), sep="|")
print(sorted((p["processes"][u["process"]]["rank"], p["devices"][u["device"]]["index"]) for u in p["uses"])
      == [(i, i) for i in range(8)])' >rows
check "work and waits, us" "0 14880 5400|1 14880 5400|2 19200 1080|3 14880 5400|4 14880 5400|5 19800 600|6 14880 5400|7 12480 5400" "$(head -1 rows)"
check "each rank has its device" True "$(tail -1 rows)"

# The link: against what proton doctor --measure would have found of each device.
mkdir -p state/proton
for rank in $ranks; do
	printf 'GPU-%x0%x1%x2%x3-%x4%x5-%x6%x7-%x8%x9-%xa%xb%xc%xd%xe%xf to_device=5e+10\n' "$rank" "$rank" "$rank" "$rank" "$rank" \
		"$rank" "$rank" "$rank" "$rank" "$rank" "$rank" "$rank" "$rank" "$rank" "$rank" "$rank"
done >state/proton/peaks
XDG_STATE_HOME=$PWD/state "$PROTON" advise --width 200 ranks.tape >advice
check "the slow link is named" "GPU2" "$(grep -o 'GPU[0-9].*long pinned copies to it at 5.00 GB/s; proton doctor measured 50.0' advice | cut -c 1-4)"
check "and no other" 1 "$(grep -c 'long pinned copies' advice)"
check "the links" "GPU0 50.0|GPU1 50.0|GPU2 5.00|GPU3 50.0|GPU4 50.0|GPU5 50.0|GPU6 50.0|GPU7 50.0|" \
	"$("$PROTON" report --ascii --view transfers ranks.tape | awk '/host pinned to GPU/ { print $NF, $6 }' | tr '\n' '|')"
check "copies between devices" "GPU0 GPU1|GPU1 GPU2|GPU2 GPU3|GPU3 GPU4|GPU4 GPU5|GPU5 GPU6|GPU6 GPU7|" \
	"$("$PROTON" report --ascii --view transfers ranks.tape | sed -n 's/^12.0M .* \(GPU[0-9]\) to \(GPU[0-9]\)$/\1 \2/p' | tr '\n' '|')"
# Ranks are heard of in another order in each run.
for table in DEVICE COPYING START-UP IDLE; do
	check "devices by their numbers: $table" "GPU0 GPU1 GPU2 GPU3 GPU4 GPU5 GPU6 GPU7" "$("$PROTON" report --ascii --view devices ranks.tape |
		awk -v table="$table" '$1 == table || $2 == table { on = !n++ } !NF { on = 0 } on' | grep -o 'GPU[0-9]\( \|$\)' | xargs)"
done
check "ranks by their numbers: timeline" "0 1 2 3 4 5 6 7" \
	"$("$PROTON" report --ascii --view timeline ranks.tape | sed -n 's/^GPU\([0-9]\), pid.* rank \1$/\1/p' | xargs)"
for command in "report --view run" list; do
	check "devices by their numbers: $command" "0 1 2 3 4 5 6 7" "$("$PROTON" $command ranks.tape | sed -n 's/^device *GPU\([0-9]\).*/\1/p' | xargs)"
done

# Ranks are on one clock: a collective ends on all of them at once, as the program planted it.
for format in chrome perfetto; do
	"$PROTON" export -f $format -o trace ranks.tape
	check "$format: one clock" "8 ranks 6 collectives 10 ns" "$(python3 "$tests/tools/collectives.py" trace)"
done

# ---- eight runs, each with its file, joined in one
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_ranks
if [ ! -e "$libs/mock_cupti.so" ]; then
	echo "no mock libcupti in $libs"
	finish
fi
export PROTON_CUPTI_PATH=$libs/mock_cupti.so MOCK_CUDA_DEVICES=8
timeout 120 "$PROTON" top -b 0 -i 0.1 -o all.hatchet unix:s >out 2>err & top=$!
wait_for 20 test -S s
base=$(date +%s%N)
for rank in $ranks; do # all stay until all have been seen
	RANK=$rank LOCAL_RANK=$rank WORLD_SIZE=8 timeout 120 "$PROTON" record -q -o run.%r.hatchet --forward unix:s -- \
		sh -c '"$@" || exit; while [ -d "$work" ] && [ ! -e seen ]; do sleep 0.05; done' - "$app" "$libs/libcuda.so.1" "$base" \
		>"out.$rank" 2>"err.$rank" &
	pids[rank]=$!
done
wait_for 30 grep -q '^processes  *8$' out; check "all are seen" 0 $?
touch seen
for rank in $ranks; do
	wait "${pids[rank]}"; check "rank $rank: status" "0 " "$? $(cat "err.$rank")"
done
wait $top; check "joined: status" 0 $?
check "each has its file" "$(for rank in $ranks; do echo run.$rank.hatchet; done)" "$(ls run.*)"
boards "eight files" run.*.hatchet
files=$(cat shown)
boards "joined" all.hatchet
check "the files say what the joined one says" "$(sort <<<"$files")" "$(sort shown)"
check "joined: losses" "" "$(losses all.hatchet)"
check "joined: all ranks" "0 1 2 3 4 5 6 7" "$("$PROTON" export -f json all.hatchet | python3 -c '
import json, sys
print(*sorted({p["rank"] for p in json.load(sys.stdin)["processes"]}))')"
finish
