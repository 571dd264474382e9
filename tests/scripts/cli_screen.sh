#!/bin/bash
# proton top on a real terminal (tmux): what is shown, keys, resizing, how it ends, kill -9.
wire=$(cd "${srcdir:-.}/tests/wire" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_window.sh"
fake='kernel gemm_bf16 180000 47;kernel relu 20000 100;copy HtoD pinned 4096000 100000;copy DtoH pageable 100000 50000;pause 100;repeat 600'
export PROTON_FAKE=$fake
loop='i=0; while [ -d $work ] && [ ! -e stop ]; do i=$((i+1)); echo line $i; sleep 0.2; done; exit 3'
echo "$loop" >app.sh

# ---- the screen and its panels
window 100x30 "$PROTON top -i 0.2 --trace -o a.hatchet --app-log app.log sh app.sh; echo status=\$?"
see "the tree" "gemm_bf16"
see "live" "LIVE"
keys 2; see "kernels" "SELF"
keys 3; see "memory" "memcpy HtoD pinned"
keys 4; see "devices" "Fake GPU"
keys 5; see "losses" "nothing was lost"
keys 6; see "the program's output" "line 2"
keys 1; keys / rel; see "search prompt" "rel"; keys Enter
keys '?'; see "help" "Esc closes"; keys Escape
gone() { ! shows "Esc closes"; }; wait_for 5 gone
keys z; see "frozen" "FROZEN"; keys z; see "live again" "LIVE"
keys P; see "paused" "PAUSED"
root() { t capture-pane -p -t s | grep ROOT; }
stands() { local was; was=$(root); sleep 0.5; [ "$was" = "$(root)" ]; }
wait_for 20 stands; keys P; see "not paused" "LIVE"
# ---- resizing, down to nothing
for size in 40x10 20x5 10x2 140x40 80x24; do t resize-window -t s -x "${size%x*}" -y "${size#*x}"; done
see "after resizing" "gemm_bf16"
# ---- q asks while the program runs; after its end it leaves with the program's status
keys q; see "q asks" "cancel"; keys c
touch stop; see "the end is shown" "ENDED: exit 3"
see "the tree stays" "gemm_bf16"
keys q; see "status" "status=3"
see "the file is named" "wrote 'a.hatchet'"
see "what was paused is said" "not counted for"
of_run() { grep -o "[0-9.]* % of the run" | sort -u; }
check "of the run: that of the file, without what was paused" "$("$PROTON" report --view run a.hatchet | of_run)" \
	"$(t capture-pane -p -t s | of_run)"
has "and when it was" " on: paused" <("$PROTON" report --ascii --view timeline a.hatchet)
has "app log" "line 2" app.log
check "profile" 0 "$("$PROTON" report a.hatchet >/dev/null; echo $?)"
rm -f stop

# ---- --exit, Ctrl-C
window 80x24 "$PROTON top -i 0.2 --exit -o b.hatchet sleep 0.2; echo status=\$?"
see "--exit leaves by itself" "status=0"
window 80x24 "$PROTON top -i 0.2 -o c.hatchet sleep 100; echo status=\$?"
see "running" "LIVE"; see "with all kinds of work to save" "memcpy DtoH pageable"
keys C-c; see "Ctrl-C asks" "cancel"
keys C-c; see "the second one stops and leaves" "wrote 'c.hatchet'"

off() { [ "$(t display-message -p -t s "#{$1}")" = 0 ]; } # a flag of the window
keeper_gone() { ! runs "proton top -i 0.2 -o $work/k.hatchet"; }
# ---- kill -9 and a lost line: the keeper puts the terminal in order, the program goes on
for sig in KILL HUP; do
	rm -f pid top done stop k.hatchet
	window 80x24 "stty -a >before; $noting_pid $PROTON top -i 0.2 -o $work/k.hatchet sh -c 'echo \$\$ >pid; while [ -d $work ] && [ ! -e stop ]; do sleep 0.1; done; echo yes >done'; until stty -a | cmp -s - before; do sleep 0.05; done; echo back=\$((40+2))"
	see "$sig: live" "LIVE"; wait_for 10 test -s pid
	kill -s "$sig" "$(cat top)"; see "$sig: the shell is back" "back=42"
	# and the terminal is as before: the shell waits for that before it says so
	wait_for 5 off mouse_any_flag || check "$sig: no reports of the mouse" 0 1
	wait_for 5 off alternate_on || check "$sig: no alternate screen" 0 1
	check "$sig: the program lives" 0 "$(kill -0 "$(cat pid)"; echo $?)"
	[ "$sig" = KILL ] || wait_for 10 test -s k.hatchet || check "$sig: a file" yes no
	[ "$sig" = KILL ] || check "$sig: which is of a part" 1 "$("$PROTON" report k.hatchet | grep -c 'saved while the program ran')"
	touch stop; wait_for 10 test -e done; check "$sig: and ends by itself" yes "$(cat done)"
	wait_for 10 keeper_gone || check "$sig: the keeper ends" yes no
	check "$sig: no directory is left" "" "$(find "${TMPDIR:-/tmp}" -maxdepth 2 -path "*/proton-*/owner" -newer before -exec grep -lw "$(cat pid)" {} + 2>/dev/null)"
done

# ---- a lost line between the first picture and the program's start, held there by a pipe that nobody reads yet
mkfifo log
window 80x24 "stty -a >before; $noting_pid $PROTON top -o k.hatchet --app-log log sleep 1; stty -a | cmp - before && echo same=\$((40+2))"
see "HUP at the start: the screen" "LIVE"
kill -HUP "$(cat top)"; timeout 10 cat log >/dev/null & reader=$!
see "HUP at the start: the terminal is as before" "same=42"; wait $reader

# ---- a terminal that cannot show it: said before the program runs
window 80x24 "TERM=dumb $PROTON top touch ran; echo status=\$?"
see "TERM=dumb: status" "status=2"
check "the program was not started" no "$([ -e ran ] && echo yes || echo no)"

# ---- without a screen
"$PROTON" top -o d.hatchet true </dev/null >out 2>err; check "no terminal: status" 2 $?
has "no terminal: what to do" "--batch" err
# A program that ends when `out` has so many lines like that.
until_out='until [ "$(grep -c "$1" out)" -ge "$2" ]; do sleep 0.05; done'
PROTON_FAKE='kernel a 10 1;pause 50;repeat 30' "$PROTON" top -i 0.1 --batch 2 -q -o d.hatchet \
	sh -c "$until_out" - '^## Calling contexts' 2 >out 2>err </dev/null
check "batch: status" 0 $?; check "batch: pictures" 2 "$(grep -c '^## Calling contexts' out)"

# ---- a view that was asked for is what the pictures are of, or it is refused
fake='kernel gemm 1000 10'
PROTON_FAKE=$fake RANK=3 "$PROTON" top -i 100 --batch 1 -q --view ranks -o r.hatchet sleep 0.1 >out 2>err </dev/null
check "the board of ranks: status" 0 $?; check "the board of ranks" "10.0us 1.00 3" "$(grep -A1 'RANK$' out | tail -1 | xargs)"
check "the board alone" 0 "$(grep -c '^## \|gemm' out)"
PROTON_FAKE=$fake "$PROTON" top -i 100 --batch 1 -q --view ranks -m util -o r.hatchet sleep 0.1 >out 2>err </dev/null
has "a metric that does not add up" "'util' does not add up, which this view needs: it is of the time" err
check "… once, and the board is there" "1 1" "$(grep -c 'add up' err) $(grep -c 'RANK$' out)"
for refused in "--batch 1 --view roofline" "--batch 1 --view callers" "--batch 1 --view warps" "--json-lines --view kernels"; do
	"$PROTON" top $refused touch ran >out 2>err </dev/null
	check "refused: $refused" "2 1 0" "$? $(grep -c -- '--view' err) $(wc -c <out)"
done
check "… before the program runs" no "$([ -e ran ] && echo yes || echo no)"
PROTON_FAKE='kernel a 10 1;pause 50;repeat 30' "$PROTON" top -i 0.1 --json-lines -q -o d.hatchet sh -c "echo noise; $until_out" - . 3 >out 2>err </dev/null
check "json lines" ok "$(python3 -c 'import json,sys
lines=[json.loads(l) for l in open("out")]
print("ok" if len(lines) >= 3 and lines[-1]["nodes"] else len(lines))')"
check "json lines: the last one, and no other, is of what has ended" ok "$(python3 -c 'import json
lines=[json.loads(l) for l in open("out")]
says=[(l["ended"], l["runs"][0]["end"]) for l in lines]
print("ok" if says[-1] == (True, "ended") and not any(e for e, _ in says[:-1]) else says)')"
"$PROTON" export -f json d.hatchet >file.json
check "json lines: the last one has what the profile has" ok "$(python3 -c 'import json
last, file = json.loads(open("out").readlines()[-1]), json.load(open("file.json"))
of = lambda s: sorted(json.dumps([n["name"], n["metrics"]]) for n in s["nodes"])
print("ok" if of(last) == of(file) else (of(last), of(file)))')"
PROTON_FAKE='kernel gemm 1000 2;kernel relu 10 1;pause 50;repeat 30' "$PROTON" top -i 0.1 -b 0 -m calls,time/us -e relu -q -o d.hatchet true >out 2>err </dev/null
check "batch -m -e: status" 0 $?
has "batch -m: columns" "CALLS time/us  NAME" out; has "batch -e: what is left" "gemm" out
check "batch -e: what is not" "" "$(grep relu out)"
PROTON_FAKE='kernel a 10 1;pause 50;repeat 30' "$PROTON" top -i 0.1 -b 3 -m nothing -q -o d.hatchet \
	sh -c "$until_out" - '^## Calling contexts' 3 >out 2>err </dev/null
check "batch -m: no such metric is no end" 3 "$(grep -c '^## Calling contexts' out)"
check "batch -m: said once" 1 "$(grep -c "'nothing' is no metric yet" err)"
PROTON_FAKE='kernel a 10 1;pause 50;repeat 30' "$PROTON" top -i 0.1 -b 1 -m calls,time/us -s later -q -o d.hatchet \
	sh -c "$until_out" - '^## Calling contexts' 1 >out 2>err </dev/null
has "batch -s: said" "'later' is no metric yet: the usual order is kept until it is" err
has "batch -s: the columns stay" "CALLS time/us  NAME" out
PROTON_FAKE='kernel a 10 1;pause 50;repeat 30' "$PROTON" top -i 0.1 -b 1 -m nothing -s later -q -o d.hatchet \
	sh -c "$until_out" - '^## Calling contexts' 1 >out 2>err </dev/null
check "batch -m -s: neither is there" 1 "$(grep -c '^## Calling contexts' out)"
"$PROTON" top -b 1 -m calls,time/furlong touch ran >out 2>err </dev/null; check "batch -m: a wrong unit" 2 $?
has "batch -m: which" "no such unit in 'time/furlong'" err
for word in cum% calls/ms p101/us time_p101 nothing,p101; do
	for option in -m -s; do
		[ "$option $word" != "-s nothing,p101" ] || continue
		"$PROTON" top -b 1 $option "$word" touch ran >out 2>err </dev/null; check "batch $option $word" 2 $?
		has "batch $option $word: which" "$option: no such metric: '${word#nothing,}'" err
	done
done
check "batch -m: the program was not started" no "$([ -e ran ] && echo yes || echo no)"
window 100x24 "PROTON_FAKE='kernel gemm 1000 2;pause 50;repeat 600' $PROTON top -i 0.2 -m time/us,nothing,calls -o e.hatchet sleep 100; echo status=\$?"
see "top -m: columns" "time/us  nothing  CALLS"
keys C-c; see "top -m: Ctrl-C" "cancel"; keys C-c; see "top -m: left" "wrote 'e.hatchet'"
window 100x24 "$PROTON top --view log -o e.hatchet sh -c 'echo first; sleep 0.2; echo second'; echo status=\$?"
see "top --view log: what it prints" "second"
see "top --view log: the end" "ENDED"; keys q; see "top --view log: left" "status=0"
window 100x24 "$PROTON top -m time/furlong touch ran; echo status=\$?"
see "top -m: a wrong unit" "no such unit"; see "top -m: status" "status=2"
window 100x24 "$PROTON top -m calls,p101/us touch ran; echo status=\$?"
see "top -m: what never comes" "no such metric: 'p101/us'"; see "top -m: its status" "status=2"
window 100x24 "$PROTON top -s calls/ms touch ran; echo status=\$?"
see "top -s: what never comes" "no such metric: 'calls/ms'"; see "top -s: its status" "status=2"
check "top -m: the program was not started" no "$([ -e ran ] && echo yes || echo no)"
# ---- view: D compares with another file, and stops
window 100x24 "$PROTON view c.hatchet; echo status=\$?"
see "view" "gemm_bf16"
t send-keys -t s D; see "D asks" "compare with file"
t send-keys -t s -l a.hatchet; t send-keys -t s Enter
see "D compares" "STATUS"
see "D names the other file" "A: a.hatchet"
t send-keys -t s D; see "D asks again" "no more"; t send-keys -t s Enter
see "D with none ends it" "CALLS"
t send-keys -t s D; see "D asks once more" "compare with file"
t send-keys -t s -l nothing; t send-keys -t s Enter
see "D: no such file" "No such file"
mkdir -p folder; t send-keys -t s D; t send-keys -t s -l folder; t send-keys -t s Enter
see "D: a folder" "Is a directory"
echo '{"not": "a profile"' >broken.json
t send-keys -t s D; t send-keys -t s -l broken.json; t send-keys -t s Enter
see "D: why a file cannot be read" "broken.json: "
see "D: and the screen is as it was" "CALLS"
t send-keys -t s Q; see "D: status" "status=0"
# ---- what was read from standard input is compared too, and the view stays
window 100x24 "$PROTON view - <c.hatchet; echo status=\$?"
see "view of standard input" "gemm_bf16"
keys /; t send-keys -t s -l relu; keys Enter; keys .; see "zoomed" "zoom: relu"
t send-keys -t s D; t send-keys -t s -l a.hatchet; t send-keys -t s Enter
see "standard input: D compares" "STATUS"; see "D keeps the zoom" "zoom: relu"
keys G; see "a comparison is grouped" "group: process"; see "and is one still" "STATUS"
keys D; keys Enter; see "its end leaves the groups" "group: process"; see "and has its columns" "CALLS"
keys Q; see "standard input: status" "status=0"

# ---- what brings a stream writes on the terminal as it leaves
PROTON_FAKE='kernel gemm 1000 2;pause 10;repeat 40' "$PROTON" record -q -o far.hatchet --forward - sleep 0.5 >far.tape
mkfifo leaves
window 100x24 "{ head -c 1500 far.tape; cat leaves; echo 'Connection to node closed.' >&2; } | $PROTON top -i 0.2 -; echo status=\$?"
see "a stream: the header" "proton top  sleep"
: >leaves
see "a stream that is cut off" "has ended before its program"
check "… leaves nothing on the screen" 0 "$(screen | grep -c 'Connection to node')"
check "… and its lines where they were" "proton top  sleep" "$(screen | head -n 1 | cut -c 1-17)"
keys Q; see "a stream: left" "status=0"
# ---- several files, one of which is none
window 100x24 "$PROTON view -k broken.json a.hatchet c.hatchet; echo status=\$?"
see "view -k: the header" "proton view  a.hatchet and 1 more"; see "view -k: said" "1 of 3 files could not be read"
keys Q; see "view -k: status" "status=1"
# ---- what was run is not the same: the screen says so, too
for time in 0.1 0.2; do PROTON_FAKE='kernel gemm 1000 2' "$PROTON" record -q -o "slept$time.hatchet" -- sleep $time; done
window 100x24 "$PROTON diff slept0.1.hatchet slept0.2.hatchet; echo status=\$?"
see "diff of other runs" "B: another command line"; keys Q; see "diff of other runs: left" "status="
window 100x24 "$PROTON view slept0.2.hatchet; echo status=\$?"
see "view: one run" "gemm"; keys D; t send-keys -t s -l slept0.1.hatchet; keys Enter
see "D says it, too" "B: another command line"
keys D; t send-keys -t s -l slept0.2.hatchet; keys Enter; see "the same run" "A: slept0.2.hatchet"
check "is not another" 0 "$(screen | grep -c 'B: another')"
keys Q; see "view: one run: left" "status=0"
# ---- diff: the screen on a terminal, text where that is what is asked for
window 100x24 "$PROTON diff a.hatchet c.hatchet; echo status=\$?"
see "diff: columns" "STATUS"; see "diff: the header" "proton diff  A: a.hatchet  B: c.hatchet"
keys Q; see "diff: status" "status=0"
window 100x24 "$PROTON diff -m count --exclusive a.hatchet c.hatchet; echo status=\$?"
see "diff -m on the screen" "compared: count (exc)"; keys q; see "diff -m: status" "status=0"
printed() { # printed "what" WANTED OPTION…: text, and how it ends
	window 100x24 "clear; LESS=FRX $PROTON diff $3; echo status=\$?"
	see "diff $1: status" "status=$2"
	shows "F10" && check "diff $1: no screen" none some
}
printed "--text" 0 "--text a.hatchet c.hatchet"
printed "a format" 0 "-f markdown a.hatchet c.hatchet"
printed "several runs" 0 "--a a.hatchet c.hatchet --b c.hatchet"
printed "a limit" 0 "--fail-over 1000000 a.hatchet a.hatchet"
printed "no file" 2 "a.hatchet nothing"
printed "broken" 2 "broken.json a.hatchet"
printed "no such metric" 2 "-m nothing a.hatchet c.hatchet"
window 100x24 "TERM=dumb $PROTON diff a.hatchet c.hatchet; echo status=\$?"
see "diff: TERM=dumb prints" "status=0"

# ---- eight ranks that come through a pipe (collect_ranks.sh): the board, and what has no way back
gunzip -c "$wire/ranks.tape.gz" >ranks.tape
for size in 80x24 140x40; do
	devices="GPU3 busy 17.6%  +4"; [ $size = 80x24 ] || devices="GPU3 busy 17.6%  GPU4 busy 17.6%"
	window $size "$PROTON top --no-color - <ranks.tape; echo status=\$?"
	see "$size: ranks: joined" "+7"; see "$size: ranks: devices by their numbers" "$devices"; keys M-2
	see "$size: ranks: the slowest, its work and the collectives" " 19.8ms  1.26   600us  5  slowest  pid"
	see "$size: ranks: who waits" " 14.9ms  0.95  5.40ms  0  pid"
	see "$size: ranks: all of it" " 4.07ms    1.26            5  15.7ms  19.8ms"
	see "$size: ranks: the slow link" "3.78ms    4.71            2  1.02ms  4.80ms"
	keys P; see "$size: ranks: no way back" "cannot pause from here: it runs elsewhere, and streams have one direction"
	keys q; see "$size: ranks: left" "status=0"
done
finish
