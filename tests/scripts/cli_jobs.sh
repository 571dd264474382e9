#!/bin/bash
# proton record and top as a part of a shell's work: the program's descriptors are its own, readers
# that leave, signals to groups, stopping and continuing, waits that are ended.
# What was started by nohup ignores SIGHUP, and so do we then.
if [ $((0x$(sed -n 's/^SigIgn:[[:space:]]*//p' /proc/$$/status) & 1)) = 1 ]; then
	exec python3 -c 'import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
os.execvp("bash", ["bash"] + sys.argv[1:])' "$0" "$@"
fi
. "${srcdir:-.}/tests/tools/cli_help.sh"
unset XDG_RUNTIME_DIR
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
let_go() { touch "$work/go"; }
folders() { ls "$TMPDIR"; }
wait_go='while [ -d "$work" ] && [ ! -e go ]; do sleep 0.05; done'
started() { rm -f go seen left status pid got; }

comes() { # comes "what" COMMAND…: it succeeds soon, of the job that was just started
	job=$!
	local what=$1; shift
	wait_for 10 "$@" && check "$what" yes yes || check "$what" yes no
}
end() { touch go; wait "$job"; check "$2: status" "$1" $?; } # end STATUS "what": of that job

# ---- nobody reads: what is printed ends, nothing else does
cat >unread.py <<'X'
# unread.py FD COMMAND…: with a pipe as its descriptor FD that nobody reads
import os, subprocess, sys
r, w = os.pipe()
os.close(r)
where = {("", "stdout", "stderr")[int(sys.argv[1])]: w}
s = subprocess.run(sys.argv[2:], restore_signals="KEPT" not in os.environ, **where).returncode
sys.exit(128 - s if s < 0 else s)
X
unread() { PROTON_FAKE="$fake;pause 50;repeat 6" python3 unread.py "$@" >out 2>err; echo $?; }
check "record: nobody reads stderr" 3 "$(unread 2 "$PROTON" record -v -o r.hatchet sh -c 'sleep 0.2; exit 3')"
check "the profile is there" 1 "$(grep -c gemm r.hatchet)"
check "no folder is left" "" "$(folders)"
check "record: a profile that nobody reads" 4 "$(unread 1 "$PROTON" record -o - sh -c 'sleep 0.2; exit 4')"
has "is said" "cannot write '/dev/stdout': Broken pipe" err
check "no folder is left by it" "" "$(folders)"
for how in "--batch 0" --json-lines; do
	rm -f t.hatchet
	check "top $how: nobody reads" 5 "$(unread 1 "$PROTON" top -i 0.05 $how -o t.hatchet sh -c 'sleep 0.3; exit 5')"
	check "top $how: the profile is there" 1 "$(grep -c gemm t.hatchet)"
	check "top $how: no folder is left" "" "$(folders)"
done
check "the program dies of SIGPIPE as ever" 141 "$(unread 1 "$PROTON" record -q -o r.hatchet python3 -c 'import os, signal
signal.signal(signal.SIGPIPE, signal.SIG_DFL); os.write(1, b"x")')"
# What is no run ends quietly where nobody reads, also where SIGPIPE is ignored (services, Python).
quiet() { KEPT=1 PROTON_PAGER= python3 unread.py 1 "$PROTON" "$@" 2>err; echo "$? $(cat err)"; }
PROTON_FAKE=$fake "$PROTON" record -q -o read.hatchet sleep 0.2
for command in help --version "report --help" "doctor saving" "doctor --json saving" "report read.hatchet" "view read.hatchet" \
	"list read.hatchet" "advise read.hatchet" "diff read.hatchet read.hatchet" "viewer -m time/ms read.hatchet" \
	"export -f json read.hatchet"; do
	check "nobody reads $command" "141 " "$(quiet $command)"
done
"$PROTON" record -q -o r.hatchet sh -c 'trap "" TERM; grep SigIgn /proc/self/status' >out
sh -c 'trap "" TERM; grep SigIgn /proc/self/status' >out0
check "what it ignores is what it would ignore" "$(cat out0)" "$(cat out)"

# ---- descriptors: who waits for the program's end of one does not wait for us
mkfifo fifo
ends() { # ends "what" REDIRECTION CLOSE: the reader of fifo sees its end before the program's
	started
	(cat fifo >piped; touch seen) &
	eval '"$PROTON" record -q -o d.hatchet bash -c "exec $3; $wait_go; exit 6" '"$2 &"
	comes "$1" test -e seen
	end 6 "$1"
}
ends "stdout that the program closed" ">fifo" ">&-"
ends "stdout, as a shell's own number" ">fifo 1>&1" ">/dev/null"
ends "a descriptor of any number" "7>fifo" "7>&-"
ends "one of many digits" "200>fifo" "200>&-"
started
(yes >fifo 2>/dev/null; touch left) &
"$PROTON" record -q -o d.hatchet sh -c "exec <&-; $wait_go" <fifo &
comes "a writer learns that nobody reads" test -e left
end 0 "a writer"

# ---- what is needed until the end works
"$PROTON" record -q -o /dev/stdout true | cat >piped; has "-o /dev/stdout" '"ROOT"' piped
"$PROTON" record -q -o /dev/fd/8 true 8>piped; has "-o /dev/fd/8" '"ROOT"' piped
cat fifo >piped & "$PROTON" record -q -o /dev/fd/8 true 8>fifo; wait $!; has "a shell's >(…)" '"ROOT"' piped
ln -s /dev/stdout out.link; "$PROTON" record -q -o out.link true | cat >piped; has "a link to it" '"ROOT"' piped
for tape in /dev/stdout -; do
	PROTON_FAKE=$fake "$PROTON" record -q -o d.hatchet --tape $tape sleep 0.1 | cat >piped.tape
	check "--tape $tape" 10 "$(metric piped.tape gemm count)"
done
PROTON_FAKE=$fake "$PROTON" top --batch 1 -q -o d.hatchet sleep 0.1 </dev/null | cat >piped
has "top --batch prints to the end" gemm piped

# ---- locks and make's job server
started
(flock 9; exec "$PROTON" record -q -o d.hatchet sh -c "exec 9>&-; $wait_go") 9>lock &
comes "a lock that the program gave up" flock -n lock true
end 0 "a lock that the program gave up"
started
(flock 9; exec "$PROTON" record -q -o d.hatchet sh -c "touch seen; $wait_go") 9>lock &
comes "a lock that the program has" test -e seen
check "is held" no "$(flock -n lock true && echo yes || echo no)"
end 0 "a lock that the program has"
cat >locked.py <<'X'
import fcntl, os, sys
f = os.open("record.lock", os.O_RDWR | os.O_CREAT)
if len(sys.argv) == 1:
    fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
else:
    fcntl.lockf(f, fcntl.LOCK_EX)
    os.set_inheritable(f, True)
    os.set_inheritable(os.open("record.lock", os.O_RDONLY), True)
    os.execv(sys.argv[1], sys.argv[1:])
X
started
python3 locked.py "$PROTON" record -q -o d.hatchet sh -c "touch seen; $wait_go" &
comes "a record lock of the process that became proton" test -e seen
check "is held, too" no "$(python3 locked.py 2>/dev/null && echo yes || echo no)"
end 0 "a record lock"
if command -v make >/dev/null; then
	printf 'all:\n\t+@"$(PROTON)" record -q -o d.hatchet $(MAKE) -s -f sub.mk\n' >top.mk
	printf 'all: a b c\na b c:\n\t@sleep 0.05; echo $@ >>made\n' >sub.mk
	env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -j2 -f top.mk PROTON="$PROTON" >out 2>&1
	check "make's job server: status" 0 $?; check "make's job server" "" "$(cat out)"
	check "and all is made" "a b c" "$(sort made | xargs)"
fi

# ---- signals: each once, whoever they are sent to
cat >count.py <<'X'
import os, signal, sys
wanted = {getattr(signal, "SIG" + s) for s in sys.argv[1].split()} | {signal.SIGCONT}
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
got = os.open("got", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(got, b"ready\n")
while not os.path.exists("go"):
    s = signal.sigtimedwait(wanted, 0.05)
    if s:
        os.write(got, signal.Signals(s.si_signo).name[3:].encode() + b"\n")
X
cat >shell.sh <<'X'
# A shell with job control: $2 rounds of all signals in all ways.
set -m
"$1" record -q -o s.hatchet python3 count.py "$3" &
job=$!
until [ -s got ]; do read -r -t 0.05 _ <> <(:); done
n=1
for i in $(seq "$2"); do
	for s in $3; do
		# One to proton alone right behind one of its kind to the group may be one with it, as for
		# any process: it comes first, and when nothing is pending.
		for try in $(seq 2000); do
			grep -q '^ShdPnd:.*[1-9a-f]' /proc/$job/status || break
			read -r -t 0.02 _ <> <(:)
		done
		for to in $job %1 -$job; do
			kill -s $s -- $to
			n=$((n + 1))
			for try in $(seq 2000); do
				[ "$(wc -l <got)" -ge $n ] && break
				read -r -t 0.02 _ <> <(:)
			done
			echo "$s" >>sent
		done
	done
done
touch go
wait $job
echo $? >status
X
started; rm -f sent
all="TERM HUP USR1 USR2 ALRM VTALRM PROF XCPU IO PWR RTMIN"
bash shell.sh "$PROTON" 4 "$all" 2>shell.err
check "a shell's kill: status" 0 "$(cat status)"
check "each signal once" "$(sort sent | uniq -c)" "$(sort got | uniq -c | grep -v ready)"
check "and none is lost" 132 "$(wc -l <sent)"
# a program that gives up its clean-up at the second signal
cat >clean.py <<'X'
import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
open("seen", "w").close()
signal.sigwait({signal.SIGTERM})
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
time.sleep(0.3) # cleaning up takes its time
open("got", "w").write("clean\n")
X
started
bash -mc '"$0" record -q -o s.hatchet python3 clean.py & job=$!
	until [ -e seen ]; do read -r -t 0.02 _ <> <(:); done; kill %1; wait $job; echo $? >status' "$PROTON" 2>shell.err
check "it cleans up after kill %1" "clean 0" "$(cat got status | xargs)"

# ---- stopping and continuing
cat >stops.sh <<'X'
echo $$ >pid
kill -$1 $$
echo on >got
while [ -d "$work" ] && [ ! -e go ]; do sleep 0.02; done
exit 7
X
cat >stopped.sh <<'X'
# A shell with job control: the program stops itself by $2, and is continued by $3.
set -m
"$1" record -q -o s.hatchet sh stops.sh $2 &
job=$!
for try in $(seq 2000); do
	[ -n "$(jobs -s)" ] && break
	read -r -t 0.05 _ <> <(:)
done
[ -n "$(jobs -s)" ] && echo stopped >left
[ -e got ] && echo early >left
eval "$3" >/dev/null
for try in $(seq 2000); do
	[ -e got ] && [ -z "$(jobs -s)" ] && break
	read -r -t 0.05 _ <> <(:)
done
[ -n "$(jobs -r)" ] && echo runs >>left
touch go
wait $job
echo $? >status
X
for s in STOP TSTP TTIN; do
	for how in 'bg %1' 'kill -CONT %1' 'kill -CONT $job' 'kill -CONT $(cat pid)'; do
		started
		timeout 600 setsid -w bash stopped.sh "$PROTON" $s "$how" 2>shell.err </dev/null
		check "it stops by $s, and goes on by $how" "stopped runs on 7" "$(cat left got status | xargs)"
		kill -KILL "$(cat pid)" 2>/dev/null
	done
done
started
timeout 600 setsid -w bash stopped.sh "$PROTON" STOP 'kill -KILL $(cat pid); touch got' 2>shell.err </dev/null
check "killed while it stands still" 137 "$(cat status)"
# Nobody reads while a program ends: it does not wait for long, and nothing is lost. In a session of its
# own: who stands still in our group can be the end of all of it (SIGHUP to orphaned groups).
cat >ends.sh <<'X'
"$1" record -o last.hatchet -- sh -c 'kill -STOP $PPID
	PROTON_FAKE="many 30000 kern 10" sh -c "$0"; echo $? >ended; exit 3' "$2" 2>err &
job=$!
for try in $(seq 4000); do
	[ -s ended ] && break
	read -r -t 0.05 _ <> <(:)
done
kill -CONT $job
wait $job
echo $? >status
X
ends_unread() { # ends_unread "what" LAST_COMMAND
	rm -f ended last.hatchet
	timeout 600 setsid -w bash ends.sh "$PROTON" "$2" </dev/null
	check "$1: the program ends" yes "$([ -s ended ] && echo yes || echo no)"
	check "$1: status" 3 "$(cat status)"
	check "$1: all is there" 30000 "$("$PROTON" export -f csv last.hatchet | grep -c ',kern')"
	check "$1: and no loss" "" "$(grep -E 'lost|cut off' err)"
}
ends_unread "unread at the end" :
ends_unread "unread at exec" "exec true"
ends_unread "unread by a process that nobody heard of" "exit 4"

# ---- a daemon is not waited for
cat >daemon.sh <<'END'
setsid sh -c 'echo $$ >daemon; while [ -d "$work" ] && [ ! -e over ]; do sleep 0.05; done' <&- >&- 2>&- &
while [ ! -s daemon ]; do sleep 0.01; done
END
quick() { # does it end before it would have waited? Once of ten times, for a machine may be busy
	local pid timer
	rm -f daemon waited
	"$PROTON" record -o d.hatchet sh daemon.sh >out 2>err &
	pid=$!
	wait_for 30 test -s daemon
	( read -r -t 1.9 _ <> <(:); touch waited ) &
	timer=$!
	wait $pid
	[ ! -e waited ]; local status=$?
	kill -KILL $timer 2>/dev/null; wait $timer # a TERM right behind the fork would run our own trap
	return $status
}
for _ in 1 2 3 4 5 6 7 8 9 10; do quick && break; done
check "the end does not wait for a daemon" no "$([ -e waited ] && echo yes || echo no)"
has "which is named" "still running: sh ($(cat daemon))" err
touch over

# ---- … and has not vanished: so says the file, and so does the tape
ends() { "$PROTON" export -f json "$1" | python3 -c '
import json, sys
p = json.load(sys.stdin)
print(*(q["end"] for q in p["processes"] if q["exe"] == "cat"), p["losses"].get("vanished", 0))'; }
is_heard() { [[ $(ends t.tape) = vanished* ]]; } # the tape is not at its end
mkfifo hold heard
PROTON_FAKE='kernel a 1000' "$PROTON" record -q --tape t.tape -o t.hatchet -- sh -c '
	setsid cat hold >/dev/null 2>&1 &
	read -r _ <heard' &
pid=$!
wait_for 30 is_heard
timeout 600 sh -c "echo >heard"
wait $pid
check "a daemon runs, as the file says" "runs 0" "$(ends t.hatchet)"
check "… and as the tape says" "runs 0" "$(ends t.tape)"
timeout 600 sh -c "echo >hold"

# ---- waits of ours are ended by a signal
cat >interrupt.py <<'X'
# interrupt.py SIGNAL… -- COMMAND…: when the program (pid) is gone, and proton takes the signals
import os, signal, subprocess, sys, time
end = time.monotonic() + 200
def until(f):
    while not f():
        if time.monotonic() > end:
            sys.exit("never: " + f.__name__)
        time.sleep(0.01)
def program_gone():
    return os.path.exists("pid") and open("pid").read() and not os.path.exists("/proc/" + open("pid").read().strip())
def takes_interrupts():
    sets = dict(l.split(":", 1) for l in open("/proc/%d/status" % p.pid) if l.startswith("Sig"))
    has = lambda name: int(sets[name], 16) >> (signal.SIGINT - 1) & 1
    return has("SigBlk") and not has("SigIgn")
n = sys.argv.index("--")
p = subprocess.Popen(sys.argv[n + 1:], preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
until(program_gone)
until(takes_interrupts)
for s in sys.argv[1:n]:
    p.send_signal(getattr(signal, s))
try:
    print(p.wait(150))
except subprocess.TimeoutExpired:
    print("it waits on")
    p.kill()
X
cat >leaves.sh <<'X'
setsid sh -c 'trap "" TERM HUP INT; touch seen; while [ -d "$work" ] && [ ! -e go ]; do sleep 0.02; done' <&- >&- 2>&- &
while [ -d "$work" ] && [ ! -e seen ]; do sleep 0.02; done
echo $$ >pid
exit 4
X
mkfifo unread
for s in SIGTERM SIGINT SIGHUP "SIGTERM SIGINT"; do
	started; rm -f w.hatchet
	check "--wait ends by $s" 4 "$(PROTON_FAKE=$fake python3 interrupt.py $s -- "$PROTON" record --wait -o w.hatchet sh leaves.sh 2>err)"
	has "with the profile" gemm w.hatchet; has "and who is left is named" "still running: " err
	touch go
	started
	check "a FIFO without a reader: $s" 4 "$(python3 interrupt.py $s -- "$PROTON" record -o unread sh -c 'echo $$ >pid; exit 4' 2>err)"
	has "is said" "cannot write 'unread': nobody read it" err
done
started
check "--strict" 125 "$(python3 interrupt.py SIGTERM -- "$PROTON" record --strict -o unread sh -c 'echo $$ >pid; exit 4' 2>err)"
started
check "top --batch" 4 "$(python3 interrupt.py SIGTERM -- "$PROTON" top -b 1 -o unread sh -c 'echo $$ >pid; exit 4' 2>err | tail -1)"
check "no folder is left by these" "" "$(folders)"
started
(cat unread >piped) & PROTON_FAKE=$fake "$PROTON" record -q -o unread sleep 0.1; wait $!
check "a FIFO that is read" 10 "$(metric piped gemm count)"

# ---- a collector whose pid means somebody else here
if unshare -rpf true 2>/dev/null; then
	started
	"$PROTON" record -q --wait -o n.hatchet unshare -rpf sh -c 'read -r outside _ </proc/self/stat
		echo $outside >pid; PROTON_FAKE="kernel a 10 1" exec sleep 100' 2>err &
	inside() { [ -s pid ] && "$PROTON" export -f json n.hatchet | python3 -c 'import json, sys
sys.exit(not any(p["pid"] == 1 and "sleep" in p["cmdline"] for p in json.load(sys.stdin)["processes"]))'; }
	comes "a program in a pid namespace" inside
	kill -KILL "$(cat pid)"
	ended() { ! kill -0 $job 2>/dev/null; }
	wait_for 20 ended && check "--wait ends when it is killed" yes yes ||
		{ check "--wait ends when it is killed" yes no; kill -KILL $job; }
	wait $job
fi

# ---- in a container our group may have no number: we stay in it
# The group of a process that begins such a namespace is 0 in there.
if unshare -rpf --mount-proc true 2>/dev/null; then
	# shellcheck disable=SC2016
	unshare -rpf --mount-proc sh -c '"$0" record -q -o group.hatchet -- sh -c "
		trap : USR1; kill -USR1 \$PPID; sleep 0.5
		cut -d\  -f5 /proc/\$PPID/stat >group"; true' "$PROTON" 2>err
	check "a signal does not move us into another group" 0 "$(cat group)"
fi
finish
