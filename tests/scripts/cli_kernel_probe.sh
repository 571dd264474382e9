#!/bin/bash
# SPDX-License-Identifier: MIT
# proton kernel probe, where CUDA's compiler is: its assembler takes what is made of real kernels by all rules, what that costs in
# registers, and a record in instructions.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
ptxas=$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)
[ -x "$nvcc" ] && [ -x "$ptxas" ] || { echo "no nvcc"; exit 77; }
"$nvcc" -O3 -std=c++17 -arch=sm_90a -lineinfo -ptx -o plain.ptx "$here/../bench/cuda_ptx_kernels.cu" >out 2>&1 || {
	head -n 3 out; echo "nvcc does not compile for sm_90"; exit 77; }
all=func,loop,loop:iter,bar,wait,mma,wgmma,tma,ld,st
for rules in func,loop "$all" "loc cuda_ptx_kernels.cu:20-60" "match ^(fma|mul)"; do
	for buffer in shared global; do
		check "$rules, $buffer: probed" 0 "$("$PROTON" kernel probe --intra "$rules" --intra-mode "default:buffer_type=$buffer" -o probed.ptx plain.ptx >out 2>&1; echo $?)"
		check "$rules, $buffer: assembles" 0 "$("$ptxas" -arch=sm_90a -o probed.cubin probed.ptx >out 2>&1; echo $?)"
	done
done

# Registers of the product with a tile of 128 x 128: "registers 104 -> 108, …".
"$PROTON" kernel probe --intra func,loop plain.ptx >said
more=$(awk '/^sgemm/ {there = 1} there && $1 == "registers" {print $4 - $2; exit}' said | tr -d ,)
check "seven registers more, at most" yes "$([ -n "$more" ] && [ "$more" -le 7 ] && echo yes || echo "$more")"
check "what is probed" 1 "$(grep -c 'loop@cuda_ptx_kernels.cu:47 .*cuda_ptx_kernels.cu:47, line' said)"
check "once is enough" "proton: cannot probe 'probed.ptx': it records already 1" "$(echo $("$PROTON" kernel probe probed.ptx 2>&1; echo $?))"
check "a rule that is none" "proton: --intra: 'lopp' is no rule; did you mean 'loop'? 2" "$(echo $("$PROTON" kernel probe --intra lopp plain.ptx 2>&1; echo $?))"
check "blocks of which none records" "2 proton: option '--ctas' cannot take '0' (see 'proton kernel probe --help')" \
	"$("$PROTON" kernel probe --ctas 0 plain.ptx 2>err; echo $?) $(cat err)"
echo func >mine
check "a file that could be a rule" "proton: --intra: 'mine' is no rule; a file of rules is named with a slash: './mine'" \
	"$("$PROTON" kernel probe --intra mine plain.ptx 2>&1)"
check "… named so" 0 "$("$PROTON" kernel probe --intra ./mine -o /dev/null plain.ptx >/dev/null 2>&1; echo $?)"

# kernel NAME N [LOOP]: N barriers, each of them a scope, which is two records.
kernel() {
	printf '.visible .entry %s(.param .u64 p, .param .u32 n)\n.reqntid 128\n{\n' "$1"
	printf '\t.reg .b32 %%r<3>;\n\t.reg .b64 %%rd<2>;\n\t.reg .pred %%p<2>;\n'
	printf '\tld.param.u64 %%rd1, [p];\n\tld.param.u32 %%r2, [n];\n\tmov.u32 %%r1, 0;\n'
	[ -z "$3" ] || printf '$L:\n'
	for ((i = 0; i < $2; i++)); do printf '\tbar.sync 0;\n\tst.volatile.global.u32 [%%rd1+%d], %%r1;\n' $((4 * i)); done
	[ -z "$3" ] || printf '\tadd.u32 %%r1, %%r1, 1;\n\tsetp.lt.u32 %%p1, %%r1, %%r2;\n\t@%%p1 bra $L;\n'
	printf '\tret;\n}\n'
}
{
	printf '.version 8.0\n.target sm_90\n.address_size 64\n'
	kernel straight_2 2 ""
	kernel straight_10 10 ""
	kernel loop_3 3 yes
} >records.ptx
"$PROTON" kernel probe --intra bar -o probed.ptx records.ptx >said
"$ptxas" -arch=sm_90 -o probed.cubin probed.ptx && python3 "$here/tools/sass.py" probed.cubin >counts
of() { awk -v kernel="$1" -v field="$2" '$1 == kernel {print $field}' counts; }
# Eight barriers more, with a store each, in a row.
more=$(($(of straight_10 2) - $(of straight_2 2) - 16))
check "at most three instructions a record in a straight line" yes "$([ "$more" -gt 0 ] && [ "$more" -le $((16 * 3)) ] && echo yes || echo "$more for 16")"
# Six records of three scopes; the loop itself takes nine.
loop=$(($(of loop_3 3) - 9))
check "a record for each scope" 3 "$(of loop_3 4)"
check "at most three and a half in a loop" yes "$([ "$loop" -gt 0 ] && [ "$loop" -le $((6 * 7 / 2)) ] && echo yes || echo "$loop for 6")"
finish
