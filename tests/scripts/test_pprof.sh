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
zlib=$(grep 'define HAVE_ZLIB 1' "$here/config.h")
export PPROF_TMPDIR=$PWD HOME=$PWD

for profile in chrome/torch.json chrome/h200-torch-graph.json hatchet/upstream-cuda.json \
	hatchet/h200-torch-add-python.hatchet wire/torch.tape; do
	"$PROTON" export -f pprof -m time -o p.pb.gz "$tests/$profile"
	"$PROTON" export -f folded -m time "$tests/$profile" >folded
	"${pprof[@]}" -symbolize=none -raw p.pb.gz >raw 2>err; check "$profile: read" 0 $?
	has "$profile: the unit" "time/nanoseconds" raw
	sed -n '/^Samples:/,/^Locations/p' raw | sed -n 's/^ *\([0-9]*\): \(.*[0-9]\) *$/\1 \2/p' |
		awk '{ print $1, NF - 1 }' | sort -n >got
	# A stack of pprof has no root; names may hold blanks and no semicolons.
	awk '{ n = $NF; sub(/ [0-9]+$/, ""); print n, gsub(/;/, ";") + 1 }' folded |
		grep -v '^0 ' | sort -n >want
	check "$profile: values and depths of all stacks" "" "$(diff want got | head -4)"
done

# All metrics in one file, each as it is alone; pprof begins with the time.
total() { # total TYPE: of the whole profile, in the unit of its numbers
	"${pprof[@]}" -symbolize=none -top -nodecount=1 -unit="$2" -sample_index="$1" all.pb.gz 2>/dev/null |
		sed -n 's/.*% of \([0-9]*\)[a-zA-Z]* total.*/\1/p'
}
for profile in chrome/torch.json hatchet/upstream-triton.json wire/torch.tape; do
	"$PROTON" export -f pprof -o all.pb.gz "$tests/$profile"
	"${pprof[@]}" -symbolize=none -raw all.pb.gz >raw 2>err; check "$profile: all metrics: read" 0 $?
	types=$(sed -n '/^Samples:/{n;p}' raw)
	has "$profile: begins with the time" 'time/nanoseconds[dflt]' raw
	for type in ${types//\[dflt\]/}; do
		name=${type%/*}
		want=$("$PROTON" export -f folded -m "$name" "$tests/$profile" | awk '{ s += $NF } END { print s }')
		case $type in */nanoseconds) unit=ns ;; *) unit=${type#*/} ;; esac
		[ "$unit" = bytes ] && unit=B
		check "$profile: the total of $type" "$want" "$(total "$name" "$unit")"
	done
	[ -n "$zlib" ] || continue
	# The names and numbers of pprof are those that we read there.
	"$PROTON" export -f folded all.pb.gz >again; "$PROTON" export -f folded "$tests/$profile" >folded
	check "$profile: read again" "" "$(diff folded again | head -4)"
done
"${pprof[@]}" -symbolize=none -top -unit=ns p.pb.gz >top 2>err; check "top" 0 $?
has "top: its total" "$(awk '{ s += $NF } END { print s }' folded)ns total" top
[ -n "$zlib" ] || { echo "skipped: what Go recorded: built without zlib"; finish; }
# What Go recorded has in our reading the total that it has in pprof.
GO=$tests/stacks/go-cpu.pb.gz
"${pprof[@]}" -symbolize=none -top -unit=ns "$GO" >top 2>err; check "Go: read" 0 $?
has "Go: the total" "$("$PROTON" export -f folded "$GO" | awk '{ s += $NF } END { print s }')ns total" top
for type in alloc_space inuse_space alloc_objects; do
	"${pprof[@]}" -symbolize=none -traces -unit=B -sample_index=$type "$tests/stacks/go-heap.pb.gz" 2>/dev/null |
		sed -n 's/^ *\([0-9][0-9]*\)B* .*/\1/p' | awk '{ s += $1 } END { print s }' >want
	check "Go: $type" "$(cat want)" \
		"$("$PROTON" export -f folded -m "$("$PROTON" list "$tests/stacks/go-heap.pb.gz" | grep -o "^$type\( (B)\)*")" \
			"$tests/stacks/go-heap.pb.gz" | awk '{ s += $NF } END { print s }')"
done
finish
