#!/bin/sh
# SPDX-License-Identifier: MIT
# Flame graphs and printed screens in a browser: clicks, keys, searches, fonts.
. "${srcdir:-.}/tests/tools/browser_help.sh"

cat >small.folded <<'END'
main;forward;linear;sgemm_128x64_kernel 500
main;forward;attention;flash_fwd_kernel_with_a_rather_long_name 300
main;backward;sgemm_128x64_kernel 150
main;optimizer;adam 30
main;数据加载;コピー処理カーネル 100
main;a<b>&"c" 20
END
awk 'BEGIN {
	for (i = 0; i < 50000; i++)
		printf "main;phase_%d;layer_%d;op_%d;kernel_%d %d\n", i % 5, i % 97, i % 1999, i, 1 + i % 9
}' >large.folded
"$proton" export -f flamegraph -o small.svg small.folded && "$proton" export -f flamegraph -o large.svg large.folded || exit 1

drive="$srcdir/tests/tools/drive_browser.py"
python3 "$drive" "$browser" flame small.svg SGEMM 59.1 &&
	python3 "$drive" "$browser" flame large.svg phase_1 20.0 &&
	python3 "$drive" "$browser" screen "$srcdir"/tests/golden/*.svg
