#!/bin/bash
# Job control at a terminal: ^Z, fg and bg, for record, top and view.
. "${srcdir:-.}/tests/tools/cli_window.sh"
let_go() { touch "$work/go"; window_close; }
export PROTON_FAKE='kernel gemm_bf16 180000 47;pause 100;repeat 600'
# Wide: what the shell says of a job has the whole path of the build folder in it.
start() { rm -f go pid got seen; window 240x24 "PS1='ready> ' bash --norc -i"; see "a shell" "ready>"; }
fresh() { keys clear Enter; wait_for 5 blank; } # only what comes from now on is on the screen
blank() { [ "$(screen | grep -c .)" -le 1 ]; }

# ---- record
cat >app.sh <<'X'
echo $$ >pid
while [ -d "$work" ] && [ ! -e go ]; do sleep 0.05; done
read -r line
echo "heard $line"
exit 5
X
cat >deaf.sh <<'X'
trap '' TSTP
. ./app.sh
X
start
keys "$PROTON record -q -o r.hatchet bash app.sh; echo status=\$((\$?))" Enter
wait_for 10 test -s pid; keys C-z
see "record: ^Z gives the prompt back" "Stopped"
still() { [ "$(cut -d' ' -f3 "/proc/$(cat pid)/stat")" = T ]; }
wait_for 10 still || check "the program stands still" yes no
fresh; keys fg Enter; touch go
see "record: fg goes on" "app.sh"
keys "good day" Enter; see "and the program has the terminal" "heard good day"
keys "jobs; echo none" Enter; see "it has ended" "none"
start
keys "$PROTON record -q -o r.hatchet bash deaf.sh; echo status=\$?" Enter
wait_for 10 test -s pid; keys C-z
touch go; keys "still here" Enter
see "record: a program that ignores ^Z goes on" "heard still here"
see "to its end" "status=5"

# ---- the screens: stopped from outside, continued, and theirs again
cat >loop.sh <<'X'
echo $$ >pid
while [ -d "$work" ] && [ ! -e go ]; do sleep 0.05; done
exit 3
X
gone() { ! shows "Esc closes"; }
terminal() { stty -F "$(t display-message -p -t s '#{pane_tty}')" -a; }
raw() { terminal | grep -qE '(^| )-isig'; } # a shell that reads a line leaves this
cooked() { ! raw; }
works() { # works "what": the screen is there, keys work at once, and so does the mouse
	see "$1: drawn again" "F10"
	wait_for 10 raw && check "$1: the terminal is its own" yes yes || check "$1: the terminal is its own" yes no
	check "$1: the alternate screen" 1 "$(t display-message -p -t s '#{alternate_on}')"
	check "$1: the mouse" 1 "$(t display-message -p -t s '#{mouse_any_flag}')"
	keys '?'; see "$1: keys" "Esc closes"; keys Escape
	wait_for 10 gone
}
stopped() { [ "$(cut -d' ' -f3 "/proc/$(cat screen)/stat")" = T ] && cooked; }
stop_by() { # stop_by "what" SIGNAL
	kill -s "$2" "$(cat screen)"
	wait_for 10 stopped || check "$1: $2: stopped, and the shell has the terminal" yes no
}
screens() { # screens "what" COMMAND: begun in the background, stopped in all ways
	start
	# bash wakes up only what it knows to have stopped: not before that
	keys "stty -a >before; $2 & echo \$! >screen; until grep -q '^State:.T' /proc/\$!/status; do sleep 0.05; done; fg" Enter
	see "$1: in front" "F10"; works "$1 from the background"
	for s in STOP TSTP; do
		stop_by "$1" $s
		keys "" Enter; see "$1: $s: the shell is there" "ready>"
		keys "stty -a >during; fg" Enter; works "$1: $s and fg"
		check "$1: $s: the shell had its terminal" "$(cat before)" "$(cat during)"
	done
	stop_by "$1" TSTP
	keys "bg; echo \$((6*7))" Enter; see "$1: bg: the shell works" "42"
	wait_for 10 stopped || check "$1: bg: it waits for the terminal" yes no
	# the kernel shows that it stopped before it tells bash
	keys "until jobs >jobs.out; grep -q Stopped jobs.out; do sleep 0.05; done; fg" Enter; works "$1: bg and fg"
	keys C-z; wait_for 10 stopped; keys fg Enter; works "$1: its own key"
}
screens top "$PROTON top -i 0.2 -o t.hatchet sh loop.sh"
see "top: the program has run on" "LIVE"
touch go; see "top: its end" "ENDED: exit 3"; keys q; see "top: left" "wrote 't.hatchet'"
wait_for 10 cooked; keys "stty -a >after; echo \$((5*11))" Enter; see "a shell again" "55"
check "top: the terminal is as it was" "" "$(diff before after)"
screens view "$PROTON view t.hatchet"
keys Q; wait_for 10 cooked || check "view: left" yes no

# ---- top: the program stops itself
cat >halts.sh <<'X'
kill -STOP $$
touch seen
while [ -d "$work" ] && [ ! -e go ]; do sleep 0.05; done
exit 4
X
start
keys "$PROTON top --exit -i 0.2 -o t.hatchet sh halts.sh; echo status=\$?" Enter
see "a program that stopped" "STOPPED"; see "is said, and what to do" "K, then c lets it go on"
keys K; see "signals" "SIGCONT"; keys c
see "it goes on" "LIVE"; check "really" yes "$(wait_for 10 test -e seen && echo yes)"
touch go; see "to its end" "status=4"
start
keys "$PROTON top -i 0.2 -o t.hatchet sh halts.sh; echo status=\$?" Enter
see "another one that stopped" "STOPPED"
keys C-c; see "Ctrl-C asks" "cancel"; keys C-c; see "twice ends it" "wrote 't.hatchet'"

# ---- a profile that nobody reads is no end of the screen
mkfifo unread
start
keys "$PROTON top -i 0.2 -o unread sh -c 'exit 6'; echo status=\$?" Enter
see "the end is on the screen" "ENDED: exit 6"; keys '?'; see "which lives" "Esc closes"; keys Escape
wait_for 10 gone
keys q; wait_for 10 cooked || check "q leaves it" yes no
keys C-c; see "ends by Ctrl-C" "status=6"
finish
