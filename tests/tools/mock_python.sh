# SPDX-License-Identifier: MIT
# Of tests in which programs of Python launch on the mock libcuda: that is $cuda, in $libs. Sourced behind
# cli_help.sh; ends the test where it cannot be.
. "$(dirname "${BASH_SOURCE[0]}")/pythons.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
cuda=$libs/libcuda.so.1
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
if grep -q 'define PROTON_SANITIZED 1' "$(dirname "$PROTON")/config.h" 2>/dev/null; then
	echo "skipped: python3 has not the sanitizer's runtime that the collector of this build needs"
	exit 77
fi
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
