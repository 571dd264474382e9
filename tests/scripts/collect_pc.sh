#!/bin/bash
# SPDX-License-Identifier: MIT
# Samples of code: by instruction below each calling context, with what is refused and lost.
cubins=$(cd "${srcdir:-.}/tests/cubins" && pwd)
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_pc
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so

record() { # record NAME OPTION ARGUMENTS...
	local name=$1 option=$2
	shift 2
	timeout 120 "$PROTON" record -q -o "$name" $option -- "$app" "$libs/libcuda.so.1" "$@" >out 2>err
	check "$name: status" 0 $?
}
# What was sampled: a path, how many, how many that waited, and one reason
sampled() { # sampled FILE REASON
	python3 - "$1" "$2" <<'END' | sort
import json, sys
def walk(n, path):
    m = n["metrics"]
    if m.get("num_samples"):
        print("/".join(path), m["num_samples"], m["num_stalled_samples"], m["stalled_" + sys.argv[2]])
    for c in n["children"]:
        walk(c, path + [c["frame"]["name"].split(" ")[0]])
walk(json.load(open(sys.argv[1]))[0], [])
END
}

# Of what was sampled in "k" three parts are of "a", and one of "b". What does not divide is carried, and with it goes who has one more.
divided() {
	sampled "$1" wait | awk '
		/^[ab]\/k/ { for (i = 2; i <= 4; i++) { n[substr($1, 3), i] += $i; a[substr($1, 3), i] += /^a/ ? $i : 0 }
			at[substr($1, 3)]; next }
		{ print }
		END {
			for (k in at) {
				for (i = 2; i <= 4; i++) { off = a[k, i] - n[k, i] * 3 / 4; if (off <= -2 || off >= 2) uneven = k }
				print k, n[k, 2], n[k, 3], n[k, 4]
				all += n[k, 2]; of_a += a[k, 2]
			}
			off = of_a - all * 3 / 4
			print (uneven == "" && off > -1 && off < 1 ? "evenly" : "uneven: " uneven " " of_a " of " all)
		}' | LC_ALL=C sort
}

record run.hatchet --pc-sampling
check "divided by time, and none is lost" "<samples/graphed/+0x0010 5 5 5
evenly
k/+0x0020 58 48 41
k/+0x0030 14 14 0
k/+0x1000 1 1 0" "$(divided run.hatchet)"
check "nothing is lost" "" "$(losses run.hatchet)"
record off.hatchet ""
check "off unless asked" "" "$(sampled off.hatchet wait)"
record exact.hatchet --pc-sampling=2^20,buffer=32MiB,exact exact
check "by launch" "a/k/+0x0020 40 40 40" "$(sampled exact.hatchet wait)"
sums() { sampled "$1" wait | awk '{s += $2} END {print s + 0}'; }
record contexts.hatchet --pc-sampling contexts
check "a context that ends before" 178 "$(sums contexts.hatchet)"
record unload.hatchet --pc-sampling unload
check "a module that is unloaded" 82 "$(sums unload.hatchet)"
record fork.hatchet --pc-sampling fork
check "beside a fork" 78 "$(sums fork.hatchet)"
record older.hatchet --pc-sampling older
check "a context that was made before: from its first launch on" "a/k/+0x0020 30 30 30" "$(sampled older.hatchet wait)"
has "a context that was made before: what is not known" "no lines are known" <("$PROTON" report older.hatchet)
record lag.hatchet --pc-sampling lag
check "samples that come after the record of their kernel" "a/k/+0x0020 30 30 30" "$(sampled lag.hatchet wait)"
record exec.hatchet --pc-sampling exec
check "exec() that fails: it goes on" "a/k/+0x0020 30 30 30" "$(sampled exec.hatchet wait)"
record cancel.hatchet --pc-sampling cancel
check "a thread that is cancelled as its context is made: others go on" "a/k/+0x0020 30 30 30" "$(sampled cancel.hatchet wait)"
check "… and nothing is lost" "" "$(losses cancel.hatchet)"
record asked.hatchet "" session
check "a session of the program's asks for them: its own file" "after/k/+0x0020 30 30 30" "$(sampled own.hatchet wait)"
check "… and the run's" "after/k/+0x0020 30 30 30" "$(sampled asked.hatchet wait)"
rm own.hatchet
PROTON_LIBRARY=$(dirname "$PROTON")/.libs/libproton.so.0 timeout 120 "$app" "$libs/libcuda.so.1" session >out 2>err
check "the same by itself: status" 0 $?
check "the same by itself" "after/k/+0x0020 30 30 30" "$(sampled own.hatchet wait)"
record again.hatchet --pc-sampling again
check "a context with the address of one that ended" 42 "$(sums again.hatchet)"
record capturing.hatchet --pc-sampling capturing
check "a stream is destroyed while it is captured" 30 "$(sums capturing.hatchet)"
record reused.hatchet --pc-sampling reused
check "later than their phase: not that which has its epoch now" "" "$(cat phases.part_*.hatchet | grep '"num_samples":')"
check "… but the run's" 30 "$(sums reused.hatchet)"
MOCK_CUPTI_PC=few record few.hatchet --pc-sampling
check "in portions" 78 "$(sums few.hatchet)"

record lines.hatchet --pc-sampling lines "$cubins/planted.cubin" _Z6callerPf
"$PROTON" report -m time,num_samples lines.hatchet >text
check "lines of a cubin" "/src/planted/planted.cu:33@_Z6callerPf
/src/planted/planted.cu:36@_Z6callerPf
/src/planted/planted.cu:38@_Z6callerPf
/src/planted/planted.cu:39@_Z6callerPf" "$(grep -o '/src/planted/[^ ]*' text | sort -u)"
"$PROTON" report lines.hatchet >text
check "no rows of code where no column asks" "" "$(grep -E '/src/planted/|\+0x' text)"

# proton is killed while the program goes on: the profile that it had saved has its code
mkfifo hold && exec 9<>hold
let_go() { { echo >&9; } 2>/dev/null; }
mkdir cut.hatchet.cubins
code=$(ls lines.hatchet.cubins/*.cubin); code=${code##*/}
echo "of a run before" >"cut.hatchet.cubins/$code"; touch -d 2001-01-01 "cut.hatchet.cubins/$code"
"$PROTON" record -q --save-interval 0.1 -o cut.hatchet --pc-sampling -- \
	sh -c '"$@"; touch over' - "$app" "$libs/libcuda.so.1" "lines, and goes on" "$cubins/planted.cubin" _Z6callerPf <hold >out 2>err 9>&- &
proton=$!
is_saved() { grep -q '"num_samples":' cut.hatchet 2>/dev/null; }
check "proton is killed: there was a profile with samples" 0 "$(wait_for 60 is_saved; echo $?)"
{ kill -9 "$proton"; wait "$proton"; } 2>/dev/null
check "proton is killed: its code is there, whole" "" "$(cmp "cut.hatchet.cubins/$code" "lines.hatchet.cubins/$code")"
check "… and nothing else" "$code" "$(ls -A cut.hatchet.cubins)"
"$PROTON" report --view source cut.hatchet >text
has "… and tells lines" "/src/planted/planted.cu" text
check "… and instructions, or what else is missing for these" 0 "$(grep -c "cubin of their kernel" text)"
let_go; exec 9>&-
check "proton is killed: the program goes on to its end" 0 "$(wait_for 60 test -e over; echo $?)"

timeout 120 "$PROTON" record -q -o limited.hatchet --pc-sampling -- \
	sh -c 'ulimit -f 4; "$@"' - "$app" "$libs/libcuda.so.1" lines "$cubins/planted.cubin" _Z6callerPf >out 2>err
check "files may not be as large as the cubin: the program lives" 0 $?
check "… its samples are there" 136 "$(sums limited.hatchet)"
check "… and its code is lost" "cubins_unkept=1" "$(losses limited.hatchet)"
MOCK_CUPTI_PC=35 record refused.hatchet --pc-sampling
has "refused" "not sampled: the driver keeps hardware counters for administrators: it takes CAP_SYS_ADMIN" <("$PROTON" report refused.hatchet)
check "time is measured nevertheless" 0 "$(sums refused.hatchet)"
MOCK_CUPTI_PC=26 record busy.hatchet --pc-sampling
has "busy" "another tool has the hardware counters" <("$PROTON" report busy.hatchet)
MOCK_CUPTI_PC=dropped record dropped.hatchet --pc-sampling
has "dropped" "5" <(losses dropped.hatchet)
MOCK_CUPTI_PC=full record full.hatchet --pc-sampling full
check "full: what followed is lost" 0 "$(sums full.hatchet)"
has "full: what to do" "ask for fewer, such as --pc-sampling=2^20" <("$PROTON" report full.hatchet)
for value in 7 2^4 2^32 2^18, buffer=0 exactly; do
	"$PROTON" record "--pc-sampling=$value" -- true >out 2>err
	check "$value: refused" 2 $?
done
"$PROTON" record --pc-sampling --counters -- true >out 2>err
check "with --counters: status" 2 $?
has "with --counters: why" "pc-sampling and --counters" err
"$PROTON" record --pc-sampling --metrics dram__bytes.sum -- true >out 2>err
check "with --metrics: status" 2 $?
has "with --metrics: why" "pc-sampling and --metrics" err
timeout 120 "$PROTON" record --pc-sampling -o said.hatchet -- "$app" "$libs/libcuda.so.1" >out 2>err
has "the summary says where they are" "'proton report --view source said.hatchet' says where kernels waited" err
finish
