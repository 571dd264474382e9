#!/bin/bash
# SPDX-License-Identifier: MIT
# check-headers.sh: each header compiles alone, twice in a row. Runs in the build folder.
set -euo pipefail
srcdir=${srcdir:-..}
failed=0
shopt -s nullglob

# The compiler and the flags that configure chose.
make_variable() {
	sed -n "s/^$1 = //p" Makefile 2>/dev/null | head -n 1
}
cc=$(make_variable CC)
flags="-std=gnu11 -Wall -Wextra -Werror -Wno-unused-function -Wno-unused-parameter
	$(make_variable NCURSES_CFLAGS) $(make_variable YAJL_CFLAGS)"

# check HEADER INCLUDE...: HEADER after each of INCLUDE.
compiles() {
	# shellcheck disable=SC2086
	${cc:-cc} $flags -I. -I"$srcdir/src" -I"$srcdir/include" -fsyntax-only -x c - "${@:2}" <<-END
		#include "$1"
		#include "$1"
	END
}

for header in "$srcdir"/src/*/*.h; do
	compiles "${header#"$srcdir/src/"}" -D_GNU_SOURCE || failed=1
done
# What is installed must not need our config.h, nor GNU extensions of libc.
for header in "$srcdir"/include/proton/*.h; do
	compiles "${header#"$srcdir/include/"}" || failed=1
done
exit $failed
