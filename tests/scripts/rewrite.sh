#!/bin/bash
# SPDX-License-Identifier: MIT
# What becomes of a module: PTX, fatbins, cubins with and without PTX in them, kernels near the limits of a multiprocessor; and what
# is kept for the next time.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2>/dev/null)
[ -n "$nvcc" ] || { echo "no nvcc"; exit 77; }
export PATH=$PATH:$(dirname "$nvcc") XDG_CACHE_HOME=$work/cache
wanted() { # wanted MODE LIBRARIES RULES
	mkdir -p session
	printf 'mode %s\nlibraries %s\n%s\n' "$@" >session/intra
}
rewrite() { # rewrite MODULE [OPTION…]
	local module=$1
	shift
	"$PROTON" rewrite --session session --chip 90 --limit 60 "$@" <"$module" 2>err | "$here/tools/rewritten.py" image >out
	cat err
}
forget() { rm -rf cache; }
# What a kernel of a cubin takes: takes CUBIN KERNEL: registers, shared memory
takes() { "$PROTON" kernel dump "$1" | awk -v k="$2" '$0 ~ k { print }'; }

cat >k.cu <<'CUDA'
extern "C" __global__ void loops(const float *x, float *y, int n)
{
	float s = 0;
	for (int j = 0; j < n; j++)
		s += x[(threadIdx.x + j) % n];
	y[threadIdx.x] = s;
}
extern "C" __global__ void cublas_loops(float *y) { for (int i = 0; i < 100; i++) y[i] += threadIdx.x; }
CUDA
compile() { nvcc -arch=sm_90 "$@" || { echo "FAILED: nvcc $*"; exit 1; }; }
compile -ptx -o k.ptx k.cu
compile -fatbin -o k.fatbin k.cu
compile -cubin -o bare.cubin k.cu
sed 's/target sm_90$/target sm_90a/' k.ptx >k90a.ptx # as Triton writes it
ptxas=$(command -v ptxas || echo "$(dirname "$nvcc")/ptxas")
"$ptxas" -arch=sm_90a -lineinfo -o triton.cubin k90a.ptx || echo "FAILED: ptxas"
compile -cubin -lineinfo -maxrregcount 24 -fmad=false -o lines.cubin k.cu
wanted default users func,loop

rewrite k.ptx
check "PTX: rewritten" "1 made an image" "$(head -n 1 out)"
has "PTX: what it takes" "i loops: 3 scopes within it, registers " out
check "PTX: a cubin" ELF "$(head -c 4 image | tail -c 3)"
check "PTX: it records" 1 "$(grep -c proton_kernel_arena_ image)"
hasnt "a vendor's kernel is not told of" cublas_loops out
rewrite k.ptx
check "again: it was kept" "1 kept an image" "$(head -n 1 out)"
has "again: and what is told" "i loops: 3 scopes within it, registers " out
# One that is short takes its room as it begins, and the assembler must not wait for it there, as where it copies what the addition gives.
cat >short.cu <<'CUDA'
extern "C" __global__ void axpy(int n, float a, const float *x, float *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] += a * x[i];
}
CUDA
compile -ptx -o short.ptx short.cu
rewrite short.ptx
python3 "$here/tools/sass.py" image >counts
waited=$(awk '$1 == "axpy" {print $5}' counts)
check "nothing waits for room as a kernel begins" yes "$([ "${waited:-0}" -ge 10 ] && echo yes || echo "$waited instructions later")"
wanted default users func
rewrite k.ptx
check "other rules: made anew" "1 made an image" "$(head -n 1 out)"
has "other rules: hold" "i loops: 1 scope within it" out
wanted default all func
rewrite k.ptx
has "all libraries: a vendor's kernel, too" "i cublas_loops: 1 scope within it" out
wanted default users "func,skip loops"
rewrite k.ptx
check "rules that want nothing: nothing is told" "0 made none" "$(cat out)"

wanted default users func,loop
rewrite k.fatbin
check "fatbin: rewritten" "1 made an image" "$(head -n 1 out)"
check "fatbin: before and after" 1 "$(grep -cE '^i loops: 3 scopes within it, registers [0-9]+ -> [0-9]+, shared memory 0 -> [1-9][0-9]* bytes, .*blocks of 256 threads on a multiprocessor 8 -> ' out)"
compile -fatbin -lineinfo -o lines.fatbin k.cu
rewrite lines.fatbin
check "fatbin with lines: scopes are named by them" loop@k.cu "$(strings -a image | grep -o '^loop@k.cu' | head -n 1)"
rewrite lines.cubin
check "cubin with lines: rewritten" "1 made an image" "$(head -n 1 out)"
check "cubin with lines: scopes are named by them" loop@k.cu "$(strings -a image | grep -o '^loop@[^:]*' | sort -u)"
check "cubin with lines: as it was made" 1 "$(strings -a image | grep -c -- '-maxrregcount 24 .*-fmad false')"
# Samples of code that was rewritten are of the lines that they were of before, but for that of the kernel's name, of which there
# may be no code. That lines are said changes no code.
lines_of() { "$(dirname "$PROTON")/tests/programs/cubin_lines" "$1" | grep '^loops ' | grep -v 'k.cu:1$' | sort -u; }
lost() { comm -23 <(lines_of lines.cubin) <(lines_of image); }
check "cubin with lines: it has some" ok "$(lines_of lines.cubin | grep -c k.cu: | awk '{ print($1 >= 3 ? "ok" : $1) }')"
check "cubin with lines: none is lost" "" "$(lost)"
compile -ptx -lineinfo -o lines.ptx k.cu
rewrite lines.ptx
check "PTX with lines: none is lost" "" "$(lost)"
rewrite triton.cubin
check "PTX without lines has none" "" "$(lines_of image | grep k.cu)"
instructions() { python3 "$here/tools/sass.py" "$1" | awk '$1 == "loops" { print $2 }'; }
"$PROTON" kernel probe --intra func,loop -o probed.ptx lines.ptx >/dev/null
"$ptxas" -arch=sm_90 -o without.cubin probed.ptx
"$PROTON" kernel assemble -o with.cubin probed.ptx >/dev/null
check "lines: as many instructions as without" "$(instructions without.cubin)" "$(instructions with.cubin)"
rewrite k90a.ptx
check "PTX for one chip alone: rewritten" "1 made an image" "$(head -n 1 out)"
rewrite bare.cubin
check "cubin without PTX: left" "0 made none" "$(head -n 1 out)"
has "cubin without PTX: why" "w loops: no scopes within it: its PTX is not there (-lineinfo of nvcc or NVRTC keeps it)" out
printf 'no module' >text
rewrite text
has "anything else: why" "w a module: no scopes within its kernels: it is neither PTX nor a cubin nor a fatbin" out
rewrite k.fatbin --chip 80
has "an older chip: there is no code for it" "its PTX is not there" out
sed 's/add.s32/sub.s33/' k.ptx >broken.ptx
rewrite broken.ptx
check "PTX that ptxas refuses: left" "0 made none" "$(head -n 1 out)"
wanted default:buffer_type=global users func,loop
rewrite k.fatbin
has "records in the device's memory" "shared memory 0 -> 0 bytes" out

# 64 registers in 1,024 threads are all that a multiprocessor has: one more, and it could be launched no longer.
full() { # full VALUES: a kernel that has so many at a time
	python3 - "$1" <<'PYTHON'
import sys
n = int(sys.argv[1])
print('extern "C" __global__ void full(float *y, int n)\n{')
print("".join("float v%d = y[threadIdx.x + %d];\n" % (i, i) for i in range(n)))
print("for (int j = 0; j < n; j++) {\n" + "".join("v%d = v%d * v%d + 1;\n" % (i, i, (i + 7) % n) for i in range(n)) + "}")
print("y[threadIdx.x] = " + " + ".join("v%d" % i for i in range(n)) + ";\n}")
PYTHON
}
full 54 >full.cu
wanted default users func,loop
compile -fatbin -o full.fatbin full.cu
rewrite full.fatbin
check "a kernel that takes all registers: rewritten" "1 made an image" "$(head -n 1 out)"
registers=$(sed -nE 's/.*registers ([0-9]+) -> ([0-9]+),.*/\1 \2/p' out)
check "a kernel that takes all registers: $registers" ok "$(awk '{ print($1 > 56 && $2 <= 64 ? "ok" : "not") }' <<<"$registers")"
full 57 >fuller.cu
compile -ptx -o full.ptx fuller.cu
rewrite full.ptx
check "the same as PTX: rewritten" "1 made an image" "$(head -n 1 out)"
registers=$(sed -nE 's/.*registers ([0-9]+) -> ([0-9]+),.*/\1 \2/p' out)
check "the same as PTX: $registers" ok "$(awk '{ print($1 > 56 && $1 <= 64 && $2 <= 64 ? "ok" : "not") }' <<<"$registers")"

# What cannot be kept is made again; who is killed leaves no half of it.
forget
: >cache
rewrite k.ptx
check "no folder to keep it in: rewritten" "1 made an image" "$(head -n 1 out)"
forget
mkdir bin
printf '#!/bin/sh\nkill -KILL $PPID\n' >bin/ptxas
chmod +x bin/ptxas
PATH=$work/bin:$PATH rewrite k.ptx 2>said
has "killed: no answer" "no answer" said
check "killed: nothing is kept" "" "$(find cache -type f 2>/dev/null)"
rewrite k.ptx
check "… and made the next time" "1 made an image" "$(head -n 1 out)"
forget
python3 -c 'import signal, os; signal.signal(signal.SIGCHLD, signal.SIG_IGN); signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
os.execvp("'"$PROTON"'", ["proton"] + "rewrite --session session --chip 90 --limit 60".split())' <k.ptx 2>err | "$here/tools/rewritten.py" image >out
check "a program that ignores its children, and blocks all signals: rewritten" "1 made an image" "$(head -n 1 out)"
forget
forget
printf '#!/bin/sh\nkill -SEGV $$\n' >bin/ptxas
PATH=$work/bin:$PATH rewrite k.ptx
check "ptxas crashes: left" "0 made none" "$(head -n 1 out)"
check "ptxas crashes: it may not the next time" "" "$(find cache -type f 2>/dev/null)"
"$PROTON" rewrite --session none --chip 90 <k.ptx >out 2>&1
check "no session: status" 125 $?
check "no session: no word" "" "$(cat out)"
finish
