#!/bin/bash
# SPDX-License-Identifier: MIT
# How kernels are launched: from records to what is shown, and what it says of a device.
cubins=$(cd "${srcdir:-.}/tests/cubins" && pwd)
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_launches
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so

record() { # record NAME OPTIONS...
	local name=$1
	shift
	timeout 120 "$PROTON" record -q -o "$name" "$@" -- "$app" "$libs/libcuda.so.1" >out 2>err
	check "$name: status" 0 $?
}
# What is kept of "both" and of what is not told apart: kernel grid block registers local count time
kept() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
p = json.load(sys.stdin)
name = {n["id"]: n["name"] for n in p["nodes"]}
for c in sorted(p["launch_configs"], key=lambda c: (name[c["node"]], c["grid_x"])):
    if name[c["node"]] in ("below", "both", "last", "shared") or not c["grid_x"]:
        print(name[c["node"]], c["grid_x"], c["grid_y"], c["block_x"], c["registers"],
              c["static_shared_bytes"], c["dynamic_shared_bytes"], c["local_bytes"], c["count"], c["time_ns"])'
}

record run.hatchet
check "what a profile keeps" "below 264 1 512 40 0 0 0 2 10000
both 33 1 256 32 0 0 0 6 6000
both 1056 1 256 32 0 0 128 6 18000
last 264 1 512 40 0 0 0 2 10000
many 0 0 0 0 0 0 0 24 24000
shared 660 2 128 32 8192 32768 0 5 50000" "$(kept run.hatchet)"
# row KERNEL CALLS [FILE]
row() { "$PROTON" report --view launches "${3:-run.hatchet}" | awk -v k="$1" -v n="$2" '$NF == k && $2 == n' | sed 's/  */ /g; s/^ //'; }
check "limited by registers, with a tail" \
	"200us 10 50.0 64 0 0 1.14 86.4 86.4us regs 600 256 - registers" "$(row registers 10)"
check "limited by shared memory, two waves" \
	"50.0us 5 31.2 32 41.0K 0 2.00 0.0 0ns shared 660x2 128 - shared" "$(row shared 5)"
check "of clusters the waves are not known" \
	"7.00us 1 100.0 32 0 0 - - - full 132 1024 2 clusters" "$(row clusters 1)"
check "one block is no cluster, and local memory that CUPTI does not tell is not known" \
	"6.00us 1 100.0 32 0 - 0.03 0.0 0ns full 8 1024 - alone" "$(row alone 1)"
check "nodes of a graph" "20.0us 4 75.0 40 0 0 0.67 0.0 0ns regs 264 512 - node" "$(row node 4)"
check "what is not told apart" "24.0us 24 - - - - - - - - - - - many" "$(row many 24)"
check "nothing is lost" "" "$(losses run.hatchet)"

# ---- the same from other files, and from a stream
record run.prt
"$PROTON" export -f json run.hatchet >run.json
"$PROTON" merge -o twice.hatchet run.hatchet run.prt
for file in run.prt run.json; do
	check "$file: what it keeps" "$(kept run.hatchet)" "$(kept $file)"
done
check "merged: twice as much" "24000 48000" "$(kept twice.hatchet | awk '$1 == "both" {s[$2] += $10} $1 == "many" {m += $10} END {print s[33] * 2, m}')"
check "filtered" "both both" "$("$PROTON" report --view launches --include both run.hatchet | awk '{print $NF}' | grep -x both | xargs)"

# ---- local memory of which records say nothing: as the module has it that was loaded
stacks() { # stacks NAME CUBIN...: what is kept of each kernel
	local name=$1
	shift
	timeout 120 "$PROTON" record -q -o "$name" -- "$app" "$libs/libcuda.so.1" "${@/#/$cubins/}" >out 2>err || echo "status $?"
	"$PROTON" export -f json "$name" | python3 -c '
import json, sys
p = json.load(sys.stdin)
name = {n["id"]: n["name"] for n in p["nodes"]}
print(*sorted("%s=%s" % (name[c["node"]], c["local_bytes"]) for c in p["launch_configs"]))'
}
check "of each kernel" "array=512 calls=256 elsewhere=None none=0 twice=128" "$(stacks stacks.hatchet stacks.cubin)"
check "of one that modules have with other numbers" "array=512 calls=256 elsewhere=None none=0 twice=None" \
	"$(stacks differ.hatchet stacks.cubin stacks-again.cubin)"
check "of what is no cubin" "array=None calls=None elsewhere=None none=None twice=None" "$(stacks no.hatchet gather.json)"
"$PROTON" report --view findings stacks.hatchet >text
has "a finding" "kernels use local memory (local-memory)" text
has "… of those that have it" "30 kernels in 30.0ms, with up to 512B of local memory a thread" text
"$PROTON" report --view findings no.hatchet >text
check "none of what is not known" "" "$(grep 'local memory' text)"

# ---- who says nothing of it, and one that is older
MOCK_CUPTI_VERSION=17 record old.hatchet
check "no clusters before CUPTI 11.8" "7.00us 1 100.0 32 0 0 0.50 0.0 0ns full 132 1024 clusters" "$(row clusters 1 old.hatchet)"
PROTON_FAKE='kernel gemm 1000 10 128x4 256;kernel relu 500 3' timeout 120 "$PROTON" record -q -o fake.hatchet -- true
check "a shape alone" "10.0us 10 - - - - - - - - 128x4 256 gemm" "$(row gemm 10 fake.hatchet)"
check "no row of what is not known" "" "$(row relu 3 fake.hatchet)"
PROTON_FAKE='kernel relu 500 3' timeout 120 "$PROTON" record -q -o none.hatchet -- true
check "nothing is known" "how kernels were launched is not known" "$("$PROTON" report --view launches none.hatchet)"
finish
