#!/bin/bash
# SPDX-License-Identifier: MIT
# check-man.sh [--update]: the man pages against the program. Runs in the build folder.
#
#   - quotations end where they should
#   - mandoc finds nothing to complain about, and pages refer to pages that are there
#   - each command's page has the options of `proton help --list-options`, and no others
#   - the keys in proton-top.1, the requests in proton-config.5 and the losses in proton-metrics.7 are those of the program; with
#     --update, or PROTON_GOLDEN=update in the environment, they are written into the pages
#   - --help of each command fits a screen
#   - proton.h.3 has each function of the header
set -euo pipefail
srcdir=${srcdir:-..}
proton=${PROTON:-./proton}
update=
if [ "${1-}" = --update ] || [ "${PROTON_GOLDEN-}" = update ]; then
	update=yes
fi
man=$srcdir/man
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [ ! -x "$proton" ]; then
	echo "$proton is not built"
	exit 1
fi

complain() {
	echo "$*"
	failed=1
}

lint() {
	local page out name section
	# mandoc looks for other pages only where the system's are: ours are looked for here.
	grep -hE '^\.Xr proton' "$man"/*.[1-9] | sort -u | while read -r _ name section _; do
		[ -f "$man/$name.$section" ] || echo "no page $name($section), but others refer to it"
	done | tee "$work/missing"
	[ ! -s "$work/missing" ] || failed=1
	command -v mandoc >/dev/null || { echo "mandoc is not installed: no lint"; return; }
	for page in "$man"/*.[1-9]; do
		out=$(mandoc -T lint "$page" 2>/dev/null |
			grep -vF 'STYLE: referenced manual not found' || :)
		[ -z "$out" ] || complain "$out"
	done
}

# A quotation takes the rest of its line, commas and other quotations with it: each needs a line of its own.
quotations() {
	local out
	out=$(grep -nE '^\.(.* )?(Dq|Sq|Ql|Qq) [^ ].* , ' "$man"/*.[1-9]) || return 0
	complain "$out"
	complain "quotations that do not end at the comma"
}

# The options that a page describes: .It Fl o , Fl -output Ar FILE
page_options() {
	grep -hE '^\.It Fl ' "$@" | awk '{
		for (i = 2; i < NF; i++)
			if ($i == "Fl")
				print "-" $(i + 1)
	}' | sort -u
}

# Each command on a line, "kernel dump" and its like as well.
list_commands() {
	local command below
	for command in $("$proton" help --list-commands); do
		echo "$command"
		for below in $("$proton" help --list-commands="$command"); do
			echo "$command $below"
		done
	done
}

check_options() {
	local command page
	for command in proton "${commands[@]}"; do
		page=$man/proton-${command%% *}.1
		# What is too small for a page of its own is in proton(1).
		[ -f "$page" ] || page=$man/proton.1
		"$proton" help --list-options "$command" | sort -u >"$work/has"
		page_options "$page" >"$work/says"
		comm -23 "$work/has" "$work/says" | while read -r option; do
			echo "$page: does not describe '$option' of 'proton $command'"
		done
		cat "$work/has" >>"$work/all-of-${page##*/}"
	done | tee "$work/missing"
	[ ! -s "$work/missing" ] || failed=1
	for page in "$man"/proton*.1; do
		sort -u "$work/all-of-${page##*/}" >"$work/has"
		page_options "$page" >"$work/says"
		comm -13 "$work/has" "$work/says" >"$work/extra"
		while read -r option; do
			complain "$page: describes '$option', which is not there"
		done <"$work/extra"
	done
}

# The names of the list in tui/keys.h as mdoc.
requests_mdoc() {
	echo ".Bl -tag -width unfold-below -compact"
	sed -nE 's/^\t_\(([A-Z_0-9]+), *"[^"]*", *[A-Z]+, .*"(.*)"\).*/\1\t\2/p' "$srcdir/src/tui/keys.h" |
		awk -F '\t' '{ gsub(/_/, "-", $1); print ".It Cm " tolower($1); print $2 }'
	echo ".El"
}

# `proton top --keys` as mdoc.
keys_mdoc() {
	"$proton" top --no-config --keys | awk '
	function escaped(s) {
		gsub(/\\/, "\\e", s)
		gsub(/-/, "\\-", s)
		return s
	}
	/^$/ { next }
	/^[^ ]/ {
		if (n++)
			print ".El"
		print ".Ss " $0
		print ".Bl -tag -width indent -compact"
		next
	}
	{
		line = substr($0, 3)
		split_at = match(line, /  +/)
		n_keys = split(substr(line, 1, split_at - 1), key, " ")
		printf ".It"
		for (i = 1; i <= n_keys; i++)
			printf "%s Ic \\&%s", (i > 1 ? " ," : ""), escaped(key[i])
		printf "\n%s\n", substr(line, split_at + RLENGTH)
	}
	END { print ".El" }'
}

# The list of core/loss.h as mdoc.
losses_mdoc() {
	echo ".Bl -tag -width unaccounted_launches"
	sed -nE 's/^\t_\([A-Z_]+, *[0-9]+, "([a-z_]+)", *"(.*)"\).*/.It Li \1\n\2/p' \
		"$srcdir/src/core/loss.h"
	echo ".El"
}

# check_part PAGE WHAT: what is between its marks must be what WHAT_mdoc prints.
check_part() {
	local page=$man/$1 what=$2
	"${what}_mdoc" >"$work/$what"
	awk -v what="$what" -v file="$work/$what" '
	$0 ~ "^\\.\\\\\" " what " end" { skip = 0 }
	!skip { print }
	$0 ~ "^\\.\\\\\" " what " begin" {
		skip = 1
		while ((getline line < file) > 0)
			print line
	}' "$page" >"$work/page"
	cmp -s "$work/page" "$page" && return
	if [ -n "$update" ]; then
		cat "$work/page" >"$page"
		echo "$page: wrote the $what"
	else
		diff -u "$page" "$work/page" || :
		complain "$page: the $what are not those of the program (scripts/check-man.sh --update)"
	fi
}

# What --help prints must be seen at once, in the 24 lines of 80 columns that a terminal has.
check_help() {
	local command lines words
	for command in "${commands[@]}"; do
		read -ra words <<<"$command"
		"$proton" "${words[@]}" --help >"$work/help"
		lines=$(wc -l <"$work/help")
		[ "$lines" -le 23 ] || complain "proton $command --help has $lines lines: mark rare options"
		! LC_ALL=C.UTF-8 grep -n '.\{80\}' "$work/help" || complain "proton $command --help: wider than 79"
	done
}

check_header() {
	local name
	for name in $(grep -oE '^(static inline|#define) .*' "$srcdir/include/proton/proton.h" |
			grep -oE 'proton_[a-z0-9_]*[a-z0-9]\(' | tr -d '(' | sort -u); do
		grep -q "^\.Fn $name" "$man/proton.h.3" || complain "$man/proton.h.3: does not describe $name"
	done
}

mapfile -t commands < <(list_commands)
check_options
check_help
check_part proton-top.1 keys
check_part proton-config.5 requests
check_part proton-metrics.7 losses
check_header
quotations
lint
exit $failed
