#!/bin/bash
# SPDX-License-Identifier: MIT
# Profiles for pprof, read by Google's pprof itself: every stack and its value is there. PPROF names
# the program; else pprof or "go tool pprof" is looked for.
. "${srcdir:-.}/tests/tools/cli_help.sh"
here=$OLDPWD
case ${srcdir:-.} in /*) tests=$srcdir/tests ;; *) tests=$here/${srcdir:-.}/tests ;; esac
if [ -n "${PPROF:-}" ]; then
	pprof=("$PPROF")
elif command -v pprof >/dev/null && pprof --help 2>&1 | grep -q 'symbolize='; then
	pprof=(pprof)
elif command -v go >/dev/null && go tool pprof --help 2>&1 | grep -q 'symbolize='; then
	pprof=(go tool pprof)
else
	echo "skipped: there is no pprof (Go's, or github.com/google/pprof)"
	exit 77
fi
export PPROF_TMPDIR=$PWD HOME=$PWD

for profile in chrome/torch.json chrome/h200-torch-graph.json hatchet/upstream-cuda.json \
	hatchet/h200-torch-add-python.hatchet wire/torch.tape; do
	"$PROTON" export -f pprof -o p.pb.gz "$tests/$profile"
	"$PROTON" export -f folded "$tests/$profile" >folded
	"${pprof[@]}" -symbolize=none -raw p.pb.gz >raw 2>err; check "$profile: read" 0 $?
	has "$profile: the unit" "time/nanoseconds" raw
	sed -n '/^Samples:/,/^Locations/p' raw | sed -n 's/^ *\([0-9]*\): \(.*[0-9]\) *$/\1 \2/p' |
		awk '{ print $1, NF - 1 }' | sort -n >got
	# A stack of pprof has no root; names may hold blanks and no semicolons.
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); print n, gsub(/;/, ";") + 1 }' folded |
		grep -v '^0 ' | sort -n >want
	check "$profile: values and depths of all stacks" "" "$(diff want got | head -4)"
done
"${pprof[@]}" -symbolize=none -top -unit=ns p.pb.gz >top 2>err; check "top" 0 $?
has "top: its total" "$(awk '{ s += $NF } END { print s }' folded)ns total" top
finish
