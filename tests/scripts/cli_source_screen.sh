#!/bin/bash
# SPDX-License-Identifier: MIT
# Source with samples on a real terminal (tmux): the line to begin with, its text, and its instructions.
tests=$(cd "${srcdir:-.}/tests" && pwd)
. "$tests/tools/cli_window.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
planted=$tests/cubins
PROTON_CUPTI_PATH=$libs/mock_cupti.so timeout 120 "$PROTON" record -q -o run.hatchet --pc-sampling -- \
	"$(dirname "$PROTON")/tests/programs/collect_pc" "$libs/libcuda.so.1" lines "$planted/planted.cubin" _Z6callerPf
check "recorded" 0 $?
mkdir tools
printf '#!/bin/sh\ncat %s\n' "'$PWD/sass'" >tools/nvdisasm
printf '\t.section .text._Z6callerPf,"ax"\n /*00b0*/ MUFU.RSQ R3 ;\n' >sass
chmod +x tools/nvdisasm

window 140x40 "PATH=$PWD/tools:\$PATH $PROTON view --view source --source-path $planted run.hatchet"
see "which line, and why" "caller: planted.cu:33 waits the fixed time of the instruction before (wait)"
see "its text" "33          return x * x + sqrtf(x);"
keys o
see "an instruction" "+0x00b0      MUFU.RSQ R3"
keys o "}" o
see "the next hottest line, opened" "+0x0010"
keys o "{" o
see "and back" "+0x00b0"
keys "}" "}" o
see "the third" "+0x00a0"
keys q; window_close

mv run.hatchet.cubins elsewhere
window 80x24 "PATH=$PWD/tools:\$PATH $PROTON view --view source --cubins elsewhere run.hatchet"
see "without the text" "caller: planted.cu:33"
keys o
see "an instruction of a cubin that lies elsewhere" "+0x00b0      MUFU.RSQ R3"
keys q; window_close

PROTON_CUPTI_PATH=$libs/mock_cupti.so timeout 120 "$PROTON" record -q -o bare.hatchet --pc-sampling -- \
	"$(dirname "$PROTON")/tests/programs/collect_pc" "$libs/libcuda.so.1"
window 140x40 "$PROTON view --view source bare.hatchet"
see "no line" "(no line is known: compile with -lineinfo)"
keys o
see "the instructions of what has no line" "+0x0030"
see "why they have no text" "instructions by their offset alone: what should be the cubin of their kernel is none, or damaged"
keys q
finish
