#!/bin/bash
# SPDX-License-Identifier: MIT
# proton-viewer: what Triton's prints, for its own example files; report with the same options.
files=$(cd "${srcdir:-.}/tests/hatchet" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
cuda=$files/upstream-cuda.json leaf=$files/upstream-leaf_nodes.json frame=$files/upstream-frame.json
ln -s "$(readlink -f "$PROTON")" proton-viewer

prints() { # prints "what" "expected" ARGS...
	local what=$1 want=$2
	shift 2
	check "$what" "$want" "$("$PROTON" viewer "$@" 2>&1)"
}
prints "util and a time" "614400.000 nan ROOT
├─ 204800.000 0.247 foo0
├─ 204800.000 0.148 foo1
└─ 204800.000 0.118 foo2" -m time/ns,util "$cuda"
prints "-i: of a raw name, totals of what is shown" "102315552.000 904.000 ROOT
└─ 102315552.000 904.000 kernel_1_1_1
   ├─ 24125138.000 502.000 kernel_1_2_1
   │  └─ 24125138.000 502.000 kernel_1_3_1
   └─ 78190414.000 402.000 kernel_1_2_2" -m time,count -i '.*_1_2_.*' "$leaf"
prints "-i: of a derived one, of all" "614400.000 ROOT
└─ 204800.000 foo0" -m time/ns -i foo0 "$cuda"
prints "-e, -d" "123558120.000 ROOT
├─ 24215210.000 kernel_2_1_1
└─ 99342910.000 kernel_3_1_1" -m time -e kernel_1 -d 2 "$leaf"
prints "-t" "225.874 ROOT
├─ 102.316 kernel_1_1_1
└─ 99.343 kernel_3_1_1
   └─ 93.037 kernel_3_2_2" -m time/ms -t 90 "$leaf"
prints "-f" "409.600 ROOT
├─ 204.800 test0
│  └─ 204.800 1@foo
└─ 204.800 test1" -m time/us -f function_line "$frame"
prints "--print-sorted" "225.874 ROOT

Sorted kernels by metric time/ms (inc)
$(printf '%-105s %s\n' kernel_1_1_1 102.3 kernel_3_1_1 99.34)" -m time/ms -d 1 --print-sorted -t 99 "$leaf"
prints "-l" "Available inclusive metrics:
- bytes
- count
- flops
- time
Available exclusive metrics:
- name
- device_id
- device_type" -l "$leaf"
check "by its name" "614400.000 ROOT" "$(./proton-viewer -m time/ns -d 1 "$cuda")"
check "neither -l nor -m" "" "$("$PROTON" viewer "$cuda")"

refuses() { # refuses "what" status "text" ARGS...
	local what=$1 status=$2 text=$3
	shift 3
	"$PROTON" viewer "$@" >out 2>err; check "$what: status" "$status" $?
	has "$what" "$text" err
	check "$what: one line" 1 "$(wc -l <err)"
}
refuses "no such metric" 1 "not found" -m nothing "$cuda"
for metric in cpu_time tflop16/s avg_cpu_time/us; do
	refuses "no values: $metric" 1 "metric $metric has no values" -m $metric "$cuda"
done
refuses "no values beside one that has" 1 "metric cpu_time has no values" -m time/ns,cpu_time "$cuda"
python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
for child in d[0]["children"]:
    if child["frame"]["name"] == "foo2":
        child["metrics"] = {k: v for k, v in child["metrics"].items() if "flops" not in k and k != "bytes"}
json.dump(d, open("part.json", "w"))' "$cuda"
check "util of what nothing is known of" "0.247 foo0|0.148 foo1|nan foo2" \
	"$("$PROTON" viewer -m util part.json | sed -n 's/.*─ //p' | paste -sd '|')"
refuses "no values in what is left" 1 "metric bytes has no values in what is left" -m bytes -e 'foo[01]' part.json
refuses "no such unit" 1 "unsupported unit" -m bytes/furlongs "$cuda"
printf '[{"frame":{"name":"ROOT"},"metrics":{"a,b (x)":1},"children":[]}]' >comma.hatchet
refuses "a unit behind a comma" 1 "unsupported unit in 'a,b/h'" -m a,b/h comma.hatchet
refuses "nothing left" 1 "no frame is left" -m time -i nothing "$cuda"
echo '[{"frame":{"name":"ROOT"},"metrics":{},"children":[{"frame":{"name":"a"},"metrics":{},"children":[]}]}]' >bare.hatchet
refuses "nothing measured" 1 "nothing was measured ('proton report --tree'" -m time bare.hatchet
refuses "nothing measured, filtered" 1 "no frame is left" -m time -i a bare.hatchet
check "names of what was not measured" "ROOT a" \
	"$("$PROTON" report --tree bare.hatchet | awk 'NR > 1 { print $NF }' | xargs)"
refuses "bad expression" 2 "no regular expression" -m time -i '(' "$cuda"
refuses "no file" 2 "one file" -m time

# Differences: node by node as Triton's, with numbers where it has none (see proton-report(1)).
cat >before.json <<'END'
[{"children":[{"children":[{"children":[],"frame":{"name":"gemm"},"metrics":{"count":2,"time (ns)":1000,"device_id":"0","device_type":"CUDA"}},
{"children":[],"frame":{"name":"old"},"metrics":{"count":1,"time (ns)":300,"device_id":"0","device_type":"CUDA"}}],"frame":{"name":"step"},"metrics":{}}],
"frame":{"name":"ROOT"},"metrics":{"count":0,"time (ns)":0}},{}]
END
sed 's/1000/1600/;s/"old"/"new"/;s/300/50/' before.json >after.json
prints "-diff" "350.000 ROOT
└─ 350.000 step
   ├─ 600.000 gemm
   ├─ 50.000 new ◀ 
   └─ -300.000 old ▶ " -m time/ns -diff before.json after.json
prints "-diff of an average and a share" "116.667 0.000 ROOT
└─ 116.667 0.000 step
   ├─ 300.000 20.047 gemm
   ├─ 50.000 3.030 new ◀ 
   └─ -300.000 -23.077 old ▶ " -m avg_time/ns,time/% --diff-profile before.json after.json
prints "-diff -t: what passes on one side is compared" "350.000 ROOT
└─ 350.000 step
   └─ 600.000 gemm" -m time/ns -t 1001 -diff before.json after.json
prints "-diff -i: both sides" "-300.000 ROOT
└─ -300.000 step
   └─ -300.000 old ▶ " -m time -i old -diff before.json after.json
prints "-diff --print-sorted" "350.000 ROOT

Sorted kernels by metric time/ns (inc)
$(printf '%-105s %s\n' ROOT 350.0 step 350.0 new 50.0 old -300.0)" -m time/ns -d 1 --print-sorted -diff before.json after.json
prints "-diff of itself" "0.000 nan ROOT" -m time/ns,util -d 1 -diff "$cuda" "$cuda"
refuses "-diff: no such file" 1 "nothing.json" -m time -diff nothing.json after.json
"$PROTON" report --ascii --diff-profile before.json -m total,%,avg_time/ns after.json >out
check "report: differences" "+350ns 0.0 +116.667 ROOT
+350ns 0.0 +116.667 \`- step
+600ns +20.0 +300.000 |- gemm
-300ns -23.1 -300.000 |- old (gone)
+50ns +3.0 +50.000 \`- new (new)" "$(sed 1d out | sed 's/  */ /g;s/^ //')"
"$PROTON" report --ascii -diff before.json -t 20% -m calls after.json >out
check "report: differences: threshold" "gone" "$(grep -o gone out)"
"$PROTON" report -diff before.json --flat after.json >out 2>err; check "report: differences: kernels" 2 $?
has "report: differences: said" "compares the tree" err
"$PROTON" report --ascii -m time/ns -diff before.json -g device after.json >out 2>err
check "report: differences: grouped" "+350.000 ROOT +350.000 GPU0" "$(sed -n 's/[|`]-*-//;2,3p' out | xargs)"


"$PROTON" report -i 'foo[01]' -e foo0 -m time/us,bytes "$cuda" >out
check "report: -i with -e" "204.800 10.0M ROOT" "$(awk '$3 == "ROOT" { print $1, $2, $3 }' out)"
"$PROTON" report -i 'foo[01]' -e foo0 --keep-totals -m time/us,bytes "$cuda" >out
check "report: --keep-totals" "614.400 120M ROOT" "$(awk '$3 == "ROOT" { print $1, $2, $3 }' out)"
"$PROTON" report --tree -t 205000 -m time/ns "$cuda" >out; check "report: -t X" 2 "$(wc -l <out)"
"$PROTON" report --tree -t 34% "$cuda" >out; check "report: -t X%" 2 "$(wc -l <out)"
"$PROTON" report -i nothing "$cuda" >out 2>err; check "report: nothing left" 1 $?
printf 'CUDA 90 1T 1T 1T 1T 1T\n' >mine
"$PROTON" report --tree -m util --peaks mine "$cuda" >out; has "--peaks" "488.281" out
"$PROTON" report --peaks "$cuda" "$cuda" >out 2>err; check "--peaks: status" 2 $?
has "--peaks: where" "upstream-cuda.json:1:" err
# Several files are one: ranks, processes, phases.
cp before.json run.rank0.json; cp after.json run.rank1.json
"$PROTON" report --tree --ascii -m total,calls run.rank0.json run.rank1.json >out
check "report: several files" "2.95us 6 ROOT" "$(awk 'NR == 2 { print $1, $2, $3 }' out)"
"$PROTON" report --tree --ascii -g process -m total run.rank0.json run.rank1.json >out
has "report: several files: ranks stay" "rank 1" out
"$PROTON" report --tree -m total run.rank0.json nothing.json >out 2>err; check "report: one cannot be read" 1 $?
check "report: one cannot be read: one line" 1 "$(wc -l <err)"
"$PROTON" report --tree -m total run.rank0.json run.rank0.json >out 2>err; check "report: twice the same" 1 $?
"$PROTON" report --tree -m total - <before.json >out; has "report: standard input" "step" out

# view, as text: what report prints
for options in "-m time/ms,util,avg_time/us -i foo" "-t 34%" "-d 1 -m total" "-f function_line -e foo0" "-diff $cuda -m time/us" "-s name -m total" "--print-sorted"; do
	# shellcheck disable=SC2086
	check "view $options" "$("$PROTON" report $options "$cuda" 2>&1)" "$("$PROTON" view $options "$cuda" 2>&1)"
done
check "view -l" "$("$PROTON" list "$cuda")" "$("$PROTON" view -l "$cuda")"
"$PROTON" view -m total run.rank0.json run.rank1.json >out; has "view: several files" "2.95us" out
"$PROTON" view -m nothing "$cuda" >out 2>err; check "view: no such metric" 2 $?
"$PROTON" view -i '(' "$cuda" >out 2>err; check "view: bad expression" 2 $?

# A terminal gets text through a pager.
if command -v python3 >/dev/null; then
	terminal() { python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' "$@" </dev/null | tr -d '\r'; }
	export PAGER='sed s/^/paged:/' TERM=xterm
	check "a pager" "paged:time (ns)" "$(terminal "$PROTON" list "$cuda" | awk 'NR == 1 { print $1, $2 }')"
	check "--no-pager" "time (ns)" "$(terminal "$PROTON" list --no-pager "$cuda" | awk 'NR == 1 { print $1, $2 }')"
	check "PROTON_PAGER comes first" "time (ns)" "$(PROTON_PAGER=cat terminal "$PROTON" list "$cuda" | awk 'NR == 1 { print $1, $2 }')"
	check "no pager in a pipe" "time (ns)" "$("$PROTON" list "$cuda" | awk 'NR == 1 { print $1, $2 }')"
	check "a pager that leaves early" "" "$(PAGER='head -n 0' terminal "$PROTON" report "$cuda")"
	check "report: a pager" "paged:" "$(terminal "$PROTON" report --tree "$cuda" | head -c 6)"
	check "diff: a pager" "paged:" "$(terminal "$PROTON" diff --text "$cuda" "$leaf" | head -c 6)"
	check "doctor: a pager" "0 lines beside it" "$(terminal "$PROTON" doctor screen | grep -vc ^paged:) lines beside it"
	check "doctor: --no-pager" "proton" "$(terminal "$PROTON" doctor --no-pager screen | awk 'NR == 1 { print $1 }')"
	check "no pager on a dumb terminal" "time (ns)" "$(TERM=dumb terminal "$PROTON" list "$cuda" | awk 'NR == 1 { print $1, $2 }')"
	unset PAGER
fi
"$PROTON" list run.rank0.json run.rank1.json >out; has "list: several files" "time/ms" out
has "list: derived" "avg_time/us" out
check "list: a closed pipe is quiet" "" "$("$PROTON" list "$cuda" 2>&1 >/dev/null | head -1)"
finish
