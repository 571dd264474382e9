#!/bin/bash
# SPDX-License-Identifier: MIT
# tally.sh BUILD_DIR...: add up what `make check` left behind; prints "N passed, N failed, N skipped".
#
# A test whose log holds Check's own line ("100%: Checks: 30, Failures: 0, Errors: 0") or a line of
# the form "N passed, N failed" counts with those numbers, one with lines "ok: …" and "FAILED: …" with
# their number, any other as one. A test that automake calls failed counts as at least one failure:
# it may have died after its last line.
set -euo pipefail

passed=0 failed=0 skipped=0

# tally_log LOG: sets p and f from the log's own lines; fails when it has none.
tally_log() {
	local line re_check re_tally found=1
	re_check='^[0-9]+%: Checks: ([0-9]+), Failures: ([0-9]+), Errors: ([0-9]+)$'
	re_tally='^([0-9]+) passed, ([0-9]+) failed'
	p=0 f=0
	[ -r "$1" ] || return 1
	while IFS= read -r line; do
		if [[ $line =~ $re_check ]]; then
			f=$((f + BASH_REMATCH[2] + BASH_REMATCH[3]))
			p=$((p + BASH_REMATCH[1] - BASH_REMATCH[2] - BASH_REMATCH[3]))
			found=0
		elif [[ $line =~ $re_tally ]]; then
			p=$((p + BASH_REMATCH[1]))
			f=$((f + BASH_REMATCH[2]))
			found=0
		elif [[ $line == ok:* ]]; then
			p=$((p + 1))
			found=0
		else
			f=$((f + 1))
			found=0
		fi
	done < <(grep -aE '^([0-9]+%: Checks: .*|[0-9]+ passed, [0-9]+ failed.*|ok: .*|FAILED: .*)$' "$1" || :)
	return $found
}

while IFS= read -r trs; do
	result=$(sed -n 's/^:global-test-result: *//p' "$trs")
	own=0
	tally_log "${trs%.trs}.log" || own=1
	case $result in
	SKIP) skipped=$((skipped + 1)) ;;
	PASS|XFAIL)
		[ $own = 0 ] || p=1
		passed=$((passed + p)) failed=$((failed + f))
		;;
	*)
		[ $f -gt 0 ] || f=1
		passed=$((passed + p)) failed=$((failed + f))
		;;
	esac
done < <(find "$@" -name '*.trs' | sort)

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
