#!/bin/bash
# SPDX-License-Identifier: MIT
# check-format.sh [--update]: every C file looks as .clang-format says; --update makes it so. Another
# version of clang-format breaks lines elsewhere: it is 14 that counts.
set -euo pipefail
cd "${srcdir:-$(dirname "$0")/..}"
version=14

for program in "clang-format-$version" clang-format ""; do
	"${program:-false}" --version 2>/dev/null | grep -q "version $version\." && break
done
if [ -z "$program" ]; then
	echo "skipped: clang-format $version is not installed"
	exit 77
fi
# A build in this folder makes *_text.h and *_js.h of data.
mapfile -t files < <(find bench examples include src tests -name '*.[ch]' \
	! -name '*_text.h' ! -name '*_js.h' | sort)
if [ "${1:-}" = --update ]; then
	exec "$program" -i "${files[@]}"
fi
"$program" --dry-run -Werror "${files[@]}" || {
	echo "make format writes them anew"
	exit 1
}
