#!/bin/bash
# SPDX-License-Identifier: MIT
# extras.sh: sourced. What makes tests run that are skipped without it: programs that read our files,
# compilers and headers. CI has all of it, so that there a skip is an error.
#
# Versions of PyPI's packages stand here, so that CI changes only when we do. Triton 3.6 is the last one
# whose viewer can be loaded without the rest of Triton, and what scripts for it were tried with on a
# GPU; CUDA 13.0 is what cupti_abi.h was made for.

extra_packages=(chromium clang clang-format-14 fish g++ gfortran golang-go libomp-19-dev python3-dev
	python3-torch python3-venv universal-ctags valgrind zsh)
[ "$(uname -m)" != x86_64 ] || extra_packages+=(gcc-multilib)
extra_modules=(ipython==8.12.3 jsonschema==4.26.0 llnl-hatchet==2026.2.0 msgpack==1.2.4 perfetto==0.59.1
	protobuf==7.36.2 pytest==9.2.0 viztracer==1.1.1)
cuda_modules=(nvidia-cuda-cupti==13.0.85 nvidia-cuda-runtime==13.0.96 nvidia-nvtx==13.0.85)
triton=triton==3.6.0

has_cuda_headers() {
	[ -f "${CUDA_HOME:-/usr/local/cuda}/include/cupti_activity.h" ]
}

# A network that does not answer is given up on.
venv_pip() {
	"$venv/bin/pip" --quiet --retries 1 --timeout 60 "$@"
}

# Of Triton's wheel, which is large, all but scripts, AMD's part and CUPTI: into $venv/triton, and beside it what
# names the back ends. Its launchers are compiled with Python's headers.
install_triton() {
	local folder status=0
	[ ! -x "$venv/triton/backends/nvidia/bin/ptxas" ] || return 0
	folder=$(mktemp -d "$venv/wheel-XXXXXX") || return 1
	venv_pip download --no-deps -d "$folder" "$triton" &&
		"$venv/bin/python" - "$folder"/*.whl "$venv" <<-'END' || status=1
			import pathlib, re, sys, zipfile
			with zipfile.ZipFile(sys.argv[1]) as wheel:
			    left_out = re.compile("(?!triton[/-])|triton/backends/(amd/(bin|lib|include)|nvidia/lib/cupti)")
			    wheel.extractall(sys.argv[2], [n for n in wheel.namelist() if not left_out.match(n)])
			for program in pathlib.Path(sys.argv[2], "triton/backends/nvidia/bin").iterdir():
			    program.chmod(0o755) # which zipfile forgets
		END
	rm -rf "$folder"
	return $status
}

# install_extras FOLDER: Debian's packages, and a virtual environment in FOLDER; exports what tests find
# them by. Fails, with a line, when something is not to be had: then that part is skipped as anywhere.
install_extras() {
	local modules=("${extra_modules[@]}") status=0 headers
	venv=$1
	install_missing "${extra_packages[@]}" || status=1
	has_cuda_headers || modules+=("${cuda_modules[@]}")
	{ [ -x "$venv/bin/pip" ] || python3 -m venv "$venv"; } &&
		venv_pip install --no-compile "${modules[@]}" && install_triton || status=1
	export PATH=$venv/bin:$PATH PROTON_TRITON_DIR=$venv
	if ! has_cuda_headers; then
		headers=$(compgen -G "$venv/lib/python3*/site-packages/nvidia/cu13") && export CUDA_HOME=$headers
	fi
	[ $status = 0 ] || echo "extras: not all of them can be installed here"
	return $status
}
