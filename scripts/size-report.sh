#!/bin/bash
# SPDX-License-Identifier: MIT
# size-report.sh: lengths of functions and files. Fails when the code as a whole grows out of hand:
# 9 functions of 10 stay under 60 lines. A single long one is printed, for somebody to look twice.
set -euo pipefail
cd "${srcdir:-$(dirname "$0")/..}"

if ! ctags --version 2>/dev/null | grep -q 'Universal Ctags'; then
	echo "skipped: universal-ctags is not installed"
	exit 77
fi

ctags -x --c-kinds=f --_xformat='%{end} %n %F %N' src/*/*.c |
	awk '{ print $1 - $2 + 1, $3 ":" $2, $4 }' | sort -n |
	awk '
	{ size[NR] = $1; where[NR] = $2; name[NR] = $3 }
	END {
		p90 = size[int(NR * 0.9)]
		printf "%d functions: median %d lines, p90 %d, longest %d\n", NR, size[int((NR + 1) / 2)], p90, size[NR]
		for (i = NR; i > 0 && size[i] > 100; i--)
			printf "  %4d  %s  %s\n", size[i], name[i], where[i]
		exit p90 >= 60
	}' && status=0 || status=1

wc -l src/*/*.c | awk '
	$2 != "total" { n++; if ($1 > 1000) printf "  %4d  %s\n", $1, $2 }
	$2 == "total" { printf "%d files, %d lines\n", n, $1 }'
exit "$status"
