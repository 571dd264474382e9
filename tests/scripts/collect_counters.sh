#!/bin/bash
# SPDX-License-Identifier: MIT
# Hardware counters while a program runs: what the mock of CUPTI has planted is what the profile says, on every
# way; and no trouble with them is the program's.
. "${srcdir:-.}/tests/tools/cli_help.sh"
unset CUDA_VISIBLE_DEVICES LD_PRELOAD MOCK_CUPTI_HOST
libs=$(dirname "$PROTON")/tests/mocks/.libs
case $libs in /*) ;; *) libs=$PWD/$libs ;; esac
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libraries in $libs"; exit 77; }
app=${libs%/mocks/.libs}/programs/mock_cuda_app
mkdir lib && cp "$libs/libcuda.so.1" lib/
export PROTON_CUPTI_PATH=$libs/mock_cupti.so LD_LIBRARY_PATH=$work/lib MOCK_CUPTI_CHIP=LIVE100

cat >app.sh <<END
"$app" "$work/lib/libcuda.so.1" 1 100 >/dev/null
while [ -e going ]; do read -r -t 0.05 _ <> <(:) || :; done
exit 7
END
# Run the program as long as `going` exists (also one that outlives this folder ends). The profile is in \$1, its status in `status`.
begin() { rm -f "$1"; touch going; "$PROTON" record -q --save-interval 0.2 "${@:2}" -o "$1" -- bash app.sh & recorder=$!; }
finish_run() { rm going; wait "$recorder"; status=$?; }
# of FILE EXPRESSION: of p, the profile; c, its counters; notes; lost.
of() {
	"$PROTON" export -f json "$1" 2>/dev/null | python3 -c '
import json, sys
p = json.load(sys.stdin)
c, notes, lost = p["counters"], "; ".join(n["text"] for n in p["notes"]), p["losses"]["counter_samples"]
def means(key):
    return " ".join(sorted({"%.6g" % r[key] if r[key] is not None else "-" for r in c}))
print(eval(sys.argv[1]))' "$2"
}
counted() { [ "$(of "$1" 'sum(r["samples"] for r in c) >= 20')" = True ]; }
noted() { [ -n "$(of "$1" notes)" ]; }
# trouble WORDS: a run with it, until it is told or 20 samples have come; then its notes.
trouble() { export MOCK_CUPTI_PM=$1; begin t.hatchet --counters=2ms; wait_for 10 noted t.hatchet; finish_run; unset MOCK_CUPTI_PM; }

# ---- what was planted
begin a.hatchet --counters=5ms --tape a.tape
wait_for 10 counted a.hatchet
finish_run
check "the program's own status" 7 "$status"
for file in a.hatchet a.tape; do
	check "$file: percents" "62.5 37.5 50 25 12.5 75" "$(of $file '" ".join(map(means, ["sm_active_percent", "sm_issue_percent", "tensor_active_percent", "warps_active_percent", "dram_read_percent", "l2_hit_percent"]))')"
	check "$file: nothing is a number, too" 0 "$(of $file 'means("dram_write_percent")')"
	check "$file: bytes a second" "1e+09 5e+08 1.6e+10" "$(of $file '" ".join(map(means, ["pcie_read_bytes_per_second", "pcie_write_bytes_per_second", "nvlink_rx_bytes_per_second"]))')"
	check "$file: a clock" 1.755e+09 "$(of $file 'means("gpc_clock_hz")')"
	check "$file: what the chip has not, or no room for" "- - -" "$(of $file '" ".join(map(means, ["nvlink_tx_bytes_per_second", "sys_clock_hz", "fma_issue_percent"]))')"
	check "$file: the first sample is none" True "$(of $file 'all(r["end_ns"] - r["start_ns"] == 5000000 * r["samples"] for r in c)')"
	check "$file: nothing to say" "" "$(of $file notes)"
done
check "within the run" True "$(of a.hatchet 'p["start_ns"] - 10**9 < c[0]["start_ns"] < c[-1]["end_ns"] < p["end_ns"] + 10**9')"
check "of the device that was used" "[0]" "$(of a.hatchet 'sorted({r["device"] for r in c})')"
check "written again" "$(of a.hatchet c)" "$("$PROTON" export -f hatchet -o b.hatchet a.hatchet && of b.hatchet c)"
check "merged" "$(of a.hatchet c)" "$("$PROTON" merge -o m.hatchet a.hatchet >/dev/null 2>&1; of m.hatchet c)"

"$PROTON" report --view counters a.hatchet >a.counters
has "kernels: no column is empty, and none of a \"-\" is told" "(no sample fell wholly within; what took most is too short for any)" a.counters
row() { awk -v name="$1" '/^GPU0/ && substr($0, length($0) - length(name) + 1) == name { print $2, $3, $4, $5 }' a.counters; }
check "as text: a percentage" "62.5 62.5 62.5 %" "$(row 'SM active')"
check "as text: nothing is a number, too" "0.0 0.0 0.0 %" "$(row 'DRAM write')"
check "as text: bytes a second" "16.0 16.0 16.0 GB/s" "$(row 'NVLink rx')"
check "as text: a clock" "1755 1755 1755 MHz" "$(row 'GPC clock')"
check "as text: what was not counted has no row" "" "$(row 'NVLink tx')"
check "as text: in the order in which it is read" "SM active,SM issue,tensor active,warps active,DRAM read,DRAM write,L2 hits,PCIe read,PCIe write,NVLink rx,GPC clock" "$(awk '/^GPU0/ { $1 = $2 = $3 = $4 = $5 = ""; sub(/^ +/, ""); print }' a.counters | grep -v '^clock, by\|^power\|^temperature\|^memory used' | paste -sd ,)"
"$PROTON" report a.hatchet >a.report
has "it is told of without being asked" "## Hardware counters" a.report

begin trace.hatchet --counters=5ms --trace
wait_for 10 counted trace.hatchet
finish_run
"$PROTON" export -f chrome -o trace.json trace.hatchet
"$PROTON" export -f json trace.hatchet >trace.doc 2>/dev/null
check "in a trace: the same values at the same times of day" "ok" "$(python3 -c '
import json
trace, doc = json.load(open("trace.json")), json.load(open("trace.doc"))
base = trace["baseTimeNanoseconds"]
found = {(e["name"], round(e["ts"] * 1000) + base, *e["args"].items()) for e in trace["traceEvents"] if e["ph"] == "C"}
of = [r for r in sorted(doc["counters"], key=lambda r: r["start_ns"]) if r["end_ns"] > base]
want = ("SM active %", max(of[0]["start_ns"], base), ("sm_active_percent", 62.5))
print("ok" if want in found else (want, sorted(found)[:9]))' 2>&1)"
check "read again: nothing was left out" "" "$("$PROTON" report trace.json 2>&1 | grep "values of counters")"

begin off.hatchet; finish_run
check "nobody asked" "[]" "$(of off.hatchet c)"
check "as text: none, and what would make some" "none: proton top and record read hardware counters with --counters" "$("$PROTON" report --view counters off.hatchet)"
check "no table of none" 0 "$("$PROTON" report off.hatchet | grep -c "Hardware counters")"
begin fine.hatchet --counters=100us
wait_for 10 counted fine.hatchet
finish_run
# Of a run that a slow machine made long the first times are coarser.
check "short samples are put together" True "$(of fine.hatchet 'c[-2]["samples"] == 10 and means("sm_active_percent") == "62.5"')"
export MOCK_CUPTI_PM=cycles
begin cycles.hatchet --counters=2ms
wait_for 10 counted cycles.hatchet
finish_run
unset MOCK_CUPTI_PM
check "by cycles, where time is no trigger" "62.5 " "$(of cycles.hatchet 'means("sm_active_percent") + " " + notes')"

# ---- a program that is over sooner than a device is opened
MOCK_CUPTI_PM=slow-open "$PROTON" record -q --counters=2ms -o short.hatchet -- "$app" "$work/lib/libcuda.so.1" 1 100 >/dev/null 2>&1
check "it waits for its counters" "True False" "$(of short.hatchet 'str(len(c) > 0 and c[0]["start_ns"] < p["uses"][0]["first_ns"]) + " " + str("counters" in notes)')"

# ---- trouble: a sentence, and the run goes on
while IFS='|' read -r words sentence; do
	trouble "$words"
	check "'$words': the program" 7 "$status"
	check "'$words': a sentence" "$sentence" "$(of t.hatchet 'p["notes"][0]["text"]' | cut -c -"${#sentence}")"
	check "'$words': its times" 100 "$(of t.hatchet 'sum(pr["launches"] for pr in p["processes"])')"
done <<END
35|no hardware counters: the driver keeps hardware counters for administrators: it takes CAP_SYS_ADMIN
40|no hardware counters: the host of this virtual machine
26|no hardware counters of GPU0: another tool has the hardware counters of this GPU: DCGM
7|no hardware counters of GPU0: they are being sampled already
43|no hardware counters of GPU0: a part of a GPU (MIG) has no hardware counters
41|no hardware counters of GPU0: the GPU is in confidential computing mode
27|no hardware counters of GPU0: the GPU, or its driver, cannot be sampled
999|no hardware counters of GPU0: cuptiPmSamplingEnable fails with 999
broken|hardware counters of GPU0 are missing from here on: cuptiPmSamplingDecodeData fails with 999
END
export MOCK_CUPTI_PM=crash MOCK_CUPTI_PM_MARK=$work/counted
begin t.hatchet --counters=2ms
wait_for 10 counted t.hatchet
touch counted
wait_for 10 noted t.hatchet
finish_run
unset MOCK_CUPTI_PM MOCK_CUPTI_PM_MARK
check "crash: the program" 7 "$status"
check "crash: a sentence" "hardware counters are missing from here on: $libs/mock_cupti.so, which samples, crashed with SIGSEGV" "$(of t.hatchet 'p["notes"][0]["text"]')"
check "crash: its times" 100 "$(of t.hatchet 'sum(pr["launches"] for pr in p["processes"])')"
MOCK_CUPTI_CHIP=NONE trouble ''
check "a chip that it does not know" "no hardware counters of GPU0: cuptiProfilerHostInitialize fails with 46" "$(of t.hatchet 'p["notes"][0]["text"]')"
MOCK_CUPTI_CHIP=GA102 trouble ''
check "one without any of them" "no hardware counters of GPU0: the chip GA102 has none that proton asks for" "$(of t.hatchet 'p["notes"][0]["text"]')"
PROTON_CUPTI_PATH=$work/none begin t.hatchet --counters=2ms
said() { [ "$(of t.hatchet '"no hardware counters" in notes')" = True ]; }
wait_for 10 said
finish_run
check "no library" True "$(of t.hatchet '"no hardware counters: no libcupti of CUDA 12.6 or later was found" in notes')"
export MOCK_CUPTI_PM=overflow
begin o.hatchet --counters=2ms
overflown() { [ "$(of o.hatchet 'lost > 0 and len(c) > 50')" = True ]; }
check "a full buffer: it goes on, and what is lost is counted" 0 "$(wait_for 10 overflown; echo $?)"
finish_run
check "told as a loss" True "$(of o.hatchet 'lost > 0')"
for how in hang hang-open; do
	rm -f hung
	export MOCK_CUPTI_PM=$how MOCK_CUPTI_PM_MARK=$work/hung
	begin h.hatchet --counters=2ms
	wait_for 10 test -e hung
	finish_run
	check "$how: ends with the run" 7 "$status"
	check "$how: and is told of" True "$(of h.hatchet '"did not end within" in notes')"
done
unset MOCK_CUPTI_PM

# ---- the helper
helper() {
	local file
	for file in $(grep -lsx "PPid:[[:space:]]*$recorder" /proc/[0-9]*/status); do
		[ "$(cat "${file%status}comm")" != "${PROTON##*/}" ] || basename "${file%/status}"
	done
}
begin k.hatchet --counters=2ms --no-sensors
wait_for 10 counted k.hatchet
kill -KILL "$(helper)"
wait_for 10 noted k.hatchet
finish_run
check "killed: the program" 7 "$status"
check "killed: a sentence" "hardware counters are missing from here on: $PROTON_CUPTI_PATH, which samples, crashed with SIGKILL" "$(of k.hatchet notes)"
begin d.hatchet --counters=2ms --no-sensors
wait_for 10 counted d.hatchet
pid=$(helper)
kill -KILL "$recorder"; wait "$recorder" 2>/dev/null
gone() { ! kill -0 "$pid" 2>/dev/null; }
check "it ends with who records" 0 "$(wait_for 10 gone; echo $?)"
rm going

for value in 5 1us 2s fast ''; do
	check "no interval: '$value'" 2 "$("$PROTON" record --counters="$value" -- true 2>err; echo $?)"
	has "said" "is no interval" err
done
finish
