#!/bin/bash
# SPDX-License-Identifier: MIT
# The examples are programs that run, bare and under `proton record`, and show what their tutorial says.
# What needs a GPU says so and fails; here it is only read by its interpreter.
here=$(cd "${srcdir:-.}" && pwd)
. "$here/tests/tools/cli_help.sh"
build=$(cd "$(dirname "$PROTON")" && pwd)
examples=$here/examples
export PYTHONPATH=$here/python PYTHONDONTWRITEBYTECODE=1
PATH=$build:$PATH # of programs that start the profiler themselves

# record PROGRAM...: into p.hatchet, also run bare
record() {
	timeout 300 "$@" >bare 2>bare_err
	check "$(basename "$1") ${2:+$(basename "$2") }alone" 0 $?
	rm -f p.hatchet
	timeout 300 "$PROTON" record -q -o p.hatchet -- "$@" >out 2>err
	check "$(basename "$1") ${2:+$(basename "$2") }recorded" 0 $?
	check "it says nothing more" "" "$(cat err)"
}
# names below each other: does the profile have this path? has_path NAME...
has_path() {
	"$PROTON" export -f json p.hatchet | python3 -c '
import json, sys
p, want = json.load(sys.stdin), sys.argv[1:]
nodes = {n["id"]: n for n in p["nodes"]}
def path(n):
    return (path(nodes[n["parent"]]) if n["parent"] is not None else []) + [n["name"]]
print("yes" if any(path(n)[-len(want):] == want for n in p["nodes"]) else "no")' "$@"
}

# ---- compiled languages
record "$build/examples/scopes" 2
check "C: scopes" yes "$(has_path round merge halves)"
if ${CC:-cc} -O2 -fopenmp -I"$here/include" -o openmp_threads "$examples/openmp_threads.c" -ldl 2>cc_err; then
	export OMP_NUM_THREADS=2
	record ./openmp_threads 200 5
	check "OpenMP: the main thread" yes "$(has_path triangle thread_0)"
	check "OpenMP: the other" yes "$(has_path thread_1)"
	unset OMP_NUM_THREADS
else
	echo "skipped: examples/openmp_threads.c: no OpenMP for ${CC:-cc}"
fi
nvtx=
for dir in ${CUDA_HOME:+"$CUDA_HOME/include"} /usr/local/cuda/include; do
	[ ! -e "$dir/nvtx3/nvtx3.hpp" ] || { nvtx=$dir; break; }
done
if [ -n "$nvtx" ] && command -v g++ >/dev/null; then
	g++ -std=c++17 -O2 -Wall -Wextra -isystem "$nvtx" -o nvtx_cpp "$examples/nvtx_cpp.cpp" -ldl
	record ./nvtx_cpp 10
	check "C++: ranges of a domain in those of the program" yes "$(has_path main solve relax)"
	check "C++: an exception closes them" 10 "$(metric p.hatchet relax cpu_count)"
else
	echo "skipped: examples/nvtx_cpp.cpp: no g++, or no NVTX headers"
fi
if command -v gfortran >/dev/null; then
	gfortran -O2 -o scopes_f "$examples/scopes.f90" -L"$build/.libs" -lproton -Wl,-rpath,"$build/.libs" 2>f_err ||
		cat f_err
	record ./scopes_f
	check "Fortran: scopes" yes "$(has_path step stencil)"
	check "Fortran: a metric" 398401600.0 "$(metric p.hatchet step flops64)"
else
	echo "skipped: examples/scopes.f90: no gfortran"
fi

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
# hopper OPTION...: registers of the kernel, and of how many of its products are waited for one by one
hopper() {
	"$nvcc" -O3 -std=c++17 -gencode arch=compute_90a,code=sm_90a -Xptxas -v -I"$here/include" -cubin -o gemm.cubin "$@" \
		"$examples/hopper_gemm.cu" >nvcc_out 2>&1 || { head -n 3 nvcc_out; return 1; }
	awk '/entry function .*11hopper_gemm/ {mine = 1} mine && /Used/ {print $5; mine = 0} /serialized/ {print "serialized"}' nvcc_out
}
if [ -x "$nvcc" ]; then
	check "wgmma and TMA: without scopes" 168 "$(hopper)"
	check "… with sums, which are inlined in kernels of roles" 168 "$(hopper -DPROTON_KERNEL -DPROTON_KERNEL_ACCUMULATE)"
	check "… with them, in as many registers" 168 "$(hopper -DPROTON_KERNEL)"
	for name in produce "wait for room" "ask for tiles" consume "wait for tiles" multiply store; do
		check "… $name" yes "$(grep -qa "$name" gemm.cubin && echo yes)"
	done
	"$nvcc" -std=c++17 -arch=sm_90a -I"$here/include" -ptx -o gemm.ptx "$examples/hopper_gemm.cu" 2>/dev/null
	"$PROTON" kernel probe -o probed.ptx gemm.ptx >out 2>err
	check "… and put into its PTX" yes "$(grep -qE '^hopper_gemm: [1-9][0-9]* scopes' out && echo yes)"
else
	echo "skipped: examples/hopper_gemm.cu: no nvcc"
fi

# ---- Python
for file in "$examples"/*.py; do
	python3 -c 'import sys; compile(open(sys.argv[1]).read(), sys.argv[1], "exec")' "$file"
	check "$(basename "$file") is Python" 0 $?
done
python3 -c 'import json, sys
n = json.load(open(sys.argv[1]))
print(n["nbformat"], *["".join(c["source"]).split("\n")[0] for c in n["cells"] if c["cell_type"] == "code"], sep="|")' \
	"$examples/notebook.ipynb" >out
check "the notebook" "4|%load_ext proton|import torch|%%proton" "$(cat out)"
torch=
for python in python3 /usr/bin/python3; do
	! "$python" -c 'import torch' 2>/dev/null || { torch=$python; break; }
done
if grep -q 'define PROTON_SANITIZED 1' "$build/config.h" 2>/dev/null; then
	echo "skipped: examples in Python: the sanitizer would tell of PyTorch's leaks"
	finish
fi
if [ -n "$torch" ]; then
	record "$torch" "$examples/dynamic_net.py" --steps 2 --batch 8
	check "a dynamic net: parts of a step" yes "$(has_path forward middle_0)"
	check "… and their flops" yes "$([ "$(metric p.hatchet middle_0 flops | sed 's/\..*//')" = $((2 * 2 * 8 * 512 * 512)) ] && echo yes)"
	record "$torch" "$examples/transformer.py" --steps 1 --width 32 --layers 1
	record "$torch" "$examples/hello_pytorch_with_gmp.py"
	for file in bare out; do
		check "GMP's interface: ranges, $file" "3 30" \
			"$(grep -c 'Kernel Profiling Results' $file) $(grep -c '^Range [0-9]*: ' $file)"
	done
	check "… and a profile" yes "$([ -s output/gmp.hatchet ] && echo yes)"
	for file in triton_matmul decode_graphs; do
		"$torch" -c 'import sys, torch; sys.exit(torch.cuda.is_available())' || continue
		! "$torch" -c 'import triton' 2>/dev/null && [ $file = triton_matmul ] && continue
		"$torch" "$examples/$file.py" >out 2>err
		check "$file without a GPU" 1 $?
		has "… says so" "this needs a GPU" err
	done
else
	echo "skipped: examples in Python: no PyTorch"
fi
finish
