#!/bin/bash
# SPDX-License-Identifier: MIT
# A program with a runtime of OpenMP (a mock) under the real collector: how it becomes the tool of that
# runtime, and when it does not.
. "${srcdir:-.}/tests/tools/cli_help.sh"
mock=$(dirname "$PROTON")/tests/mocks/.libs/libomptarget.so
app=$(dirname "$PROTON")/tests/programs/openmp_app
[ -e "$mock" ] || { echo "no mock runtime: $mock"; exit 77; }

cuda=()
record() { # record OPTION...: what the program said and returned
	timeout 120 "$PROTON" record -o f.hatchet "$@" -- "$app" "$mock" 50 "${cuda[@]}" >out 2>err
	echo "$? $(cat out)"
}
# NAME count bytes times-entered, a line a node
nodes() {
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
seen='ROOT - - - below -
daxpy 50 - - below omp target daxpy
devices OpenMP
losses {}
memcpy HtoD 50 50000 - below omp target daxpy
omp target daxpy - - 51 below ROOT'

check "preloaded" "7 a tool" "$(record)"
check "what it sees" "$seen" "$(nodes)"
clock_back() { LD_PRELOAD=$(dirname "$mock")/clock_step.so CLOCK_STEP_EACH_US=-1000 record --no-sensors; }
check "the clock is set back again and again" "7 a tool" "$(clock_back)"
check "… and each operation counts" "$seen" "$(nodes)"
check "… with what it took" 0 "$("$PROTON" export -f json f.hatchet | python3 -c '
import json, sys
print(sum(n["metrics"].get("time (ns)", 0) >= 1e9 for n in json.load(sys.stdin)["nodes"]))')"
check "not preloaded" "7 a tool" "$(record --no-preload)"
check "what it sees then" "$seen" "$(nodes)"
check "--omp-parallel" "7 a tool" "$(record --omp-parallel)"
check "is a scope more" "omp parallel solve - - 1 below ROOT
omp target daxpy - - 1 below ROOT
omp target daxpy - - 50 below omp parallel solve" "$(nodes | grep omp | grep -v '^daxpy\|^memcpy')"
check "--no-openmp" "7 no tool" "$(record --no-openmp)"
has "nothing connected" "nothing connected: no process used CUDA, OpenCL, OpenMP offloading, NVTX or proton.h" err
check "another tool in the variable" "7 no tool" "$(OMP_TOOL_LIBRARIES=/other.so record)"
has "is named" "OMP_TOOL_LIBRARIES already names '/other.so' and is left alone: OpenMP's constructs are not seen" err
check "a tool of the program's" "7 own tool
a tool" "$(MOCK_OMP_TOOL=1 record)"
has "is left alone" "nothing connected" err

# What CUPTI sees of a construct stands below it, and nothing stands there twice.
libs=$(dirname "$mock")
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
cuda=("$libs/libcuda.so.1")
check "beside CUPTI" "7 a tool" "$(record)"
check "nothing twice" "gemm 50 - - below omp target dgemm
memcpy HtoD pageable 50 100000 - below omp target dgemm
omp target dgemm - - 50 below ROOT" "$(nodes | grep gemm)"
finish
