#!/bin/bash
# Job control at a terminal: ^Z, fg and bg, for record, top and view.
. "${srcdir:-.}/tests/cli_window.sh"
trap 'touch "$work/go"; window_close; rm -rf "$work"' EXIT
export PROTON_FAKE='kernel gemm_bf16 180000 47;pause 100;repeat 600'
start() { rm -f go pid got seen; window 100x24 "PS1='ready> ' bash --norc -i"; see "a shell" "ready>"; }
fresh() { keys clear Enter; wait_for 5 blank; } # only what comes from now on is on the screen
blank() { [ "$(screen | grep -c .)" -le 1 ]; }

# ---- record
cat >app.sh <<'X'
echo $$ >pid
while [ ! -e go ]; do sleep 0.05; done
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
finish
