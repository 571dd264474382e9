#!/bin/bash
# SPDX-License-Identifier: MIT
# Annotated source: lines with samples, instructions below them, with and without what is needed for either.
tests=$(cd "${srcdir:-.}/tests" && pwd)
. "$tests/tools/cli_help.sh"
planted=$tests/cubins
mkdir cubins none tools
cp "$planted/planted.cubin" cubins/0000000000001234.cubin
cp "$planted/gather.json" run.json
# Nothing that is installed here is found.
export PATH=$PWD/tools:/usr/bin:/bin CUDA_HOME=$PWD/none CUDA_PATH=$PWD/none CONDA_PREFIX=$PWD/none

fake() { # fake COMMANDS: what stands in for nvdisasm
	printf '#!/bin/sh\n%s\n' "$1" >tools/nvdisasm
	chmod +x tools/nvdisasm
}
source_of() { "$PROTON" report --width 0 --view source --cubins cubins --source-path "$planted" "$@" run.json; }
# The row of a place: what is behind it, single blanks.
row() { awk -v p="$1" '{for (i = 1; i <= NF; i++) if ($i == p) {print; exit}}' | sed 's/  */ /g; s/^ //; s/ $//'; }

fake "echo \"\$*\" >asked; cat '$planted/planted.sass'"
source_of >all
check "a file that is there: no more than its name" 0 "$(grep -c "planted.cu  (not found" all)"
"$PROTON" report --width 0 --view source --cubins cubins run.json >nowhere
has "a file that is not there: who looks for it" "/src/planted/planted.cu  (not found: view and report take --source-path FOLDER)" nowhere
check "the line and why" "hottest: /src/planted/planted.cu:6, 93.8 %: waits for global or local memory (long scoreboard)" \
	"$(grep ^hottest all)"
check "a line with samples" "953 93.8 5.2 long scoreboard 89, wait 11 > 6 return table[at] * 2.0f;" "$(row 6 <all)"
check "a line without" "20 }" "$(row 20 <all)"
check "an instruction, and where it was inlined" \
	"23 2.3 87.0 long scoreboard 100 +0x00d0 LDG.E R2, desc[UR4][R2.64] (weight, from line 11 of scaled, from line 19 of gather)" \
	"$(row +0x00d0 <all)"
check "one of no line" "1 0.1 100.0 - +0x0130 BRA \`(.L_x_0)" "$(row +0x0130 <all)"
check "in the order of lines" "6 18 19" "$(awk '$1 ~ /^[0-9]+$/ {for (i = 2; i <= NF; i++) if ($i == "return" || $i == "if" || $i == "out[at]") print $(i - 1)}' all | xargs)"
check "what is asked for" "-c -fun 20 cubins/0000000000001234.cubin" "$(cat asked)"
check "what reasons mean" 1 "$(grep -c '^long scoreboard: waits for global or local memory. ' all)"

# ---- for programs
source_of --json >all.json
check "json" "1016 gather /src/planted/planted.cu 6 953 803 | LDG.E R2, desc[UR4][R2.64] scaled 11 gather 19 23" \
	"$(python3 - <<'END'
import json
s = json.load(open("all.json"))
assert (s["schema"], s["version"], s["no_instructions"]) == ("proton-source", 1, None), s
f = s["functions"][0]
line = f["lines"][f["hottest"]]
i = line["instructions"][0]
assert sum(n["samples"] for n in f["lines"]) == f["samples"] == sum(f["reasons"].values())
assert line["source"] == "\treturn table[at] * 2.0f;", line
print(s["samples"], f["short"], line["file"], line["line"], line["samples"], line["reasons"]["long_scoreboard"], "|",
      i["text"], *(w for n in i["inlined_in"] for w in (n["function"][3:9], n["line"])), i["samples"])
END
)"
"$PROTON" report --json run.json >out 2>err
check "json of another view: refused" 2 $?

# ---- what is missing is said, and the rest is there
rm tools/nvdisasm
if ! ls /usr/local/cuda*/bin/nvdisasm /opt/cuda/bin/nvdisasm /usr/bin/nvdisasm /bin/nvdisasm >/dev/null 2>&1; then
	check "without nvdisasm" "(instructions by their offset alone: nvdisasm is not installed (it comes with CUDA))" \
		"$(source_of | tail -1)"
fi
fake "cat '$planted/planted.sass'"
check "without the cubin" "(instructions by their offset alone: the cubin of their kernel is not there)" \
	"$(source_of --cubins none | tail -1)"
# wrong NAME COMMAND WHY: in a folder of its own each cubin is what the command makes of it
wrong() {
	rm -rf wrong && cp -r cubins wrong && (cd wrong && for cubin in *.cubin; do eval "$2"; done)
	check "$1" "(instructions by their offset alone: $3)" "$(source_of --cubins wrong | tail -1)"
}
wrong "a cubin that is none" 'echo nothing >"$cubin"' "what should be the cubin of their kernel is none, or damaged"
wrong "a cubin that is a folder" 'rm "$cubin"; mkdir "$cubin"' "the cubin of their kernel cannot be read: Is a directory"
check "without the source" "953 93.8 5.2 long scoreboard 89, wait 11 > 6" \
	"$("$PROTON" report --width 0 --view source --cubins cubins run.json | row 6)"
check "without samples" "no samples of where kernels were: run with --pc-sampling" \
	"$("$PROTON" report --view source "$tests/hatchet/literal.hatchet" | tail -1)"

# ---- a disassembler that is none
fake "printf '\\t.section .text._Z6gatherPfPKfi,\"ax\"\\n /*00d0*/ LDG\\033[2J\\007 ;\\n'; cat '$planted/planted-12.cubin'; kill -9 \$\$"
source_of >hostile
check "steers no terminal" 0 "$(tr -d '\n\t -~' <hostile | LC_ALL=C tr -d '\200-\377' | wc -c)"
check "what it said before it died" "23 2.3 87.0 long scoreboard 100 +0x00d0 LDG?[2J? (weight, from line 11 of scaled, from line 19 of gather)" \
	"$(row +0x00d0 <hostile)"
check "it died" "(instructions by their offset alone: nvdisasm does not know this chip's code, or failed)" "$(tail -1 hostile)"

# ---- the code of a run is kept beside its profile, and nothing else that lies there
ln -s /etc/passwd link
PROTON_FAKE='kernel relu 500 3' timeout 120 "$PROTON" record -q -o kept.hatchet -- sh -c "
cp cubins/* \"\$PROTON_SESSION\"; cp link \"\$PROTON_SESSION/other.cubin\"; ln -s /etc/passwd \"\$PROTON_SESSION/00000000000000ff.cubin\"" 2>err
check "cubins are kept" "0000000000001234.cubin" "$(ls kept.hatchet.cubins)"
check "whole" 0 "$(cmp cubins/0000000000001234.cubin kept.hatchet.cubins/0000000000001234.cubin; echo $?)"
check "what is no file is told of" 1 "$(grep -c "cannot keep the code that was sampled in 'kept.hatchet.cubins': Too many levels of symbolic links" err)"
PROTON_FAKE='kernel relu 500 3' timeout 120 "$PROTON" record -q -o plain.hatchet -- true
check "no samples, no folder" "no" "$([ -e plain.hatchet.cubins ] && echo yes || echo no)"

# ---- from the collector to the lines: what was planted at the instructions of line 33 is told of it
libs=$(dirname "$PROTON")/tests/mocks/.libs
if [ -e "$libs/mock_cupti.so" ]; then
	PROTON_CUPTI_PATH=$libs/mock_cupti.so timeout 120 "$PROTON" record -q -o run.hatchet --pc-sampling -- \
		"$(dirname "$PROTON")/tests/programs/collect_pc" "$libs/libcuda.so.1" lines "$planted/planted.cubin" _Z6callerPf 2>err
	check "recorded" 0 $?
	"$PROTON" report --width 0 --view source --source-path "$planted" run.hatchet >all
	check "where most samples were planted" "hottest: /src/planted/planted.cu:33, 51.5 %: waits the fixed time of the instruction before (wait)" \
		"$(grep ^hottest all)"
	check "with its text" "70 51.5 0.0 wait 100 > 33 return x * x + sqrtf(x);" "$(row 33 <all)"
	check "its instructions, by the cubin beside the profile" \
		"$(printf '12 0x00b0\n13 0x00c0\n14 0x00d0\n15 0x00e0\n16 0x00f0')" \
		"$(awk '$6 == ">" {on = 1; next} on && $6 !~ /^\+/ {exit} on {print $1, substr($6, 2)}' all)"
fi

# ---- instructions are kept with the cubins when the run ends: who looks at it needs no nvdisasm
if [ -e "$libs/mock_cupti.so" ]; then
	sampled_run() { # sampled_run FILE
		PROTON_CUPTI_PATH=$libs/mock_cupti.so timeout 120 "$PROTON" record -q -o "$1" --pc-sampling -- \
			"$(dirname "$PROTON")/tests/programs/collect_pc" "$libs/libcuda.so.1" lines "$planted/planted.cubin" _Z6callerPf 2>err
		check "$1: recorded" 0 $?
	}
	instructions() { awk '$6 ~ /^\+/ {$1 = $2 = $3 = $4 = $5 = ""; print}' | sed 's/^ *//'; }

	fake "echo \"\$*\" >>asked; cat '$planted/planted.lines'"
	rm -f asked
	sampled_run sass.hatchet
	check "each function is printed once" "-c -fun" "$(cut -d' ' -f1,2 asked)"
	check "beside its cubin" "$(ls sass.hatchet.cubins | sed 's/\..*//' | uniq)" "$(ls sass.hatchet.cubins/*.sass | sed 's/.*\///; s/\..*//')"
	check "what was sampled, and nothing else" "_Z6callerPf" "$(awk '$1 == "function" {print $3}' sass.hatchet.cubins/*.sass)"
	"$PROTON" report --width 0 --view source --source-path "$planted" sass.hatchet >with
	fake 'exit 1'
	"$PROTON" report --width 0 --view source --source-path "$planted" sass.hatchet >without
	check "the same by what was kept" "" "$(diff with without)"
	check "with texts" "+0x00b0 $(grep -A 1000 'text._Z6callerPf,' "$planted/planted.lines" | sed -n 's/.*\/\*00b0\*\/ *\(.*[^ ]\) *;.*/\1/p' | head -1)" \
		"$(instructions <without | grep '^+0x00b0' | sed 's/  *(.*//')"
	rm sass.hatchet.cubins/*.cubin
	check "without the cubin, too" "$(instructions <with | sed 's/  *(.*//')" \
		"$("$PROTON" report --width 0 --view source sass.hatchet | instructions | sed 's/  *(.*//')"

	fake "cat '$planted/planted.lines'"
	PROTON_CUPTI_PATH=$libs/mock_cupti.so timeout 120 "$PROTON" record -q -o taped.hatchet --tape run.tape --pc-sampling -- \
		"$(dirname "$PROTON")/tests/programs/collect_pc" "$libs/libcuda.so.1" lines "$planted/planted.cubin" _Z6callerPf 2>err
	fake 'exit 1'
	check "beside a tape, too" "$(instructions <with | sed 's/  *(.*//' | sort)" \
		"$("$PROTON" report --width 0 --view source run.tape | instructions | sed 's/  *(.*//' | sort)"

	# Profiles that become one: code of both, and instructions that only one of them has.
	fake "cat '$planted/planted.lines'"
	sampled_run first.hatchet
	sampled_run other.hatchet
	rm other.hatchet.cubins/*
	cp first.hatchet.cubins/*.cubin other.hatchet.cubins/0000000000000abc.cubin
	PROTON_FAKE='kernel relu 500 3' timeout 120 "$PROTON" record -q -o later.hatchet -- true
	kept=$(basename first.hatchet.cubins/*.sass)
	printf 'function 1 b\n0 EXIT\nfunction 1 _Z6callerPf\n0 WRONG\nfunction 2 cut\n0 EXIT\n' >other.hatchet.cubins/$kept
	"$PROTON" merge -o both.hatchet first.hatchet other.hatchet plain.hatchet 2>err
	check "merged: no word" "" "$(cat err)"
	check "merged: all cubins" "$(cd first.hatchet.cubins && ls ../other.hatchet.cubins/*.cubin *.cubin *.sass | sed 's/.*\///' | sort)" "$(ls both.hatchet.cubins | sort)"
	check "merged: each function once, if it is whole" "$(cat first.hatchet.cubins/$kept; printf 'function 1 b\n0 EXIT\n')" "$(cat both.hatchet.cubins/$kept)"
	"$PROTON" merge -o both.hatchet both.hatchet later.hatchet
	check "merged into one of them: it stays" "$(cat first.hatchet.cubins/$kept; printf 'function 1 b\n0 EXIT\n')" "$(cat both.hatchet.cubins/$kept)"
	"$PROTON" merge -o both.csv first.hatchet plain.hatchet
	"$PROTON" merge -o - first.hatchet plain.hatchet >/dev/null
	check "merged into what is not looked at again: none" "" "$(ls -d both.csv.cubins -- -.cubins /dev/stdout.cubins 2>/dev/null)"
	"$PROTON" merge -o without.hatchet plain.hatchet later.hatchet
	check "merged without samples: no folder" no "$([ -e without.hatchet.cubins ] && echo yes || echo no)"
	: >locked.hatchet.cubins
	"$PROTON" merge -o locked.hatchet first.hatchet plain.hatchet 2>err
	check "merged where no folder can be: the profile is there, and a sentence" "0 1" "$? $(grep -c "cannot keep the code that 'first.hatchet.cubins' has beside 'locked.hatchet': Not a directory" err)"

	# A session's own file has its code beside it, also of a program that profiles itself.
	by_itself() { PROTON_CUPTI_PATH=$libs/mock_cupti.so timeout 120 "$@" "$(dirname "$PROTON")/tests/programs/collect_pc" "$libs/libcuda.so.1" "session lines" "$planted/planted.cubin" _Z6callerPf 2>err; }
	rm -rf own.hatchet*
	by_itself "$PROTON" record -q -o run.hatchet --pc-sampling --
	check "a session: status" 0 $?
	check "a session: its code, and instructions" "$(ls first.hatchet.cubins)" "$(ls own.hatchet.cubins)"
	check "a session: lines and texts" "$(instructions <with | sed 's/  *(.*//' | sort)" \
		"$("$PROTON" report --width 0 --view source own.hatchet | instructions | sed 's/  *(.*//' | sort)"
	rm -rf own.hatchet* run.hatchet*
	by_itself "$PROTON" record -q -o run.hatchet --
	check "a session that asks by itself: beside both" "$(ls first.hatchet.cubins; ls first.hatchet.cubins)" "$(ls run.hatchet.cubins; ls own.hatchet.cubins)"
	rm -rf own.hatchet* run.hatchet*
	ls -d ./*.cubins >before
	PROTON_LIBRARY=$(dirname "$PROTON")/.libs/libproton.so.0 by_itself
	check "a program that profiles itself: beside its file alone" ./own.hatchet.cubins "$(ls -d ./*.cubins | comm -13 before -)"
	check "… all of it" "$(ls first.hatchet.cubins)" "$(ls own.hatchet.cubins)"

	fake 'exit 1'
	sampled_run failed.hatchet
	check "what nvdisasm does not know is not kept" "" "$(ls failed.hatchet.cubins | grep -v cubin)"
	fake 'exec sleep 1000'
	sampled_run hung.hatchet
	check "one that hangs is not waited for, and nothing is kept" "" "$(ls hung.hatchet.cubins | grep -v cubin)"
	fake "cat '$planted/planted.lines'"
	sampled_run hung.hatchet
	check "kept at the next run" 1 "$(ls hung.hatchet.cubins | grep -c sass)"
	printf 'function 1 _Z6callerPf\nb0 A\033[2JB\n' >"$(ls hung.hatchet.cubins/*.sass)"
	rm tools/nvdisasm
	check "what is kept steers no terminal" "+0x00b0 A?[2JB" \
		"$("$PROTON" report --width 0 --view source hung.hatchet | instructions | grep '^+0x00b0' | sed 's/  *(.*//')"
fi

# ---- where code was inlined in what was inlined, the kernel is one all the same
if [ -e "$libs/mock_cupti.so" ]; then
	PROTON_CUPTI_PATH=$libs/mock_cupti.so timeout 120 "$PROTON" record -q -o deep.hatchet --pc-sampling -- \
		"$(dirname "$PROTON")/tests/programs/collect_pc" "$libs/libcuda.so.1" lines "$planted/planted.cubin" _Z6gatherPfPKfi 2>err
	check "all of them, of one kernel" "136 samples, 100.0 % of all; in 0.0 % the warp issued" \
		"$("$PROTON" report --width 0 --view source deep.hatchet | grep 'samples,')"

	# … and as Triton's Proton would write it, which both viewers read: lines below their kernel, of twenty keys each
	"$PROTON" export --plain -f hatchet -o plain.hatchet deep.hatchet
	check "as upstream's: as many" "136 samples, 100.0 % of all; in 0.0 % the warp issued" \
		"$("$PROTON" report --width 0 --view source plain.hatchet | grep 'samples,')"
	check "as upstream's: lines below kernels" "100.000 ROOT
100.000 a
100.000 _Z6gatherPfPKfi
15.441 /src/planted/planted.cu:11@_Z6scaledPKfif
0.735 /src/planted/planted.cu:14@_Z6gatherPfPKfi
10.294 /src/planted/planted.cu:16@_Z6gatherPfPKfi
15.441 /src/planted/planted.cu:18@_Z6gatherPfPKfi
20.588 /src/planted/planted.cu:19@_Z6gatherPfPKfi
37.500 /src/planted/planted.cu:6@_Z6weightPKfi" "$("$PROTON" viewer -m num_samples/% plain.hatchet | sed 's/^[^0-9]*//')"
	check "as upstream's: keys" same "$(python3 - plain.hatchet "$tests/hatchet/h200-triton-samples.hatchet" <<'END'
import json, sys

OURS = {"stalled_gmma", "stalled_warpgroup_arrive", "stalled_other"}

def keys(path):
    kinds = set()
    def walk(node, depth):
        names = frozenset(node["metrics"]) - OURS
        if depth == 0 or "num_samples" in names:
            line = ".cu:" in node["frame"]["name"]
            kinds.add(("root" if depth == 0 else "line" if line else "kernel", names))
        assert set(node) == {"children", "frame", "metrics"}, set(node)
        for child in node["children"]:
            walk(child, depth + 1)
    walk(json.load(open(path))[0], 0)
    return dict(kinds)

ours, theirs = keys(sys.argv[1]), keys(sys.argv[2])
samples = theirs["root"] - {"count", "time (ns)"}
assert len(samples) == 20
print("same" if ours == {"root": theirs["root"], "line": samples} else ours)
END
)"
fi

# ---- samples of Triton's Proton, which knows no instructions
check "upstream's samples" "79.5K samples, 80.9 % of all; in 6.9 % the warp issued" \
	"$("$PROTON" report --width 0 --view source "$tests/hatchet/h200-triton-samples.hatchet" | grep 'samples,' | head -1)"
finish
