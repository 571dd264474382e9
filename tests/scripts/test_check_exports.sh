#!/bin/bash
# SPDX-License-Identifier: MIT
# scripts/check-exports.sh finds what it is there to find; and a row of DOORS is all that says what the
# library exports.
top=$(cd "${srcdir:-.}" && pwd) || exit 99
build=$PWD
. "$top/tests/tools/checks.sh"
map=$build/src/collect/libproton.map

cp "$build/config.h" .
exports() { bash "$top/scripts/check-exports.sh" "$build/.libs/libproton.so" "$1" >out; }

exports "$map"
r=$?
if [ $r = 77 ]; then
	cat out
	exit 77
fi
check "as it is" 0 $r
sed 's/clInitLayer;/& clInitLayer2;/' "$map" >more
exports more
check "a door without its function is refused" 1 $?
has "which one" "does not export clInitLayer2" out
sed 's/clInitLayer;//' "$map" >less
exports less
check "a function of no door is refused" 1 $?
has "which one" "exports clInitLayer" out

mkdir -p src/core
sed 's/_(CUDA, InitializeInjection;)/_(HIP, hipDoor; hipSide;) &/' "$top/src/core/backends.h" \
	>src/core/backends.h
$(sed -n "s/^CC = //p" "$build/Makefile") -E -P -x assembler-with-cpp -Isrc "$top/src/collect/libproton.map.in" >made
has "the functions of a new row" "hipDoor; hipSide;" made
has "and those of the others" "clGetLayerInfo; clInitLayer;" made
finish
