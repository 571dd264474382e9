#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that offloads to the processor under LLVM's own runtime, where there is one that tells of
# target constructs (17 or later: Debian's libomp-19-dev), and clang, of whatever version. The runtime may
# lie in PROTON_OPENMP_DIR.
source=$(cd "${srcdir:-.}" && pwd)/tests/programs/openmp_saxpy.c
. "${srcdir:-.}/tests/tools/cli_help.sh"
tells() { nm -D "$1/libomptarget.so" 2>/dev/null | grep -q ompt_libomptarget_connect; }
lib=
for folder in ${PROTON_OPENMP_DIR:+"$PROTON_OPENMP_DIR"} /usr/lib/llvm-*/lib; do
	if tells "$folder"; then
		lib=$folder
		break
	fi
done
[ -n "$lib" ] || { echo "no libomptarget that tells of target constructs (libomp-19-dev)"; exit 77; }
export LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
built=
for clang in clang "$(dirname "$lib")/bin/clang" clang-14 clang-19; do
	if "$clang" -O1 -fopenmp -fopenmp-targets="$(uname -m)-pc-linux-gnu" \
		-L"$lib" -o saxpy "$source" 2>build.log; then
		built=$clang
		break
	fi
done
[ -n "$built" ] || { echo "no clang that compiles for the processor as a device: $(tail -n 1 build.log)"; exit 77; }
OMP_TARGET_OFFLOAD=MANDATORY timeout 120 ./saxpy >out 2>err || { echo "it does not run here: $(tail -n 1 err)"; exit 77; }
wanted=$(cat out)
# LLVM's libraries leave memory behind, which is no leak of ours.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

nodes() { # NAME count bytes times-entered, a line a node
	"$PROTON" export -f json f.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
name = {n["id"]: n["name"] for n in p["nodes"]}
for n in p["nodes"]:
    m = n["metrics"]
    print(n["name"], m.get("count", "-"), m.get("bytes", "-"), m.get("cpu_count", "-"), "below", name.get(n["parent"], "-"))
print("devices", *(d["type"] for d in p["devices"]))
print("losses", {k: v for k, v in p["losses"].items() if v})' | LC_ALL=C sort
}
check "output" "0 $wanted" "$(timeout 120 "$PROTON" record -o f.hatchet -- ./saxpy >out 2>err; echo "$? $(cat out)")"
check "what it sees" "ROOT - - - below -
devices OpenMP
losses {}
memcpy DtoH 3 12000 - below omp target saxpy
memcpy HtoD 1 123 - below ROOT
memcpy HtoD 1 4000 - below omp target enter data main
memcpy HtoD 1 4000 - below omp target update main
memcpy HtoD 3 12000 - below omp target saxpy
omp target enter data main - - 1 below ROOT
omp target exit data main - - 1 below ROOT
omp target saxpy - - 3 below ROOT
omp target update main - - 1 below ROOT
saxpy 3 - - below omp target saxpy" "$(nodes)"
check "--omp-parallel" "0 $wanted" "$(timeout 120 "$PROTON" record --omp-parallel -o f.hatchet -- ./saxpy >out 2>err; echo "$? $(cat out)")"
check "parallel regions" "omp parallel prepare - - 5 below ROOT" "$(nodes | grep prepare)"
finish
