#!/bin/bash
# SPDX-License-Identifier: MIT
# check-layers.sh: an include may only point to an earlier layer, and what comes from outside is
# included only by the layer that is there to meet it.
set -euo pipefail
cd "${srcdir:-$(dirname "$0")/..}"
failed=0

# Which of our own folders may each folder include?
declare -A may=(
	[base]="base"
	[core]="base core"
	[wire]="base core wire"
	[format]="base core wire format"
	[backends]="base core wire format backends"
	[collect]="base core wire format backends collect"
	[launch]="base core wire launch"
	[tui]="base core tui"
)
# Headers from outside, and the only folders that may include them (src: src/*.c).
outside=(
	'cuda|cupti|nvtx|nvperf|rocprofiler|hip/|hsa/|CL/|generated_cuda=backends'
	'n?curses|term\.h|panel\.h=tui'
	'jansson|yajl|zlib|sqlite3=format src'
	'libiberty|elfutils|libelf|gelf=format src core'
)

complain() {
	echo "$*"
	failed=1
}

# includes_of FILE...: "FILE:LINE:HEADER" for "…" and <…> alike, as written.
includes_of() {
	grep -nHE '^[[:space:]]*#[[:space:]]*include' "$@" |
		sed -E 's/^([^:]*:[0-9]+):[^"<]*(["<][^">]*).*/\1:\2/'
}

check_folder() {
	local folder=$1 allowed=$2 place header top rule
	shift 2
	while IFS= read -r line; do
		place=${line%:*}
		header=${line##*:}
		case $header in
		'"'*/*)
			top=${header#\"}
			top=${top%%/*}
			if [ "$top" = proton ]; then
				[[ $folder == collect || $folder == src ]] ||
					complain "$place: $folder may not include ${header#\"}"
			elif [[ " $allowed " != *" $top "* ]]; then
				complain "$place: $folder may not include ${header#\"}"
			fi
			;;
		esac
		for rule in "${outside[@]}"; do
			if [[ ${header:1} =~ ^(${rule%=*}) && " ${rule##*=} " != *" $folder "* ]]; then
				complain "$place: only ${rule##*=} may include <${header:1}>"
			fi
		done
	done < <(includes_of "$@")
}

shopt -s nullglob
for dir in src/*/; do
	folder=$(basename "$dir")
	files=("$dir"*.[ch])
	[ ${#files[@]} -gt 0 ] || continue
	if [ -z "${may[$folder]-}" ]; then
		complain "src/$folder: a layer that scripts/check-layers.sh does not know"
		continue
	fi
	check_folder "$folder" "${may[$folder]}" "${files[@]}"
done
check_folder src "${!may[*]}" src/*.[ch]

# The installed headers and the examples stand alone.
for file in include/proton/*.h; do
	while IFS= read -r line; do
		case ${line##*:} in
		'"'*|'<proton/'*) complain "${line%:*}: an installed header includes only system headers" ;;
		esac
	done < <(includes_of "$file")
done
exit $failed
