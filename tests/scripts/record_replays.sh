#!/bin/bash
# SPDX-License-Identifier: MIT
# --replay application: metrics of several passes, a run of the program for each. What each run counted is in one profile, the
# counts and times are the first run's, and what another run did otherwise is named and left out.
. "${srcdir:-.}/tests/tools/cli_help.sh"
unset CUDA_VISIBLE_DEVICES LD_PRELOAD MOCK_CUPTI_HOST MOCK_CUPTI_RANGES WORLD_SIZE OMPI_COMM_WORLD_SIZE PMI_SIZE \
	MV2_COMM_WORLD_SIZE SLURM_STEP_NUM_TASKS
libs=$(dirname "$PROTON")/tests/mocks/.libs
case $libs in /*) ;; *) libs=$PWD/$libs ;; esac
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libraries in $libs"; exit 77; }
app=${libs%/mocks/.libs}/programs/replayed
mkdir lib && cp "$libs/libcuda.so.1" lib/
export PROTON_CUPTI_PATH=$libs/mock_cupti.so LD_LIBRARY_PATH=$work/lib MOCK_CUPTI_CHIP=GH100
export MOCK_CUPTI_ROOM=1 # each metric of memory needs a pass
three=dram__bytes.sum,dram__bytes_read.sum,dram__sectors.sum,lts__t_sector_hit_rate.pct

# run RANGE [RUN WHAT]: the profile is a.hatchet; prints the status, and how often the program ran.
run() {
	rm -f a.hatchet runs runs.waits
	"$PROTON" record -q -o a.hatchet --metrics "${metrics:-$three}" --range "$1" --replay application -- \
		"$app" "$work/lib/libcuda.so.1" runs "${@:2}" >out 2>err </dev/null
	echo "$? $(wc -l <runs)"
}
# of METRIC NAME: its value there, without what is below it. "-": none.
of() {
	"$PROTON" export -f json a.hatchet | python3 -c '
import json, sys
found = [n["metrics"][sys.argv[1]] for n in json.load(sys.stdin)["nodes"] if n["name"] == sys.argv[2] and sys.argv[1] in n["metrics"]]
print("%g" % sum(found) if found else "-")' "$1" "$2"
}
# sums NAME: ranges, and what each run counted there.
sums() {
	local metric
	for metric in measured dram__bytes.sum dram__bytes_read.sum dram__sectors.sum; do
		of $metric "$1"
	done | xargs
}
notes() { "$PROTON" report --view notes a.hatchet; }
temporary() { find . -name '*.hatchet*' ! -name a.hatchet | wc -l; }

# ---- three runs: "add" counts 100, "mul" 200
check "nvtx: status, runs" "0 3" "$(run nvtx)"
has "… are told before" "proton: the metrics take 3 passes: APP runs 3 times" err
check "… a range around another" "2 300 300 300" "$(sums outer)"
check "… the one within" "1 200 200 200" "$(sums inner)"
check "… one that comes twice" "2 400 400 400" "$(sums late)"
check "… of two threads, which nothing tells apart" "2 300 300 300" "$(sums worker)"
check "… a mean" 201 "$(of lts__t_sector_hit_rate.pct inner)"
check "… kernels are as many as the first run had" "4 4" "$(of count add) $(of count mul)"
check "… they ran as long" 4000 "$(of 'time (ns)' add)"
has "… each is told" "run 3 of 3 of the program counted dram__sectors.sum; counts and times are the first run's" <(notes)
hasnt "… nothing is left out" "was not like the first" <(notes)
check "… nothing is lost" "" "$(losses a.hatchet)"
check "… one run of one program is in the profile" 1 "$("$PROTON" export -f json a.hatchet | python3 -c '
import json, sys
print(len(json.load(sys.stdin)["processes"]))')"
check "… nothing but the profile is left" 0 "$(temporary)"

check "kernels: status, runs" "0 3" "$(run kernel)"
check "kernels" "4 400 400 400" "$(sums add)"
check "kernels, the other" "4 800 800 800" "$(sums mul)"

rm -f runs
"$PROTON" record -o a.hatchet --metrics $three --range scope --replay application -- "$app" "$work/lib/libcuda.so.1" \
	runs >out 2>err </dev/null
has "each run says which it is" "proton: run 2 of 3: dram__bytes_read.sum" err
check "the summary comes once" 1 "$(grep -c 'GPU time in 8 operations' err)"

# ---- a run that does something else
check "one kernel more: status, runs" "0 3" "$(run nvtx 2 more)"
has "… is named" "run 2 of 3 was not like the first: without dram__bytes_read.sum is 'outer > inner', in which 'add' ran 1 time, and 0 in the first run" <(notes)
check "… has nothing of that run" "1 200 - 200" "$(sums inner)"
check "… what is around it has" "2 300 300 300" "$(sums outer)"
check "… the program has what the first run did" "4 4" "$(of count add) $(of count mul)"
check "a range less: status, runs" "0 3" "$(run nvtx 3 moved)"
has "… is named" "'late', in which 'mul' ran 1 time, and 2 in the first run" <(notes)
check "… has nothing of that run" "2 400 400 -" "$(sums late)"
check "a range more: status, runs" "0 3" "$(run nvtx 2 another)"
has "… is named" "'another', in which 'add' ran 1 time, and 0 in the first run" <(notes)
check "… is not in the profile" "- - - -" "$(sums another)"
check "… all others are" "1 200 200 200" "$(sums inner)"
check "kernels, one more: status, runs" "0 3" "$(run kernel 2 more)"
has "… is named" "'outer > inner > add', which ran 1 time, and 0 in the first run" <(notes)
check "… the others have theirs" "4 400 400 400" "$(sums add)"

# ---- a run that fails is the last
check "run 2 fails: status, runs" "3 2" "$(run nvtx 2 fails)"
has "… is said" "proton: run 2 of 3 failed (exit status 3), and is the last: the profile has hardware metrics of the first" err
has "… in the profile, too" "run 2 of 3 failed (exit status 3)" <(notes)
check "… what there is" "1 200 - -" "$(sums inner)"
check "run 3 is killed: status, runs" "137 3" "$(run nvtx 3 killed)"
has "… is said" "run 3 of 3 failed (Killed), and is the last: the profile has hardware metrics of those before it" err
check "… what there is" "1 200 200 -" "$(sums inner)"
check "run 1 fails: status, runs" "3 1" "$(run nvtx 1 fails)"
has "… is said" "run 1 of 3 failed (exit status 3), and is the last: the profile has hardware metrics of this one" err
check "… what there is" "1 200 - -" "$(sums inner)"

# interrupted SIGNAL [WHAT [WHOM]]: sent to all of the terminal's group in run 2, as Ctrl-C is; WHOM: or to proton alone.
interrupted() {
	rm -f a.hatchet runs runs.waits
	setsid --fork bash -c 'trap - INT; echo $$ >group; exec "$@"' - python3 -c '
import signal, sys, os
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execvp(sys.argv[1], sys.argv[1:])' "$PROTON" record -q -o a.hatchet --metrics $three --range nvtx \
		--replay application -- "$app" "$work/lib/libcuda.so.1" runs 2 "${2:-waits}" >out 2>err </dev/null
	wait_for 30 test -e runs.waits || echo "it does not wait"
	kill -"$1" -- "${3--}$(cat group)"
	wait_for 30 none_left || echo "it goes on"
	wc -l <runs
}
check "Ctrl-C in run 2: runs" 2 "$(interrupted INT)"
has "… is said" "run 2 of 3 failed (Interrupt)" err
check "… the first run's profile is whole" "1 200 - -" "$(sums inner)"
check "… with its counts" "4 4" "$(of count add) $(of count mul)"
check "Ctrl-C that run 2 handles, to end well: runs" 2 "$(interrupted INT obeys)"
has "… is said" "run 2 of 3 was told to end, and is the last: the profile has hardware metrics of the first" err
check "… the first run's profile is whole" "1 200 - -" "$(sums inner)"
check "SIGTERM to us that run 2 handles: runs" 2 "$(interrupted TERM obeys "")"
has "… is said" "run 2 of 3 was told to end" err
check "… the first run's profile is whole" "1 200 - -" "$(sums inner)"
check "killed as a whole in run 2: runs" 2 "$(interrupted KILL)"
check "… the first run's profile is whole" "1 200 - -" "$(sums inner)"

# ---- sessions of the program: their files have what all runs counted, where no other session followed them
rm -f a.hatchet
"$PROTON" record -q -o a.hatchet --metrics $three --range scope --replay application -- "${app%/*}/collect_ranges" \
	"$work/lib/libcuda.so.1" sessions >out 2>err </dev/null
check "sessions: status" 0 $?
check "… in the profile" "1 200 200 200" "$(sums early)"
mv first.hatchet a.hatchet
check "… in the file of one that another followed" "1 200 - -" "$(sums early)"
check "… with its counts alone" 2 "$(of count add)"
check "… and not of the next" "- - - -" "$(sums later)"
mv second.hatchet a.hatchet
check "… in the file of the one that the program's end ended" "1 200 200 200" "$(sums later)"

# ---- one pass
metrics=dram__bytes.sum,lts__t_sector_hit_rate.pct
check "one pass: status, runs" "0 1" "$(run nvtx)"
has "… is told" "proton: the metrics take one pass: APP runs once" err
check "… and counted" "1 200 - -" "$(sums inner)"
unset metrics

# ---- standard input: a file is read again by each run
rm -f runs
echo word >input
"$PROTON" record -q -o a.hatchet --metrics $three --range nvtx --replay application -- "$app" "$work/lib/libcuda.so.1" runs \
	2>err <input
check "a file as standard input" "word word word" "$(xargs <runs)"

# ---- what cannot be
refused() { # SENTENCE OPTIONS…
	rm -f runs
	"$PROTON" record -q --metrics "${metrics:-$three}" "${@:2}" -- "$app" "$work/lib/libcuda.so.1" runs >out 2>err
	check "refused: $1: status" 2 $?
	has "… with a sentence" "$1" err
	check "… the program does not run" no "$([ -e runs ] && echo yes || echo no)"
}
echo word | refused "each run would read standard input, and a pipe is read once: give it a file, or '< /dev/null'" \
	-o b.hatchet --replay application
exec </dev/null
refused "a stream is of one run: --tape is for metrics that take one pass" -o b.hatchet --tape t.prt --replay application
refused "the profile is written after each run: '/dev/null' is no file that can be written again" -o /dev/null \
	--replay application
WORLD_SIZE=4 refused "this is one of 4 ranks, which cannot be started again by itself: put 'proton record' before the launcher" \
	-o b.hatchet --replay application
refused "what a nvtx range is around runs once: --replay application runs APP once a pass" -o b.hatchet --range nvtx
refused "what a scope range is around runs once: --replay application runs APP once a pass" -o b.hatchet --range scope \
	--replay kernel
metrics=dram__bytes.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed
refused "'dram__throughput.avg.pct_of_peak_sustained_elapsed' takes several passes by itself, and a run of APP is one: only --replay kernel counts it" \
	-o b.hatchet --replay application
mkdir -p sets
printf 'about of two\ndram__throughput.avg.pct_of_peak_sustained_elapsed\ndram__bytes.sum\ndram__sectors.sum\n' >sets/two
metrics=./sets/two
check "a set that has such a metric: status, runs" "0 2" "$(run nvtx)"
has "… which is left out, and said" "left out: 'dram__throughput.avg.pct_of_peak_sustained_elapsed', which takes several passes by itself: only --replay kernel counts it" err
check "… the others are there" "1 200 - 200" "$(sums inner)"
unset metrics
if [ "$(id -u)" != 0 ]; then
	mkdir folder && chmod a-w folder
	"$PROTON" record -q -o folder/a.hatchet --metrics $three --replay application -- "$app" "$work/lib/libcuda.so.1" runs \
		>out 2>err
	check "a folder that is not ours to write: status" 125 $?
fi
rm -f runs
"$PROTON" record -q -o none/a.hatchet --metrics $three --replay application -- "$app" "$work/lib/libcuda.so.1" runs >out 2>err
check "no such folder: status" 125 $?
check "… the program does not run" no "$([ -e runs ] && echo yes || echo no)"
finish
