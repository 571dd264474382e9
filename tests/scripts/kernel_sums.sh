#!/bin/bash
# SPDX-License-Identifier: MIT
# Sums of <proton/kernel.cuh> (PROTON_KERNEL_ACCUMULATE), compiled for the processor, say what a plain model of them says: with rows for
# all, for few, and where places in the source share what they remember.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
command -v g++ >/dev/null || { echo "no g++"; exit 77; }
mkdir proton
awk -f "$here/tools/without_ptx.awk" "$here/../include/proton/kernel.cuh" >proton/kernel.cuh
# What it records into rings has it still, and is left out.
check "nothing of PTX is left of sums" 0 "$(sed '/---- records, in rings/,/---- sums, in rows/d' proton/kernel.cuh | grep -c 'asm volatile')"
for rows in 16 2 5 1024; do
	if ! g++ -std=c++17 -O1 -w -fno-pie -no-pie -I. -DPROTON_KERNEL_ROWS=$rows -o sums "$here/programs/kernel_sums.cpp" 2>out; then
		head -n 3 out
		check "$rows rows: compiles" 0 1
		continue
	fi
	./sums 1 2000 >out
	check "$rows rows: as the model" 0 $?
	[ "$(wc -l <out)" -eq 1 ] || head -n 20 out
done
finish
