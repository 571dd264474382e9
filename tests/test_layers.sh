#!/bin/bash
# SPDX-License-Identifier: MIT
# scripts/check-layers.sh finds what it is there to find: violations are planted in a copy of src/.
cd "${srcdir:-.}" || exit 99
top=$PWD
work=$(mktemp -d "${TMPDIR:-/tmp}/proton-layers.XXXXXX")
trap 'rm -rf "$work"' EXIT
failed=0

fresh() {
	rm -rf "$work/src" "$work/include"
	mkdir -p "$work/include"
	cp -r "$top/src" "$work/src" && cp -r "$top/include/proton" "$work/include/"
	chmod -R u+w "$work"
}
# planted "what" FILE LINE "sentence": the line is put before the first include of the file
planted() {
	fresh
	mkdir -p "$(dirname "$work/$2")"
	[ -e "$work/$2" ] || echo '#include "config.h"' >"$work/$2"
	sed -i "0,/^#include/s||$3\n#include|" "$work/$2"
	if bash "$top/scripts/check-layers.sh" "$work" >"$work/out"; then
		echo "FAILED: $1: passed"
		failed=1
	elif grep -qF -- "$4" "$work/out"; then
		echo "ok: $1"
	else
		echo "FAILED: $1: no '$4' in:"
		cat "$work/out"
		failed=1
	fi
}

fresh
if bash "$top/scripts/check-layers.sh" "$work"; then echo "ok: as it is"; else echo "FAILED: as it is"; failed=1; fi
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
fresh
sed -i '/#include "format\/out.h"/d' "$work"/src/report/*.[ch]
sed -i '/#include "format\//d' "$work"/src/report/*.[ch]
bash "$top/scripts/check-layers.sh" "$work" >"$work/out"
if grep -q 'src/report: includes nothing of format' "$work/out"; then
	echo "ok: an allowance that nobody uses"
else
	echo "FAILED: an allowance that nobody uses"
	failed=1
fi
exit $failed
