#!/bin/bash
# SPDX-License-Identifier: MIT
# Files that somebody names: a FIFO that nobody writes into is one line, not a command that stands still; what
# a shell makes of <(…) is read.
data=$(cd "${srcdir:-.}/data" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"

PROTON_FAKE=$fake "$PROTON" record -q -o whole.hatchet -- true
mkfifo fifo.py

# stands "what" command…: side by side, because each waits a while whether somebody comes.
stands() {
	local name=$1; shift
	{ timeout 120 "$@" </dev/null >"$name.out" 2>"$name.err"; echo $? >"$name.status"; } &
	asked+=("$name")
}
asked=()
stands report "$PROTON" report fifo.py
stands view "$PROTON" view fifo.py
stands export "$PROTON" export -f json -o never fifo.py
stands list "$PROTON" list fifo.py
stands advise "$PROTON" advise fifo.py
stands viewer "$PROTON" viewer -m time/s fifo.py
stands merge "$PROTON" merge -o never whole.hatchet fifo.py
stands diff "$PROTON" diff whole.hatchet fifo.py
stands compared "$PROTON" report --diff-profile fifo.py whole.hatchet
stands peaks "$PROTON" report --peaks fifo.py whole.hatchet
stands set "$PROTON" metrics --set ./fifo.py
stands metrics "$PROTON" record --metrics ./fifo.py -o never -- true
stands layout "$PROTON" top --no-config --layout ./fifo.py --keys
stands shares "$PROTON" report --graph-shares fifo.py whole.hatchet
stands program "$PROTON" record -o never -- ./fifo.py
wait
for name in "${asked[@]}"; do
	check "$name: ends, and not by itself" "ends" \
		"$(case $(cat "$name.status") in 0 | 124 | 139 | 134) cat "$name.status" ;; *) echo ends ;; esac)"
	check "$name: one line" 1 "$(wc -l <"$name.err")"
	has "$name: names it" "fifo.py" "$name.err"
done
for name in report peaks set layout; do
	has "$name: says what it is" "a FIFO that nobody writes into" "$name.err"
done
check "nothing was written" "" "$(ls never 2>/dev/null)"
timeout 120 "$PROTON" report /dev/zero >out 2>err; check "a device: refused" 1 $?
check "a device: said" "proton: /dev/zero: neither a file nor a pipe" "$(cat err)"

# ---- pipes
"$PROTON" report whole.hatchet >expected
"$PROTON" report <(cat whole.hatchet) >out; check "a pipe of the shell" "" "$(diff expected out | head -3)"
"$PROTON" report /dev/stdin < <(cat whole.hatchet) >out; check "its standard input" "" "$(diff expected out | head -3)"
cat whole.hatchet >fifo.py &
"$PROTON" report fifo.py >out; check "a FIFO with a writer" "" "$(diff expected out | head -3)"
wait
"$PROTON" report --peaks "$data/peaks.txt" whole.hatchet >expected
"$PROTON" report --peaks <(cat "$data/peaks.txt") whole.hatchet >out
check "peaks of a pipe" "" "$(diff expected out | head -3)"
echo "what is this" >wrong.set
"$PROTON" metrics --set ./wrong.set 2>expected; "$PROTON" metrics --set <(cat wrong.set) 2>out
check "a set of a pipe" "$(sed 's/^.*wrong.set//' expected)" "$(sed 's/^.*fd.[0-9]*//' out)"
"$PROTON" report /dev/null >out 2>err; check "nothing: refused" 1 $?
check "nothing: read" "" "$(grep -c 'neither' err | grep -v '^0')"
finish
