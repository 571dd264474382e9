#!/bin/bash
# SPDX-License-Identifier: MIT
# Whose samples of hardware counters are: what the mock of CUPTI has planted is what a kernel has that ran alone, and
# one has none that something else ran beside, or in which no sample fits.
. "${srcdir:-.}/tests/tools/cli_help.sh"
unset CUDA_VISIBLE_DEVICES LD_PRELOAD MOCK_CUPTI_HOST MOCK_CUPTI_PM
libs=$(dirname "$PROTON")/tests/mocks/.libs
case $libs in /*) ;; *) libs=$PWD/$libs ;; esac
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libraries in $libs"; exit 77; }
app=${libs%/mocks/.libs}/programs/collect_counted
mkdir lib && cp "$libs/libcuda.so.1" lib/
export PROTON_CUPTI_PATH=$libs/mock_cupti.so LD_LIBRARY_PATH=$work/lib MOCK_CUPTI_CHIP=LIVE100

# of FILE EXPRESSION: n, metrics of a kernel by name; p, the profile.
of() {
	"$PROTON" export -f json "$1" 2>/dev/null | python3 -c '
import json, sys
p, n = json.load(sys.stdin), {}
for node in p["nodes"]:
    for k, v in node["metrics"].items():
        if isinstance(v, (int, float)):
            n.setdefault(node["name"], {}).setdefault(k, 0)
            n[node["name"]][k] += v
def get(name, key):
    return n.get(name, {}).get(key, "-")
def share(name, key):
    m = n.get(name, {})
    return "%.4g" % (100 * m[key] / m["counter_samples_time (ns)"]) if key in m else "-"
print(eval(sys.argv[1]))' "$2"
}
# Until gemm has so many samples of its own, and conv some beside others.
attributed() { [ "$(of "$1" 'get("gemm", "counter_samples") != "-" and get("gemm", "counter_samples") >= 20 and get("conv", "counter_samples_beside") != "-"')" = True ]; }
limit=unlimited # a file's size, in KiB
begin() { rm -f "$1"; touch going; (ulimit -S -f "$limit"; exec "$PROTON" record -q --save-interval 0.2 "${@:2}" -o "$1" -- "$app" "$work/lib/libcuda.so.1" "$work/going") & recorder=$!; }
finish_run() { rm going; wait "$recorder"; status=$?; }

begin a.hatchet --counters=5ms --tape a.tape
check "a kernel alone has samples" 0 "$(wait_for 60 attributed a.hatchet; echo $?)"
finish_run
check "the program's own status" 0 "$status"
for file in a.hatchet a.tape; do
	check "$file: as planted" "62.5 37.5 50 12.5 0 12.5 75 25" "$(of $file '" ".join(share("gemm", k + " (ns)") for k in ("sm_active_time", "sm_issue_time", "tensor_active_time", "dram_read_time", "dram_write_time", "dram_time", "l2_hit_time", "warps_active_time"))')"
	check "$file: what was not counted is absent" "-" "$(of $file 'share("gemm", "fma_issue_time (ns)")')"
	check "$file: each of the interval" True "$(of $file 'get("gemm", "counter_samples_time (ns)") == 5000000 * get("gemm", "counter_samples")')"
	check "$file: no more than fit" True "$(of $file 'get("gemm", "counter_samples") <= 12 * get("gemm", "count")')"
	check "$file: not beside others" "- True" "$(of $file '"%s %s" % (get("conv", "counter_samples"), get("conv", "counter_samples_beside") > 0)')"
	check "$file: what ran on alone has those" True "$(of $file 'get("copying", "counter_samples") > 0')"
	check "$file: too short" "- -" "$(of $file '"%s %s" % (get("short", "counter_samples"), get("short", "counter_samples_beside"))')"
done
check "written again" "$(of a.hatchet 'sorted(n["gemm"].items())')" "$("$PROTON" export -f hatchet -o b.hatchet a.hatchet && of b.hatchet 'sorted(n["gemm"].items())')"
"$PROTON" report --view counters a.hatchet >a.counters
row() { awk -v name="$1" '$NF == name { for (i = 4; i < NF; i++) printf "%s%s", $i, i < NF - 1 ? " " : "\n" }' a.counters; }
check "as text" "62.5 37.5 50.0 12.5 75.0" "$(row gemm | cut -d' ' -f 3-)"
check "as text: none" "- - - - -" "$(row conv | cut -d' ' -f 3-)"
has "what would do, of the rows without" "(-: no sample fell wholly within; --counters=50us has one in each 'short'" a.counters
python3 -c '
import json
d = json.load(open("a.hatchet"))
for of in d[0]["proton"]["counters"]:
    of["samples"] *= 100
json.dump(d, open("fine.hatchet", "w"))'
"$PROTON" report --view counters fine.hatchet >fine.counters
has "nothing more is asked for where samples are that near" "(-: no sample fell wholly within, though they are near enough: 'short' ran beside other work, or shorter than on average)" fine.counters
"$PROTON" report --view tree -m 'TOTAL,TENSOR%,DRAM%' a.hatchet >a.tree
check "in the tree, with what is below" "50.0 12.5" "$(awk '$NF == "alone" { print $(NF - 3), $(NF - 2) }' a.tree)"
# ---- one that is over before the helper has read a second time: its last samples are asked for
"$PROTON" record -q --counters=5ms -o once.hatchet -- "$app" "$work/lib/libcuda.so.1" "$work/none" once
check "a short program has its last samples" "1 True" "$(of once.hatchet '"%s %s" % (get("gemm", "count"), 4 <= get("copying", "counter_samples") <= 6)')"

# ---- another process of the run, whose kernel is not known before it ends
cat >two.sh <<END
"$app" "$work/lib/libcuda.so.1" "$work/going" neighbour "$work/lasting" &
"$app" "$work/lib/libcuda.so.1" "$work/going" after "$work/lasting.on"
wait
END
touch going
"$PROTON" record -q --save-interval 0.2 --counters=5ms -o two.hatchet -- bash two.sh & recorder=$!
has_samples() { [ "$(of two.hatchet "get('hello', 'counter_samples') != '-'")" = True ]; }
beside() { [ "$(of two.hatchet "get('gemm', 'counter_samples_beside') != '-' and get('gemm', 'counter_samples_beside') >= 40")" = True ]; }
check "a process by itself has samples" 0 "$(wait_for 60 has_samples; echo $?)"
touch lasting
check "beside another process: is counted as such" 0 "$(wait_for 60 beside; echo $?)"
finish_run
check "beside another process: none is given to a kernel" "-" "$(of two.hatchet 'get("gemm", "counter_samples")')"

export MOCK_CUPTI_PM=full
begin most.hatchet --counters=5ms
wait_for 60 attributed most.hatchet
finish_run
unset MOCK_CUPTI_PM
check "more than all is all" "100 100 100" "$(of most.hatchet '" ".join(share("gemm", k + " (ns)") for k in ("sm_active_time", "dram_time", "l2_hit_time"))')"

begin often.hatchet --counters=20us
check "as often as can be: samples are kept until they are judged" 0 "$(wait_for 60 attributed often.hatchet; echo $?)"
finish_run
limit=300
noted() { "$PROTON" report --view notes "$1" 2>/dev/null | grep -q 'hardware counters of GPU0'; }
begin full.hatchet --counters=5ms
wait_for 60 noted full.hatchet
finish_run
has "no room for samples: is said" "of the device alone, not of kernels: no room for its samples: File too large" <("$PROTON" report --view notes full.hatchet)
check "no room for samples: none is made up" "-" "$(of full.hatchet 'get("gemm", "counter_samples")')"
limit=unlimited
begin off.hatchet
launched() { [ "$(of "$1" 'get("gemm", "count") != "-"')" = True ]; }
wait_for 60 launched off.hatchet
finish_run
check "nobody asked" "-" "$(of off.hatchet 'get("gemm", "counter_samples")')"
finish
