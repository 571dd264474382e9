#!/bin/bash
# SPDX-License-Identifier: MIT
# The commands of the tutorials run as they are written, in a folder with the examples. Those that want a GPU are left out where there is
# none.
here=$(cd "${srcdir:-.}" && pwd)
. "$here/tests/tools/cli_help.sh"
build=$(cd "$(dirname "$PROTON")" && pwd)
# As where it is installed.
mkdir -p bin examples
export PATH=$PWD/bin:$build:$PATH PYTHONPATH=$here/python PROTON_PAGER=
printf '#!/bin/sh\necho "-L%s/.libs -lproton -Wl,-rpath,%s/.libs"\n' "$build" "$build" >bin/pkg-config
chmod +x bin/pkg-config
ln -s "$here/include" include
cp "$here"/examples/* "$here"/examples/intra/* examples/ 2>/dev/null
cp "$build"/examples/scopes "$build"/examples/sessions examples/

# tutorial NAME [names]
tutorial() {
	(cd examples && timeout 500 python3 "$here/tests/tools/tutorial.py" "$here/docs/tutorials/$1.md" "${@:2}") >said 2>err
	grep '^skipped: ' said
	check "$1" "" "$(grep -vx 'ok\|skipped: .*' said; cat err)"
	check "$1: it has commands" yes "$([ -s said ] && echo yes)"
}

tutorial c names
tutorial openmp names
[ ! -e /usr/local/cuda/include/nvtx3/nvtx3.hpp ] || tutorial cpp-nvtx names
if [ -e /dev/nvidia0 ] && python3 -c 'import torch, triton' 2>/dev/null; then
	for name in dynamic-net transformer triton-matmul decode-graphs gmp; do
		tutorial "$name"
	done
	tutorial inside-kernels names
	tutorial hopper-gemm names
else
	echo "skipped: tutorials of PyTorch and Triton: there is no NVIDIA GPU, or no PyTorch"
fi
finish
