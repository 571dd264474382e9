#!/bin/bash
# SPDX-License-Identifier: MIT
# Tapes recorded on a GPU give the same report and the same export as on the day they were made.
# Each tape in tests/wire has a NAME.report and a NAME.json beside it;
# PROTON_GOLDEN=update make check TESTS=tests/scripts/test_wire_replay.sh writes them anew.
tapes=$(cd "${srcdir:-.}/tests/wire" && pwd) || exit 99
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"

golden() { # golden "what" file-that-was-made golden-file
	if [ "${PROTON_GOLDEN:-}" = update ]; then
		cp "$2" "$3"
	fi
	if diff -u "$3" "$2" >diff.out; then echo "ok: $1"; else
		echo "FAILED: $1"; head -40 diff.out; n_failed=$((n_failed + 1)); fi
}

n=0
for tape in "$tapes"/*.tape; do
	name=$(basename "$tape" .tape)
	# By its name alone: the export says what it was made of.
	cp "$tape" "$name.tape"
	[ ! -d "$tape.cubins" ] || cp -r "$tape.cubins" .
	"$PROTON" report --ascii --names raw "$name.tape" >"$name.report" 2>err
	check "$name: report" "0 " "$? $(cat err)"
	golden "$name: report is as expected" "$name.report" "$tapes/$name.report"
	"$PROTON" export -f json "$name.tape" >"$name.json" 2>err
	check "$name: export" "0 " "$? $(cat err)"
	golden "$name: export is as expected" "$name.json" "$tapes/$name.json"
	"$PROTON" view --ascii --names raw "$name.tape" >"$name.view" 2>err </dev/null
	check "$name: view without a terminal" "0 " "$? $(cat err)"
	check "$name: view prints the report" "" "$(diff "$name.report" "$name.view" | head -5)"
	n=$((n + 1))
done
check "tapes" 14 "$n"
# What has no room in a report: views of their own.
for view in counters.counters samples.source; do
	"$PROTON" report --ascii --names raw --view "${view#*.}" "${view%.*}.tape" >"$view" 2>err
	check "${view%.*}: its view" "0 " "$? $(cat err)"
	golden "${view%.*}: its view is as expected" "$view" "$tapes/$view"
done

# Two copies to the device, one back, one within: counts and bytes of the program that was run.
check "copies to the device" 2 "$(metric copies.tape 'memcpy HtoD pageable' count)"
check "bytes to the device" 1052672 "$(metric copies.tape 'memcpy HtoD pageable' bytes)"
check "copies to the host" 1 "$(metric copies.tape 'memcpy DtoH pageable' count)"
check "bytes to the host" 524288 "$(metric copies.tape 'memcpy DtoH pageable' bytes)"
check "copies within the device" 1 "$(metric copies.tape 'memcpy DtoD' count)"
check "bytes within the device" 262144 "$(metric copies.tape 'memcpy DtoD' bytes)"
check "launches of the storm and of its warm-up" 101000 "$(metric storm.tape _Z12empty_kernelv count)"

# Graphs of all kinds by node, memory, copies with planted flaws: as their programs say (bench/cuda_graph_places,
# cuda_memory, cuda_patterns on an H200; idle.tape is cuda_idle -n 20).
check "kernels of graphs" "6059 26 1007" "$(for k in captured_kernel built_kernel count_kernel; do metric graph_places.tape $k count; done | xargs)"
check "memory of devices: allocations, what is left" "4 3145728" \
	"$(for m in allocations live_bytes; do metric memory.tape 'alloc device from cuda_memory' $m; done | xargs)"
check "memory of a pool" "9 2097152" \
	"$(for m in allocations live_bytes; do metric memory.tape 'alloc device pool from cuda_memory' $m; done | xargs)"
check "copies that go back" "100 100 100 100" "$(for c in 'DtoH pinned' 'HtoD pinned' 'DtoH pageable' 'HtoD pageable'; do
	metric patterns.tape "memcpy $c" copies_back; done | xargs)"

# Hardware (bench/cuda_ranges, cuda_scopes, cuda_pc): a copy of 256 MiB reads and writes so much, in 32 bytes a sector; ranges have as
# many instructions as they have kernels; who waits for shared memory was made to.
check "sectors read by three copies of 256 MiB" "1.000 1.006" \
	"$(for m in read write; do awk "BEGIN { printf \"%.3f\\n\", $(metric metrics.tape _Z11stream_copyP6float4PKS_m "dram__sectors_$m.sum") * 32 / 3 / 268435456 }"; done | xargs)"
check "their loads and stores, 16 bytes a thread" "1572864 1572864" \
	"$(for op in ld st; do metric metrics.tape _Z11stream_copyP6float4PKS_m "smsp__sass_inst_executed_op_global_$op.sum"; done | cut -d. -f 1 | xargs)"
printf 'range %s\n' 'one 1' 'twenty 20' 'outer 5' 'inner 5' 'left 2' 'right 7' 'graph 12' 'many 3000' 'open 2' >ranges.out
"$PROTON" export -f hatchet -o ranges.hatchet metric_ranges.tape
check "instructions of ranges" "9 ranges" "$(python3 "$here/tools/check_ranges.py" ranges.hatchet smsp__inst_executed.sum ranges.out)"
"$PROTON" export -f hatchet -o samples.hatchet samples.tape
check "what was waited for" "looked at 1" "$(python3 "$here/tools/check_samples.py" samples.hatchet conflict=short_scoreboard)"

# What a device did is all that ran on it, not its kernels alone: here there are none.
"$PROTON" report --ascii --section devices copies.tape >devices.out
has "copies are work of their device" "35.5us      4" devices.out

# Three streams at the same time, with a trace: busy time is the union of the single executions.
"$PROTON" export -f json overlap.tape | python3 -c '
import json, sys
p = json.load(sys.stdin)
union = total = end = 0
for start, stop in sorted((i["start_ns"], i["end_ns"]) for i in p["intervals"]):
    union += max(0, stop - max(start, end))
    total += stop - start
    end = max(end, stop)
print(len(p["intervals"]), union == p["uses"][0]["busy_ns"], union < total / 2)' >overlap.out
check "a trace: busy time is the union" "1861 True True" "$(cat overlap.out)"

# A torn tape: what is whole is shown, the loss is said.
head -c 3000 torch.tape >torn.tape
"$PROTON" report --ascii torn.tape >torn.report 2>err; check "a torn tape" "0 " "$? $(cat err)"
has "a torn tape: the loss is said" "not understood (damaged?)" torn.report
finish
