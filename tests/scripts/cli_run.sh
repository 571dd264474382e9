#!/bin/bash
# SPDX-License-Identifier: MIT
# What a profile says of its run: in the file, on the tape, in the report, in list and in diff.
. "${srcdir:-.}/tests/tools/cli_help.sh"
runs() { # runs FILE EXPRESSION-over-r
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
r = json.load(sys.stdin)["runs"]
print(eval(sys.argv[1]))' "$2"
}
line() { # line "what" FILE EXPRESSION: a line is so
	check "$1" yes "$(grep -qE -- "^$3\$" "$2" && echo yes || head -20 "$2")"
}
status() { "$@" >/dev/null 2>err; echo $?; }
export PROTON_FAKE=$fake TZ=UTC

# ---- recorded
before=$(date +%s%N)
ZEBRA_A=1 ZEBRA_B="two words" OTHER=3 "$PROTON" record -q --label "after the fix" --save-env 'ZEBRA_*,HOME,NOT_SET' \
	-o a.hatchet --tape a.tape -- sh -c 'sleep 0.1; exit 3' "it's" "" 2>err
check "a failing program: status" 3 $?
check "a variable that is not there" "proton: --save-env: no variable is called 'NOT_SET'" "$(cat err)"
after=$(date +%s%N)
for f in a.hatchet a.tape; do
	check "$f: words" "['sh', '-c', 'sleep 0.1; exit 3', \"it's\", '']" "$(runs $f 'r[0]["command"]')"
	check "$f: variables" "['HOME=$HOME', 'ZEBRA_A=1', 'ZEBRA_B=two words']" "$(runs $f 'sorted(r[0]["environment"])')"
	check "$f: where" "$PWD $(uname -n)" "$(runs $f 'r[0]["folder"] + " " + r[0]["host"]')"
	check "$f: label, end" "after the fix ended 3 0" "$(runs $f '"%(label)s %(end)s %(exit_status)s %(signal)s" % r[0]')"
	check "$f: by which version" "$("$PROTON" --version | sed -n '1s/^proton //p')" "$(runs $f 'r[0]["version"]')"
	check "$f: when, and how long" True \
		"$(runs $f "$before < r[0]['start_ns'] < $after and 10**8 < r[0]['wall_ns'] < $after - $before")"
done
check "one run" 1 "$(runs a.hatchet 'len(r)')"
"$PROTON" record -q -o b.hatchet --tape b.tape -- sh -c 'kill -SEGV $$' 2>err
check "killed" "ended 0 11" "$(runs b.hatchet '"%(end)s %(exit_status)s %(signal)s" % r[0]')"
check "nothing was asked for" "[] ''" "$(runs b.hatchet 'str(r[0]["environment"]) + " " + repr(r[0]["label"])')"
check "bad list of variables" 2 "$(status "$PROTON" record --save-env '' -o x.hatchet -- true)"

# ---- shown
"$PROTON" report a.hatchet >report.txt; "$PROTON" report a.tape >tape.txt
check "the tape says the same" "" "$(diff report.txt tape.txt)"
check "the head is first" "## Run" "$(head -1 report.txt)"
line "the command, for a shell" report.txt "command     sh -c 'sleep 0.1; exit 3' 'it'\\\\''s' ''"
line "the label" report.txt "label       after the fix"
line "when, how long, the end" report.txt "run         20[0-9-]* [0-9:]*, [0-9.]*m?s, exit 3"
has "the environment" "ZEBRA_B='two words'" report.txt
line "how busy" report.txt "device      .*busy .*% of the run"
"$PROTON" list a.hatchet >list.txt; line "list, too" list.txt "label       after the fix"
"$PROTON" report --section run b.hatchet >run.txt; has "a signal has its name" "killed by SIGSEGV" run.txt
hasnt "a section alone has no title" "##" run.txt
"$PROTON" report -i gemm a.hatchet >some.txt; hasnt "who looks for something gets no head" "command" some.txt
"$PROTON" export -f hatchet -o c.hatchet a.hatchet; check "written again" "$(runs a.hatchet r)" "$(runs c.hatchet r)"
"$PROTON" export -f folded -o plain.folded a.hatchet
"$PROTON" report plain.folded >plain.txt; hasnt "who does not know says nothing" "## Run" plain.txt
check "and says so when asked" "not known" "$("$PROTON" report --section run plain.folded)"
check "control characters of a command" 0 \
	"$("$PROTON" record -q -o e.hatchet -- sh -c ':' $'\033[2J'; "$PROTON" report e.hatchet | grep -c $'\033')"
for bad in 4294967299 18446744073709551616 -1 2.5 1e30 '"3"' null; do
	sed "s/\"exit_status\": *3/\"exit_status\": $bad/" a.hatchet >bad.hatchet
	check "an exit status of $bad is none" "vanished 0" "$(runs bad.hatchet '"%(end)s %(exit_status)s" % r[0]')"
	"$PROTON" report bad.hatchet >bad.txt; hasnt "$bad: nor is it told" "exit" <(grep '^run ' bad.txt)
	line "$bad: the rest is" bad.txt "run         20[0-9-]* [0-9:]*, [0-9.]*m?s"
done

# ---- compared
"$PROTON" diff --text a.hatchet b.hatchet >diff.txt
has "another command line" "B: another command line: sh -c 'kill -SEGV \$\$' (A: sh -c 'sleep 0.1; exit 3'" diff.txt
hasnt "the same devices" "devices" diff.txt
"$PROTON" diff --text a.hatchet c.hatchet >same.txt; hasnt "the same run" "B: another" same.txt
"$PROTON" diff --text a.hatchet plain.folded >unknown.txt; hasnt "who does not know does not differ" "B: another" unknown.txt
has "how it ended" "B: another end: killed by SIGSEGV (A: exit 3)" diff.txt
"$PROTON" record -q -o again.hatchet -- sh -c 'exit 3' 2>/dev/null
"$PROTON" merge -o twice.hatchet a.hatchet again.hatchet 2>err; "$PROTON" diff --text a.hatchet twice.hatchet >twice.txt
has "two runs: compared" "another command line" twice.txt
hasnt "two runs that ended so" "another end" twice.txt
check "for programs" "['command', 'end']" "$("$PROTON" diff -f json a.hatchet b.hatchet |
	python3 -c 'import json, sys; print(list(json.load(sys.stdin)["runs_differ"]))')"
"$PROTON" diff -f markdown a.hatchet b.hatchet >diff.md; has "in Markdown" "> B: another command line" diff.md
sed 's/"name": "[^"]*", "num_sms"/"name": "Another", "num_sms"/' a.hatchet >other.hatchet
if cmp -s a.hatchet other.hatchet; then
	python3 - <<'EOF'
import json
p = json.load(open("a.hatchet"))
for d in p[0]["proton"]["devices"]:
    d["name"] = "Another"
json.dump(p, open("other.hatchet", "w"))
EOF
fi
"$PROTON" diff --text a.hatchet other.hatchet >diff.txt; has "other devices" "B: other devices: 1 Another (A: " diff.txt

# ---- several
"$PROTON" merge -o m.hatchet a.hatchet b.hatchet; check "merged" 2 "$(runs m.hatchet 'len(r)')"
"$PROTON" report m.hatchet >merged.txt; hasnt "no share of runs that were not one" "of the run" merged.txt
has "but both commands" "kill -SEGV" merged.txt

# ---- cut off: proton is killed while the program runs
PROTON_FAKE='kernel gemm 1000 10;pause 50;repeat 2000' "$PROTON" record -q --save-interval 0.1 -o k.hatchet --tape k.tape -- \
	sh -c 'echo $$ >pid; exec sleep 60' & proton=$!
saved() { [ -s k.hatchet ] && [ "$(runs k.hatchet 'r[0]["wall_ns"]')" -gt 0 ]; }
wait_for 20 saved; check "saved while it runs" 0 $?
kill -KILL $proton; wait $proton 2>/dev/null; kill "$(cat pid)" 2>/dev/null
"$PROTON" report --section run k.hatchet >run.txt
has "saved before its end" "saved before its end" run.txt
check "the tape knows the command" sh "$(runs k.tape 'r[0]["command"][0]')"
finish
