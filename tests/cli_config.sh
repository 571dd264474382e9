#!/bin/bash
# Settings and layouts of the screen: the files, the options, what wins, what is wrong.
. "${srcdir:-.}/tests/cli_help.sh"
command -v tmux >/dev/null || { echo "skipped: tmux is not installed"; exit 77; }
export LC_ALL=C.UTF-8 TERM=xterm-256color XDG_CONFIG_HOME=$work/xdg
unset NO_COLOR PROTON_LOG
socket=proton-config-$$
t() { tmux -L "$socket" -f /dev/null "$@"; }
trap 't kill-server 2>/dev/null; rm -rf "$work"' EXIT

screen() { t capture-pane -p -t s; }
shows() { screen | grep -qF -- "$1"; }
see() { # see "what" "text": within ten seconds
	if wait_for 10 shows "$2"; then echo "ok: $1"; else
		echo "FAILED: $1: no '$2' on:"; screen; n_failed=$((n_failed + 1)); fi
}
view() { # view OPTIONS…: the file in a fresh window
	t kill-server 2>/dev/null
	server_gone() { ! t list-sessions; }; wait_for 5 server_gone
	t new-session -d -s s -x 80 -y 24 "env PS1='\$ ' sh" || exit 99
	wait_for 5 shows '$'
	t send-keys -t s "clear; $PROTON view $* a.hatchet; echo status=\$?" Enter
}
PROTON_FAKE=$fake "$PROTON" record -q -o a.hatchet true || exit 99
mkdir -p xdg/proton/layouts
config=xdg/proton/config

cat >$config <<'END'
view kernels
columns kernels AVG CALLS
theem mono
bind ~ quit
END
view; see "the view of the configuration" "    AVG  CALLS  NAME"
see "a line that means nothing is counted" "1 of the lines"
t send-keys -t s "~"; see "a key as bound" "status=0"
see "and it is named" "$config:3: 'theem' is no setting"
view --view tree; see "an option wins" "ROOT"; t send-keys -t s "~"
view --no-config; see "--no-config" "ROOT"; t send-keys -t s "~"
see "--no-config has the usual keys" "does nothing"
"$PROTON" top --keys >out 2>err; has "--keys has them" "Q ~" out
"$PROTON" top --no-config --keys >out 2>err; check "no complaint without" "" "$(cat err)"

# ---- saved
view; see "started" "AVG"; t send-keys -t s 1; see "the tree" "ROOT"
t send-keys -t s W; see "asks for a name" "layout's name"; t send-keys -t s mine Enter
see "saved" "layouts/mine"
t send-keys -t s A; t send-keys -t s W Enter; see "saved as the usual one" "proton/config"
has "the sort order" "sort tree AVG" $config; has "what was there" "bind ~ quit" $config
has "named" "view tree" xdg/proton/layouts/mine
view --layout mine; see "a layout" "ROOT"; t send-keys -t s "~"; see "its end" "status=0"
printf 'view losses\n' >here; view --layout ./here; see "a layout's path" "nothing was lost"

# ---- files that are none
for wrong in nope ./nope .. ''; do
	"$PROTON" top --no-config --layout "$wrong" --keys >out 2>err; check "--layout '$wrong'" 2 $?
	check "one line" 1 "$(wc -l <err)"
done
view --layout nope; see "no such layout: status" "status=2"; see "said" "layouts/nope"
rm $config; mkdir $config
view; see "a folder is named" "ROOT"; t send-keys -t s q; see "with its path" "Is a directory"
rmdir $config; mkfifo $config
view; see "a FIFO does not hold it up" "ROOT"
rm $config; head -c 2000000 /dev/zero >$config
view; see "a file of any size" "ROOT"; t send-keys -t s q; see "is named" "File too large"
# ---- without a home
XDG_CONFIG_HOME=relative HOME='' "$PROTON" top --keys >out 2>err; check "no home" "" "$(cat err)"
finish
