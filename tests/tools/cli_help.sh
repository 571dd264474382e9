# Helpers of the command-line tests. Each check prints one line; failures are counted.
set -u
builddir=${builddir:-.}
PROTON=${PROTON:-$builddir/proton}
case $PROTON in /*) ;; *) PROTON=$PWD/$PROTON ;; esac
unset PROTON_FAKE PROTON_SESSION PROTON_LIBRARY OPENCL_LAYERS OMP_TOOL_LIBRARIES CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
. "$(dirname "${BASH_SOURCE[0]}")/checks.sh"
export XDG_CONFIG_HOME=$work/.config # not the settings of whoever runs the tests
export work # what is left running ends with it
# Processes with this folder among their variables: whatever was started here, in whatever session.
left() {
	local file
	for file in $(grep -lzsxF -- "work=$work" /proc/[0-9]*/environ); do
		[ ! -e "$file" ] || basename "${file%/environ}" # that grep is no more
	done
}
none_left() { [ -z "$(left)" ]; }
# What makes that end which waits for something but the folder; tests have their own.
let_go() { :; }
at_end() { # at_end STATUS: no test leaves a process behind
	local status=$1 pid
	let_go
	cd / && rm -rf "$work"
	wait_for 30 none_left || for pid in $(left); do
		echo "FAILED: left behind: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline")"
		kill -KILL "$pid"
		status=1
	done
	exit "$status"
}
trap 'at_end $?' EXIT
fake='kernel gemm 1000 10;kernel relu 500 3;copy HtoD pinned 4096 1000;copy HtoD pinned 4096 1000;copy DtoH pageable 100 50;set device 64 10'

# wait_for SECONDS command…: until it succeeds. That long on a machine of our own; on one that others
# load it gives up after ten times as long, which only a test that fails ever waits.
wait_for() {
	local end=$(($(date +%s) + 10 * $1)); shift
	until "$@" >/dev/null 2>&1; do
		[ "$(date +%s)" -lt "$end" ] || return 1
		read -r -t 0.05 _ <> <(:) || :
	done
}
# steadily command…: times on two clocks say nothing where one of them was set meanwhile. It is run again then, a few times:
# on some machines they never agree.
steadily() {
	local turn before moved status
	for turn in 1 2 3; do
		before=$("$(dirname "$PROTON")/tests/programs/clock_ahead") || return 99
		"$@"
		status=$?
		moved=$(($("$(dirname "$PROTON")/tests/programs/clock_ahead") - before))
		[ ${moved#-} -ge 5000 ] || break
		echo "the clock was set by $moved ns meanwhile: $*"
	done
	return $status
}
# Does it need at most so many MB to report a file? needs_at_most MB FILE. Not asked of a build with a
# sanitizer, which keeps what was freed.
needs_at_most() {
	python3 -c '
import resource, subprocess, sys
subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
if not any(b in open(sys.argv[2], "rb").read() for b in (b"__asan_init", b"__tsan_init")) and mb > int(sys.argv[1]):
    sys.exit("%d MB" % mb)' "$1" "$PROTON" report "$2"
}
# The losses that are losses: losses FILE
losses() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
lost = json.load(sys.stdin)["losses"]
print(" ".join("%s=%d" % l for l in lost.items() if l[1] and l[0] not in ("pipe_full", "wire_gaps")))'
}
# Value of a metric summed over the nodes of a name: metric FILE NAME METRIC
metric() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
p = json.load(sys.stdin)
print(sum(n["metrics"].get(sys.argv[2], 0) for n in p["nodes"] if n["name"] == sys.argv[1]))' "$2" "$3"
}
