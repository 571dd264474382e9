#!/bin/bash
# SPDX-License-Identifier: MIT
# scripts/check-layers.sh finds what it is there to find: violations are planted in a copy of src/.
top=$(cd "${srcdir:-.}" && pwd) || exit 99
. "$top/tests/tools/checks.sh"

mkdir -p "$work/include"
cp -r "$top/src" "$work/src" && cp -r "$top/include/proton" "$work/include/"
chmod -R u+w "$work"
layers() { bash "$top/scripts/check-layers.sh" "$work" >out; }
# mended FILE: as it is in the tree, or gone where it is not there
mended() {
	rm -f "$work/$1"
	rmdir "$(dirname "$work/$1")" 2>/dev/null
	[ -e "$top/$1" ] || return 0
	mkdir -p "$(dirname "$work/$1")"
	cp "$top/$1" "$work/$1"
}
# planted "what" FILE LINE "sentence": the line is put before the first include of the file
planted() {
	mkdir -p "$(dirname "$work/$2")"
	[ -e "$work/$2" ] || echo '#include "config.h"' >"$work/$2"
	sed -i "0,/^#include/s||$3\n#include|" "$work/$2"
	layers
	check "$1 is refused" 1 $?
	has "$1" "$4" out
	mended "$2"
}

layers
check "as it is" 0 $?
planted "a reach upwards" src/core/frame.c '#include "tui/tui.h"' "core may not include tui/tui.h"
planted "a header without its layer" src/core/frame.c '#include "options.h"' "name a header by its path below src/"
planted "a way around" src/core/frame.c '#include "../cmd/options.h"' "name a header by its path below src/"
planted "spaces" src/base/buf.c '  #  include   "core/frame.h"' "base may not include core/frame.h"
planted "angles" src/core/frame.c '#include <ncurses.h>' "only tui may include ncurses.h"
planted "curses by another name" src/cmd/top.c '#include <ncursesw/curses.h>' "only tui may include ncursesw/curses.h"
planted "the installed header" src/cmd/top.c '#include "proton/proton.h"' "only collect may include proton/proton.h"
planted "a folder within a room" src/core/deep/down.c '#include "tui/tui.h"' "core may not include tui/tui.h"
planted "a room that nobody knows" src/attic/old.c '#include "base/buf.h"' "a layer that scripts/check-layers.sh does not know"
planted "a file in no room" src/main.c '#include "base/buf.h"' "lies in no room"
planted "an installed header" include/proton/proton.h '#include "base/buf.h"' "includes only system headers"
layers
check "as it was" 0 $?
sed -i '/#include "format\/out.h"/d' "$work"/src/report/*.[ch]
sed -i '/#include "format\//d' "$work"/src/report/*.[ch]
layers
has "an allowance that nobody uses" 'src/report: includes nothing of format' out
finish
