#!/bin/bash
# SPDX-License-Identifier: MIT
# Some thirteen hundred files that are cut, changed or made up: read, or refused in one line.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
build=$PWD
. "${srcdir:-.}/tests/tools/cli_help.sh"
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
databases=()
if grep -q 'define HAVE_SQLITE 1' "$build/config.h" && python3 "$tests/databases/make_databases.py" .; then
	databases=(nsys.sqlite types.sqlite rocpd2.db rocpd3.db)
fi
python3 "$tests/tools/hostile.py" "$PROTON" "$tests" "${databases[@]}"; check "hostile files" 0 $?
python3 -B "$tests/tools/hostile_values.py" "$PROTON" "$tests" 400 1 "${databases[@]}"; check "hostile values" 0 $?
finish
