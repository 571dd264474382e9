#!/bin/bash
# SPDX-License-Identifier: MIT
# check-twice.sh [ARGUMENT...]: in a build folder, `make check`; tests that failed are run once more,
# one at a time.
#
# A test with a deadline may miss it on a loaded machine. So that nobody overlooks it, each test that
# is run again has a line that says what it failed at first:
#   tried again: tests/cli_top.sh: FAILED: status: wanted '0', got '1'
# Exit status 0: all passed in the end.
set -uo pipefail

# first_failure LOG: our scripts' line, Check's, a sanitizer's, or the last one that is the test's own.
first_failure() {
	grep -aEm1 '^FAILED: |^[^ ]+:[0-9]+:[FE]:|ERROR: [A-Za-z]+Sanitizer|^WARNING: ThreadSanitizer' "$1" ||
		grep -avE '^(FAIL|ERROR) .* \(exit status: ' "$1" | tail -n 1
}

# tell_failed: a line a test that failed; fails when there is none.
tell_failed() {
	local trs name any=1
	while IFS= read -r trs; do
		name=${trs#./}
		name=${name%.trs}
		echo "tried again: $name: $(first_failure "$name.log" | cut -c 1-200)"
		any=0
	done < <(grep -lE '^:global-test-result: (FAIL|ERROR)' -r --include='*.trs' . | sort)
	return $any
}

make -k -j"$(nproc)" check "$@" && exit
tell_failed || exit 1 # no test failed: it does not build
make -k -j1 recheck "$@"
