#!/bin/bash
# SPDX-License-Identifier: MIT
# check-exports.sh [LIBRARY [MAP]]: libproton.so goes into every kind of process, so it exports the
# functions of its doors (DOORS in src/core/backends.h, from which the build makes MAP), all of them and
# no others, needs nothing newer than glibc 2.34, pulls in no library but libc, and has no large tables in
# its file.
set -euo pipefail
library=${1:-.libs/libproton.so}
map=${2:-src/collect/libproton.map}
failed=0

complain() {
	echo "$library: $*"
	failed=1
}

if [ ! -e "$library" ]; then
	echo "$library is not built"
	exit 77
fi
if grep -qs '^#define PROTON_SANITIZED 1' config.h; then
	echo "a sanitizer's runtime is linked in: nothing to check"
	exit 77
fi

exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }')
# as patterns of grep: proton_* is proton_.*
doors=$(sed -n '/global:/,/local:/p' "$map" | grep -o '[^[:space:];]*;' | sed 's/;$//; s/\*/.&/')
for name in $(grep -vxf <(printf '%s\n' "$doors") <<<"$exported"); do
	complain "exports $name"
done
while read -r door; do
	grep -qx "$door" <<<"$exported" || complain "does not export ${door/.\*/*}"
done <<<"$doors"

while read -r name; do
	case $name in
	libc.so.6|ld-linux*) ;;
	*) complain "needs $name" ;;
	esac
done < <(readelf -d "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')

while read -r version; do
	if [ "$(printf '%s\n2.34\n' "$version" | sort -V | tail -n 1)" != 2.34 ]; then
		complain "needs GLIBC_$version:" \
			"$(nm -D --undefined-only "$library" | grep -F "GLIBC_$version" | awk '{ print $2 }' | tr '\n' ' ')"
	fi
done < <(readelf -V "$library" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -u)

soname=$(readelf -d "$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
[ "$soname" = libproton.so.0 ] || complain "SONAME is '$soname', not libproton.so.0"
# A large variable one of whose members is not 0 at first is in the file with all of it.
data=$((16#$(readelf -SW "$library" | awk '{ sub(/^ *\[ *[0-9]+\]/, "") } $1 == ".data" { print $5 }')))
[ "$data" -le $((256 * 1024)) ] || complain "has $data bytes of variables in its file"
readelf -d "$library" | grep -q TEXTREL && complain "has text relocations"
exit $failed
