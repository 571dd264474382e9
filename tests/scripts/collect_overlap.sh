#!/bin/bash
# SPDX-License-Identifier: MIT
# How much of copies ran beside other work: exact, by process and device, in every file that is made of it.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_overlap
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so

# device: busy, copying, hidden (us), of each process
uses() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
p = json.load(sys.stdin)
print(sorted((p["devices"][u["device"]]["index"], *(u[k] / 1000 for k in ("busy_ns", "copies_ns", "hidden_ns")))
             for u in p["uses"]))'
}
beside() { "$PROTON" report --ascii --view devices "$1" | sed -n '/^Their copies/,/^$/p' | awk '/^GPU/ { printf "%s %s %s %s|", $1, $2, $3, $4 }'; }

one="(0, 1600.0, 1200.0, 600.0)" other="(1, 5000.0, 0.0, 0.0)"
timeout 120 "$PROTON" record -q --tape f.tape -o f.hatchet -- "$app" "$libs/libcuda.so.1" >out 2>err
check "status" 0 $?
for file in f.hatchet f.tape; do
	check "$file: what both cover" "[$one, $other]" "$(uses $file)"
	check "$file: as a report says" "GPU0 1.20ms 50.0 60.0|GPU1 - - -|" "$(beside $file)"
done
has "memory" "(copies ran in 1.20ms; other work ran there, too, in 600us of that, 50.0%)" \
	<("$PROTON" report --ascii --view memory f.hatchet)
check "a batch of copies" "2 calls, 19 copies besides: 20 below 1 KiB with 4096 bytes, 1 of 4 KiB" \
	"$("$PROTON" export -f json f.hatchet | python3 -c '
import json, sys
m, = [n["metrics"] for n in json.load(sys.stdin)["nodes"] if n["kind"] == "copy"]
print("%d calls, %d copies besides: %d below 1 KiB with %d bytes, %d of 4 KiB" % tuple(m[k] for k in (
      "count", "copies_besides", "copies_below_1KiB", "copies_below_1KiB_bytes", "copies_of_4KiB")))')"

# By stream, direction and channel: copies, time, hidden (us).
lanes() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
for l in sorted(json.load(sys.stdin)["copy_lanes"], key=lambda l: (l["stream"] is None, l["stream"], l["direction"], l["channel"])):
    print(l["stream"], l["direction"], l["channel_kind"] or "-", l["channel"], l["count"],
          l["time_ns"] / 1000, l["hidden_ns"] / 1000, l["unsure_ns"], end="|")'
}
rows() { "$PROTON" report --ascii --view transfers "$@" | sed -n '/^Copies by stream/,/^$/p' | sed '1,2d' |
	awk '/^\(/ { words = 1 } !words { $1 = $1; printf "%s|", $0 } /\)$/ { words = 0 }'; }
each="7 HtoD copy 12 1 1000.0 500.0 0|7 PtoP compute 3 1 200.0 0.0 0|8 DtoH copy 13 2 400.0 400.0 0|8 DtoH copy 14 1 200.0 100.0 0|9 DtoD - 0 1 100.0 100.0 0|"
timeout 120 "$PROTON" record -q --tape l.tape -o l.hatchet -- "$app" "$libs/libcuda.so.1" lanes >out 2>err
check "streams: status" 0 $?
for file in l.hatchet l.tape; do
	check "$file: streams" "$each" "$(lanes $file)"
	check "$file: streams, as a report says" \
		"1.00ms 1 500us 50.0 50.0 HtoD 7 copy 12 GPU0|400us 2 400us 100.0 40.0 DtoH 8 copy 13 GPU0|200us 1 0ns 0.0 0.0 PtoP 7 compute 3 GPU0|200us 1 100us 50.0 10.0 DtoH 8 copy 14 GPU0|100us 1 100us 100.0 10.0 DtoD 9 - GPU0|" \
		"$(rows $file)"
done
# Of a file that does not say how long the device was busy.
sed 's/"busy_ns": *[0-9]*, *//; s/, *"busy_ns": *[0-9]*//' l.hatchet >no_busy.hatchet
check "streams: of other work nothing is known" "- - - - - " "$(rows no_busy.hatchet | tr '|' '\n' | awk '{ printf "%s ", $5 }')"
check "streams: a filter leaves those whose copies it leaves" \
	"400us 2 400us 100.0 40.0 DtoH 8 copy 13 GPU0|200us 1 100us 50.0 10.0 DtoH 8 copy 14 GPU0|" "$(rows l.hatchet -i 'memcpy DtoH.*')"
# Tables for programs: what JSON has, in rows.
"$PROTON" export -f csv --table copy-streams -o lanes.csv l.hatchet
"$PROTON" export -f csv --table copy-pairs -o pairs.csv l.hatchet
"$PROTON" export -f csv --table copy-sizes -o sizes.csv l.hatchet
"$PROTON" export -f json -o l.json l.hatchet
python3 - >out 2>&1 <<'END'
import csv, json
p = json.load(open("l.json"))
rows = {name: list(csv.DictReader(open(name + ".csv", newline=""))) for name in ("lanes", "pairs", "sizes")}
number = lambda row, *names: tuple(int(row[name]) for name in names)
want = sorted((l["stream"], l["direction"], f"{l['channel_kind']} {l['channel']}" if l["channel_kind"] else "",
               l["count"], l["time_ns"], l["hidden_ns"], l["unsure_ns"]) for l in p["copy_lanes"])
got = sorted((int(r["stream"]), r["direction"], r["channel"]) + number(r, "copies", "time (ns)", "hidden (ns)", "unsure (ns)")
             for r in rows["lanes"])
print("streams", want == got, {r["device"] for r in rows["lanes"]}, {r["other work (ns)"] for r in rows["lanes"]})
want = sorted((t["count"], t["bytes"], t["time_ns"]) for t in p["traffic"])
print("pairs", want == sorted(number(r, "copies", "bytes", "time (ns)") for r in rows["pairs"]), len(want))
sums = {}
for n in p["nodes"]:
    for name, v in n["metrics"].items():
        if n["kind"] == "copy" and name + "_bytes" in n["metrics"] and v:
            was = sums.get((n["name"].split()[1], name), (0, 0))
            sums[n["name"].split()[1], name] = was[0] + v, was[1] + n["metrics"][name + "_bytes"]
got = {}
for r in rows["sizes"]:
    least = int(r["from (bytes)"])
    name = "copies_of_%d%siB" % ((least >> 10, "K") if least < 1 << 20 else (least >> 20, "M")) if least else "copies_below_1KiB"
    got[r["direction"], name] = number(r, "copies", "bytes")
print("sizes", sums == got, len(got) > 0, all(not r["below (bytes)"] or int(r["below (bytes)"]) > int(r["from (bytes)"]) for r in rows["sizes"]))
END
check "tables for programs" "streams True {'GPU0'} {'1000000'}|pairs True 4|sizes True True True" "$(paste -sd '|' out)"
check "a table of Markdown" "| device | context | stream |" "$("$PROTON" export -f markdown --table copy-streams l.hatchet | cut -c 1-30 | head -1 | sed 's/ *$//')"
"$PROTON" export -f csv -i 'memcpy DtoH.*' --table copy-streams l.hatchet >out 2>err
check "a filter: streams whose copies it leaves" "13,2,400000,|14,1,200000,|" \
	"$(sed 1d out | tr -d '\r' | sed 's/.*DtoH,copy \([^,]*,[^,]*,[^,]*,\).*,/\1/' | tr '\n' '|')"
hasnt "… and nothing is of the whole" "of the whole profile" err
"$PROTON" export -f hatchet -i 'memcpy DtoH.*' -o part.hatchet l.hatchet 2>err
check "a filter: the file, too" "$(rows l.hatchet -i 'memcpy DtoH.*')" "$(rows part.hatchet)"
# Pinned and pageable copies of one direction in one stream are told apart by no more than their names.
PROTON_FAKE='copy HtoD pinned 4096 1000;copy HtoD pageable 4096 3000;copy DtoH pinned 100 50' "$PROTON" record -q -o two.hatchet -- true
for format in csv markdown; do
	"$PROTON" export -f $format -i 'memcpy HtoD pinned' --table copy-streams two.hatchet >out 2>err
	has "$format: a filter that leaves a part: is said" "proton: copies by stream are of the whole profile" err
	check "$format: … and in each row" "2" "$(grep -c 'HtoD.*whole profile\|DtoH.*whole profile' out)"
	"$PROTON" export -f $format -i 'memcpy HtoD.*' --table copy-streams two.hatchet >out 2>err
	check "$format: a filter that leaves all" "1 0 0" "$(grep -c HtoD out) $(grep -c DtoH out) $(cat out err | grep -c whole)"
done
"$PROTON" report --ascii --view transfers -i 'memcpy HtoD pinned' two.hatchet >out
has "a report says so" "(of the whole run, whatever the filter leaves)" out
"$PROTON" report --ascii --view transfers -i 'memcpy HtoD.*' two.hatchet >out
hasnt "… where it must" "of the whole run" out
"$PROTON" export -f csv -i 'memcpy DtoH.*' --table copy-pairs l.hatchet >out 2>err
check "a filter: from where to where" "1" "$(($(wc -l <out) - 1))"
"$PROTON" export -f folded --table copy-pairs l.hatchet >out 2>err; check "no table: status" 2 $?
has "no table: said" "'folded' is no table, --table is for csv and markdown" err
"$PROTON" export -f csv -m calls --table copy-pairs l.hatchet >out 2>err; check "columns of its own: status" 2 $?
MOCK_CUPTI_VERSION=16 timeout 120 "$PROTON" record -q -o old.hatchet -- "$app" "$libs/libcuda.so.1" lanes >out 2>err
check "streams: a library that tells of no channels" "7 HtoD - 0 1 1000.0 500.0 0|7 PtoP - 0 1 200.0 0.0 0|8 DtoH - 0 3 600.0 500.0 0|9 DtoD - 0 1 100.0 100.0 0|" \
	"$(lanes old.hatchet)"
timeout 120 "$PROTON" record -q -o again.hatchet -- "$app" "$libs/libcuda.so.1" lanes >out 2>err
"$PROTON" merge -o lanes.hatchet l.hatchet again.hatchet >out 2>err
check "streams: merged" "2.00ms 2 1.00ms 50.0 50.0 HtoD 7 copy 12 GPU0|" "$(rows lanes.hatchet | sed 's/|.*/|/')"
timeout 120 "$PROTON" record -q -o many.hatchet -- "$app" "$libs/libcuda.so.1" many >out 2>err
check "many streams: status" 0 $?
check "many streams: the others count together" "129 None - 0 112 112.0 112.0 0" \
	"$(lanes many.hatchet | tr '|' '\n' | awk 'NF { n++; last = $0 } END { $0 = n " " last; $1 = $1; print }')"
check "many streams: as a report says" "112us 112 112us 100.0 11.2 - others - GPU0|" "$(rows many.hatchet | sed 's/|.*/|/')"

# Two at the same times on the same devices: each by itself, and in the sum.
timeout 120 "$PROTON" record -q -o two.hatchet -- sh -c '"$0" "$1" & "$0" "$1" && wait $!' "$app" "$libs/libcuda.so.1" >out 2>err
check "two processes: status" 0 $?
check "two processes: each" "[$one, $one, $other, $other]" "$(uses two.hatchet)"
check "two processes: as a report says" "GPU0 2.40ms 50.0 60.0|GPU1 - - -|" "$(beside two.hatchet)"
"$PROTON" merge -o merged.hatchet f.hatchet two.hatchet >out 2>err
check "merged: as a report says" "GPU0 3.60ms 50.0 60.0|GPU1 - - -|" "$(beside merged.hatchet)"

# Of four streams whose records come by turns: what a trace of the same run has, added up by another program.
PROTON_FAKE='stream 1;kernel gemm 3000 20;stream 2;copy HtoD pinned 4096 7000;stream 3;kernel add 900 7;stream 4;copy DtoH pinned 64 333;repeat 1000' \
	timeout 120 "$PROTON" record -q --no-cuda --trace -o traced.hatchet -- true >out 2>err
check "traced: status" 0 $?
"$PROTON" export -f json traced.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
kind = {n["id"]: n["kind"] for n in p["nodes"]}
def union(spans):
    total = end = 0
    for start, stop in sorted(spans):
        total += max(0, stop - max(start, end))
        end = max(end, stop)
    return total
spans = {True: [], False: []}
for i in p["intervals"]:
    spans[kind[i["node"]] == "copy"].append((i["start_ns"], i["end_ns"]))
either, copies, others = union(spans[True] + spans[False]), union(spans[True]), union(spans[False])
use, = p["uses"]
print(len(spans[True]), len(spans[False]), (use["busy_ns"], use["copies_ns"], use["hidden_ns"]) ==
      (either, copies, copies + others - either), 0 < use["hidden_ns"] < copies)' >out
check "traced: as the trace says" "2002 27027 True True" "$(cat out)"
check "traced: the first and the last work" True "$("$PROTON" export -f json traced.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
use, = p["uses"]
print(use["last_ns"] - use["first_ns"] == max(i["end_ns"] for i in p["intervals"]) - min(i["start_ns"] for i in p["intervals"]))')"

# Where the time of the run went: nothing was launched for a tenth of a second.
mkfifo executed # by which the program waits for the script
PROTON_FAKE='pause 100;kernel gemm 3000 20;touch executed' timeout 120 "$PROTON" record -q --no-cuda --tape w.tape -o w.hatchet -- cat executed >out 2>err
check "start-up and tail: status" 0 $?
for file in w.hatchet w.tape; do
	check "$file: start-up" "True True" "$("$PROTON" export -f json $file | python3 -c '
import json, sys
p = json.load(sys.stdin)
use, run = p["uses"][0], p["runs"][0]
print(90e6 < use["first_ns"] - run["start_ns"], use["last_ns"] <= run["start_ns"] + run["wall_ns"])')"
	check "$file: as a report says" "START-UP BUSY GAPS TAIL DEVICE|GPU0|" \
		"$("$PROTON" report --ascii --view devices $file | sed -n '/^Where the time of the run/,/^$/p' |
			awk 'NR == 2 { $1 = $1; printf "%s|", $0 } NR == 3 { printf "%s|", $5 }')"
done

# Without copies there is nothing to say.
timeout 120 env PROTON_FAKE='kernel gemm 1000 3' "$PROTON" record -q --no-cuda -o none.hatchet -- true >out 2>err
check "no copies: status" 0 $?
check "no copies" "" "$(beside none.hatchet)$(grep -o 'copies_ns' none.hatchet)"
finish
