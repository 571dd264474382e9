#!/bin/bash
# SPDX-License-Identifier: MIT
# proton-viewer: what Triton's prints, for its own example files; report with the same options.
files=$(cd "$(dirname "$0")" && pwd)/hatchet
. "${srcdir:-.}/tests/cli_help.sh"
cuda=$files/upstream-cuda.json leaf=$files/upstream-leaf_nodes.json frame=$files/upstream-frame.json
ln -s "$(readlink -f "$PROTON")" proton-viewer

prints() { # prints "what" "expected" ARGS...
	local what=$1 want=$2
	shift 2
	check "$what" "$want" "$("$PROTON" viewer "$@" 2>&1)"
}
prints "util and a time" "614400.000 nan ROOT
├─ 204800.000 0.247 foo0
├─ 204800.000 0.148 foo1
└─ 204800.000 0.118 foo2" -m time/ns,util "$cuda"
prints "-i: of a raw name, totals of what is shown" "102315552.000 904.000 ROOT
└─ 102315552.000 904.000 kernel_1_1_1
   ├─ 24125138.000 502.000 kernel_1_2_1
   │  └─ 24125138.000 502.000 kernel_1_3_1
   └─ 78190414.000 402.000 kernel_1_2_2" -m time,count -i '.*_1_2_.*' "$leaf"
prints "-i: of a derived one, of all" "614400.000 ROOT
└─ 204800.000 foo0" -m time/ns -i foo0 "$cuda"
prints "-e, -d" "123558120.000 ROOT
├─ 24215210.000 kernel_2_1_1
└─ 99342910.000 kernel_3_1_1" -m time -e kernel_1 -d 2 "$leaf"
prints "-t" "225.874 ROOT
├─ 102.316 kernel_1_1_1
└─ 99.343 kernel_3_1_1
   └─ 93.037 kernel_3_2_2" -m time/ms -t 90 "$leaf"
prints "-f" "409.600 ROOT
├─ 204.800 test0
│  └─ 204.800 1@foo
└─ 204.800 test1" -m time/us -f function_line "$frame"
prints "--print-sorted" "225.874 ROOT

Sorted kernels by metric time/ms (inc)
$(printf '%-105s %s\n' kernel_1_1_1 102.3 kernel_3_1_1 99.34)" -m time/ms -d 1 --print-sorted -t 99 "$leaf"
prints "-l" "Available inclusive metrics:
- bytes
- count
- flops
- time
Available exclusive metrics:
- name
- device_id
- device_type" -l "$leaf"
check "by its name" "614400.000 ROOT" "$(./proton-viewer -m time/ns -d 1 "$cuda")"
check "neither -l nor -m" "" "$("$PROTON" viewer "$cuda")"

refuses() { # refuses "what" status "text" ARGS...
	local what=$1 status=$2 text=$3
	shift 3
	"$PROTON" viewer "$@" >out 2>err; check "$what: status" "$status" $?
	has "$what" "$text" err
	check "$what: one line" 1 "$(wc -l <err)"
}
refuses "no such metric" 1 "not found" -m nothing "$cuda"
refuses "no such unit" 1 "unsupported unit" -m bytes/furlongs "$cuda"
refuses "nothing left" 1 "leaves no frame" -m time -i nothing "$cuda"
refuses "bad expression" 2 "no regular expression" -m time -i '(' "$cuda"
refuses "no file" 2 "one file" -m time
refuses "a comparison" 2 "does not compare" -m time -diff "$cuda" "$cuda"

"$PROTON" report -i 'foo[01]' -e foo0 -m time/us,bytes "$cuda" >out
check "report: -i with -e" "204.800 10.0M ROOT" "$(awk 'NR == 2 { print $1, $2, $3 }' out)"
"$PROTON" report -i 'foo[01]' -e foo0 --keep-totals -m time/us,bytes "$cuda" >out
check "report: --keep-totals" "614.400 120M ROOT" "$(awk 'NR == 2 { print $1, $2, $3 }' out)"
"$PROTON" report --tree -t 205000 -m time/ns "$cuda" >out; check "report: -t X" 2 "$(wc -l <out)"
"$PROTON" report --tree -t 34% "$cuda" >out; check "report: -t X%" 2 "$(wc -l <out)"
"$PROTON" report -i nothing "$cuda" >out 2>err; check "report: nothing left" 1 $?
printf 'CUDA 90 1T 1T 1T 1T 1T\n' >mine
"$PROTON" report --tree -m util --peaks mine "$cuda" >out; has "--peaks" "488.281" out
"$PROTON" report --peaks "$cuda" "$cuda" >out 2>err; check "--peaks: status" 2 $?
has "--peaks: where" "upstream-cuda.json:1:" err
finish
