# Helpers of the tests that need a terminal: one window of tmux at a time.
. "${srcdir:-.}/tests/tools/cli_help.sh"
command -v tmux >/dev/null || { echo "skipped: tmux is not installed"; exit 77; }
export LC_ALL=C.UTF-8 TERM=xterm-256color
unset NO_COLOR PROTON_LOG
n_windows=0
let_go() { window_close; }

t() { tmux -S "$work/tmux-$n_windows" -f /dev/null "$@"; }
screen() { t capture-pane -p -t s; }
shows() { screen | grep -qF -- "$1"; }
see() { # see "what" "text": sooner or later
	if wait_for 10 shows "$2"; then echo "ok: $1"; else
		echo "FAILED: $1: no '$2' on:"; screen; n_failed=$((n_failed + 1)); fi
}
keys() { t send-keys -t s "$@"; }
# A screen that ends because its window closes does so while signals of the hang-up still come. Of these
# SIGCONT takes from the leak check of AddressSanitizer its SIGSTOP, for which it then waits for ever.
views() {
	local pid
	for pid in $(left); do
		case $(tr '\0' ' ' <"/proc/$pid/cmdline") in "$PROTON view "*) echo "$pid" ;; esac
	done 2>/dev/null
}
no_views() { [ -z "$(views)" ]; }
end_views() {
	local pid
	for pid in $(views); do
		! grep -q '^State:.T' "/proc/$pid/status" || kill -CONT "$pid"
		kill -TERM "$pid"
	done 2>/dev/null
	wait_for 10 no_views
}
window_close() {
	end_views
	t kill-server 2>/dev/null
}
# Before a command of a window: its process id is in the file top.
noting_pid="sh -c 'echo \$\$ >top; exec \"\$@\"' -"
# runs "text": a process has it in its command line. (pgrep is not on every machine.)
runs() {
	local file words
	for file in /proc/[0-9]*/cmdline; do
		mapfile -d '' -t words <"$file"
		case "${words[*]}" in *"$1"*) return 0 ;; esac
	done 2>/dev/null
	return 1
}
# window WIDTHxHEIGHT COMMAND: by the shell of a fresh window. It has a server of its own: one that is
# about to end still takes clients, and lets them down.
window() {
	window_close
	n_windows=$((n_windows + 1))
	t new-session -d -s s -x "${1%x*}" -y "${1#*x}" "env PS1='\$ ' sh" || exit 99
	wait_for 5 shows '$'
	keys "$2" Enter
}
