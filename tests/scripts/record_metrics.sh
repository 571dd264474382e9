#!/bin/bash
# SPDX-License-Identifier: MIT
# Hardware metrics of each kernel: what the mock of CUPTI has planted is what the profile says, however kernels are
# replayed and however full an image is; and no trouble with them is the program's, or its times'.
. "${srcdir:-.}/tests/tools/cli_help.sh"
unset CUDA_VISIBLE_DEVICES LD_PRELOAD MOCK_CUPTI_HOST MOCK_CUPTI_RANGES
libs=$(dirname "$PROTON")/tests/mocks/.libs
case $libs in /*) ;; *) libs=$PWD/$libs ;; esac
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libraries in $libs"; exit 77; }
app=${libs%/mocks/.libs}/programs/mock_cuda_app
mkdir lib && cp "$libs/libcuda.so.1" lib/
export PROTON_CUPTI_PATH=$libs/mock_cupti.so LD_LIBRARY_PATH=$work/lib MOCK_CUPTI_CHIP=GH100

# run THREADS LAUNCHES OPTIONS…: the profile is a.hatchet, messages in err; prints the status.
run() {
	rm -f a.hatchet
	"$PROTON" record -q -o a.hatchet "${@:3}" -- "$app" "$work/lib/libcuda.so.1" "$1" "$2" >/dev/null 2>err
	echo $?
}
# of METRIC [FILE]: its values at "add" and "mul", over all threads.
of() {
	python3 - "$1" "${2:-a.hatchet}" <<'PY'
import json, sys
def walk(node, found):
    v = node["metrics"].get(sys.argv[1])
    if v is not None and node["frame"]["name"] in ("add", "mul"):
        found.setdefault(node["frame"]["name"], []).append(v)
    for child in node["children"]:
        walk(child, found)
found = {}
walk(json.load(open(sys.argv[2]))[0], found)
print(*["%s %g" % (name, sum(v)) for name, v in sorted(found.items())])
PY
}
notes() { "$PROTON" report --view notes "${1:-a.hatchet}"; }

# ---- what was planted: number m of "mul" is 200 + m, of "add" 100 + m
four=dram__bytes.sum,gpu__time_duration.sum,sm__cycles_active.max,lts__t_sector_hit_rate.pct
check "status" 0 "$(run 1 5000 --metrics $four)"
check "kernels are as many as they were" "add 2500 mul 2500" "$(of count)"
check "… and as long" "add 2.5e+06 mul 2.5e+06" "$(of 'time (ns)')"
check "all were measured, in five images" "add 2500 mul 2500" "$(of measured)"
run 1 10 --metrics gmp >/dev/null
check "what a chip has not of a set is said at once" "proton: GH100 cannot count 26 of 30 metrics, which are left out ('proton metrics --set gmp' says which)" "$(cat err)"
run 1 5000 --metrics $four >/dev/null
"$PROTON" report --tree --width 80 a.hatchet >narrow
check "columns that a terminal has no room for are named" "$four" "$(sed -n '/^(of this profile: /,/)$/p' narrow | tr -d ' ()\n' | sed 's/.*measured_time,//')"
check "… in lines that fit" "" "$(LC_ALL=C.UTF-8 awk 'length($0) > 80' narrow)"
check "the list of kernels has a column of each that was measured" "$four" \
	"$("$PROTON" report --view kernels a.hatchet | head -n 1 | grep -oE '[a-z_]+__[a-z_.]+' | xargs | tr ' ' ,)"
check "… but not that of others, which have none" 0 "$("$PROTON" report --view kernels -i nothing a.hatchet | grep -c __)"
check "a sum adds up" "add 250000 mul 500000" "$(of dram__bytes.sum)"
check "the second one" "add 252500 mul 502500" "$(of gpu__time_duration.sum)"
check "an extreme does not" "add 102 mul 202" "$(of sm__cycles_active.max)"
check "a ratio is a mean" "add 103 mul 203" "$(of lts__t_sector_hit_rate.pct)"
check "losses" "" "$(losses a.hatchet)"
# Who says it, and bytes in a second: 100 in a microsecond, 200 in one.
rates() { "$PROTON" export -f csv -m byte/s,source a.hatchet | awk -F, '$5 == "add" || $5 == "mul" {print $5, $7, $8}' | tr -d '\r' | sort | xargs; }
check "rates of kernels that say nothing" "add 100000000 counted mul 200000000 counted" "$(rates)"
check "… in JSON" 'add {"byte/s": 100000000.0, "source": "counted"} mul {"byte/s": 200000000.0, "source": "counted"}' "$(
	"$PROTON" export -f json a.hatchet | python3 -c '
import json, sys
nodes = json.load(sys.stdin)["nodes"]
print(*sorted("%s %s" % (n["name"], json.dumps({k: n["rates"][k] for k in ("byte/s", "source")})) for n in nodes if n["name"] in ("add", "mul")))')"
has "the run is told how" "kernels run one after another" <(notes)
"$PROTON" export -f hatchet -o again.hatchet a.hatchet
check "written again" "add 103 mul 203" "$(of lts__t_sector_hit_rate.pct again.hatchet)"
mv a.hatchet one.hatchet
check "once more" 0 "$(run 1 5000 --metrics $four)"
"$PROTON" merge -o two.hatchet one.hatchet a.hatchet >merged 2>&1
check "merged: sums" "add 500000 mul 1e+06" "$(of dram__bytes.sum two.hatchet)"
check "merged: means" "add 103 mul 203" "$(of lts__t_sector_hit_rate.pct two.hatchet)"
has "a column of the tree" "dram__bytes.sum" <("$PROTON" report --view tree -m dram__bytes.sum a.hatchet)

check "by request another one: status" 0 "$(run 1 100 --metrics dram__bytes.sum --reduce mean)"
check "by request another one" "add 100 mul 200" "$(of dram__bytes.sum)"

check "asked twice: status" 0 "$(run 1 100 --metrics dram__bytes.sum,gpu__time_duration.sum,dram__bytes.sum)"
check "asked twice" "add 5000 mul 10000" "$(of dram__bytes.sum)"

# ---- several passes
several=dram__bytes.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed
check "several passes: status" 0 "$(run 1 3000 --metrics $several)"
has "… are told before the run" "proton: the metrics take 3 passes: each kernel runs 3 times" err
has "… and in the profile" "hardware metrics take 3 passes: each kernel runs 3 times" <(notes)
check "… kernels are as many as they were" "add 1500 mul 1500" "$(of count)"
check "… they ran as long as their ranges say" "add 153000 mul 303000" "$(of 'time (ns)')"
check "… none is lost" "" "$(losses a.hatchet)"
check "… a sum" "add 150000 mul 300000" "$(of dram__bytes.sum)"
check "… a mean" "add 101 mul 201" "$(of dram__throughput.avg.pct_of_peak_sustained_elapsed)"
check "… refused where a range runs once" 2 "$(run 1 10 --metrics $several --replay user)"
has "… with the way out" "the metrics take 3 passes, and a range runs once: --replay kernel runs each kernel 3 times" err
check "one pass by kernels: status" 0 "$(run 1 3000 --metrics dram__bytes.sum --replay kernel)"
check "one pass by kernels" "add 150000 mul 300000" "$(of dram__bytes.sum)"

# ---- … and are seen while the program runs, in the file and by whoever looks on
waits=${libs%/mocks/.libs}/programs/collect_ranges
counted() { [ "$(of count)" = "add 5" ] && [ "$(of dram__bytes.sum)" = "add 500" ]; }
looked() { grep -qE ' 5 .* add$' top.out; }
"$PROTON" top -b 0 -i 0.1 -o top.hatchet "unix:$work/s" >top.out 2>top.err &
top=$!
wait_for 20 [ -S s ]
rm -f a.hatchet go
"$PROTON" record -q --save-interval 0.05 --forward "unix:$work/s" -o a.hatchet --metrics $several -- \
	"$waits" "$work/lib/libcuda.so.1" waits >/dev/null 2>err &
record=$!
wait_for 20 counted
check "while it runs: the file has its kernels" "add 5, add 500" "$(of count), $(of dram__bytes.sum)"
wait_for 20 looked
check "… who looks on, too" 0 "$(looked; echo $?)"
touch go
wait $record
check "while it runs: status" 0 $?
check "… at its end they are there once" "add 5, add 500" "$(of count), $(of dram__bytes.sum)"
check "… none is lost" "" "$(losses a.hatchet)"
wait $top

# ---- what CUPTI counts by code that it adds to kernels is 0 in ranges of ours, so each kernel is replayed
export MOCK_CUPTI_CHIP=GA102
added=smsp__sass_inst_executed.sum
check "code that is added: status" 0 "$(run 1 100 --metrics $added)"
check "… counted as it is" "add 5000 mul 10000" "$(of $added)"
check "… beside another one" "0 add 5050 mul 10050" "$(run 1 100 --metrics dram__bytes.sum,$added) $(of $added)"
for how in "--replay user" "--replay application" "--range scope" "--range nvtx"; do
	check "… refused with $how: status" 2 "$(run 1 100 --metrics $added $how)"
	has "… with a sentence" "'$added' is counted only where CUPTI replays each kernel, to which it adds code: --range kernel --replay kernel" err
done
printf 'about of added code\n%s\ndram__bytes.sum\n' $added >added
check "… of a set: status" 0 "$(run 1 100 --metrics ./added --replay user)"
has "… left out" "left out: 1 metric of './added' with __sass_ in the name, counted only where" err
check "… and the others are there" "/add 5000 mul 10000" "$(of $added)/$(of dram__bytes.sum)"
printf 'about of added code\n%s\n' $added >added
check "… of a set of nothing else: status" 2 "$(run 1 100 --metrics ./added --range scope)"
has "… said" "no metric of './added' is left" err
export MOCK_CUPTI_CHIP=GH100

# ---- kernels that CUPTI launches by itself, however it does, are not the program's; one of that name may be
kernels() { "$PROTON" report --view kernels a.hatchet | awk '$NF ~ /^(add|mul|WaitNs)$/ {print $NF, $3}' | sort | xargs; }
for how in waits:4000 unseen:4000 within:2000; do
	export MOCK_CUPTI_RANGES=${how%:*}
	check "of CUPTI's own ($how): status" 0 "$(run 2 1000 --metrics dram__bytes.sum)"
	check "… the program's kernels are there" "add 1000 mul 1000" "$(kernels)"
	check "… and measured" "add 100000 mul 200000" "$(of dram__bytes.sum)"
	check "… nothing is lost, or in flight" "" "$(losses a.hatchet)"
	has "… which is told" "left out: ${how#*:} kernels 'WaitNs' that CUPTI launched by itself" <(notes)
	unset MOCK_CUPTI_RANGES
done
for how in waits unseen within; do
	rm -f a.hatchet
	MOCK_CUPTI_RANGES=$how "$PROTON" record -q -o a.hatchet --metrics dram__bytes.sum -- "$app" \
		"$work/lib/libcuda.so.1" 1 200 WaitNs >/dev/null 2>err
	check "one of that name ($how)" "WaitNs 100 add 100" "$(kernels)"
done

# ---- threads launch into one context
check "threads: status" 0 "$(run 4 1000 --metrics dram__bytes.sum)"
check "threads" "add 200000 mul 400000" "$(of dram__bytes.sum)"
check "threads, by kernels: status" 0 "$(run 4 1000 --metrics dram__bytes.sum --replay kernel)"
check "threads, by kernels" "add 200000 mul 400000" "$(of dram__bytes.sum)"

# ---- trouble: a sentence, and times all the same
trouble() { # WORDS REPLAY SENTENCE
	export MOCK_CUPTI_RANGES=$1
	check "$1: the program's own status" 0 "$(run 1 1000 --metrics dram__bytes.sum --replay "$2")"
	unset MOCK_CUPTI_RANGES
	[ "$1" = short ] || check "$1: times all the same" "add 500 mul 500" "$(of count)"
	has "$1: why" "$3" <(notes)
}
trouble 35 user "no hardware metrics: the driver keeps hardware counters for administrators: it takes CAP_SYS_ADMIN"
trouble 40 user "no hardware metrics: the host of this virtual machine does not permit them"
trouble 26 user "no hardware metrics: another tool has the hardware counters of this GPU: DCGM"
trouble 43 user "no hardware metrics: a part of a GPU (MIG) has no hardware counters"
trouble 999 kernel "no hardware metrics: cuptiRangeProfilerEnable fails (error 999)"
trouble broken user "cuptiRangeProfilerDecodeData fails (error 999)"
check "broken: nothing is made up" "" "$(of dram__bytes.sum)"
trouble short kernel "not measured: 1000 kernels of which CUPTI counted another number than were launched"
check "a mismatch: nothing is told" "" "$(of dram__bytes.sum)"
check "… and how long they ran nobody knows" "zero_timestamps=1000" "$(losses a.hatchet)"
trouble drop user "not measured: 1 kernels for which CUPTI had no room"
check "without room: the others are told" "add 49900 mul 100000" "$(of dram__bytes.sum)"

# ---- a set of one's own, wherever it is
mkdir "a,b"
printf 'counting range\ndram__bytes.sum\n' >"a,b/c,d"
check "a path with commas: status" 0 "$(run 1 100 --metrics "a,b/c,d")"
check "a path with commas" "add 5000 mul 10000" "$(of dram__bytes.sum)"
check "… and a metric beside it: status" 0 "$(run 1 100 --metrics "a,b/c,d,sm__cycles_active.max")"
check "… and a metric beside it" "add 5000 mul 10000, add 101 mul 201" "$(of dram__bytes.sum), $(of sm__cycles_active.max)"

# ---- what is asked
refused() { # SENTENCE OPTIONS…
	check "$*: status" 2 "$(run 1 10 "${@:2}")"
	has "$*: why" "$1" err
}
refused "did you mean 'dram__bytes'" --metrics dram__byte.sum
refused "'dram__bytes' is counted with something behind it, such as 'dram__bytes.sum'" --metrics dram__bytes
refused "is not a set of metrics" --metrics memori
refused "'system' is no replay: there are user, kernel and application" --metrics dram__bytes.sum --replay system
refused "'stream' is no range: there are kernel, scope, nvtx and graph" --metrics dram__bytes.sum --range stream
refused "the metrics take 3 passes, and what a scope range is around runs once" --metrics $several --range scope
refused "the metrics take 1 pass, and what a graph range is around runs once" --metrics dram__bytes.sum --range graph --replay kernel
refused "is none of SUM, MAX, MEAN and MIN" --metrics dram__bytes.sum --reduce median
refused "one at a time" --metrics dram__bytes.sum --counters
refused "'live' is a set for --counters" --metrics live
refused "are of --metrics" --reduce sum
cat >own <<'END'
about two
counting range
dram__bytes.sum
gpu__time_duration.sum
END
check "a set of a file: status" 0 "$(run 1 100 --metrics ./own)"
check "a set of a file" "add 5050 mul 10050" "$(of gpu__time_duration.sum)"
check "a set and one more: status" 0 "$(run 1 100 --metrics ./own,sm__cycles_active.sum)"
check "a set and one more" "add 5050 mul 10050 add 5100 mul 10100" "$(of gpu__time_duration.sum) $(of sm__cycles_active.sum)"
unset MOCK_CUPTI_CHIP
check "no GPU that could tell: status" 0 "$(run 1 100 --metrics dram__bytes.sum)"
has "no GPU that could tell: why" "proton: hardware metrics are not measured" err
check "no GPU that could tell: times all the same" "add 50 mul 50" "$(of count)"
finish
