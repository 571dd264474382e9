#!/bin/bash
# SPDX-License-Identifier: MIT
# Controls in every text of every kind of file, and not one in all that is printed.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
build=$PWD
. "${srcdir:-.}/tests/tools/cli_help.sh"
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
databases=()
if grep -q 'define HAVE_SQLITE 1' "$build/config.h" && python3 "$tests/databases/make_databases.py" .; then
	databases=(nsys.sqlite types.sqlite rocpd2.db rocpd3.db matmul.rpd)
fi
python3 "$tests/tools/hostile_text.py" "$PROTON" "$tests" "${databases[@]}"; check "hostile texts" 0 $?
finish
