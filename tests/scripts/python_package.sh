#!/bin/bash
# SPDX-License-Identifier: MIT
# The Python package: python/tests with each interpreter that is here, as a part of a run with the mocks; and with
# python3 alone, when the package has proton started.
here=$(cd "${srcdir:-.}" && pwd)
. "$here/tests/tools/cli_help.sh"
. "$here/tests/tools/mock_python.sh"
export PROTON_TEST_CUDA=$libs/libcuda.so.1 PROTON_TEST_COMMAND=$PROTON
export PROTON_TEST_PROFILES=$here/tests/hatchet
export PYTHONPATH=$here/python PYTHONDONTWRITEBYTECODE=1

# Modules that python3 has not are told of; that others lack them, too, is not.
tell() { if [ "$1" = "$main" ]; then cat; else grep -v 'is not installed$'; fi; }
main=$(python3 -c 'import sys; print(sys.executable)')

n=0
while read -r python; do
	n=$((n + 1))
	timeout 300 "$PROTON" record -q -o run.hatchet -- "$python" -m tests 2>err | tell "$python"
	status=${PIPESTATUS[0]}
	check "$python: status" 0 "$status"
done < <(pythons)
timeout 300 python3 -m tests 2>err | sed 's/: python/: alone, python/'
check "alone: status" 0 "${PIPESTATUS[0]}"
[ $n -gt 0 ] || { echo "skipped: there is no Python 3.7 or newer"; exit 77; }
finish
