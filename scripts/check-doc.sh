#!/bin/bash
# SPDX-License-Identifier: MIT
# check-doc.sh: the form of headers and sources, and the words that a public declaration owes.
#
#   every file     an SPDX line first
#   every .c       then config.h
#   every header   a guard made from its path, and a comment that says what it is for; no type of the
#                  name of another header's
#   include/       each function has a comment with "errors" and "thread" in it or in a comment
#                  above that opens a group of functions
set -euo pipefail
cd "${srcdir:-$(dirname "$0")/..}"
failed=0
shopt -s nullglob

complain() {
	echo "$*"
	failed=1
}

guard_of() {
	local path=${1#src/}
	path=${path#include/}
	[[ $path == proton/* ]] || path=proton/$path
	path=${path//[^A-Za-z0-9]/_}
	guard=${path^^}
}

# Many files to a process: one for each takes half a minute.
sources=(src/*/*.c)
headers=(src/*/*.h include/proton/*.h)
while IFS= read -r line; do
	complain "$line"
done < <(
	awk 'FNR == 1 && !/SPDX-License-Identifier: MIT/ {
		print FILENAME ":1: no SPDX-License-Identifier: MIT"
	}' "${sources[@]}" "${headers[@]}" tests/*/*.[ch] examples/*.[ch] bench/*.[ch]
	awk '/^#include/ && !seen[FILENAME]++ && index($0, "#include \"config.h\" // IWYU pragma: keep") != 1 {
		print FILENAME ": the first include is not: \"config.h\" // IWYU pragma: keep"
	}' "${sources[@]}"
	grep -L '^#include' "${sources[@]}" | sed 's/$/: includes no "config.h"/'
	grep -LE '^ ?/?\*' "${headers[@]}" | sed 's/$/: no comment says what it is for/'
)
for file in "${headers[@]}"; do
	guard_of "$file"
	found=
	while IFS= read -r line; do
		[ "$line" != "#ifndef $guard" ] || found=yes
	done <"$file"
	[ -n "$found" ] || complain "$file: the guard is not $guard"
done

while IFS= read -r type; do
	complain "$type: defined in $(grep -lE "^$type \{" src/*/*.h | xargs)"
done < <(grep -hoE '^(struct|enum|union) [a-z_0-9]+ \{' src/*/*.h | sed 's/ {$//' | sort | uniq -d)

# A function's comment ends on the line above it; a group of functions without a blank line between
# shares the comment above the group.
for file in include/proton/*.h; do
	awk -v file="$file" '
	/^\/\*/ { comment = ""; in_comment = 1 }
	in_comment { comment = comment $0 "\n" }
	in_comment && /\*\// { in_comment = 0; have = 1; next }
	in_comment { next }
	/^$/ { have = 0 }
	/^PROTON_(API|INLINE)|^(int|void|const|struct|uint[0-9]+_t|static inline) .*\(/ {
		if (!match($0, /proton_[a-z0-9_]+\(/))
			next
		name = substr($0, RSTART, RLENGTH - 1)
		if (name ~ /_$/) # not for users
			next
		if (!have) { print file ":" NR ": " name " has no comment"; bad = 1; next }
		if (comment !~ /errors/) { print file ":" NR ": " name " does not say its errors"; bad = 1 }
		if (comment !~ /thread/) { print file ":" NR ": " name " does not say its thread"; bad = 1 }
	}
	END { exit bad }' "$file" || failed=1
done
exit $failed
