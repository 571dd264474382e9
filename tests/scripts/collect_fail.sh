#!/bin/bash
# The N-th allocation, file or thread that the collector asks for fails, for N = 0, 1, 2 … until
# nothing fails any more: the program does not notice.
. "${srcdir:-.}/tests/tools/cli_help.sh"
top=$(dirname "$PROTON")
libs=$top/tests/mocks/.libs
shim=$libs/collect_fail.so
cuda=$libs/libcuda.so.1
[ -e "$shim" ] || { echo "no $shim"; exit 77; }
case $(ldd "$top/.libs/libproton.so" 2>/dev/null) in *asan*|*tsan*) echo "the sanitizer has malloc"; exit 77 ;; esac
export script=
export PROTON_CUPTI_PATH=$libs/mock_cupti.so

run() { # run N COMMAND…: status, stdout and stderr in `out`
	local n=$1; shift
	rm -f mark
	fail_at=$n shim=$shim mark=$PWD/mark timeout 120 "$PROTON" record -q -o f.hatchet -- sh -c '
		export LD_PRELOAD=$shim:$LD_PRELOAD COLLECT_FAIL_AT=$fail_at COLLECT_FAIL_MARK=$mark
		[ -z "$script" ] || export PROTON_FAKE=$script
		exec "$@"' sh "$@" >out 2>&1
	echo "status $?" >>out
	sed -i 's/, profiled$//' out
}
torture() { # torture "what" COMMAND…
	local what=$1 n=0 wanted; shift
	wanted=$("$@" 2>&1; echo "status $?")
	while :; do
		run "$n" "$@"
		if [ "$(cat out)" != "$wanted" ]; then
			check "$what: allocation $n" "$wanted" "$(cat out)"
			break
		fi
		[ -e mark ] || break
		n=$((n + 1))
		[ "$n" -lt 400 ] || { check "$what: comes to an end" yes no; break; }
	done
	[ "$n" -gt 5 ] || check "$what: something failed" "more than 5" "$n"
	echo "ok: $what: each of $n allocations failed once"
}
torture "CUDA" "$top/tests/programs/collect_app" "$cuda" return 2 50 scopes
torture "scopes" "$top/examples/scopes" 1
script=$fake torture "fake" sleep 0.01
export COLLECT_FAIL_ON=1
torture "CUDA, all that follow" "$top/tests/programs/collect_app" "$cuda" exit 2 50 scopes
finish
