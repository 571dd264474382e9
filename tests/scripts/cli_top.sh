#!/bin/bash
# proton top around a real program (see cli_screen.sh for the screen): signals, redirections, what is
# left behind, and terminals that are closed or unknown.
. "${srcdir:-.}/tests/tools/cli_window.sh"
unset XDG_RUNTIME_DIR
scopes=$(dirname "$PROTON")/examples/scopes
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
let_go() { touch "$work/stop"; window_close; }
start() { rm -f pid done stop; window 90x24 "$1"; }
# Goes on until the file `stop` is there, then says so in `done` and has status 3.
cat >app.sh <<'X'
trap 'echo TERM >got; exit 9' TERM
echo $$ >pid
echo first line
while [ -d "$work" ] && [ ! -e stop ]; do sleep 0.05; done
i=0; while [ $i -lt 30 ]; do i=$((i + 1)); echo line $i; done
echo yes >done
exit 3
X
top="$PROTON top -i 0.2"

# ---- scopes of a real program, live; its output is kept and its tail is printed
start "$top -o a.hatchet $scopes 100000"
see "scopes are on the screen" "insertion"
see "and nest" "halves"
keys / ; keys "library" Enter
see "search finds" "library"
keys C-c; see "Ctrl-C asks" "cancel"
keys C-c; see "twice stops, and the profile is named" "wrote 'a.hatchet'"
check "the profile has it" yes "$([ "$(metric a.hatchet insertion cpu_count)" -gt 0 ] && echo yes)"

start "$top --exit -o b.hatchet sh app.sh; echo status=\$?"
see "it runs" "LIVE"; touch stop
see "--exit: status" "status=3"
see "the tail of what it printed" "line 30"
check "and no more than that" no "$(shows 'line 20' && echo yes || echo no)"

"$PROTON" top -i gemm true >out 2>err
check "-i with a selector: status" 2 $?
has "-i with a selector: said" "-i is the interval of 'proton top', --include says what to show" err

# ---- redirected descriptors are the program's own; its status is ours
start "$top --exit -o c.hatchet sh app.sh >stdout 2>stderr; echo status=\$?"
see "it runs with its output elsewhere" "LIVE"
wait_for 10 grep -q "first line" stdout; check "stdout is the file" "first line" "$(cat stdout)"
touch stop; see "its status" "status=3"
check "all of it" 31 "$(wc -l <stdout)"

# ---- what is typed reaches the program, where its input is the terminal
cat >ask.sh <<'X'
printf 'your name? '; read -r name
echo "good day, $name"
while read -r line; do echo "heard <$line>"; done
echo "end of input"
X
start "$top -o t.hatchet sh ask.sh; echo status=\$?"
see "it runs and asks" "LIVE"
keys i; see "i asks for a line and shows the log" "your name?"
keys "Ada Lovelace" Enter; see "the program has it" "good day, Ada Lovelace"
keys "next" Enter; see "and the next line" "heard <next>"
keys C-d; see "end of input" "end of input"
see "it ends" "ENDED: exit 0"
keys i; see "nobody is left to type to" "no program to type to"
keys q; see "left" "status=0"
start "$top -o t.hatchet sh app.sh </dev/null; echo status=\$?"
see "it runs with its input elsewhere" "LIVE"
keys i; see "typing is refused" "standard input is not this terminal"
touch stop; see "it ends too" "ENDED: exit 3"

# ---- SIGTERM is the program's
start "$noting_pid $top --exit -o d.hatchet sh app.sh; echo status=\$?"
see "it runs again" "LIVE"; wait_for 10 test -s pid
kill -TERM "$(cat top)"
see "SIGTERM is passed on" "status=9"
check "once" TERM "$(cat got)"
start "$top --exit -o e.hatchet sh -c 'kill -KILL \$\$'; echo status=\$?"
see "killed by a signal" "status=137"

# ---- the window is closed: the program goes on to its end, nothing is left behind
start "$top -o f.hatchet sh app.sh"
see "it runs once more" "LIVE"; wait_for 10 test -s pid
window_close
app=$(cat pid)
check "the program lives without its window" 0 "$(kill -0 "$app"; echo $?)"
touch stop
wait_for 10 test -e done; check "and ends by itself" yes "$(cat done)"
empty() { [ -z "$(ls -A "$TMPDIR")" ]; }
wait_for 10 empty; check "no session directory is left" "" "$(ls -A "$TMPDIR")"

# ---- terminals that cannot be: said before the program runs
start "TERM=nonesuch $top touch ran; echo status=\$?"
see "an unknown terminal" "status=2"
check "the program was not started" no "$([ -e ran ] && echo yes || echo no)"
start "$top ./nothing-here; echo status=\$?"
see "not found" "status=127"
start "stty -a >before; $top --app-log /nonexistent/log true; echo status=\$?; stty -a >after; echo ready"
see "a log that cannot be" "status=125"
see "what is wrong with it" "cannot open '/nonexistent/log'"
see "and then" "ready"
check "the terminal is as it was" "" "$(diff before after)"
check "no session directory is left by these" "" "$(ls -A "$TMPDIR")"
finish
