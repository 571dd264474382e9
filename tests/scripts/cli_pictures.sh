#!/bin/bash
# SPDX-License-Identifier: MIT
# The pictures of README.md are what the program shows of docs/pictures/train.hatchet, and of a launch of the tests. With
# PROTON_GOLDEN=update they are made anew.
top=$(cd "${srcdir:-.}" && pwd) || exit 99
programs=$(cd "${builddir:-.}/tests/programs" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_window.sh"
pictures=$top/docs/pictures
export TZ=UTC
cp "$pictures/train.hatchet" .
"$programs/attention_warps" run.warps || exit 99

# picture FILE NAME WIDTHxHEIGHT "TEXT" KEY...: the screen of a file after these keys, which shows the text.
picture() {
	local file=$1 name=$2 size=$3 text=$4
	shift 4
	rm -f proton-screen-*.svg
	window "$size" "$PROTON view $file"
	see "$name: the profile" "M-4"
	[ $# = 0 ] || keys "$@"
	see "$name: the panel" "$text"
	keys p
	see "$name: what it can be written as" "a picture"
	keys Down Down Enter
	see "$name: written" "this screen is in"
	keys Q
	if [ "${PROTON_GOLDEN-}" = update ]; then
		cp proton-screen-*.svg "$pictures/$name.svg"
	fi
	check "$name is what the screen shows" same "$(cmp -s proton-screen-*.svg "$pictures/$name.svg" && echo same || echo another)"
	check "README.md shows $name" 1 "$(grep -c "docs/pictures/$name.svg" "$top/README.md")"
}

picture train.hatchet tree 110x30 "train_step"
picture train.hatchet flame 110x24 "itself" 9
picture train.hatchet roofline 110x30 "flop/B" 0
picture run.warps warps 110x30 "stands out" L Enter
finish
