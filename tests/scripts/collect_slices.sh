#!/bin/bash
# SPDX-License-Identifier: MIT
# Scopes within kernels with <proton/kernel.cuh>: below the kernel in its calling context, whatever comes between.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
. "$here/tools/inside_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_slices
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
record() { # record CASE [OPTION…]
	timeout 120 "$PROTON" record -q -o run.hatchet "${@:2}" -- "$app" "$libs/libcuda.so.1" "$here/cubins/scopes.cubin" "$1" >out 2>err
	check "$1: status" 0 $?
	[ -s err ] && cat err
}
of() { # of LAUNCHES [ABOVE]: what two warps of each leave
	echo "${2:-}k/tile $((200 * $1)) $((100 * $1)) $((2 * $1)) 100 100, ${2:-}k/tile/load $((40 * $1)) $((20 * $1)) $((2 * $1)) 20 20"
}

record plain
check "plain: below the kernel, from its first launch on" "$(of 2 outer/)" "$(inside run.hatchet)"
check "plain: kernels keep their names" "1 2" "$(metric run.hatchet other count) $(metric run.hatchet k count)"
check "plain: none is lost" "" "$(losses run.hatchet)"
check "plain: what reads them is hidden" "0 0" "$("$PROTON" report run.hatchet | grep -c memcpy) $("$PROTON" export -f json run.hatchet | grep -c mem_live)"
record untold
check "untold: from the second launch on" "$(of 1)" "$(inside run.hatchet)"
check "untold: the first one is counted" warp_launches=1 "$(losses run.hatchet)"
notes run.hatchet >notes
has "untold: and why" "scopes within some kernels are not in this profile: they were loaded by the launch itself" notes
record untold --kernel-scopes all
check "untold: but by who runs it, from the first launch on" "$(of 2)" "$(inside run.hatchet)"
check "untold: none is lost then" "" "$(losses run.hatchet)"
record module
check "module: its functions, too" "$(of 1)" "$(inside run.hatchet)"
check "module: none is lost" "" "$(losses run.hatchet)"
record contexts
check "contexts: each has its own, and one that is destroyed is read before" "$(of 3)" "$(inside run.hatchet)"
check "contexts: none is lost" "" "$(losses run.hatchet)"
record again
check "again: a module in the place of another" "$(of 2)" "$(inside run.hatchet)"
record released
check "released: it is read on" "$(of 2)" "$(inside run.hatchet)"
check "released: none is lost" "" "$(losses run.hatchet)"
record broken
check "broken: what is before it is right" "$(of 1)" "$(inside run.hatchet)"
check "broken: what goes on too far is not taken" warp_launches=1 "$(losses run.hatchet)"
record lost
check "lost: what is there is right" "$(of 1)" "$(inside run.hatchet)"
check "lost: warps, a launch without a record, one that is not over" "unaccounted_launches=1 warp_launches=2 warps=7" "$(losses run.hatchet)"
notes run.hatchet >notes
for why in "their launches have no records" "they were not over at its end"; do
	has "lost: $why" "scopes within some kernels are not in this profile: $why" notes
done
record forked
check "forked: the parent's are the parent's" "$(of 2)" "$(inside run.hatchet)"
check "forked: none is lost" "" "$(losses run.hatchet)"
record points
check "points: a scope, and an event from one warp to another" "k/load 120 60 2 60 60, k/tile 120 60 2 60 60" "$(inside run.hatchet)"
check "points: marks and values are below what they are in" "k/store 2, k/tile/store 4, k/tile/wait 4 -9 -5 0.5, k/wait 2 80 40 40" "$(moments run.hatchet)"
check "points: an event that does not end" warp_unmatched=2 "$(losses run.hatchet)"
"$PROTON" report run.hatchet >report
has "points: values have columns" scope_value_min report
"$PROTON" export --plain -f hatchet -o plain.hatchet run.hatchet
check "points: … and are in other files" "k/store 2, k/tile/store 4, k/tile/wait 4 -9 -5 0.5, k/wait 2 80 40 40" "$(moments plain.hatchet)"
mv run.hatchet first.hatchet
record points
"$PROTON" merge -o merged.hatchet first.hatchet run.hatchet
check "points: … and of two runs" "k/store 4, k/tile/store 8, k/tile/wait 8 -18 -5 0.5, k/wait 4 160 40 40" "$(moments merged.hatchet)"
record sums
check "sums: as of records; of an event none by itself" "k/load 140 70 2 - -, k/tile 600 300 4 100 200" "$(inside run.hatchet)"
check "sums: marks" "k/tile/store 10" "$(moments run.hatchet)"
check "sums: records without a row" warp_rows_full=4 "$(losses run.hatchet)"
record module --kernel-scopes time-shift # as if they had cost 2 cycles each at first and 19 behind it (intra/record_cost.c)
check "time-shift: less by what is recorded within" "k/tile 154 77 2 77 77, k/tile/load 36 18 2 18 18" "$(inside run.hatchet)"
record module --intra=func --intra-mode default:optimizations=time_shift
check "time-shift: as --intra-mode says it" "k/tile 154 77 2 77 77, k/tile/load 36 18 2 18 18" "$(inside run.hatchet)"
export MOCK_CUDA_CAPABILITY=86
record contexts --kernel-scopes time-shift
check "time-shift: of a device of which it is not known times are as they were recorded" "$(of 3)" "$(inside run.hatchet)"
notes run.hatchet >notes
check "time-shift: … which is said once" "what records within kernels cost is not known of devices of compute capability 8.6: their times are as they were recorded" "$(grep "what records" notes)"
record contexts
notes run.hatchet >notes
check "time-shift: … and not where nobody asked" 0 "$(grep -c "what records" notes)"
unset MOCK_CUDA_CAPABILITY
record full
check "full: the latest records are there" "k/tile 200 100 2 100 100, k/tile/load 40 20 2 20 20" "$(inside run.hatchet)"
check "full: what was overwritten is counted" warp_records_full=196 "$(losses run.hatchet)"
notes run.hatchet >notes
has "full: and what would keep it" "warps wrote up to 100 records within a kernel: PROTON_KERNEL_RECORDS=128 would have kept them" notes
record paused
check "paused: nobody records, and then they do" "1 1" "$(cat out)"
# One that ran meanwhile, with scopes, is there where its record was read behind the pause.
late=$(($(metric run.hatchet k count | cut -d. -f 1) > 2 && $(inside run.hatchet | grep -cF "$(of 3)") == 1))
check "paused: what ran before and behind it is there" "$(of $((2 + late)))" "$(inside run.hatchet)"
check "paused: the rest is no loss" "" "$(losses run.hatchet)"
record collision
notes run.hatchet >notes
has "collision: two names of one number are told" "two scopes within kernels cannot be told from one another, 'store' and 'stare'" notes
record beyond
check "beyond: warps that a kernel was not compiled for" warps_beyond=3 "$(losses run.hatchet)"
record node
check "node: its module is written into as it is added" written "$(cat out)"
check "node: none is lost" "" "$(losses run.hatchet)"
record older
check "older: a header of another version is not written into" "not written" "$(cat out)"
check "older: each launch is counted" warp_launches=2 "$(losses run.hatchet)"
notes run.hatchet >notes
has "older: and why" "they were compiled with <proton/kernel.cuh> of another version" notes
record overflow
lost=$(losses run.hatchet)
check "overflow: rings are opened again, and used" "1 $(of 2)" "$(tail -n 1 out) $(inside run.hatchet)"
check "overflow: some have no room" yes "$([[ $lost =~ ^warps=[1-9][0-9]{3,}$ ]] && echo yes || echo "$lost")"
check "overflow: all others are there" "k/store $(($(head -n 1 out) - 255 * ${lost#warps=}))" "$(moments run.hatchet)"

# Who records is chosen without compiling.
record chosen
check "chosen: all" "2 0xffffffff 0:1 0:1" "$(cat out)"
record chosen --kernel-scopes warps=0,4-6,31,blocks=16:3,multiprocessors=4
check "chosen: some" "1 0x80000071 3:16 0:4" "$(cat out)"
record chosen --kernel-scopes off
check "chosen: none" "0 0xffffffff 0:1 0:1" "$(cat out)"
record module --kernel-scopes warps=1,blocks=1
check "one of two warps: of those that record" "k/tile 100 100 1 100 100, k/tile/load 20 20 1 20 20" "$(inside run.hatchet)"
some=default:sampling_strategy=selective:sampling_options=1,3
record chosen --intra=func --intra-mode $some
check "chosen: as --intra-mode says it" "1 0xa 0:1 0:1" "$(cat out)"
record chosen --intra=func --intra-mode ${some%1,3}1-2,5
check "chosen: a range" "1 0x26 0:1 0:1" "$(cat out)"
record chosen --intra=func --intra-mode $some --kernel-scopes warps=0-1,blocks=2
check "chosen: by both" "1 0x2 0:2 0:1" "$(cat out)"
"$PROTON" record --intra=func --intra-mode $some --kernel-scopes warps=0 true >out 2>err
check "chosen: none by both" "2 proton: --intra-mode and --kernel-scopes have no warp in common: none would record" "$? $(head -n 1 err)"
for bad in "" warps warps= warps=32 warps=3-1 warps=0- blocks=0 blocks=4:4 blocks=4: off=1 no 3 "blocks=2,1"; do
	"$PROTON" record --kernel-scopes "$bad" true >out 2>err
	check "'$bad' is refused" "2 1" "$? $(grep -c "kernel-scopes: '.*' is not understood: there are" err)"
done
MOCK_CUDA_FULL=1 record "no memory"
check "no memory: counted" warp_launches=3 "$(losses run.hatchet)"
notes run.hatchet >notes
has "no memory: and why" "scopes within some kernels are not in this profile: there is no memory for their records" notes
finish
