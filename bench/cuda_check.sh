#!/bin/bash
# SPDX-License-Identifier: MIT
# cuda_check.sh [BUILD]: on a machine with a GPU, after `make cuda-programs`:
# runs each CUDA workload under the bare cupti backend and compares what it must have counted
# (`expect` lines) with what arrived (`got` lines). Exit status 0: all agree.
set -uo pipefail
build=${1:-.}/bench
probe=$(cd "$build" && pwd)/.libs/cupti_probe.so
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0 passed=0

# compare NAME: the lines of $out/expect against those of $out/got.
compare() {
	local line name want have bad=0
	while IFS= read -r line; do
		name=${line%%=*} want=${line#*=}
		have=$(sed -n "s/^got $name=//p" "$out/got" | tail -n 1)
		case $name in
		*_at_least)
			have=$(sed -n "s/^got ${name%_at_least}=//p" "$out/got" | tail -n 1)
			[ "${have:-0}" -ge "$want" ] || { echo "    $name: want $want, got ${have:-nothing}"; bad=1; } ;;
		*)
			[ "${have:-0}" = "$want" ] || { echo "    $name: want $want, got ${have:-nothing}"; bad=1; } ;;
		esac
	done < <(sed -n 's/^expect //p' "$out/stdout")
	return $bad
}

# check ATTRIBUTE COMMAND...
check() {
	local attribute=$1 status
	shift
	rm -f "$out"/*
	PROBE_ATTRIBUTE=$attribute PROBE_OUT=$out/got CUDA_INJECTION64_PATH=$probe \
		timeout 120 "$@" > "$out/stdout" 2> "$out/stderr"
	status=$?
	touch "$out/got"
	if [ $status = 0 ] && compare && ! grep -q '^got loss_\|^got wrong_thread=[1-9]' "$out/got"; then
		passed=$((passed + 1))
		echo "ok      attribute=$attribute ${*##*/}"
	else
		failed=$((failed + 1))
		echo "FAILED  attribute=$attribute ${*##*/} (exit status $status)"
		grep '^got loss_\|^got wrong\|^got note' "$out/got" | sed 's/^/    /'
		sed 's/^/    /' "$out/stderr" | tail -n 5
	fi
	grep -h '^maybe\|^result\|latency\|records_\|launches_c\|buffer_b\|^got device' "$out/stdout" "$out/got" |
		sed 's/^/        /'
}

for attribute in 0 1; do
	check $attribute "$build/cuda_copies"
	check $attribute "$build/cuda_copies" seed pinned async 2d sets
	check $attribute "$build/cuda_copies" managed htoh zero
	check $attribute "$build/cuda_copies" peer
	check $attribute "$build/cuda_threads" -n 20000
	check $attribute "$build/cuda_storm" -n 200000
	check $attribute "$build/cuda_storm_shared" -n 100000
	check $attribute "$build/cuda_storm" -n 50000 -t 4 -s 2
	for mode in global thread relaxed manual; do
		check $attribute "$build/cuda_graph" -m $mode -r 200 -o
	done
	check $attribute "$build/cuda_graph" -e
	check $attribute "$build/cuda_gpubound" -s 2
	# One launch ahead of the GPU, 10, 100 and 1,000 times a second: latency_p95.
	check $attribute "$build/cuda_gpubound" -s 4 -u 98000 -p 100000 -a 1000000
	check $attribute "$build/cuda_gpubound" -s 3 -u 9800 -p 10000 -a 1000000
	check $attribute "$build/cuda_gpubound" -s 3 -u 900 -p 1000 -a 1000000
	check $attribute "$build/cuda_driver"
	check $attribute "$build/cuda_driver" -f
	check $attribute "$build/cuda_driver" -d
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
