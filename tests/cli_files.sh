#!/bin/bash
# view, report, export, list on files of all kinds.
. "${srcdir:-.}/tests/cli_help.sh"
PROTON_FAKE=$fake "$PROTON" record -q -o f.hatchet -- sleep 0.1

"$PROTON" view f.hatchet >out; has "view without a terminal is text" "gemm" out
"$PROTON" report - <f.hatchet >out; has "standard input" "gemm" out
"$PROTON" export -f json -o o.json f.hatchet; has "json" '"proton-profile"' o.json
"$PROTON" export -f hatchet f.hatchet >o.hatchet
"$PROTON" report o.hatchet >b; "$PROTON" report f.hatchet >a; check "hatchet again" "" "$(diff a b)"
"$PROTON" list f.hatchet >out; has "list" "time (ns)" out
"$PROTON" report f.hatchet | head -1 >/dev/null; check "a closed pipe is quiet" "" "$("$PROTON" report f.hatchet 2>&1 >/dev/null | head -1)"

fails() { # fails "what" file "text"
	"$PROTON" report "$2" >out 2>err; check "$1: status" 1 $?
	has "$1: said" "$3" err
	check "$1: one line" 1 "$(wc -l <err)"
}
head -c 700 f.hatchet >cut.hatchet; fails "truncated" cut.hatchet "at byte"
echo 'not json' >bad.hatchet; fails "not JSON" bad.hatchet "'not json' at byte 1"
echo '[{"a": 1}]' >shape.hatchet; fails "wrong shape" shape.hatchet "at byte"
: >empty.hatchet; fails "empty" empty.hatchet "empty.hatchet"
fails "a directory" /tmp "Is a directory"
fails "not there" nothing.hatchet "No such file or directory"
head -c 100 /dev/urandom >noise; fails "noise" noise "at byte"
# ---- a full disk is no success
for command in --help "help top" version "list f.hatchet" "report f.hatchet" "export -f json f.hatchet" "top --keys"; do
	# shellcheck disable=SC2086
	"$PROTON" $command >/dev/full 2>err; check "$command on a full disk: status" 1 $?
	has "$command: said" "No space left on device" err
done
finish
