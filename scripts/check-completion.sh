#!/bin/bash
# SPDX-License-Identifier: MIT
# check-completion.sh: what the completions of shells offer. Runs in the build folder.
set -euo pipefail
srcdir=${srcdir:-..}
PATH=$PWD:$PATH
completions=$(cd "$srcdir/data/completions" && pwd)
failed=0
work=$(mktemp -d)
XDG_CONFIG_HOME=$(mktemp -d) # with layouts that are known
export XDG_CONFIG_HOME
mkdir -p "$XDG_CONFIG_HOME/proton/layouts/folder"
trap 'rm -rf "$work" "$XDG_CONFIG_HOME"' EXIT
touch "$XDG_CONFIG_HOME/proton/layouts/"{mine,wide,'with blank',.hidden}

if [ ! -x ./proton ]; then
	echo "./proton is not built"
	exit 1
fi
# shellcheck source=/dev/null
. "$srcdir/data/completions/proton"

# complete WORD...: the reply for the last word, on one line, sorted.
reply() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	_proton 2>/dev/null
	printf '%s\n' "${COMPREPLY[@]}" | sort -u | tr '\n' ' '
}

# expect "REPLY" WORD...
expect() {
	local want=$1 got
	shift
	got=$(reply "$@")
	[ "${got% }" = "$want" ] && return
	echo "completing '$*': '${got% }', not '$want'"
	failed=1
}

# Each command on a line, "kernel dump" and its like as well.
list_commands() {
	local command below
	for command in $(proton help --list-commands); do
		echo "$command"
		for below in $(proton help --list-commands="$command"); do
			echo "$command $below"
		done
	done
}
mapfile -t commands < <(list_commands)

# Every word that the file itself knows must be an option of some command.
for command in proton "${commands[@]}"; do
	proton help --list-options "$command"
done | sort -u >"$work/options"
sed -n '/^_proton_takes_value/,/^}/p' "$srcdir/data/completions/proton" |
	grep -oE -- '--[a-z][a-z-]*' | sort -u >"$work/known"
comm -13 "$work/options" "$work/known" >"$work/wrong"
if [ -s "$work/wrong" ]; then
	echo "options that are not there:"
	cat "$work/wrong"
	failed=1
fi
# Every option that shows a value in --help must be known to take one.
for command in "${commands[@]}"; do
	read -ra words <<<"$command"
	proton "${words[@]}" --help=all | grep -oE -- '^ .{0,5}--[a-z-]+ [A-Zn]' | grep -oE -- '--[a-z-]+' || :
done | sort -u >"$work/valued"
comm -23 "$work/valued" "$work/known" >"$work/wrong"
if [ -s "$work/wrong" ]; then
	echo "options whose value is not completed:"
	cat "$work/wrong"
	failed=1
fi

# A list of values is the program's own: it takes each of them, and nothing else.
for command in "${commands[@]}"; do
	read -ra words <<<"$command"
	for option in $(proton help --list-options "$command" | grep '^--'); do
		for value in $(proton help --list-values "$command:${option#--}"); do
			proton "${words[@]}" "$option" "$value" --help >/dev/null 2>&1 ||
				echo "proton $command: $option does not take '$value'"
		done
	done
done >"$work/refused"
if [ -s "$work/refused" ]; then
	cat "$work/refused"
	failed=1
fi

cd "$work"
mkdir folder
touch one.hatchet two.tape three.txt
expect "record report" proton re
expect "--help" proton --h
expect "--no-follow" proton record --no-foll
expect "process" proton report --group p
expect "process" proton report --group = p
expect "process" proton report -g p
expect "json" proton export --format j
expect "markdown" proton diff --format m
expect "markdown" proton diff -f m
expect "hatchet hatchet_msgpack" proton export -f hat
expect "colorblind contrast" proton top --theme c
expect "calls" proton view -s ca
expect "transfers tree" proton report --section tr
expect "bottom-up" proton report --view bo
expect "findings flame" proton view --view f
expect "all api" proton report --section = a
expect "folder one.hatchet two.tape" proton view ""
expect "one.hatchet" proton report --depth 3 o
expect "three.txt two.tape" proton record -o t
expect "mine wide" proton view --layout ""
expect "wide" proton top --layout = w
expect "./one.hatchet" proton view --layout ./on
expect "record report" proton help re
expect "saving screen" proton doctor s
expect "live" proton metrics --set l
expect "range" proton metrics --kind r
expect "csv" proton metrics -f c
expect "assemble dump insert probe run" proton kernel ""
expect "dump" proton kernel du
expect "--help" proton kernel --h
expect "--stage" proton kernel dump --st
expect "cubin" proton kernel dump --stage c
expect "one.hatchet" proton kernel dump on
expect "--intra --intra-mode" proton kernel run --int
expect "one.hatchet" proton kernel run -- ./app on
expect "folder" proton kernel dump -o f
expect "one.hatchet" proton record -o x.hatchet -- ./app on
expect "one.hatchet" proton record -q ./app on
expect "" proton record ./app --no-
# zsh: every option of every command is a spec, with what it takes.
zsh_specs() { # zsh_specs WORD…: what _arguments and _describe are given
	zsh -fc '
	_arguments() { print -rl -- "$@" }
	_describe() { print -rl -- "${(P@)@[-1]}" }
	words=("$@") CURRENT=$#words
	set --
	source $completions/_proton' zsh "$@"
}
check_zsh() {
	local command option words
	zsh -n "$completions/_proton" || failed=1
	zsh_specs proton '' | grep -q '^top:.' || { echo "zsh: no commands"; failed=1; }
	for command in "${commands[@]}"; do
		read -ra words <<<"$command"
		zsh_specs proton "${words[@]}" - >specs
		for option in $(proton help --list-options "$command"); do
			grep -qE "^(\(.*\))?$option[+=]?\[" specs ||
				{ echo "zsh: proton $command: no $option"; failed=1; }
		done
	done
	zsh_specs proton top - | grep -qE -- '--theme=\[.*:NAME:\(default light' ||
		{ echo "zsh: no values of --theme"; failed=1; }
	zsh_specs proton view - | grep -qE -- '--layout=\[.*:NAME:\(mine wide\)' ||
		{ echo "zsh: no layouts"; failed=1; }
	zsh_specs proton kernel '' | grep -q '^dump:.' || { echo "zsh: no subcommands"; failed=1; }
	zsh_specs proton record - | grep -qE -- '--output=\[.*:_files' ||
		{ echo "zsh: no files for --output"; failed=1; }
}

# fish_reply LINE: candidates without what they do, on one line.
fish_reply() {
	HOME=$work fish -c '
	source $completions/proton.fish
	complete -C $argv[1] | string split -f1 \t | sort -u | string join " "; true' "$1"
}
fish_expect() {
	local got
	got=$(fish_reply "$2")
	[ "$got" = "$1" ] && return
	echo "fish: completing '$2': '$got', not '$1'"
	failed=1
}
check_fish() {
	fish -n "$completions/proton.fish" || failed=1
	fish_expect "record report" "proton re"
	fish_expect "--theme" "proton top --the"
	fish_expect "colorblind contrast" "proton top --theme c"
	fish_expect "process" "proton report -g p"
	fish_expect "mine wide" "proton view --layout "
	fish_expect "three.txt" "proton record -o th"
	fish_expect "dump" "proton kernel du"
	fish_expect "cubin" "proton kernel dump --stage c"
	fish_expect "one.hatchet" "proton kernel dump one"
	fish_expect "one.hatchet" "proton view on"
	fish_expect "record report" "proton help re"
	fish_expect "one.hatchet" "proton record -o x -- cat one.h"
	fish_expect "--no-follow" "proton record --no-foll"
	fish_expect "" "proton record cat --no-foll"
}

export completions
for shell in zsh fish; do
	if command -v $shell >/dev/null; then
		check_$shell
	else
		echo "skipped: completion: $shell is not installed"
	fi
done
exit $failed
