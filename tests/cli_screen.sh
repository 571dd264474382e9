#!/bin/bash
# proton top on a real terminal (tmux): what is shown, keys, resizing, how it ends, kill -9.
. "${srcdir:-.}/tests/cli_help.sh"
command -v tmux >/dev/null || { echo "skipped: tmux is not installed"; exit 77; }
export LC_ALL=C.UTF-8 TERM=xterm-256color
unset NO_COLOR PROTON_LOG
socket=proton-test-$$
t() { tmux -L "$socket" -f /dev/null "$@"; }
trap 't kill-server 2>/dev/null; rm -rf "$work"' EXIT

screen() { t capture-pane -p -t s; }
shows() { screen | grep -qF -- "$1"; }
see() { # see "what" "text": within ten seconds
	if wait_for 10 shows "$2"; then echo "ok: $1"; else
		echo "FAILED: $1: no '$2' on:"; screen; n_failed=$((n_failed + 1)); fi
}
start() { # start WIDTHxHEIGHT COMMAND: in a shell of a fresh window
	t kill-server 2>/dev/null
	server_gone() { ! t list-sessions; }; wait_for 5 server_gone
	t new-session -d -s s -x "${1%x*}" -y "${1#*x}" "env PS1='\$ ' sh" || exit 99
	wait_for 5 shows '$'
	t send-keys -t s "$2" Enter
}
fake='kernel gemm_bf16 180000 47;kernel relu 20000 100;copy HtoD pinned 4096000 100000;copy DtoH pageable 100000 50000;pause 100;repeat 600'
export PROTON_FAKE=$fake
loop='i=0; while [ ! -e stop ]; do i=$((i+1)); echo line $i; sleep 0.2; done; exit 3'
echo "$loop" >app.sh

# ---- the screen and its panels
start 100x30 "$PROTON top -i 0.2 -o a.hatchet --app-log app.log sh app.sh; echo status=\$?"
see "the tree" "gemm_bf16"
see "live" "LIVE"
t send-keys -t s 2; see "kernels" "SELF"
t send-keys -t s 3; see "memory" "memcpy HtoD pinned"
t send-keys -t s 4; see "devices" "Fake GPU"
t send-keys -t s 5; see "losses" "nothing was lost"
t send-keys -t s 6; see "the program's output" "line 2"
t send-keys -t s 1; t send-keys -t s / rel; see "search prompt" "rel"; t send-keys -t s Enter
t send-keys -t s '?'; see "help" "Esc closes"; t send-keys -t s Escape
gone() { ! shows "Esc closes"; }; wait_for 5 gone
t send-keys -t s z; see "frozen" "FROZEN"; t send-keys -t s z; see "live again" "LIVE"
t send-keys -t s P; see "paused" "PAUSED"; t send-keys -t s P; see "not paused" "LIVE"
# ---- resizing, down to nothing
for size in 40x10 20x5 10x2 140x40 80x24; do t resize-window -t s -x "${size%x*}" -y "${size#*x}"; done
see "after resizing" "gemm_bf16"
# ---- q asks while the program runs; after its end it leaves with the program's status
t send-keys -t s q; see "q asks" "cancel"; t send-keys -t s c
touch stop; see "the end is shown" "ENDED 3"
see "the tree stays" "gemm_bf16"
t send-keys -t s q; see "status" "status=3"
see "the file is named" "wrote 'a.hatchet'"
has "app log" "line 2" app.log
check "profile" 0 "$("$PROTON" report a.hatchet >/dev/null; echo $?)"
rm -f stop

# ---- --exit, Ctrl-C
start 80x24 "$PROTON top -i 0.2 --exit -o b.hatchet sleep 0.2; echo status=\$?"
see "--exit leaves by itself" "status=0"
start 80x24 "$PROTON top -i 0.2 -o c.hatchet sleep 100; echo status=\$?"
see "running" "LIVE"; t send-keys -t s C-c; see "Ctrl-C asks" "cancel"
t send-keys -t s C-c; see "the second one stops and leaves" "wrote 'c.hatchet'"

keeper_gone() { ! pgrep -f "proton top -i 0.2 -o $work/k.hatchet"; } # not of another shell, which it would find
# ---- kill -9 and a lost line: the keeper puts the terminal in order, the program goes on
for sig in KILL HUP; do
	rm -f pid done stop
	start 80x24 "stty -a >before; $PROTON top -i 0.2 -o $work/k.hatchet sh -c 'echo \$\$ >pid; while [ ! -e stop ]; do sleep 0.1; done; echo yes >done'; sleep 0.7; stty -a >after; echo back=\$((40+2))"
	see "$sig: live" "LIVE"
	top=$(pgrep -o -f "proton top -i 0.2 -o $work/k.hatchet")
	kill -s "$sig" "$top"; see "$sig: the shell is back" "back=42"
	check "$sig: terminal as before" "" "$(diff before after)"
	check "$sig: no alternate screen" 0 "$(t display-message -p -t s '#{alternate_on}')"
	check "$sig: the program lives" 0 "$(kill -0 "$(cat pid)"; echo $?)"
	touch stop; wait_for 10 test -e done; check "$sig: and ends by itself" yes "$(cat done)"
	wait_for 10 keeper_gone || check "$sig: the keeper ends" yes no
	check "$sig: no directory is left" "" "$(grep -l "$(cat pid)" "${TMPDIR:-/tmp}"/proton-*/owner 2>/dev/null)"
done

# ---- a terminal that cannot show it: said before the program runs
start 80x24 "TERM=dumb $PROTON top touch ran; echo status=\$?"
see "TERM=dumb: status" "status=2"
check "the program was not started" no "$([ -e ran ] && echo yes || echo no)"

# ---- without a screen
"$PROTON" top -o d.hatchet true </dev/null >out 2>err; check "no terminal: status" 2 $?
has "no terminal: what to do" "--batch" err
PROTON_FAKE='kernel a 10 1;pause 50;repeat 30' "$PROTON" top -i 0.1 --batch 2 -q -o d.hatchet sleep 0.8 >out 2>err </dev/null
check "batch: status" 0 $?; check "batch: pictures" 2 "$(grep -c '^## Calling contexts' out)"
PROTON_FAKE='kernel a 10 1;pause 50;repeat 30' "$PROTON" top -i 0.1 --json-lines -q -o d.hatchet sh -c 'echo noise; sleep 0.8' >out 2>err </dev/null
check "json lines" ok "$(python3 -c 'import json,sys
lines=[json.loads(l) for l in open("out")]
print("ok" if len(lines) >= 3 and lines[-1]["nodes"] else len(lines))')"
finish
