#!/bin/sh
# SPDX-License-Identifier: MIT
# static-libraries.sh FOLDER -lNAME...: links to the static libraries of these names in FOLDER, so that the linker
# which looks there first takes them. Prints those that libdw needs and does not say.
set -eu
folder=$1
shift

# The static library of a name, of those that it may go by.
static_library() {
	for name; do
		path=$(${CC:-cc} -print-file-name="lib$name.a")
		case $path in */*) echo "$path"; return ;; esac
	done
	echo "static-libraries.sh: lib$1.a is not installed, and a wheel must need nothing but glibc" >&2
	return 1
}

more=
for word; do
	case $word in
	-ldw) more="-ldw -lelf -llzma -lbz2 -lz" ;;
	esac
done
for word in "$@" $more; do
	case $word in
	-lyajl) path=$(static_library yajl yajl_s) ;;
	-l*) path=$(static_library "${word#-l}") ;;
	*) continue ;;
	esac
	case $path in /*) ;; *) path=$PWD/$path ;; esac
	ln -sf "$path" "$folder/lib${word#-l}.a"
done
# libdw opens compressed files with zstd where it was built so.
if [ -n "$more" ] && nm "$folder/libdw.a" 2>/dev/null | grep -q ' U ZSTD_'; then
	ln -sf "$(static_library zstd)" "$folder/libzstd.a"
	more="$more -lzstd"
fi
echo "$more"
