#!/bin/bash
# SPDX-License-Identifier: MIT
# skips.sh BUILD_DIR: what `make check` did not try there, and why, a line each:
#   skipped: tests/scripts/test_pprof.sh: there is no pprof (Go's, or github.com/google/pprof)
#   skipped in part: tests/scripts/cli_children.sh: m32: cannot be built or run here
# A test that is skipped ends its log with the reason; one that leaves out a part of itself has a line
# "skipped: …" in it.
set -euo pipefail
cd "$1"

while IFS= read -r trs; do
	name=${trs#./}
	name=${name%.trs}
	if grep -q '^:global-test-result: SKIP' "$trs"; then
		reason=$(grep -av '^SKIP ' "$name.log" | tail -n 1)
		echo "skipped: $name: ${reason#skipped: }"
	else
		grep -a '^skipped: ' "$name.log" | sed "s|^skipped|skipped in part: $name|" || :
	fi
done < <(find . -name '*.trs' | sort)
