#!/bin/bash
# proton record: exit status, descriptors, signals, children, files, kill -9 of each side.
. "${srcdir:-.}/tests/tools/cli_help.sh"

status() { "$@" >out 2>err </dev/null; echo $?; }
# ---- status table
check "status 0" 0 "$(status "$PROTON" record -o a.hatchet -- true)"
check "status 7" 7 "$(status "$PROTON" record -o a.hatchet -- sh -c 'exit 7')"
check "status 255" 255 "$(status "$PROTON" record -o a.hatchet -- sh -c 'exit 255')"
check "SIGTERM is 143" 143 "$(status "$PROTON" record -o a.hatchet -- sh -c 'kill -TERM $$')"
check "SIGKILL is 137" 137 "$(status "$PROTON" record -o a.hatchet -- sh -c 'kill -KILL $$')"
check "SIGSEGV is 139" 139 "$(status "$PROTON" record -o a.hatchet -- sh -c 'kill -SEGV $$')"
check "not found" 127 "$(status "$PROTON" record -- ./nothing-here)"
has "not found is said" "proton: cannot run './nothing-here': not found" err
check "not executable" 126 "$(status "$PROTON" record -- /etc/passwd)"
check "a directory" 126 "$(status "$PROTON" record -- /tmp)"
check "unknown option" 2 "$(status "$PROTON" record --nonsense true)"
check "no program" 2 "$(status "$PROTON" record)"
check "no such command" 2 "$(status "$PROTON" recrod true)"
has "the nearest is named" "did you mean 'record'" err
check "a profile for a command" 2 "$(status "$PROTON" ./a.hatchet)"
has "how to look at it" "to look at a profile: 'proton view ./a.hatchet'" err
check "a program for a command" 2 "$(status "$PROTON" "$(command -v true)")"
has "how to profile it" "to profile a program: 'proton top " err
check "no such format" 2 "$(status "$PROTON" export -f jsn a.hatchet)"
has "the nearest format" "did you mean 'json'" err
check "a tape that cannot be" 125 "$(status "$PROTON" record --tape /nonexistent/x -- true)"
check "profile that cannot be written" 125 "$(status "$PROTON" record -o /nonexistent/d/x -- touch ran)"
has "and says so" "cannot write '/nonexistent/d/" err
check "before the program runs" no "$([ -e ran ] && echo yes || echo no)"
export A=nowhere/of/ours
check "nor one in a folder that a variable names" 125 "$(status "$PROTON" record -o '%q{A}/%p.x' -- touch ran)"
check "with the name known" 125 "$(status "$PROTON" record -o '%q{A}/x' -- touch ran)"
has "and which it is" "cannot write 'nowhere/of/ours/x'" err
A='' ; check "nor one without a name" 125 "$(status "$PROTON" record -o '%q{A}' -- touch ran)"
check "and the program does not run" no "$([ -e ran ] && echo yes || echo no)"
check "what is not known yet is not looked at" 0 "$(status "$PROTON" record -q -o '%q{A}%e/%p' -- mkdir mkdir)"
mkdir gone
check "a folder that goes away meanwhile" 0 "$(status "$PROTON" record -o gone/x -- rm -r gone)"
has "is said at the end" "cannot write 'gone/x'" err
mkdir gone
check "with --strict" 125 "$(status "$PROTON" record --strict -o gone/x -- rm -r gone)"

# ---- descriptors
check "stdin and stdout are the program's" "hello" "$(echo hello | "$PROTON" record -q -o a.hatchet -- cat)"
"$PROTON" record -q -o a.hatchet -- sh -c 'echo oops >&2' 2>err; check "stderr" "oops" "$(cat err)"
"$PROTON" record -q -o a.hatchet -- ls -l /proc/self/fd >fds 2>&1
check "no descriptor of ours in the program" "" "$(grep -E '/stream|/control|/owner|signalfd|pidfd' fds)"
# arguments behind the program are its own
check "options of the program" "-o --help" "$("$PROTON" record -q -o a.hatchet echo -o --help)"

# ---- numbers, by the fake backend
PROTON_FAKE=$fake "$PROTON" record -o f.hatchet --tape f.tape -- sleep 0.1 2>err
check "summary and run tell one time" \
	"$("$PROTON" report --view run f.hatchet | sed -n 's/^run .*, \(.*\), exit 0$/\1/p')" \
	"$("$PROTON" report --view summary f.hatchet | sed -n 's/^duration *//p')"
has "summary: kernels" "gemm" err
has "summary: bytes" "memcpy HtoD pinned" err
check "kernel count" 10 "$(metric f.hatchet gemm count)"
check "kernel time" 10000 "$(metric f.hatchet gemm 'time (ns)')"
check "bytes" 8192 "$(metric f.hatchet 'memcpy HtoD pinned' bytes)"
check "tape says the same" 10 "$(metric f.tape gemm count)"
"$PROTON" report f.tape >tape.txt; "$PROTON" report f.hatchet >file.txt
check "report of tape and file" "" "$(diff tape.txt file.txt)"

PROTON_FAKE=$fake "$PROTON" record -v -o v.hatchet -- true 2>err; has "--verbose names the collector" "collector '/" err

# ---- a trace: every execution of every process, in file and tape alike; saves meanwhile leave it out
count_of() { # count_of LIST FILE: entries of one of the export's lists
	"$PROTON" export -f json "$2" | python3 -c 'import json,sys; print(len(json.load(sys.stdin)[sys.argv[1]]))' "$1"
}
PROTON_FAKE="kernel a 100 20000;stream 2;kernel b 100 20000;pause 300" "$PROTON" record --trace --save-interval 0.05 \
	-o t.hatchet --tape t.tape -- sh -c 'sleep 0 & until [ -s t.hatchet ]; do :; done; wait; cp t.hatchet early.hatchet' 2>err
check "a trace of three processes" 120000 "$(count_of intervals t.hatchet)"
check "in the tape, too" 120000 "$(count_of intervals t.tape)"
check "not in a save while it runs" 0 "$(count_of intervals early.hatchet)"
has "busy time is in the summary" "Fake GPU: busy" err
PROTON_FAKE="kernel a 100 500;pause 100" "$PROTON" record --trace-limit 300 --no-follow -o l.hatchet -- sleep 0.1 2>err
check "a trace with a limit" 300 "$(count_of intervals l.hatchet)"
has "says what is missing" "200 operations not in the trace" err
# A file that may grow no further: what went in is there, the rest is told, and the program runs on.
PROTON_FAKE="kernel a 100 20000;pause 100" "$PROTON" record --trace --no-follow -o f.hatchet -- \
	sh -c 'ulimit -f 64; sleep 0.1; exit 3' 2>err
check "a file that may not grow: status" 3 $?
kept=$(count_of intervals f.hatchet)
check "a file that may not grow: some of it" yes "$([ "$kept" -gt 0 ] && [ "$kept" -lt 20000 ] && echo yes)"
has "a file that may not grow: said" "$((20000 - kept)) operations not in the trace (disk full?)" err
check "a file that may not grow: the sums" 20000 "$(metric f.hatchet a count)"
# The third save after that holds what came later.
cat >taken.sh <<'X'
until [ -s v.hatchet ] && ls "$PROTON_SESSION"/*.segment; do sleep 0.05; done
rm "$PROTON_SESSION"/*.segment
for save in 1 2 3; do
	cp v.hatchet before
	while cmp -s v.hatchet before; do sleep 0.05; done
done
X
PROTON_FAKE="kernel a 100 500;pause 20;repeat 100000" timeout 120 "$PROTON" record --trace --no-follow \
	--save-interval 0.05 -o v.hatchet -- sh taken.sh >/dev/null 2>err
gone=$(($(metric v.hatchet a count) - $(count_of intervals v.hatchet)))
check "a file that was taken away" yes "$([ $gone -gt 0 ] && echo yes)"
has "is a loss" "lost: $gone operations of the trace not read back" err
check "--trace-limit 0" 2 "$(status "$PROTON" record --trace-limit 0 -- true)"
PROTON_FAKE=$fake "$PROTON" record -o u.hatchet -- sleep 0.1 2>err
check "no trace unless asked" 0 "$(count_of intervals u.hatchet)"

# ---- children: sh -c, two levels, each a process
PROTON_FAKE=$fake "$PROTON" record -o c.hatchet -- sh -c 'sleep 0.1 & sh -c "sleep 0.1; exit 0"; wait' 2>err
n=$("$PROTON" export -f json c.hatchet | python3 -c 'import json,sys; p=json.load(sys.stdin); print(len(p["processes"]))')
check "children are followed" 4 "$n"
check "and counted" 40 "$(metric c.hatchet gemm count)"
PROTON_FAKE=$fake "$PROTON" record --no-follow -o n.hatchet -- sh -c 'sleep 0.1; exit 0' 2>err
check "--no-follow" 10 "$(metric n.hatchet gemm count)"

# ---- names, links, FIFOs
"$PROTON" record -q -- true; check "default name" 1 "$(ls proton.true.*.hatchet | wc -l)"
TAG=v7 "$PROTON" record -q -o '%e-%q{TAG}x%%.h' -- true; ls >names; has "pattern" "true-v7x%.h" names
echo old >target.h; ln -s target.h link.h
"$PROTON" record -q -o link.h -- true
check "links are followed" "symbolic link" "$(stat -c %F link.h)"
has "and what they name is overwritten" '"ROOT"' target.h
mkfifo pipe; "$PROTON" record -q -o pipe -- true & cat pipe >piped; wait $!; has "a FIFO" '"ROOT"' piped
"$PROTON" record -q -o /dev/stdout -- true >piped; has "/dev/stdout" '"ROOT"' piped

# ---- an empty profile says why
"$PROTON" record -o e.hatchet -- true 2>err; has "nothing connected" "nothing connected" err
PROTON_FAKE='pause 1' "$PROTON" record -o e.hatchet -- sleep 0.1 2>err; has "no GPU work" "no GPU work" err
PROTON_FAKE='launch x;launch y;device 0' "$PROTON" record -o e.hatchet -- sleep 0.2 2>err
has "work, no records" "launched, but no record" err
has "and how many are missing" "2 launches without a record" err

# ---- kill -9 of the program: what was sent a period ago is there
PROTON_FAKE="launch a;launch b;launch c;$fake" "$PROTON" record --no-follow --save-interval 0.1 -o k.hatchet -- \
	sh -c 'until grep -q "\"count\": 10" k.hatchet; do sleep 0.05; done; kill -9 $$' 2>err
check "kernels before the kill" 10 "$(metric k.hatchet gemm count)"
has "a killed process is said" "cut off (killed?)" err
"$PROTON" report k.hatchet >k.out; check "the run is over in its file" 0 "$(cat err k.out | grep -c 'while the program ran')"
has "unaccounted launches are said" "3 launches without a record" err
# LOST of a process is its part of what the header and the losses say: three launches, and its end.
check "and are the process's" "LOST 4" \
	"$("$PROTON" report --section processes k.hatchet | awk '/LOST/ { for (i = 1; i <= NF; i++) if ($i == "LOST") at = i; next } at && $at ~ /^[0-9]+$/ { print "LOST", $at; exit }')"

# ---- kill -9 of proton: the program goes on, the last save is there
PROTON_FAKE="$fake;pause 100;repeat 100" "$PROTON" record --save-interval 0.2 -o p.hatchet -- \
	sh -c 'echo $$ >pid; while [ -d "$work" ] && [ ! -e stop ]; do sleep 0.05; done; echo done >done' 2>/dev/null &
proton_pid=$!
wait_for 10 test -s p.hatchet || check "saved while it runs" yes no
wait_for 10 sh -c "grep -q gemm p.hatchet"
kill -9 $proton_pid; wait $proton_pid 2>/dev/null
check "the program lives" 0 "$(kill -0 "$(cat pid)"; echo $?)"
check "a whole file is there" 0 "$("$PROTON" report p.hatchet >p.out 2>&1; echo $?)"
has "which says that it is a part" "1  profile saved while the program ran: what came after is missing" p.out
touch stop; wait_for 10 test -e done; check "and ends by itself" done "$(cat done)"

# ---- two runs, one after the other, as one
for i in 1 2; do PROTON_FAKE='kernel a 10 1' "$PROTON" record -q -o two$i.hatchet -- true; done
check "two runs: what their duration is" "from the first start of 2 runs to the last end" \
	"$("$PROTON" report --view summary two1.hatchet two2.hatchet | sed -n 's/^duration  *[^ ,]*, //p')"
check "one run: no such word" 0 "$("$PROTON" report --view summary two1.hatchet | grep -c 'first start')"

# ---- signals to proton
"$PROTON" record -q -o s.hatchet -- sh -c 'trap "echo got >sig; exit 5" TERM; echo $$ >pid2; while :; do sleep 0.05; done' &
proton_pid=$!
wait_for 10 test -s pid2; kill -TERM $proton_pid; wait $proton_pid; check "SIGTERM is passed on" 5 $?
check "once" got "$(cat sig)"

# ---- a program that closes all its descriptors and opens its own
cat >closer.py <<'PY'
import os, re, time
os.closerange(0, 2048)
fds = [os.open("mine%d" % i, os.O_RDWR | os.O_CREAT) for i in range(64)]
def until_saved(count):
    while not os.path.exists("z.hatchet") or count > max(map(int, re.findall(r'"count": (\d+)', open("z.hatchet").read())), default=0):
        time.sleep(0.05)
until_saved(3)
for f in fds: os.write(f, b"x")
until_saved(7)
PY
PROTON_FAKE='kernel a 10 1;pause 50;repeat 6' timeout 200 "$PROTON" record -q --save-interval 0.05 -o z.hatchet -- "$(python3 -c 'import sys; print(sys.executable)')" closer.py
check "its files hold what it wrote" 64 "$(cat mine* | wc -c)"
check "and all is counted" 7 "$(metric z.hatchet a count)"

mkdir folder
"$PROTON" record -o folder touch ran 2>err; check "a folder: status" 125 $?
has "a folder: said" "cannot write 'folder': Is a directory" err
check "a folder: before the run" no "$([ -e ran ] && echo yes || echo no)"

# ---- a file that may not grow
(ulimit -f 4; "$PROTON" record -o big.hatchet sh -c "$(dirname "$PROTON")/examples/scopes 1; exit 7" >out 2>err)
check "a limit on files: status" 7 $?; has "a limit on files: said" "cannot write 'big.hatchet': File too large" err
"$PROTON" record -q -o - true >dash.hatchet; check "-o -: standard output" 0 "$("$PROTON" report dash.hatchet >/dev/null; echo $?)"

# ---- a folder for temporary files that is full: the next one
mkdir small
if unshare -rm mount -t tmpfs none small 2>/dev/null; then
	unshare -rm sh -c 'mount -t tmpfs -o size=16k none small; head -c 20000 /dev/zero >small/fill 2>/dev/null
		TMPDIR=$PWD/small XDG_RUNTIME_DIR=$PWD/small "$@"; s=$?; ls -d small/proton* 2>/dev/null; exit $s' \
		sh "$PROTON" record -q -o g.hatchet true >out 2>&1
	check "a full TMPDIR: status" 0 $?; check "a full TMPDIR: nothing is left there" "" "$(cat out)"
fi
finish
