#!/bin/bash
# proton record and top as a part of a shell's work: the program's descriptors are its own, readers
# that leave, signals to groups, stopping and continuing, waits that are ended.
. "${srcdir:-.}/tests/cli_help.sh"
unset XDG_RUNTIME_DIR
export TMPDIR=$work/tmp
mkdir "$TMPDIR"
trap 'touch "$work/go"; rm -rf "$work"' EXIT
folders() { ls "$TMPDIR"; }
wait_go='while [ ! -e go ]; do sleep 0.05; done'
started() { rm -f go seen left status pid got; }

comes() { # comes "what" COMMAND…: it succeeds soon, of the job that was just started
	job=$!
	local what=$1; shift
	wait_for 10 "$@" && check "$what" yes yes || check "$what" yes no
}
end() { touch go; wait "$job"; check "$2: status" "$1" $?; } # end STATUS "what": of that job

# ---- nobody reads: what is printed ends, nothing else does
cat >unread.py <<'X'
# unread.py FD COMMAND…: with a pipe as its descriptor FD that nobody reads
import os, subprocess, sys
r, w = os.pipe()
os.close(r)
where = {("", "stdout", "stderr")[int(sys.argv[1])]: w}
s = subprocess.run(sys.argv[2:], **where).returncode
sys.exit(128 - s if s < 0 else s)
X
unread() { PROTON_FAKE="$fake;pause 50;repeat 6" python3 unread.py "$@" >out 2>err; echo $?; }
check "record: nobody reads stderr" 3 "$(unread 2 "$PROTON" record -v -o r.hatchet sh -c 'sleep 0.2; exit 3')"
check "the profile is there" 1 "$(grep -c gemm r.hatchet)"
check "no folder is left" "" "$(folders)"
check "record: a profile that nobody reads" 4 "$(unread 1 "$PROTON" record -o - sh -c 'sleep 0.2; exit 4')"
has "is said" "cannot write '/dev/stdout': Broken pipe" err
check "no folder is left by it" "" "$(folders)"
for how in "--batch 0" --json-lines; do
	rm -f t.hatchet
	check "top $how: nobody reads" 5 "$(unread 1 "$PROTON" top -i 0.05 $how -o t.hatchet sh -c 'sleep 0.3; exit 5')"
	check "top $how: the profile is there" 1 "$(grep -c gemm t.hatchet)"
	check "top $how: no folder is left" "" "$(folders)"
done
check "the program dies of SIGPIPE as ever" 141 "$(unread 1 "$PROTON" record -q -o r.hatchet python3 -c 'import os, signal
signal.signal(signal.SIGPIPE, signal.SIG_DFL); os.write(1, b"x")')"
"$PROTON" record -q -o r.hatchet sh -c 'trap "" TERM; grep SigIgn /proc/self/status' >out
sh -c 'trap "" TERM; grep SigIgn /proc/self/status' >out0
check "what it ignores is what it would ignore" "$(cat out0)" "$(cat out)"

finish
