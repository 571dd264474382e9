#!/bin/bash
# SPDX-License-Identifier: MIT
# Calling contexts of compiled code (--context native): of programs whose stacks are known.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
build=$(dirname "$PROTON")
libs=$build/tests/mocks/.libs
app=$build/tests/programs/native_app
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
[ "$(uname -m)" = x86_64 ] || { echo "skipped: stacks of $(uname -m) are not known"; exit 77; }
if grep -q 'define PROTON_SANITIZED 1' "$build/config.h"; then
	echo "skipped: the programs of this build load no collector"
	exit 77
fi
named=$(grep -c 'define HAVE_LIBDW 1' "$build/config.h")
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
cuda=$libs/libcuda.so.1
# A wrapper of libtool's is another program.
[ ! -e "$build/tests/programs/.libs/native_app" ] || app=$build/tests/programs/.libs/native_app

record() { timeout 120 "$PROTON" record -q --context native "${options[@]}" -o p.hatchet -- "$@" >out 2>err; echo $?; }
options=()
# "COUNT KERNEL: PATH" of each path, sorted. What is said of lines is left out, unless it is asked for.
paths() {
	"$PROTON" export -f json "${2:-p.hatchet}" | python3 -c '
import json, os, re, sys
p = json.load(sys.stdin)
node = {n["id"]: n for n in p["nodes"]}
def name(n):
    m = re.fullmatch(r"(.*):(\d+)@(.*)", n["name"])
    return (os.path.basename(m[1]) + ":" + m[3] if "lines" in sys.argv[1] else m[3]) if m else n["name"]
def path(n):
    return path(node[n["parent"]]) + [name(n)] if n["parent"] in node else []
all = {}
for n in p["nodes"]:
    if n["kind"] == "kernel":
        key = "%s: %s" % (n["name"], " ".join(path(n)[:-1]))
        all[key] = all.get(key, 0) + n["metrics"]["count"]
for key in sorted(all):
    print(all[key], key)
kinds = {n["kind"] for n in p["nodes"]} - {"root", "native", "kernel"}
print(*kinds, *["%s %d" % l for l in sorted(p["losses"].items()) if l[1] and l[0] not in ("pipe_full", "vanished")])' "${1:-}"
}
notes() { "$PROTON" export -f json p.hatchet | python3 -c 'import json, sys; print(*[n["text"] for n in json.load(sys.stdin)["notes"]], sep="\n")'; }

# ---- without names: as many frames, and no word of ours
check "status" 0 "$(record "$app" "$cuda" known)"
check "30 kernels" 30 "$("$PROTON" export -f json p.hatchet | python3 -c '
import json, sys
print(sum(n["metrics"].get("count", 0) for n in json.load(sys.stdin)["nodes"] if n["kind"] == "kernel"))')"
check "nothing is printed" "" "$(cat out err)"
if [ "$named" -eq 0 ]; then
	check "without libdw: said" "functions of compiled code have no names: proton was built without libdw" "$(notes)"
	check "without libdw: files and addresses" 1 "$(paths | grep -c '^10 inlined: .*native_app+0x')"
	finish
fi
check "nothing is noted" "" "$(notes)"

# ---- names, lines, inlined functions
check "known stacks" "20 inner: main known known_outer known_inner run_kernel
10 inlined: main known known_outer known_inlined run_kernel" "$(paths | sort -rn)"
check "with files" "10 inlined: native_app.c:main native_app.c:known native_app.c:known_outer native_app.c:known_inlined native_app.c:run_kernel" \
	"$(paths lines | grep inlined)"
line=$(grep -n 'run_kernel("inlined")' "$here/programs/native_app.c" | cut -d: -f1)
check "the line" 1 "$("$PROTON" export -f json p.hatchet | grep -c "native_app.c:$line@known_inlined\"")"

# ---- no debug information, and where it lies apart
cp "$app" stripped && objcopy --only-keep-debug stripped stripped.debug && objcopy --strip-debug stripped
check "without debug information: status" 0 "$(record ./stripped "$cuda" known)"
check "without debug information: functions" "20 inner: main known_outer known_inner run_kernel
10 inlined: main known_outer run_kernel" "$(paths | sort -rn | sed 's/main known known_outer/main known_outer/')"
strip stripped
check "stripped: status" 0 "$(record ./stripped "$cuda" known)"
check "stripped: what is exported has a name" "20 inner: stripped+ known_outer known_inner run_kernel
10 inlined: stripped+ known_outer run_kernel" "$(paths | sort -rn | sed 's/0x[0-9a-f]*//g; s/\(stripped+ \)*/\1/; s/main stripped+/stripped+/')"
# where known() begins, which the file still says for unwinding
begins=$(nm "$app" | sed -n 's/^0*\([0-9a-f]*\) . known$/stripped+0x\1/p')
check "stripped: others have the place where they begin" "$begins" \
	"$(paths | sed -n 's/^20 .* \(stripped+0x[0-9a-f]*\) known_outer .*/\1/p')"
mkdir .debug && mv stripped.debug .debug && objcopy --add-gnu-debuglink=.debug/stripped.debug stripped
check "debug information beside it: status" 0 "$(record ./stripped "$cuda" known)"
check "debug information beside it" "10 inlined: main known known_outer known_inlined run_kernel" "$(paths | grep inlined)"
cp "${app}_fp" .debug/stripped.debug
check "of another program: status" 0 "$(record ./stripped "$cuda" known)"
check "of another program: not taken" 0 "$(paths | grep -c known_inlined)"

# ---- a program that is another one by the time that its names are asked for
cp "$app" replaced
PROTON_FAKE='called native_take' record sh -c 'kill -STOP $PPID; ./replaced - known; cp "$0" ./replaced; kill -CONT $PPID' "${app}_fp" >/dev/null
check "a program that was replaced: addresses" 3 "$(paths | grep -c 'replaced+0x.*replaced+0x')"
check "and no wrong names" 0 "$(paths | grep -c known)"

# ---- frame pointers alone
check "frame pointers: status" 0 "$(record "${app}_fp" "$cuda" known)"
check "frame pointers" "20 inner: main known known_outer known_inner run_kernel
10 inlined: main known known_outer known_inlined run_kernel" "$(paths | sort -rn)"

# ---- depth
check "recursion: status" 0 "$(record "$app" "$cuda" recursion 40)"
check "40 calls of itself" "1 deep: main recursion$(printf ' recurse%.0s' $(seq 40)) run_kernel" "$(paths | sed -n 1p)"
check "nothing is noted" "" "$(notes)"
check "deep recursion: status" 0 "$(record "$app" "$cuda" recursion 2000)"
check "the innermost are shown" 1 "$(paths | grep -c '^1 deep: recurse recurse.* run_kernel$')"
check "and that is said" "some stacks of compiled code are deeper than 128 frames: of these the innermost are shown" "$(notes)"

# ---- threads, signals, fork
check "threads: status" 0 "$(record "$app" "$cuda" threads)"
check "threads" "800 threaded: work run_kernel" "$(paths | sed -n 1p)"
for stack in own other; do
	check "a signal's handler, $stack stack: status" 0 "$(record "$app" "$cuda" signal $stack)"
	check "a signal's handler, $stack stack" "10 handled: main on_signal be_signalled handler in_handler run_kernel" \
		"$(paths | sed -n 1p | sed 's/ [^ ]*raise[^ ]*//g; s/ [^ ]*pthread_kill[^ ]*//g; s/ libc.so.6+0x[0-9a-f]*//g')"
done
check "fork: status" 0 "$(PROTON_FAKE='called native_take' record "$app" - forked)"
check "fork" "1 called: main forked in_child run_kernel
1 called: main forked known_outer known_inlined run_kernel
2 called: main forked known_outer known_inner run_kernel" "$(paths | grep called | sed 's/forked forked/forked/')"

# ---- what cannot be followed
check "broken frame pointers: status" 0 "$(record "$app" "$cuda" trashed)"
check "broken frame pointers: all that is right" 6 "$(paths | awk '/trashed: .*in_trash run_kernel$/ { n += $1 } END { print n }')"
check "without other knowledge: status" 0 "$(record "${app}_fp" "$cuda" trashed)"
check "without other knowledge" 6 "$(paths | awk '/trashed: .*run_kernel$/ { n += $1 } END { print n }')"
check "another stack: status" 0 "$(record "$app" "$cuda" switched)"
check "another stack" 1 "$(paths | grep -c '^1 switched: .*in_switched run_kernel$')"

# ---- code that is made at run time: its map is read when its name is asked for, after the run at the latest
check "made at run time: status" 0 "$(PROTON_FAKE='called native_take' record sh -c 'kill -STOP $PPID
	"$0" - made "some function"; status=$?; kill -CONT $PPID; exit $status' "$app")"
check "made at run time" "1 called: main made some function in_made run_kernel" "$(paths | sed -n 1p)"
rm -f "$(cat out)"
check "not said: status" 0 "$(record "$app" "$cuda" made ""; rm -f "$(cat out)")"
check "not said: its address" 1 "$(paths | grep -c '^1 made: main made 0x[0-9a-f]* in_made run_kernel$')"
rm -f "$(cat out)"

# ---- libraries that come and go
check "plugins: status" 0 "$(record "$app" "$cuda" plugins "$libs/native_first.so" "$libs/native_second.so")"
check "plugins" "10 plugged: main plugins plugin_first in_plugin run_kernel
10 plugged: main plugins plugin_second in_plugin run_kernel" "$(paths | grep plugged)"

# ---- with others, and within a budget
options=(--budget 0.01%)
check "a budget: status" 0 "$(record "$app" "$cuda" known)"
check "a budget: all are counted" "30" "$(paths | awk '{ n += $1 } END { print n }')"
options=(--no-preload)
check "not preloaded: status" 0 "$(record "$app" "$cuda" known)"
check "not preloaded: said" "functions of compiled code are not in calling contexts: the collector is not preloaded" "$(notes)"
options=()

# ---- files that others read
check "a tape: status" 0 "$(record "$app" "$cuda" known)"
"$PROTON" export -f folded p.hatchet >folded
check "folded stacks" 1 "$(grep -c 'known_outer;.*known_inlined;.*run_kernel;inlined 10000\?' folded)"
finish
