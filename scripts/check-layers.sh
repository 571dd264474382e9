#!/bin/bash
# SPDX-License-Identifier: MIT
# check-layers.sh [FOLDER]: an include may only point to an earlier layer, and what comes from outside
# is included only by the layer that is there to meet it. FOLDER: the tree to look at (this one).
set -euo pipefail
cd "${1:-${srcdir:-$(dirname "$0")/..}}"
failed=0
declare -A used=()

# Which of our own folders may each folder include? What no file of it needs is not in the list.
declare -A may=(
	[base]="base"
	[core]="base core"
	[findings]="base core findings"
	[naming]="base core naming"
	[wire]="base core wire"
	[format]="base core wire format"
	[backends]="base core backends"
	[collect]="base core wire backends collect"
	[launch]="base wire launch"
	[sensors]="base core launch sensors"
	[report]="base core findings naming format report"
	[tui]="base core findings naming tui"
	[live]="base core naming wire format launch sensors report live"
	[doctor]="base core launch doctor"
	[cmd]="base core findings naming format launch report tui live doctor cmd"
)
# Headers from outside, and the only folders that may include them.
outside=(
	'cuda|cupti|nvtx|nvperf|rocprofiler|hip/|hsa/|CL/|generated_cuda=backends'
	'n?curses|term\.h|panel\.h=tui'
	'yajl|zlib|sqlite3=format'
	'libiberty|elfutils|libelf|gelf=naming'
	'proton/=collect'
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

# A header of ours is named by its path below src/, so that its layer stands in the include. config.h
# and what is made beside it are of no layer.
check_folder() {
	local folder=$1 allowed=$2 place header top rule
	shift 2
	while IFS= read -r line; do
		place=${line%:*}
		header=${line##*:}
		case $header in
		'"config.h') continue ;;
		'"'*..*) complain "$place: ${header#\"}: name a header by its path below src/" ;;
		'"'*/*)
			top=${header#\"}
			top=${top%%/*}
			used[$folder/$top]=1
			[[ $top == proton || " $allowed " == *" $top "* ]] ||
				complain "$place: $folder may not include ${header#\"}"
			;;
		'"'*) complain "$place: ${header#\"}: name a header by its path below src/" ;;
		esac
		for rule in "${outside[@]}"; do
			if [[ ${header:1} =~ ^(${rule%=*}) && " ${rule##*=} " != *" $folder "* ]]; then
				complain "$place: only ${rule##*=} may include ${header:1}"
			fi
		done
	done < <(includes_of "$@")
}

while IFS= read -r file; do
	folder=${file#src/}
	folder=${folder%%/*}
	if [ "src/$folder" = "$file" ]; then
		complain "$file: lies in no room"
	elif [ -z "${may[$folder]-}" ]; then
		complain "$file: a layer that scripts/check-layers.sh does not know"
	else
		check_folder "$folder" "${may[$folder]}" "$file"
	fi
done < <(find src -name '*.[ch]' | sort)

# What is allowed and not used would be used some day without anybody noticing.
for folder in "${!may[@]}"; do
	for top in ${may[$folder]}; do
		[ -n "${used[$folder/$top]-}" ] || complain "src/$folder: includes nothing of $top: allow it no longer"
	done
done

# The installed headers and the examples stand alone.
for file in include/proton/*.h; do
	while IFS= read -r line; do
		case ${line##*:} in
		'"'*|'<proton/'*) complain "${line%:*}: an installed header includes only system headers" ;;
		esac
	done < <(includes_of "$file")
done
exit $failed
