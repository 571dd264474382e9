#!/bin/bash
# SPDX-License-Identifier: MIT
# make wheel: it installs in a new virtual environment without a network, all of proton works there, and so do
# the package's tests; and the package alone (pip install ./python) uses a proton that is installed.
here=$(cd "${srcdir:-.}" && pwd)
builddir=${builddir:-.}
. "$here/tests/tools/cli_help.sh"
top=$(cd "$(dirname "$PROTON")" && pwd)
libs=$top/tests/mocks/.libs
if grep -q 'define PROTON_SANITIZED 1' "$top/config.h" 2>/dev/null; then
	echo "skipped: a wheel is not made of a build with a sanitizer"
	exit 77
fi
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 PIP_CONFIG_FILE=/dev/null
python=$(python3 -c 'import sys; print(sys.executable)')
if ! "$python" -m venv venv >out 2>&1 || [ ! -x venv/bin/pip ]; then
	cat out
	echo "skipped: python3 makes no virtual environment with pip"
	exit 77
fi
pip() { venv/bin/python -m pip -q "$@" >out 2>err; }

if ! make -s -C "$top" wheel >out 2>&1; then
	cat out
	if grep -q 'is not installed' out; then
		echo "skipped: $(grep 'is not installed' out | head -1)"
		exit 77
	fi
	check "make wheel" 0 1
	finish
fi
wheel=$(echo "$top"/proton_profiler-*.whl)
check "for what machines" yes "$([[ $wheel == *-py3-none-manylinux_2_[0-9]*_*.whl ]] && echo yes)"
pip install "$wheel"
check "it installs" 0 $?
version=$("$PROTON" --version | head -1)
check "the command" "$version" "$(venv/bin/proton --version | head -1)"
check "its name that is always ours" "$version" "$(venv/bin/proton-profiler --version | head -1)"
check "python -m proton" "$version" "$(venv/bin/python -m proton --version | head -1)"
check "the library is beside it" yes "$([ -r venv/lib/python*/site-packages/proton/_lib/libproton.so.0 ] && echo yes)"
check "manual pages" yes "$([ -r venv/share/man/man1/proton-record.1 ] && [ -r venv/share/man/man7/proton-metrics.7 ] && echo yes)"
check "the version is configure's" "proton $(venv/bin/python -c 'import proton; print(proton.__version__)')" "$version"
# Nothing of the build or the system is used.
venv/bin/python -c 'from proton import _find; print(_find.find_command(), _find.find_library())' >out
check "what is used is in the wheel" 2 "$(grep -o "$work/venv/[^ ]*/proton/_lib/" out | wc -l)"
PROTON_FAKE=$fake timeout 120 venv/bin/proton record -q -o fake.hatchet -- sleep 0.1 2>err
check "a program is recorded" 10 "$(metric fake.hatchet gemm count)"
check "a status is passed on" 7 "$(timeout 120 venv/bin/proton record -q -o x.hatchet -- sh -c 'exit 7' 2>err; echo $?)"
check "terminals are known" "" "$(TERM=xterm venv/bin/proton doctor 2>&1 | grep -i 'terminfo.*not')"
PROTON_COMMAND=$work/venv/bin/proton timeout 60 venv/bin/proton --version >out
check "a script is not taken for the command" "$version" "$(head -1 out)"

if [ -x "$top/examples/demo_opencl" ]; then
	export POCL_CACHE_DIR=$work/pocl
	timeout 300 venv/bin/proton record -q -o demo.hatchet -- "$top/examples/demo_opencl" >out 2>err </dev/null
	check "the quickstart's program" 0 $?
	check "has kernels" yes "$(venv/bin/proton report demo.hatchet 2>err | grep -q ROOT && echo yes)"
fi

cp -r "$here/python/tests" .
chmod -R u+w tests
export PROTON_CUPTI_PATH=$libs/mock_cupti.so PROTON_TEST_CUDA=$libs/libcuda.so.1
export PROTON_TEST_PROFILES=$here/tests/hatchet
if [ -e "$libs/mock_cupti.so" ]; then
	PROTON_TEST_COMMAND=$work/venv/bin/proton timeout 300 venv/bin/proton record -q -o run.hatchet -- \
		venv/bin/python -m tests 2>err | sed "/is not installed$/d; s/: python/: wheel, python/"
	check "the package's tests" 0 "${PIPESTATUS[0]}"
fi

# ---- a second package with a script of the same name: the last one wins, and takes it along
mkdir -p other/other.dist && cat >other/_build.py <<'END'
import os, zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "other-1-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(folder, name), "w") as z:
        z.writestr("other.py", "def main(): print('the other one')\n")
        z.writestr("other-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: other\nVersion: 1\n")
        z.writestr("other-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        z.writestr("other-1.dist-info/entry_points.txt", "[console_scripts]\nproton = other:main\n")
        z.writestr("other-1.dist-info/RECORD", "")
    return name
END
printf '[build-system]\nrequires = []\nbuild-backend = "_build"\nbackend-path = ["."]\n' >other/pyproject.toml
pip install ./other
check "another brings a script of that name" "the other one" "$(venv/bin/proton)"
check "python -m proton is ours" "$version" "$(venv/bin/python -m proton --version | head -1)"
check "and the second name" "$version" "$(venv/bin/proton-profiler --version | head -1)"
pip uninstall -y other
pip install --force-reinstall --no-deps "$wheel"
check "and ours comes back" "$version" "$(venv/bin/proton --version | head -1)"
pip uninstall -y proton-profiler
check "nothing is left" "" "$(ls venv/bin | grep proton)$(ls venv/lib/python*/site-packages | grep proton)"

# ---- the package alone, beside a proton on PATH
cp -r "$here/python" source && chmod -R u+w source && mkdir -p data && cp "$here/data/peaks.txt" data/ && cp "$here/LICENSE" .
where='from proton import _find; import proton; print(_find.find_library(), proton.specs.max_bps("HIP", "gfx942", 0, 0))'
for how in "" -e; do
	pip install $how ./source
	status=$?
	if [ -n "$how" ] && [ $status != 0 ]; then
		echo "skipped: this pip installs nothing as editable without setuptools"
		continue
	fi
	check "pip install $how" 0 $status
	check "pip install $how: uses what is on PATH" "$top/.libs/libproton.so.0 5300000000000.0" \
		"$(cd / && PATH=$top:$PATH "$work/venv/bin/python" -c "$where")"
	check "pip install $how: has no script proton" "proton-profiler" "$(ls venv/bin | grep proton)"
	pip uninstall -y proton-profiler
done
finish
