#!/bin/bash
# SPDX-License-Identifier: MIT
# What README.md shows of docs/pictures/train.hatchet is what the program prints of it: numbers of one
# run. With PROTON_GOLDEN=update it is written anew.
export LC_ALL=C.UTF-8 TZ=UTC PROTON_PAGER=
top=$(cd "${srcdir:-.}" && pwd) || exit 99
. "$top/tests/tools/cli_help.sh"
[ "${PROTON_GOLDEN-}" = update ] && update=$top/README.md
cd "$top" || exit 99 # as who reads it does
cat >"$work/samples.py" <<'P'
"""Runs the samples of a text: `$ proton ... FILE` and its output, to the end of the block."""
import subprocess, sys

text, command, update = open(sys.argv[1]).read(), sys.argv[2], sys.argv[3:]
parts = text.split("```\n")
n = 0
for i, part in enumerate(parts):
    line, _, shown = part.partition("\n")
    if not (line.startswith("$ proton ") and line.endswith(" docs/pictures/train.hatchet")):
        continue
    n += 1
    words = '"$0" ' + line[len("$ proton "):]
    printed = subprocess.run(["sh", "-c", words, command], stdout=subprocess.PIPE, text=True).stdout.rstrip("\n") + "\n"
    print(line, "same" if update or printed == shown else "another:\n" + printed)
    parts[i] = line + "\n" + printed
print(n)
if update:
    open(update[0], "w").write("```\n".join(parts))
P
python3 "$work/samples.py" README.md "$PROTON" ${update:+"$update"} >"$work/out"
check "they are three" 3 "$(tail -1 "$work/out")"
check "what they show is what is printed" "" "$(grep -v ' same$' "$work/out" | sed '$d')"
finish
