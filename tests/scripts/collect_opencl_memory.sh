#!/bin/bash
# SPDX-License-Identifier: MIT
# What a program allocates and releases by OpenCL, over the installed loader and whatever device there is.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
app=$(dirname "$PROTON")/tests/programs/opencl_memory
export LC_ALL=C.UTF-8
[ -w "${HOME:-/}" ] || export POCL_CACHE_DIR=$PWD/pocl
# The program leaves a buffer on purpose.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
[ -e "$app" ] || { echo "built without OpenCL"; exit 77; }
"$app" none >out 2>&1
[ $? -ne 77 ] || { echo "no OpenCL platform (Debian: pocl-opencl-icd)"; exit 77; }

run() {
	timeout 120 "$PROTON" record -q -o "$1.hatchet" "${@:2}" -- "$app" "$1" >out 2>err
	check "$1: status" 0 $?
	"$PROTON" export -f json "$1.hatchet" | python3 "$tests/tools/memory_tree.py" | sed "s/ from opencl_memory//" >"$1.tree"
	check "$1: nothing is lost" "[]" "$(grep '^\[' "$1.tree")"
}

run kinds
[ -s out ] || check "of each kind, by context" "\
alloc array peak=8192
alloc device peak=98304
alloc pinned peak=16384
alloc svm peak=32768
host/alloc pinned n=1 bytes=16384 freed_n=1 freed=16384 peak=16384 at_peak=16384
image/alloc array n=1 bytes=8192 freed_n=1 freed=8192 peak=8192 at_peak=8192
image/alloc device n=1 bytes=4096 freed_n=1 freed=4096 peak=4096
kept/alloc device n=1 bytes=16384 live=16384 peak=16384
referred/alloc device n=2 bytes=98304 freed_n=2 freed=98304 peak=98304 at_peak=98304
svm/alloc svm n=2 bytes=32768 freed_n=2 freed=32768 peak=32768 at_peak=32768" "$(grep -v '^\[' kinds.tree)"
"$PROTON" report --view memory kinds.hatchet >report
has "all of a kind" "16.4K  98.3K" report
has "what is left" "kept › alloc device" report
hasnt "nothing about CUDA's unified memory" "--unified" report

# Handles that go from thread to thread.
run threads
check "threads: all of it" "churn/alloc device n=16000 bytes=16384000 freed_n=16000 freed=16384000" \
	"$(grep '^churn' threads.tree | sed 's/ peak=.*//')"

if grep -q 'define PROTON_SANITIZED 1' "$(dirname "$PROTON")/config.h" 2>/dev/null; then
	echo "skipped: a forked child waits for locks of the sanitizer that others held"
else
	run forks
	check "a fork child has none of it" "\
alloc device peak=5120
parent/alloc device n=2 bytes=5120 live=5120 peak=5120 at_peak=5120" "$(grep -v '^\[' forks.tree)"
fi

run kinds --no-memory
check "without" "[]" "$(cat kinds.tree)"
finish
