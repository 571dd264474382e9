# SPDX-License-Identifier: MIT
# Helpers of tests that are scripts: sourced, it makes a folder of its own, $work, and goes there. Each
# check prints one line; failures are counted.
set -u
work=$(mktemp -d "${TMPDIR:-/tmp}/proton-test.XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 99
n_failed=0
# check "what" "wanted" "got": what proton said last is in the log of a failure that nobody sees twice.
check() {
	if [ "$2" = "$3" ]; then
		echo "ok: $1"
	else
		echo "FAILED: $1: wanted '$2', got '$3'"
		[ ! -s err ] || head -20 err | cat -v | sed 's/^/    err: /'
		n_failed=$((n_failed + 1))
	fi
}
has() { # has "what" "text" file
	if grep -qF -- "$2" "$3"; then echo "ok: $1"; else
		echo "FAILED: $1: no '$2' in:"; head -20 "$3"; n_failed=$((n_failed + 1)); fi
}
hasnt() { # hasnt "what" "text" file
	if [ ! -r "$3" ]; then echo "FAILED: $1: no file $3"; n_failed=$((n_failed + 1))
	elif grep -qF -- "$2" "$3"; then
		echo "FAILED: $1: '$2' in:"; grep -F -m 5 -- "$2" "$3"; n_failed=$((n_failed + 1))
	else echo "ok: $1"; fi
}
finish() { [ "$n_failed" = 0 ] && exit 0; echo "$n_failed failed"; exit 1; }
