#!/bin/bash
# SPDX-License-Identifier: MIT
# make.sh: the fatbins and cubins beside this, of two.cu and inlined.cu. Needs nvcc 13.0; tests need only what it made.
set -euo pipefail
cd "$(dirname "$0")"
both=(-gencode arch=compute_90a,code=sm_90a -gencode arch=compute_80,code=compute_80)
for mode in default size speed balance none; do
	nvcc -fatbin "${both[@]}" --compress-mode=$mode two.cu -o two.$mode.fatbin
done
nvcc -cubin -arch=sm_90a -lineinfo two.cu -o lines.cubin
nvcc -cubin -arch=sm_80 two.cu -o plain.cubin
# Run it in a folder whose name may be seen: it is in both.
nvcc -ptx -arch=sm_90a -lineinfo two.cu -o two.ptx
nvcc -cubin -arch=sm_90 -lineinfo inlined.cu -o inlined.cubin
nvcc -ptx -arch=sm_90 -lineinfo inlined.cu -o inlined.ptx
