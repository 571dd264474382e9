#!/bin/bash
# Settings and layouts of the screen: the files, the options, what wins, what is wrong.
. "${srcdir:-.}/tests/tools/cli_window.sh"
export XDG_CONFIG_HOME=$work/xdg
view() { # view OPTIONS…: the file in a fresh window
	window 80x24 "clear; $PROTON view $* a.hatchet; echo status=\$?"
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
keys "~"; see "a key as bound" "status=0"
see "and it is named" "$config:3: 'theem' is no setting"
view --view tree; see "an option wins" "ROOT"; keys "~"
view --no-config; see "--no-config" "ROOT"; keys "~"
see "--no-config has the usual keys" "does nothing"
"$PROTON" top --keys >out 2>err; has "--keys has them" "Q ~" out
"$PROTON" top --no-config --keys >out 2>err; check "no complaint without" "" "$(cat err)"

# ---- columns that the file does not have
mkdir odd; mkdir odd/proton
printf 'columns tree TOTL\nsort tree CALLS\nbind ~ quit\n' >odd/proton/config
XDG_CONFIG_HOME=$work/odd view; see "columns that are none: said" "there is no column 'TOTL' to choose for Tree"
see "columns that are none: the usual ones" "TOTAL     % ▼CALLS"; keys "~"
window 80x24 "clear; XDG_CONFIG_HOME=$work/odd $PROTON diff a.hatchet a.hatchet; echo status=\$?"
see "an order is not one of a comparison" "       A       B       ▼Δ"; keys "~"
echo '[{"frame":{"name":"ROOT"},"metrics":{},"children":[{"frame":{"name":"main"},"metrics":{"cpu_time (ns)":5},"children":[]}]},{}]' >host.json
window 80x24 "clear; $PROTON view --view kernels host.json; echo status=\$?"
see "no kernels" "nothing of this profile ran on a device"; keys Q

# ---- saved
view; see "started" "AVG"; keys 1; see "the tree" "ROOT"
keys W; see "asks for a name" "layout's name"; keys mine Enter
see "saved" "layouts/mine"
keys A; keys W Enter; see "saved as the usual one" "proton/config"
has "the sort order" "sort tree AVG" $config; has "what was there" "bind ~ quit" $config
has "named" "view tree" xdg/proton/layouts/mine
view --layout mine; see "a layout" "ROOT"; keys "~"; see "its end" "status=0"
printf 'view losses\n' >here; view --layout ./here; see "a layout's path" "nothing was lost"

# ---- files that are none
for wrong in nope ./nope .. ''; do
	"$PROTON" top --no-config --layout "$wrong" --keys >out 2>err; check "--layout '$wrong'" 2 $?
	check "one line" 1 "$(wc -l <err)"
done
view --layout nope; see "no such layout: status" "status=2"; see "said" "layouts/nope"
rm $config; mkdir $config
view; see "a folder is named" "ROOT"; keys q; see "with its path" "Is a directory"
rmdir $config; mkfifo $config
view; see "a FIFO does not hold it up" "ROOT"
rm $config; head -c 2000000 /dev/zero >$config
view; see "a file of any size" "ROOT"; keys q; see "is named" "File too large"
# ---- without a home
XDG_CONFIG_HOME=relative HOME='' "$PROTON" top --keys >out 2>err; check "no home" "" "$(cat err)"
finish
