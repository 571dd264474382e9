#!/bin/bash
# SPDX-License-Identifier: MIT
# <proton/kernel.cuh>, where there is a compiler of CUDA: what a record costs in instructions, and that it is nothing unless asked for.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[ -x "$nvcc" ] || { echo "no nvcc"; exit 77; }
compile() { # compile TO OPTION...
	"$nvcc" -O3 -std=c++17 -arch=sm_90 -I"$here/../include" -o "$@" >out 2>&1
}
compile scopes.cubin -cubin "$here/cubins/scopes.cu" || { head -n 3 out; echo "nvcc does not compile for sm_90"; exit 77; }
python3 "$here/tools/sass.py" scopes.cubin >counts
of() { awk -v kernel="$1" -v field="$2" '$1 == kernel {print $field}' counts; }

# Eight records more, in a row.
more=$(($(of straight_10 2) - $(of straight_2 2)))
check "at most three instructions a record in a straight line" yes "$([ "$more" -gt 0 ] && [ "$more" -le $((8 * 3)) ] && echo yes || echo "$more for 8")"
# Six records of three scopes; the loop itself takes three.
loop=$(($(of loop_3 3) - 3))
check "a record for each scope" 3 "$(of loop_3 4)"
check "at most three and a half in a loop" yes "$([ "$loop" -gt 0 ] && [ "$loop" -le $((6 * 7 / 2)) ] && echo yes || echo "$loop for 6")"

cat >none.cu <<'END'
#include <proton/kernel.cuh>
__device__ void within(float *p PROTON_KERNEL_PARAMETER) { PROTON_SCOPE("within"); *p += 1; }
extern "C" __global__ void kernel(float *p)
{
	PROTON_KERNEL_INIT();
	PROTON_ENTER("a");
	within(p PROTON_KERNEL_ARGUMENT);
	PROTON_EXIT_DEP("a", *p);
	PROTON_MARK("b");
	PROTON_METRIC("c", *p);
	PROTON_EVENT_BEGIN("d");
	PROTON_EVENT_END("d");
	PROTON_EVENT_BEGIN_OF("d", 1);
	PROTON_EVENT_END_OF("d", 1);
	PROTON_KERNEL_FINI();
}
END
sed 's/PROTON_KERNEL_PARAMETER//; s/PROTON_KERNEL_ARGUMENT//; /PROTON_\(KERNEL\|SCOPE\|ENTER\|EXIT\|MARK\|METRIC\|EVENT\)/s/PROTON_[A-Z_]*([^)]*);//; /include/d' none.cu >without.cu
check "off: compiles" 0 "$(compile none.cubin -cubin none.cu; echo $?)"
check "off: without the header" 0 "$(compile without.cubin -cubin without.cu; echo $?)"
check "off: nothing is left of it" "$(python3 "$here/tools/sass.py" without.cubin)" "$(python3 "$here/tools/sass.py" none.cubin)"
check "off: no names" 0 "$(grep -c PRTNSCP1 none.cubin)"

# All that there is, in each of the ways to record.
cat >all.cu <<'END'
#define PROTON_KERNEL
#include <proton/kernel.cuh>
__device__ __noinline__ void within(float *p PROTON_KERNEL_PARAMETER) { PROTON_SCOPE("within"); PROTON_MARK("mark"); *p += 1; }
extern "C" __global__ void all(float *p, int n)
{
	PROTON_KERNEL_INIT();
	for (int i = 0; i < n; i++) {
		PROTON_EVENT_BEGIN("copy");
		PROTON_EVENT_BEGIN_OF("stage", i);
		PROTON_ENTER("load");
		float v = p[i * 32 + threadIdx.x];
		PROTON_EXIT_DEP("load", v);
		PROTON_METRIC("float", v);
		PROTON_METRIC("bool", v > 2);
		PROTON_METRIC("short", (short)i);
		PROTON_METRIC("unsigned", (unsigned)i);
		PROTON_METRIC("long", (long)i);
		PROTON_METRIC("long long", 1ull << i);
		PROTON_METRIC("double", (double)v * 2);
		within(p PROTON_KERNEL_ARGUMENT);
		PROTON_EVENT_END("copy");
		PROTON_EVENT_END_OF("stage", i);
	}
	PROTON_KERNEL_FINI();
	asm volatile("exit;");
}
END
ways=(-DPROTON_KERNEL_RECORDS=64 -DPROTON_KERNEL_CLOCK64 -DPROTON_KERNEL_ACCUMULATE -DPROTON_KERNEL_WARPS=4 -G)
for inline in 0 1; do
	check "all of it, sums, PROTON_KERNEL_INLINE=$inline" 0 "$(compile all.cubin -cubin -DPROTON_KERNEL_ACCUMULATE -DPROTON_KERNEL_INLINE=$inline all.cu; echo $?)"
done
for way in "${ways[@]}"; do
	check "all of it, $way" 0 "$(compile all.cubin -cubin "$way" all.cu; echo $?)"
	[ ! -s out ] || head -n 3 out
done
compile scopes64.cubin -cubin -DPROTON_KERNEL_CLOCK64 "$here/cubins/scopes.cu"
python3 "$here/tools/sass.py" scopes64.cubin >counts
more=$(($(of straight_10 2) - $(of straight_2 2)))
check "at most five instructions a record with clocks of 64 bits" yes "$([ "$more" -gt 0 ] && [ "$more" -le $((8 * 5)) ] && echo yes || echo "$more for 8")"
compile sums.cubin -cubin -DPROTON_KERNEL_ACCUMULATE "$here/cubins/scopes.cu"
python3 "$here/tools/sass.py" sums.cubin >counts
more=$(($(of straight_10 2) - $(of straight_2 2)))
check "at most twenty-four of a sum" yes "$([ "$more" -gt 0 ] && [ "$more" -le $((8 * 24)) ] && echo yes || echo "$more for 8")"

# clang, with what it has built in: which headers of CUDA it knows depends on both.
if command -v clang++ >/dev/null && clang++ -x cuda --cuda-gpu-arch=sm_80 -nocudainc -nocudalib --cuda-device-only -S -o none.ptx - </dev/null 2>out; then
	by_clang() { # by_clang NAME SOURCE OPTION…: a cubin
		clang++ -x cuda -std=c++17 -O3 --cuda-gpu-arch=sm_80 -Xclang -target-feature -Xclang +ptx71 -nocudainc -nocudalib \
			-Wno-unknown-cuda-version --cuda-device-only -include "$here/tools/clang_cuda.h" -I"$here/../include" \
			-S -o "$1.ptx" "${@:2}" 2>out && "$(dirname "$(realpath "$nvcc")")/ptxas" -arch=sm_80 -o "$1.cubin" "$1.ptx" >>out 2>&1
	}
	for way in "${ways[@]:0:4}"; do
		check "clang: all of it, $way" 0 "$(by_clang all all.cu "$way"; echo $?)"
		[ ! -s out ] || head -n 3 out
	done
	by_clang scopes "$here/cubins/scopes.cu"
	python3 "$here/tools/sass.py" scopes.cubin >counts
	more=$(($(of straight_10 2) - $(of straight_2 2)))
	check "clang: at most three instructions a record in a straight line" yes "$([ "$more" -gt 0 ] && [ "$more" -le $((8 * 3)) ] && echo yes || echo "$more for 8")"
else
	echo "skipped: no clang that compiles CUDA"
fi

# Whole programs, and code that is linked later; a program with it is a program without a collector.
cat >main.cu <<'END'
#define PROTON_KERNEL
#include <proton/kernel.cuh>
static __global__ void kernel() { PROTON_KERNEL_INIT(); PROTON_SCOPE("a"); }
#ifdef MAIN
int main() { return 0; }
#endif
END
check "whole" 0 "$(compile whole -DMAIN main.cu -ldl; echo $?)"
check "… runs by itself" 0 "$(unset PROTON_LIBRARY; ./whole; echo $?)"
# In templates and lambdas, and where no braces are.
cat >places.cu <<'END'
#define PROTON_KERNEL
#include <proton/kernel.cuh>
template <int N> __global__ void kernel(float *x, int n)
{
	PROTON_KERNEL_INIT();
	PROTON_SCOPE("whole");
	PROTON_SCOPE("again");
	auto put = [&](int i) { PROTON_SCOPE("lambda"); x[i] = N; };
	for (int i = 0; i < n; i++)
		if (i % 2)
			PROTON_ENTER("odd");
		else
			PROTON_EXIT("odd");
	put(n);
}
template __global__ void kernel<1>(float *, int);
END
check "anywhere" 0 "$(compile places.o -c places.cu; echo $?)"
# The compiler that programs call as they run has no extensions of GNU's.
cat >rtc.py <<'END'
import ctypes, sys
try:
    rtc = ctypes.CDLL(sys.argv[1])
except OSError:
    sys.exit("none")
program, size = ctypes.c_void_p(), ctypes.c_size_t()
rtc.nvrtcCreateProgram(ctypes.byref(program), open(sys.argv[2], "rb").read(), b"k.cu", 0, None, None)
options = (ctypes.c_char_p * 3)(b"-std=c++17", b"-arch=sm_90", b"-I" + sys.argv[3].encode())
status = rtc.nvrtcCompileProgram(program, len(options), options)
rtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
cubin = ctypes.create_string_buffer(size.value)
rtc.nvrtcGetCUBIN(program, cubin)
sys.exit("%d %d" % (status, len(set(cubin.raw.split(b"PRTNSCP1")[1:]))))
END
nvrtc=$(dirname "$(dirname "$(realpath "$nvcc")")")/lib64/libnvrtc.so
found=$(python3 rtc.py "$nvrtc" places.cu "$here/../include" 2>&1)
[ "$found" = none ] || check "NVRTC: compiles, with four names" "0 4" "${found% *} $([ "${found#* }" -ge 4 ] && echo 4 || echo "${found#* }")"
for way in CLOCK64 ACCUMULATE; do
	sed "1i#define PROTON_KERNEL_$way" all.cu >way.cu
	found=$(python3 rtc.py "$nvrtc" way.cu "$here/../include" 2>&1)
	[ "$found" = none ] || check "NVRTC: all of it, $way" 0 "${found% *}"
done
check "in parts" 0 "$(compile a.o -rdc=true -DMAIN -dc main.cu && compile b.o -rdc=true -dc main.cu && compile parts a.o b.o -ldl; echo $?)"
finish
