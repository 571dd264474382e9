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
record() { # record CASE
	timeout 120 "$PROTON" record -q -o run.hatchet -- "$app" "$libs/libcuda.so.1" "$here/cubins/scopes.cubin" "$1" >out 2>err
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
MOCK_CUDA_FULL=1 record "no memory"
check "no memory: counted" warp_launches=3 "$(losses run.hatchet)"
notes run.hatchet >notes
has "no memory: and why" "scopes within some kernels are not in this profile: there is no memory for their records" notes
finish
