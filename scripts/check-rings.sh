#!/bin/bash
# SPDX-License-Identifier: MIT
# check-rings.sh [BUILD]: in these folders of src/, files do not know each other in a ring. Which file
# uses what another one defines is read from the objects of a build.
set -euo pipefail
sources=$(cd "${srcdir:-$(dirname "$0")/..}" && pwd)
cd "${1:-.}"
failed=0

# objects FOLDER: of the files that it has; a build folder may hold those of earlier ones, too.
objects() {
	local file

	for file in "$sources/src/$1"/*.c; do
		file=$(basename "$file" .c)
		find "src/$1" -name "*-$file.o" -o -name "$file.o"
	done
}

# uses FOLDER: a line "USER OWNER" for each pair of files where USER calls or reads what OWNER defines.
uses() {
	objects "$1" | xargs nm -A --format=posix | awk '
		{ file = $1; sub(/:$/, "", file); sub(/.*\//, "", file); sub(/.*-/, "", file) }
		$3 ~ /^[TDBRC]$/ { owner[$2] = file }
		$3 == "U" { user[file " " $2] = file }
		END {
			for (i in user) {
				split(i, pair, " ")
				if (pair[2] in owner && owner[pair[2]] != user[i])
					print user[i], owner[pair[2]]
			}
		}' | sort -u
}

for folder in base core wire format backends collect report launch live doctor tui cmd; do
	if [ ! -d "src/$folder" ]; then
		echo "src/$folder is not built"
		exit 77
	fi
	if ! loop=$(uses "$folder" | tsort 2>&1 >/dev/null); then
		printf 'src/%s: %s\n' "$folder" "${loop//tsort: /}"
		failed=1
	fi
done
exit $failed
