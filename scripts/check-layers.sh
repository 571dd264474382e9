#!/bin/bash
# SPDX-License-Identifier: MIT
# check-layers.sh [FOLDER]: an include may only point to an earlier layer, and what comes from outside
# is included only by the layer that is there to meet it. FOLDER: the tree to look at (this one).
set -euo pipefail
cd "${1:-${srcdir:-$(dirname "$0")/..}}"
failed=0

# Which of our own folders may each folder include? What no file of it needs is not in the list.
declare -A may=(
	[base]="base"
	[core]="base core"
	[findings]="base core findings"
	[naming]="base core naming"
	[wire]="base core wire"
	[images]="base images"
	[intra]="base intra"
	[ptx]="base intra ptx"
	[ttgir]="base ttgir"
	[format]="base core wire intra format"
	[backends]="base core intra backends"
	[collect]="base core wire intra ttgir images backends collect"
	[launch]="base wire launch"
	[assemble]="base images launch assemble"
	[override]="base core naming intra ptx images assemble override"
	[sensors]="base core launch sensors"
	[counters]="base core backends launch counters"
	[report]="base core findings naming intra format report"
	[tui]="base core findings naming intra tui"
	[live]="base core naming intra wire format launch sensors counters report live"
	[doctor]="base core launch counters doctor"
	[cmd]="base core findings naming images ttgir intra ptx format launch assemble override counters report tui live doctor cmd"
)
# Headers from outside, and the only folders that may include them.
outside=(
	'cuda|cupti|nvtx|nvperf|rocprofiler|hip/|hsa/|CL/|generated_cuda=backends'
	'n?curses|term\.h|panel\.h=tui'
	'yajl|zlib|sqlite3=format'
	'libiberty|elfutils|libelf|gelf|dwarf\.h=naming'
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

mapfile -t files < <(find src -name '*.[ch]' | sort)
for file in "${files[@]}"; do
	folder=${file#src/}
	if [[ $folder != */* ]]; then
		complain "$file: lies in no room"
	elif [ -z "${may[${folder%%/*}]-}" ]; then
		complain "$file: a layer that scripts/check-layers.sh does not know"
	fi
done

# A header of ours is named by its path below src/, so that its layer stands in the include. config.h
# and what is made beside it are of no layer. What is allowed and not used would be used some day without
# anybody noticing.
rooms=$(for folder in "${!may[@]}"; do echo "$folder ${may[$folder]}"; done)
includes_of "${files[@]}" | rooms=$rooms outside=$(printf '%s\n' "${outside[@]}") awk '
function complain(text) { print text; failed = 1 }
BEGIN {
	n = split(ENVIRON["rooms"], lines, "\n")
	for (i = 1; i <= n; i++) {
		m = split(lines[i], words, " ")
		known[words[1]] = 1
		for (k = 2; k <= m; k++)
			may[words[1] "/" words[k]] = 1
	}
	n_rules = split(ENVIRON["outside"], rules, "\n")
	for (i = 1; i <= n_rules; i++) {
		split(rules[i], sides, "=")
		foreign[i] = sides[1]
		only[i] = sides[2]
	}
}
{
	split($0, part, ":")
	place = part[1] ":" part[2]
	split(part[1], path, "/")
	folder = path[2]
	quote = substr(part[3], 1, 1)
	header = substr(part[3], 2)
	if (!(folder in known) || path[3] == "" || header == "config.h")
		next
	top = header
	sub(/\/.*/, "", top)
	if (quote == "\"" && (header !~ /\// || header ~ /\.\./))
		complain(place ": " header ": name a header by its path below src/")
	else if (quote == "\"") {
		used[folder "/" top] = 1
		if (top != "proton" && !((folder "/" top) in may))
			complain(place ": " folder " may not include " header)
	}
	for (i = 1; i <= n_rules; i++)
		if (header ~ "^(" foreign[i] ")" && folder != only[i])
			complain(place ": only " only[i] " may include " header)
}
END {
	for (pair in may)
		if (!(pair in used)) {
			split(pair, path, "/")
			complain("src/" path[1] ": includes nothing of " path[2] ": allow it no longer")
		}
	exit failed
}' || failed=1

# The installed headers and the examples stand alone.
for file in include/proton/*.h; do
	while IFS= read -r line; do
		case ${line##*:} in
		'"'*|'<proton/'*) complain "${line%:*}: an installed header includes only system headers" ;;
		esac
	done < <(includes_of "$file")
done
exit $failed
