#!/bin/bash
# SPDX-License-Identifier: MIT
# proton advise: what is planted is found, in text, Markdown and JSON, and scripts can fail on it.
traces=$(cd "${srcdir:-.}/tests/chrome" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
status() { "$@" >out 2>err; echo $?; }
rules() { # rules FILE…: their words, the most expensive first
	"$PROTON" advise -f json "$@" | python3 -c '
import json, sys
print(" ".join(f["rule"] for f in json.load(sys.stdin)["findings"]))'
}

# One kernel that is most of the time, of a run that may take long on a slow machine.
PROTON_FAKE='kernel gemm 900000 100;kernel relu 100000 100;copy HtoD pageable 4096 100000 ;set device 64 50000;repeat 1' \
	"$PROTON" record -q -o a.hatchet -- sleep 0.5
check "what is planted" yes "$(rules a.hatchet | grep -q one-kernel && echo yes || rules a.hatchet)"
"$PROTON" advise a.hatchet >text.txt
has "titles" "PRICE   OF RUN  SURE      FINDING" text.txt
has "a finding" "measured  one kernel is most of the time (one-kernel)" text.txt
has "where" "at gemm" text.txt
has "with numbers" "% of all kernels" text.txt
"$PROTON" advise --width 50 a.hatchet >narrow.txt
check "evidence goes on in the next line" "$(grep -A4 '(one-kernel)' text.txt | sed -n 2p | xargs)" \
	"$(sed -n '/(one-kernel)/,/ at /p' narrow.txt | sed '1d;/ at /,$d' | xargs)"
check "lines fit" "" "$("$PROTON" advise --width 60 a.hatchet | LC_ALL=C.UTF-8 grep -E '^.{61,}')"
check "narrow lines have room for words" "    at gemm" "$("$PROTON" advise --width 40 a.hatchet | grep -A9 '(one-kernel)' | grep -m 1 ' at ')"
check "… a title, too" "one kernel is most of|the time (one-kernel)" "$(grep -B1 '(one-kernel)' narrow.txt | sed 's/.*measured//;s/^ *//' | paste -sd '|')"
"$PROTON" advise -f markdown a.hatchet >text.md; has "in Markdown" "* **one kernel is most of the time** (" text.md
check "JSON: the price is that of the report" \
	"$("$PROTON" export -f json a.hatchet | python3 -c '
import json, sys
print(max(n["metrics"].get("time (ns)", 0) for n in json.load(sys.stdin)["nodes"] if n["name"] == "gemm"))')" \
	"$("$PROTON" advise -f json a.hatchet | python3 -c '
import json, sys
print(*(int(f["price_ns"]) for f in json.load(sys.stdin)["findings"] if f["rule"] == "one-kernel"))')"

# ---- limits
check "nothing asked" 0 "$(status "$PROTON" advise a.hatchet)"
check "a rule that spoke" 1 "$(status "$PROTON" advise --fail-on memsets,one-kernel a.hatchet)"
check "one that did not" 0 "$(status "$PROTON" advise --fail-on uneven a.hatchet)"
check "any" 1 "$(status "$PROTON" advise --fail-on any a.hatchet)"
check "a share that is reached" 1 "$(status "$PROTON" advise --fail-on 1% a.hatchet)"
check "one that is not" 0 "$(status "$PROTON" advise --fail-on 100000% a.hatchet)"
check "a rule or a share" "1 0" "$(status "$PROTON" advise --fail-on uneven,1% a.hatchet) $(status "$PROTON" advise --fail-on uneven,100000% a.hatchet)"
check "no share" 2 "$(status "$PROTON" advise --fail-on idle,5 a.hatchet)"
check "no rule" 2 "$(status "$PROTON" advise --fail-on speed a.hatchet)"
check "no file" 2 "$(status "$PROTON" advise)"
check "a file that is not there" 2 "$(status "$PROTON" advise nothing.hatchet)"

# ---- nothing to say
"$PROTON" record -q -o empty.hatchet -- true
nothing="nothing was recorded: 'proton doctor' says what can be seen on a machine"
echo '[{"children":[],"frame":{"name":"ROOT"},"metrics":{"count":0,"time (ns)":0}},{}]' >root.hatchet
for file in empty root; do
	check "$file: nothing measured is not all well" 2 "$(status "$PROTON" advise --fail-on any $file.hatchet)"
	check "$file: said" "$nothing" "$(cat out)"
	check "$file: without a limit" 2 "$(status "$PROTON" advise -f markdown $file.hatchet)"
	check "$file: in Markdown" "$nothing" "$(cat out)"
	check "$file: for programs" 2 "$(status "$PROTON" advise -f json $file.hatchet)"
	check "$file: on standard error" "proton: $nothing" "$(cat err)"
	check "$file: a document" 0 "$(python3 -c 'import json, sys; print(len(json.load(sys.stdin)["findings"]))' <out)"
	has "$file: in a report" "$nothing" <("$PROTON" report --view findings $file.hatchet)
done
"$PROTON" export -f json empty.hatchet | sed 's/"wire_errors": 0/"wire_errors": 3/' >broken.json
check "nothing but losses" 2 "$(status "$PROTON" advise broken.json)"
has "… which are told" "(losses)" out
check "… and why that is not all well" "proton: $nothing" "$(cat err)"
PROTON_FAKE='kernel gemm 1000000 10' "$PROTON" record -q -o well.hatchet -- true
"$PROTON" advise --fail-on one-kernel well.hatchet >out; check "nothing to say of what was measured" 0 $?
echo 'main;work 100' >host.folded
check "a profile of the host alone" "2 nothing ran on a device, which is what findings are about" \
	"$(status "$PROTON" advise --fail-on any host.folded) $(cat out)"

# ---- one of a thing
PROTON_FAKE='kernel gemm 900000000;kernel relu 1000' "$PROTON" record -o one.hatchet -- true >out 2>err
"$PROTON" advise one.hatchet >out; has "one call" "of all kernels: 1 call of 900ms" out
PROTON_FAKE='kernel gemm 900000000' "$PROTON" record -o one.hatchet -- true >out 2>err
check "one context" 1 "$(cat out err | grep -c 'proton: 1 context;')"

# ---- a waiting GPU: nothing between the first work and the last
mkfifo executed # by which the program waits for the script
PROTON_FAKE='kernel gemm 1000000 10;pause 1500;kernel relu 1000000 10;touch executed' "$PROTON" record -q -o idle.hatchet -- cat executed
check "idle" yes "$(rules idle.hatchet | grep -q idle && echo yes || rules idle.hatchet)"

# … of a trace, whose events say when that was, as far as devices worked, not calls on the host.
said() { # said FILE: what the finding says of the time between
	"$PROTON" advise -f json "$1" | python3 -c '
import json, sys
print(*(f["evidence"] for f in json.load(sys.stdin)["findings"] if f["rule"] == "idle"))'
}
between() { # between TRACE: the same, added up from its events
	python3 -c '
import json, sys
t = json.load(open(sys.argv[1]))
work = sorted((e["ts"], e["ts"] + e["dur"]) for e in t.get("traceEvents", t)
              if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"))
busy, end = 0, 0
for a, b in work:
    busy += max(0, b - max(a, end))
    end = max(end, b)
span = end - work[0][0]
say = lambda us: "%#.3gms" % (us / 1000) if us >= 1000 else "%.0fus" % us
print("idle for %s of the %s between the first and the last work" % (say(span - busy), say(span)))' "$1"
}
for trace in torch.json h200-torch-stack.json; do
	check "$trace: idle between its work" "$(between "$traces/$trace")" "$(said "$traces/$trace")"
	"$PROTON" export -f hatchet "$traces/$trace" >again.hatchet
	check "$trace: as Hatchet" "$(said "$traces/$trace")" "$(said again.hatchet)"
done

# ---- of the host alone: nothing is found, and nothing is well either
echo '[{"frame":{"name":"ROOT"},"metrics":{},"children":[{"frame":{"name":"s"},"metrics":{"cpu_time (ns)":500},"children":[]}]},{}]' >host.json
check "the host alone" "nothing ran on a device, which is what findings are about 0" "$("$PROTON" advise host.json) $?"
"$PROTON" advise --fail-on any host.json >out 2>err; check "the host alone: no pass" 2 $?
"$PROTON" advise --fail-on idle -f json host.json >out 2>err
check "the host alone, for programs" "2 proton: nothing ran on a device, which is what findings are about" "$? $(cat err)"

# ---- ranks: the slow one is named, not the one that waits for it
for rank in 0 1; do
	[ $rank = 0 ] && work='kernel gemm 4000000 100;kernel ncclDevKernel_AllReduce 100000 100'
	[ $rank = 1 ] && work='kernel gemm 2000000 100;kernel ncclDevKernel_AllReduce 2100000 100'
	RANK=$rank PROTON_FAKE=$work "$PROTON" record -q -o r$rank.hatchet -- true
done
"$PROTON" advise r0.hatchet r1.hatchet >ranks.txt
has "the slow rank" "rank 0 works" ranks.txt
has "who comes last" "wait for 0, which comes last" ranks.txt
"$PROTON" merge --ranks r0.hatchet r1.hatchet >board.txt
row() { awk -v name="$1" '$NF == name { print $1, $3 }' board.txt; }
check "the board: work" "100ms 0" "$(row gemm)"
check "the board: who comes last to a collective" "100ms 0" "$(row ncclDevKernel_AllReduce)"
check "the board: collectives are apart" "100ms 0" "$(row ROOT)"
check "the board: totals" "400ms 10.0ms 0|200ms 210ms 1" \
	"$(awk '/COLLECT/ { on = 1; next } !NF { on = 0 } on { print $1, $3, $4 }' board.txt | paste -sd'|')"
finish
