#!/bin/bash
# SPDX-License-Identifier: MIT
# The pictures of README.md are what the program shows of docs/pictures/train.hatchet. With
# PROTON_GOLDEN=update they are made anew.
top=$(cd "${srcdir:-.}" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_window.sh"
pictures=$top/docs/pictures
export TZ=UTC
cp "$pictures/train.hatchet" .

# picture NAME WIDTHxHEIGHT "TEXT" KEY...: the screen after these keys, which shows the text.
picture() {
	local name=$1 size=$2 text=$3
	shift 3
	rm -f proton-screen-*.svg
	window "$size" "$PROTON view train.hatchet"
	see "$name: the profile" "M-4:"
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

picture tree 110x30 "train_step"
picture flame 110x24 "itself" 9
picture roofline 110x30 "flop/B" 0
finish
