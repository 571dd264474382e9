#!/bin/sh
# SPDX-License-Identifier: MIT
# proton/proton.h as C and C++ programs see it: no warning, nothing to link, silent without a
# collector, at work with one.
set -u
srcdir=${srcdir:-.}
stub=$PWD/tests/mocks/.libs/libprotonstub.so
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cp "$srcdir/tests/programs/test_api_header.c" "$dir/program.cc" || exit 1
cp "$srcdir/tests/programs/test_api_header.c" "$dir/program.c" || exit 1
status=0 n=0

# check LIBRARY WANTED: run the program, compare what it says
check() {
	got=$(PROTON_LIBRARY=$1 "$dir/program" 2>&1)
	if [ "$got" != "$2" ]; then
		echo "with '$1': '$got' instead of '$2'"
		status=1
	fi
}

# try COMPILER FLAGS...: the compiler may be absent
try() {
	command -v "$1" >/dev/null 2>&1 || return 0
	if ! "$@" -Wall -Wextra -Wshadow -pedantic -Werror -I"$srcdir/include" -o "$dir/program" -ldl; then
		echo "failed: $*"
		status=1
		return
	fi
	n=$((n + 1))
	check "" "-1 0 -1"
	case " $* " in
	*PROTON_DISABLE*) check "$stub" "-1 0 -1" ;;
	*) [ -e "$stub" ] && check "$stub" "0 1 0" ;;
	esac
}

for cc in gcc clang; do
	for std in c99 gnu99 c11 c17; do
		try $cc -std=$std -O2 "$dir/program.c"
	done
	try $cc -std=c11 -DPROTON_DISABLE "$dir/program.c"
done
for cxx in g++ clang++; do
	for std in c++11 c++17 gnu++20; do
		try $cxx -std=$std -O2 "$dir/program.cc"
	done
	try $cxx -std=c++11 -DPROTON_DISABLE "$dir/program.cc"
done
if [ $n -eq 0 ]; then
	echo "skipped: no gcc, clang, g++ or clang++"
	exit 77
fi
echo "$n compilations"
exit $status
