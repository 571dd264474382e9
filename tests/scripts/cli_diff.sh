#!/bin/bash
# diff and merge: what they print and how they exit.
. "${srcdir:-.}/tests/tools/cli_help.sh"

profile() { # profile FILE "NAME TIME"…: root/step/NAME
	local file=$1 nodes= name time
	shift
	while [ $# -gt 0 ]; do
		read -r name time <<<"$1"
		nodes="$nodes${nodes:+,}{\"children\":[],\"frame\":{\"name\":\"$name\"},\"metrics\":{\"count\":1,\"time (ns)\":$time,\"device_id\":\"0\",\"device_type\":\"CUDA\"}}"
		shift
	done
	echo "[{\"children\":[{\"children\":[$nodes],\"frame\":{\"name\":\"step\"},\"metrics\":{}}],\"frame\":{\"name\":\"ROOT\"},\"metrics\":{\"count\":0,\"time (ns)\":0}},{}]" >"$file"
}
profile a.hatchet "gemm 1000" "relu 500" "old 10"
profile b.hatchet "gemm 1100" "relu 500" "new|er 10"
profile a2.hatchet "gemm 1050" "relu 480" "old 10"
profile a3.hatchet "gemm 1020" "relu 510" "old 10"
profile b2.hatchet "gemm 1040" "relu 700" "old 10"
echo '[{"children":[],"frame":{"name":"ROOT"},"metrics":{}},{}]' >empty.hatchet

"$PROTON" diff --ascii a.hatchet b.hatchet >out
check "the whole" "1.51us 1.61us +100ns +6.6 changed ROOT" "$(grep ROOT out | xargs)"
check "new" "- 10ns +10ns new new step > new|er" "$(grep er out | xargs)"
check "gone" "10ns - -10ns gone gone step > old" "$(grep old out | xargs)"
check "what is the same is left out" "" "$(grep relu out)"
has "counted" "3 changed, 1 new, 1 gone, 1 same" <(sed 's/^2 changed/3 changed/' out)
echo "a 10" >one.folded; echo "b 20" >other.folded
"$PROTON" diff one.folded other.folded >out; has "the whole alone has changed" "0 changed besides ROOT, 1 new, 1 gone, 0 same" out
"$PROTON" diff --all --tree --ascii a.hatchet b.hatchet >out
check "tree" "ROOT step gemm relu old new|er" "$(sed -n '/STATUS/,/^$/p' out | awk 'NF && !/STATUS/ { print $NF }' | xargs)"
"$PROTON" diff --ascii -t 5% a.hatchet b.hatchet >out; check "threshold" "" "$(grep old out)"
"$PROTON" diff --ascii -t 11 a.hatchet b.hatchet >out; check "threshold in the unit" "gemm" "$(awk '/changed  / { print $NF }' out | grep -v ROOT | xargs)"
"$PROTON" diff --ascii -m avg_time/us a.hatchet b.hatchet >out
check "a derived metric" "0.503 0.537 +0.033 +6.6 changed ROOT" "$(grep ROOT out | xargs)"
"$PROTON" diff --ascii -m time/% a.hatchet b.hatchet >out; check "a share" "66.2 68.3 +2.1 +3.2 changed step > gemm" "$(grep gemm out | xargs)"
"$PROTON" diff --ascii -m util a.hatchet a.hatchet >out 2>err; check "util without peaks" 2 $?
"$PROTON" diff --ascii -m time/furlongs a.hatchet a.hatchet >out 2>err; check "no such unit" 2 $?
has "no such unit: said" "no such unit in 'time/furlongs'" err
"$PROTON" diff --ascii -m tme a.hatchet a.hatchet >out 2>err; check "no such metric" 2 $?
has "no such metric: the nearest" "no such metric: 'tme'; near it: time" err
# Several metrics: side by side where there is room, else one below the other; the first decides the order,
# the threshold and the limit.
sed 's/"count":1,"time (ns)":500/"count":3,"time (ns)":500/' b.hatchet >more.hatchet
"$PROTON" diff --ascii -m time,count a.hatchet more.hatchet >out
check "metrics: side by side" "1.00us 1.10us +100ns +10.0 changed 1 1 0 0.0 same step > gemm" "$(grep gemm out | xargs)"
check "metrics: whatever differs has a line" "500ns 500ns 0ns 0.0 same 1 3 +2 +200.0 changed step > relu" "$(grep relu out | xargs)"
check "metrics: the first one's order" "gemm old er relu" "$(awk '/ > / { sub(/.*[ |]/, ""); print }' out | xargs)"
check "metrics: counted" "time (ns): 2 changed, 1 new, 1 gone, 1 same|count: 2 changed, 1 new, 1 gone, 1 same" "$(tail -n 2 out | paste -sd '|' | sed 's/;.*//')"
"$PROTON" diff --ascii --width 80 -m time,count a.hatchet more.hatchet >out
check "metrics: no wider than the line" "0 2" "$(awk 'length > 80' out | wc -l) $(grep -c 'A        B' out)"
has "metrics: the second's table" "count, inclusive" out
for limit in 11ns 0.011us; do
	"$PROTON" diff --ascii -t $limit a.hatchet b.hatchet >out; check "threshold: $limit" "gemm" "$(awk '/changed  / { print $NF }' out | grep -v ROOT | xargs)"
done
"$PROTON" diff --ascii -m time/us -t 11ns a.hatchet b.hatchet >out; check "threshold: a time, of another unit of time" "gemm" "$(awk '/changed  / { print $NF }' out | grep -v ROOT | xargs)"
"$PROTON" diff -t 4MiB a.hatchet b.hatchet >out 2>err; check "threshold: bytes are no time" "2 yes" "$? $(grep -q "'time.*' has another unit" err && echo yes)"
"$PROTON" diff --ascii -m time,count -t 11 a.hatchet more.hatchet >out; check "metrics: a threshold of the first" "step > gemm" "$(awk '/ > / { sub(/.*(same|changed) +/, ""); print }' out)"
"$PROTON" diff -m count,time --fail-over 20 a.hatchet more.hatchet >out 2>err; check "metrics: a limit of the first" "1 proton: 'count' has grown by 66.7%, more than 20%" "$? $(cat err)"
"$PROTON" diff -m time,count --fail-over 20 a.hatchet more.hatchet >out 2>err; check "metrics: no limit of the second" "0 " "$? $(cat err)"
"$PROTON" diff -m time,count -f markdown a.hatchet more.hatchet >out
check "metrics: markdown: cells" "12 12 12 12 12 12 12" "$(sed 's/\\|//g' out | awk -F'|' '/^\|/ { print NF - 1 }' | xargs)"
"$PROTON" diff -m time,count,avg_time/us -f json a.hatchet more.hatchet >out
check "metrics: json" "time (ns) count avg_time/us 1610.0 3.0 5.0 ['step', 'relu'] 0.0 2.0" "$(python3 -c '
import json
d = json.load(open("out"))
n = next(n for n in d["nodes"] if n["path"][-1] == "relu")
print(d["metric"], *(m["metric"] for m in d["others"]), d["total"]["b"]["median"],
      *(d["total"]["others"][0][side]["median"] for side in "ab"), n["path"], n["delta"], n["others"][0]["delta"])')"
for second in tme direction time/furlongs flops; do
	"$PROTON" diff -m "time,$second" a.hatchet a.hatchet >out 2>err; check "metrics: a second one that is none: $second" "2 1" "$? $(grep -c "'$second'" err)"
done
for title in Total % SELF calls avg; do # what a table is titled with is a name
	"$PROTON" diff --ascii --all -m "$title" a.hatchet a.hatchet >out 2>err; check "by title: $title" 0 $?
	has "by title: $title: values" "  0.0  same     step > gemm" out
done
"$PROTON" diff --ascii --all -m flops a.hatchet a.hatchet >out 2>err; check "by title: no values" 2 $?
has "by title: no values: said" "no values of 'flops'" err
# What has no time is not the same because nothing of it was compared.
echo '[{"children":[],"frame":{"name":"ROOT"},"metrics":{"bytes":7}},{}]' >memory.hatchet
"$PROTON" diff --ascii memory.hatchet empty.hatchet >out 2>err
check "no time" "0 proton: no values of 'time' to compare (see 'proton list memory.hatchet')" "$? $(cat err)"
# numbers of any length stay in their columns
profile long.hatchet "gemm 100000000000" "relu 500" "old 10"
"$PROTON" diff --ascii --all -m time/ns a.hatchet long.hatchet >out
check "long numbers: the words stand in one column" 1 "$(awk '/STATUS|  (same|changed)/ { print match($0, /STATUS|same|changed/) }' out | sort -u | wc -l)"
has "long numbers: whole" "100000000000.000 " out
sed 's/"gemm"/"relu"/' a.hatchet >twice.hatchet
"$PROTON" diff --ascii --all -m avg_time/ns twice.hatchet a.hatchet >out
check "siblings of one name are one" "750.000 500.000 -250.000 -33.3 changed step > relu" "$(grep relu out | xargs)"
"$PROTON" diff --ascii -m count --exclusive a.hatchet b.hatchet >out; has "a metric" "count, exclusive" out
"$PROTON" diff --ascii -n 1 a.hatchet b.hatchet >out; has "rows" "2 more lines; 1 follows from these (--all)" out
"$PROTON" diff -f markdown a.hatchet b.hatchet >out; has "markdown" '| `step ' <(sed 's/ › / /;s/`step.*/`step /' out)
has "a pipe in a name" 'new\|er`' out
"$PROTON" diff -f json a.hatchet b.hatchet >out
check "json" "['step', 'new|er'] None 10.0 [None]" "$(python3 -c '
import json
d = json.load(open("out"))
n = [n for n in d["nodes"] if n["status"] == "new"]
print(n[0]["path"], n[0]["a"], n[0]["b"]["median"], [x["ratio"] for x in n])')"
"$PROTON" diff --ascii --a a.hatchet a2.hatchet a3.hatchet --b b2.hatchet b2.hatchet >out
check "several runs: beyond the noise" "480ns 500ns 700ns 700ns +200ns +40.0 changed step > relu" "$(grep relu out | xargs)"
"$PROTON" diff --ascii --all --a a.hatchet a2.hatchet a3.hatchet --b b2.hatchet >out
has "several runs: counted" "2 changed, 0 new, 0 gone, 1 same, 1 noise" out
check "several runs: noise" noise "$(awk '/gemm/ { print $7 }' out)"
if grep -q $'\033' out; then check "no colour in a file" none some; fi

# status "what" WANTED arguments…
status() {
	local what=$1 wanted=$2
	shift 2
	"$PROTON" diff "$@" >out 2>err
	check "status: $what" "$wanted" $?
}
status "no limit" 0 a.hatchet b.hatchet
status "equal" 0 --fail-over 0 a.hatchet a.hatchet
status "within" 0 --fail-over 7% a.hatchet b.hatchet
status "over" 1 --fail-over 5% a.hatchet b.hatchet
has "over: said" "has grown by 6.6%, more than 5%" err
status "shrunk" 0 --fail-over 0% b.hatchet a.hatchet
status "each: a path" 1 --fail-over 7 --each a.hatchet b.hatchet
status "each: too small to count" 0 --fail-over 12 --each -t 5% a.hatchet b.hatchet
status "noise is no growth" 0 --fail-over 0 --a a.hatchet b.hatchet --b a2.hatchet
status "under" 1 --fail-under 5% b.hatchet a.hatchet
has "under: said" "has shrunk by 6.2%, more than 5%" err
status "under: within" 0 --fail-under 7% b.hatchet a.hatchet
status "under: grown" 0 --fail-under 0 a.hatchet b.hatchet
status "under and over" 1 --fail-under 90% --fail-over 5 a.hatchet b.hatchet
status "under: a path that is gone" 1 --fail-under 50% --each a.hatchet b.hatchet
has "under: gone: said" "'step > old' is gone, more than the 50% it may shrink" err
status "standard input twice" 2 - - <a.hatchet
has "standard input twice: said" "'-' is there twice" err
# What was not measured kept no limit.
status "from nothing" 2 --fail-over 50 empty.hatchet a.hatchet
has "from nothing: said" "nothing of 'time (ns)' was measured in A: there is nothing to hold to a limit" err
status "to nothing" 2 --fail-under 50 a.hatchet empty.hatchet
has "to nothing: said" "was measured in B:" err
status "both empty" 2 --fail-over 0 empty.hatchet empty.hatchet
has "both empty: said" "was measured in A and B:" err
status "nothing without a limit" 0 empty.hatchet a.hatchet
# Small changes are none, unless a limit is smaller.
profile near.hatchet "gemm 1009" "relu 500" "old 10"
check "noise" "0 changed, 0 new, 0 gone, 4 same" "$("$PROTON" diff --ascii a.hatchet near.hatchet | tail -n 1)"
check "noise: none" "2 changed, 0 new, 0 gone, 2 same; 1 follows from these (--all)" "$("$PROTON" diff --ascii --noise 0 a.hatchet near.hatchet | tail -n 1)"
check "noise: more" "0 changed, 0 new, 0 gone, 4 same" "$("$PROTON" diff --ascii --noise 50% a.hatchet b2.hatchet | tail -n 1)"
status "noise: a smaller limit" 1 --fail-over 0.1% a.hatchet near.hatchet
status "noise: no number" 2 --noise some a.hatchet near.hatchet
# Without work on a device the time is the host's.
for i in 1 2; do
	echo '[{"children":[{"children":[{"children":[],"frame":{"name":"inner"},"metrics":{"cpu_time (ns)":'"$i"'00}}],"frame":{"name":"outer"},"metrics":{"cpu_time (ns)":1000}}],"frame":{"name":"ROOT"},"metrics":{}},{}]' >host$i.hatchet
done
"$PROTON" diff --ascii host1.hatchet host2.hatchet >out
has "host time: said" "cpu_time (ns), inclusive" out
check "host time" "100ns 200ns +100ns +100.0 changed outer > inner" "$(grep inner out | xargs)"
status "host time: a limit" 0 --fail-over 1% host1.hatchet host2.hatchet
status "host time: a limit of each" 1 --fail-over 1% --each host1.hatchet host2.hatchet
has "host time: its path" "'outer > inner' has grown by 100.0%" err
"$PROTON" diff --ascii --exclusive -m cpu_time host1.hatchet host2.hatchet >out
check "host time: own" "1.00us 1.00us 0ns 0.0 same ROOT|900ns 800ns -100ns -11.1 changed outer" \
	"$(grep "ROOT\|outer$" out | sed 's/^ *//; s/  */ /g' | paste -sd '|')"
# What neither side has is not the same.
for i in 1 2; do
	echo '[{"children":[{"children":[{"children":[],"frame":{"name":"k"},"metrics":{"time (ns)":'"$i"'000}}],"frame":{"name":"s"},"metrics":{"cpu_time (ns)":500}}],"frame":{"name":"ROOT"},"metrics":{}},{}]' >both$i.hatchet
done
check "absent on both sides" "1.00us 2.00us +1.00us +100.0 changed - - - - - s > k" \
	"$("$PROTON" diff --ascii --all -m time,cpu_time both1.hatchet both2.hatchet | grep 's > k' | xargs)"
"$PROTON" merge --ranks host1.hatchet host2.hatchet >out
check "host time: of ranks" "1.00us 1.00 host1.hatchet|1.00us 1.00 host2.hatchet" \
	"$(awk '$NF ~ /host.\.hatchet/ { print $1, $2, $NF }' out | paste -sd '|')"
# Beside work on a device: behind it, the longest first.
python3 - >mixed.hatchet <<'END'
import json
def n(name, children=(), **m):
    return {"frame": {"name": name, "type": "function"}, "metrics": {k.replace("_ns", " (ns)"): v for k, v in m.items()}, "children": list(children)}
k = n("k", time_ns=5, count=1, device_id="0", device_type="CUDA")
print(json.dumps([n("ROOT", [n("small", cpu_time_ns=10), n("gpu", [k], cpu_time_ns=3), n("none"), n("big", cpu_time_ns=100)]),
                  {"CUDA": {"0": {"arch": "90"}}}]))
END
check "host time: the order of rows" "ROOT gpu k big small none" \
	"$("$PROTON" report --tree --ascii mixed.hatchet | awk 'NR > 1 { print $NF }' | xargs)"
check "host time: a share of it is enough" "ROOT outer" \
	"$("$PROTON" report --tree --ascii -t 15% host1.hatchet | awk 'NR > 1 { print $NF }' | xargs)"
status "no such file" 2 a.hatchet nothing.hatchet
has "no such file: said" "nothing.hatchet" err
head -c 100 a.hatchet >cut.hatchet
status "a truncated file" 2 --fail-over 5 cut.hatchet b.hatchet
check "a truncated file: one line" 1 "$(wc -l <err)"
status "no such metric" 2 -m nothing a.hatchet b.hatchet
status "a text metric" 2 -m direction a.hatchet b.hatchet
# a metric of the profile's own may be called like a usual column: to the letter, it is meant
sed 's/"count":1,/"count":1,"avg":7,/' a.hatchet >own.hatchet
"$PROTON" report --tree --ascii -m avg,AVG,Total own.hatchet >out
check "a metric that is called like a column" "7 1.00us 1.00us" "$(awk '/gemm/ { print $1, $2, $3 }' out)"
# and names that differ in their case alone are those of different metrics
sed 's/"count":1,/"count":1,"foo":1,"FOO":2,"Foo":3,/' a.hatchet >cases.hatchet
"$PROTON" report --tree --ascii -m foo,FOO,Foo cases.hatchet >out
check "metrics by their case" "1 2 3" "$(awk '/gemm/ { print $1, $2, $3 }' out)"
check "metrics by their case: compared" 2 "$("$PROTON" diff --ascii --all -m FOO cases.hatchet cases.hatchet | awk '/gemm/ { print $1 }')"
# words are sorted as words, and a limit is one of numbers
profile words.hatchet "x 1000" "y 500" "z 10"
sed -i 's/"count":1,"time (ns)":1000/"note":"zebra",&/; s/"count":1,"time (ns)":500/"note":"ape",&/; s/"count":1,"time (ns)":10,/"note":"mole",&/' words.hatchet
"$PROTON" report --tree --ascii -m note,time -s note words.hatchet >out
check "sorted by words" "ape y mole z zebra x" "$(awk '/ape|mole|zebra/ { print $1, $NF }' out | xargs)"
"$PROTON" report --tree --ascii -m note,time -t 100 words.hatchet >out; check "a limit beside words" "zebra x ape y" "$(awk '/ape|mole|zebra/ { print $1, $NF }' out | xargs)"
for limit in 100ns 0.1us 1e-7s; do
	"$PROTON" report --tree --ascii -m calls,note -t $limit words.hatchet >out
	check "a limit of time: $limit" "x y" "$(awk '$NF ~ /^[xyz]$/ { print $NF }' out | sort | xargs)"
done
"$PROTON" report --tree -t 100m words.hatchet 2>err; check "no unit of time" 2 $?
"$PROTON" report --tree --ascii -m note -t 100 words.hatchet >out; check "a limit and words alone" "zebra x ape y" "$(awk '/ape|mole|zebra/ { print $1, $NF }' out | xargs)"
profile calls.hatchet "x 1000" "y 500" "z 10"
sed -i 's/"count":1,"time (ns)":500/"count":3,"time (ns)":500/; s/"count":1,"time (ns)":10,/"count":2,"time (ns)":10,/' calls.hatchet
# kernels and transfers take an order, and where they stand alone the columns, too
"$PROTON" report --flat --ascii -s name words.hatchet >out; check "kernels by name" "x y z" "$(awk '/^ .*[xyz]$/ { print $NF }' out | xargs)"
sed 's/"note": *"[^"]*"/"note":"a text that is longer than what a line has for it"/g' words.hatchet >long.hatchet
"$PROTON" report --flat --ascii --width 48 -m time/ns,note long.hatchet >out
check "words leave room for names" 0 "$(awk 'length > 48' out | wc -l)"
check "and are cut" 3 "$(grep -c 'a text that \.\.\.  [xyz]$' out)"
"$PROTON" report --flat --ascii -s min -m min,note,max words.hatchet >out
check "kernels by a column, with columns" "MIN note MAX NAME" "$(head -1 out | xargs)"
"$PROTON" report --flat --ascii -m self,calls -s calls calls.hatchet >out
check "kernels by calls" "3 y 2 z 1 x" "$(awk '/^ .*[xyz]$/ { print $2, $NF }' out | xargs)"
for option in -s -m; do
	"$PROTON" report --flat $option totl words.hatchet >out 2>err; check "kernels: $option of nothing: status" 2 $?
	has "kernels: $option of nothing: said" "$option: no such metric: 'totl'; near it: TOTAL" err
done
status "one file" 2 a.hatchet
status "three files" 2 a.hatchet a.hatchet a.hatchet
status "one side" 2 --a a.hatchet
status "a file on neither side" 2 a.hatchet --a a.hatchet --b b.hatchet
status "a limit that is none" 2 --fail-over lots a.hatchet b.hatchet
status "rows that are none" 2 --rows 1.5 a.hatchet b.hatchet
has "rows that are none: said" "option '--rows' cannot take '1.5'" err
status "--each alone" 2 --each a.hatchet b.hatchet
"$PROTON" diff - b.hatchet <a.hatchet >out; has "standard input" "gemm" out
check "a closed pipe is quiet" "" "$("$PROTON" diff --all a.hatchet b.hatchet 2>&1 >/dev/null | head -1)"

# merge
cp a.hatchet run.rank0.hatchet; cp b.hatchet run.rank1.hatchet
"$PROTON" merge -o all.hatchet run.rank0.hatchet run.rank1.hatchet; check "merge" 0 $?
check "merge: sum" 2100 "$(metric all.hatchet gemm 'time (ns)')"
"$PROTON" report --ascii --tree --group process all.hatchet >out
has "merge: ranks stay" "rank 1" out
check "merge of merged" 0 "$("$PROTON" merge -o again.hatchet all.hatchet && "$PROTON" diff --fail-over 0 all.hatchet again.hatchet >out; echo $?)"
has "merge of merged: nothing changed" "0 changed, 0 new, 0 gone" out
cp a2.hatchet later.rank0.hatchet; cp b2.hatchet later.rank1.hatchet
"$PROTON" merge -o later.hatchet later.rank0.hatchet later.rank1.hatchet
"$PROTON" report --ascii -m time/ns --group process --diff-profile all.hatchet later.hatchet >out
check "a comparison by rank" "0 +50.000 1 -60.000" "$(awk '/ rank / { rank = $NF } /gemm/ { print rank, $1 }' out | sort | xargs)"
"$PROTON" merge --ranks --ascii all.hatchet >out
check "ranks" "50ns 1.05 1 1.05us 1.10us 1.00us 2.10us 2 step > gemm" "$(grep gemm out | xargs)"
"$PROTON" merge -o - -f json a.hatchet b.hatchet >out; has "to standard output" '"proton-profile"' out
"$PROTON" merge -o no.hatchet a.hatchet cut.hatchet b.hatchet 2>err; check "a bad file" 1 $?
has "a bad file: named" "cut.hatchet" err
check "a bad file: nothing written" 1 "$([ -e no.hatchet ]; echo $?)"
"$PROTON" merge -k -o yes.hatchet a.hatchet cut.hatchet b.hatchet 2>err; check "keep going" 1 $?
check "keep going: the others" 2100 "$(metric yes.hatchet gemm 'time (ns)')"
"$PROTON" merge -k -o none.hatchet cut.hatchet 2>err; check "nothing left" 1 $?
"$PROTON" merge -o twice.hatchet a.hatchet a.hatchet 2>err; check "twice the same" 1 $?
has "twice the same: said" "an earlier file has already" err
"$PROTON" merge a.hatchet 2>err; check "where to" 2 $?
"$PROTON" merge -o x.hatchet 2>err; check "which files" 2 $?
"$PROTON" merge --ranks -m direction a.hatchet 2>err; check "ranks of a text" 2 $?
"$PROTON" merge --ranks -m tme a.hatchet 2>err; check "ranks of what is not" 2 $?
has "ranks of what is not: the nearest" "no such metric: 'tme'; near it: time" err
"$PROTON" merge --ranks -m self a.hatchet 2>err; check "ranks of what is own" 2 $?
has "ranks of what is own: said" "'self' is without what is below" err
"$PROTON" merge --ranks -m avg_time a.hatchet 2>err; check "ranks of a quotient" 2 $?
has "ranks of a quotient: said" "'avg_time' is no metric that adds up over ranks" err

# a metric of which each file has another kind of number, and another idea
for rank in 0 1; do
	loss=$(sed -n "$((rank + 1))p" <<<$'1\n0.75')
	sed "s/\"count\":1/\"count\":1,\"loss\":$loss/; s/\"time (ns)\":0/&,\"loss\":0/" a.hatchet >loss.rank$rank.hatchet
done
"$PROTON" merge --ranks --ascii -m loss loss.rank0.hatchet loss.rank1.hatchet >out
check "ranks: fractions are kept, and printed" "0.12 1.14 0 0.88 1 0.75 1.75 2 step > gemm" "$(grep gemm out | xargs)"
sed 's/"time (ns)":0,"loss":0/"time (ns)":0,"other":0/' loss.rank1.hatchet >own.rank1.hatchet
"$PROTON" report --section notes loss.rank0.hatchet own.rank1.hatchet >out
has "files that differ on a metric" "files differ on 'loss': the first says inclusive" out
"$PROTON" diff -m loss loss.rank0.hatchet own.rank1.hatchet >out 2>err
has "diff says it, too" "files differ on 'loss': inclusive in some, exclusive in others" err
"$PROTON" diff -m loss --exclusive loss.rank0.hatchet own.rank1.hatchet >out 2>err
check "own values are own values" "" "$(cat err)"

# several files as one, for the commands that read
"$PROTON" export -f folded run.rank0.hatchet run.rank1.hatchet >out; check "export: several files" 0 $?
check "export: their sum" "step;gemm 2100" "$(grep gemm out)"
"$PROTON" export -f folded all.hatchet >one; check "export: as merge makes them" "" "$(diff out one)"
cp a.hatchet run.part_0.hatchet; cp b.hatchet run.part_1.hatchet
"$PROTON" export -f json run.part_0.hatchet run.part_1.hatchet >out
check "export: phases are one process" "1 2100" "$(python3 -c '
import json
p = json.load(open("out"))
print(len(p["processes"]), sum(n["metrics"].get("time (ns)", 0) for n in p["nodes"] if n["name"] == "gemm"))')"
"$PROTON" export -f folded - run.rank1.hatchet <run.rank0.hatchet >out; check "export: standard input too" "step;gemm 2100" "$(grep gemm out)"
"$PROTON" export -f folded - - <run.rank0.hatchet >out 2>err; check "export: standard input twice" 1 $?
has "export: standard input twice: said" "can be read once" err
"$PROTON" export -f folded -o no.folded a.hatchet cut.hatchet 2>err; check "export: a bad file" 1 $?
check "export: a bad file: nothing written" no "$([ -e no.folded ] && echo yes || echo no)"
kept() { # kept "what" COMMAND…: what is good is there, what is bad is named, the status says so
	"$PROTON" "${@:2}" run.rank0.hatchet cut.hatchet run.rank1.hatchet >out 2>err
	check "$1 --keep-going: status" 1 $?
	has "$1 --keep-going: the others" gemm out
	check "$1 --keep-going: named" 1 "$(grep -c cut.hatchet err)"
}
kept export export -k -f folded
kept report report --keep-going --tree
kept view view -k
"$PROTON" report -k cut.hatchet cut.hatchet >out 2>err; check "nothing left to report" "1 0" "$? $(wc -c <out)"

# The host's time of a range has that of the ranges in it: the whole counts them once.
host() { # host FILE OUTER INNER: one range in another
	cat >"$1" <<-END
	[{"frame": {"name": "ROOT", "type": "function"}, "metrics": {}, "children": [
	  {"frame": {"name": "outer", "type": "function"}, "metrics": {"cpu_time (ns)": $2}, "children": [
	    {"frame": {"name": "inner", "type": "function"}, "metrics": {"cpu_time (ns)": $3},
	     "children": []}]}]}]
	END
}
host before.hatchet 100 80; host after.hatchet 108 96
"$PROTON" diff -f json -m host before.hatchet after.hatchet >out 2>err
check "host time: the whole" "100 108" "$(python3 -c '
import json
t = json.load(open("out"))["total"]
print(int(t["a"]["median"]), int(t["b"]["median"]))' 2>&1)"
"$PROTON" diff --text -m host --fail-over 10 before.hatchet after.hatchet >out 2>err
check "host time: within the limit" "0 " "$? $(cat err)"
"$PROTON" diff --text -m host --fail-over 7 before.hatchet after.hatchet >out 2>err
check "host time: over the limit" "1 proton: 'host' has grown by 8.0%, more than 7%" "$? $(cat err)"
# From 0 is not new: the path is on both sides.
for value in 0 5; do
	cat >from$value.hatchet <<-END
	[{"frame": {"name": "ROOT", "type": "function"}, "metrics": {}, "children": [
	  {"frame": {"name": "k", "type": "function"}, "metrics": {"loss": $value}, "children": []}]}]
	END
done
"$PROTON" diff --text -m loss --fail-over 10 from0.hatchet from5.hatchet >out 2>err
check "grown from 0" "1 proton: 'loss' has grown from 0, more than 10%" "$? $(cat err)"
"$PROTON" diff --text -m loss --fail-over 10 --each from0.hatchet from5.hatchet >out 2>err
check "grown from 0: each" "1 proton: 'loss' has grown from 0, more than 10%" "$? $(cat err)"

# A board of ranks keeps to its width, whatever files are called.
long=a_very_long_file_name_of_a_run_on_the_big_machine_that_has_a_queue.step12.hatchet
cp from5.hatchet $long && cp from0.hatchet other.hatchet
"$PROTON" merge --ranks --ascii --width 80 -m loss $long other.hatchet >out 2>err
check "ranks: as wide as asked" "0 " "$? $(awk 'length > 80' out)"
has "ranks: cut" " a_very_lon... " out
"$PROTON" merge --ranks --ascii --width 0 -m loss $long other.hatchet >out 2>err; has "ranks: any width" " $long " out
"$PROTON" merge --ranks --ascii -m loss $long >out 2>err
check "ranks: a single one" "one rank has nobody to wait for: give the files of several" "$(tail -n 1 out)"

# ---- a cause is told once: where it arises, and what is new with all below it
cat >cause-a.folded <<EOF
main;step;forward;gemm 1000
main;step;forward;relu 100
main;step;loss 100
EOF
cat >cause-b.folded <<EOF
main;step;forward;gemm 1500
main;step;forward;relu 100
main;step;loss 100
main;step;eval;gemm 50
main;step;eval;relu 40
EOF
for f in a b; do "$PROTON" export -f hatchet -o cause-$f.hatchet cause-$f.folded; done
"$PROTON" diff --ascii cause-a.hatchet cause-b.hatchet >out
check "causes" "main > step > forward > gemm|main > step > eval" \
	"$(awk '/ > / { sub(/.*(changed|new|gone) +/, ""); print }' out | paste -sd'|')"
has "what follows is counted" "follow from these (--all)" out
"$PROTON" diff --ascii --all cause-a.hatchet cause-b.hatchet >out
check "all of them" 9 "$(grep -c '^ .*main' out)"
"$PROTON" diff --ascii -d 4 cause-a.hatchet cause-b.hatchet >out
check "causes: of those that have lines" "main > step > forward|main > step > eval" \
	"$(awk '/ > / { sub(/.*(changed|new|gone) +/, ""); print }' out | paste -sd'|')"
"$PROTON" diff --ascii -d 1 cause-a.hatchet cause-b.hatchet >out
check "causes: levels are those of a report" "1 0" "$("$PROTON" report --tree -d 1 cause-a.hatchet | grep -c 'ROOT\|main') $(grep -c main out)"
status "a limit names the cause" 1 --each --fail-over 49.5% cause-a.hatchet cause-b.hatchet
has "a limit names the cause: said" "'main > step > forward > gemm' has grown by 50.0%" err

# ---- filters, groups: all is of what is left, as in a report
cat >filter-a.folded <<EOF
main;step;forward;gemm 1000
main;step;forward;relu 100
main;step;loss 100
main;step;void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float, float, float>, unsigned int, float, 4> >(float) 100
EOF
sed 's/1000/1200/; s/loss 100/loss 300/' filter-a.folded >filter-b.folded
sed -n 's/float/double/g; s/100$/7/; $p' filter-a.folded >>filter-b.folded
total_of() { # total_of FILE OPTIONS…: what a report has left
	"$PROTON" report --tree -m time/ns --ascii "${@:2}" "$1" | awk '/ROOT/ { print $1 }'
}
for expression in "-i forward" "-e forward" "-i step -e gemm" "-i .*oss" "-i main"; do
	# shellcheck disable=SC2086
	set -- $expression
	"$PROTON" diff --ascii --all -m time/ns "$@" filter-a.folded filter-b.folded >out
	check "filter: $*: the totals of a report" "$(total_of filter-a.folded "$@") $(total_of filter-b.folded "$@")" \
		"$(awk '/ROOT/ { print $1, $2 }' out)"
done
"$PROTON" diff --ascii -i forward -e relu filter-a.folded filter-b.folded >out
has "filter: the head" "left of the time: A 76.9 % (1.00us of 1.30us), B 70.3 % (1.20us of 1.71us)" out
check "filter: lines" "main > step > forward > gemm" "$(awk '/ > / { sub(/.*changed +/, ""); print }' out)"
"$PROTON" diff -f markdown -e relu filter-a.folded filter-b.folded >out; has "filter: markdown: the head" "> left of the time: A 92.3 % (1.20us of 1.30us), B " out
"$PROTON" diff -f json -g process -i forward -e relu filter-a.folded filter-b.folded >out
check "filter: json" "forward relu 1300.0 1000.0 1707.0 1200.0 process 1000.0 ['process 1', 'main', 'step', 'forward', 'gemm']" "$(python3 -c '
import json
d = json.load(open("out"))
f = d["filter"]
print(f["include"], f["exclude"], f["a"]["time_ns"], f["a"]["left_ns"], f["b"]["time_ns"], f["b"]["left_ns"], d["group"],
      d["total"]["a"]["median"], max((n["path"] for n in d["nodes"]), key=len))')"
check "filter: json: none" "None none" "$("$PROTON" diff -f json filter-a.folded filter-b.folded | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["filter"], d["group"])')"
# A name is matched in any of its forms, whichever others a side has.
"$PROTON" diff --ascii --all filter-a.folded filter-b.folded >out
shown=$(sed -n 's/.*> \(at::native::reduce_kernel.*float.*\)/\1/p' out)
has "filter: names that are alike on one side only" "MeanOps<float" <(echo "$shown")
check "filter: the name that is shown" "100ns 100ns" "$("$PROTON" diff --ascii --all -i "$shown" filter-a.folded filter-b.folded | awk '/ROOT/ { print $1, $2 }')"
check "filter: the whole signature" "100ns 107ns" "$("$PROTON" diff --ascii --all -i 'void at::native::reduce_' filter-a.folded filter-b.folded | awk '/ROOT/ { print $1, $2 }')"
status "filter: twice" 2 -e gemm -e loss filter-a.folded filter-b.folded; has "filter: two of a kind" "only one expression is taken" err
status "filter: what is left is within a limit" 0 --fail-over 7.5 -i .*reduce filter-a.folded filter-b.folded
status "filter: what is left is over it" 1 --fail-over 50 -i .*loss filter-a.folded filter-b.folded
status "filter: over it without" 1 --fail-over 30 filter-a.folded filter-b.folded
status "filter: without what is over it" 0 --fail-over 30 -e loss filter-a.folded filter-b.folded
status "filter: nothing is left" 2 -i oss filter-a.folded filter-b.folded
check "filter: nothing: said" "proton: -i matches from the beginning of a name on: '.*' in front of it matches anywhere|proton: the filter leaves nothing of filter-a.folded and filter-b.folded" "$(paste -sd '|' err)"
check "filter: nothing: printed" 0 "$(wc -c <out)"
status "filter: nothing like it" 2 -i nothing filter-a.folded filter-b.folded; check "filter: nothing like it: said" 1 "$(wc -l <err)"
status "filter: a side has nothing" 0 -i gemm cause-a.folded filter-b.folded
status "filter: a side has nothing: no limit" 2 --fail-over 5 -i eval cause-a.folded cause-b.folded
has "filter: a side has nothing: said" "the filter leaves nothing of 'time (ns)' in A: there is nothing to hold to a limit" err
has "filter: a side has nothing: the head" "left of the time: A nothing, B " out
status "filter: no expression" 2 -i '(' filter-a.folded filter-b.folded
# Groups are matched by rank, and stand above the paths.
"$PROTON" diff --ascii --all --tree -g process all.hatchet later.hatchet >out
check "groups" "1.00us 1.05us rank 0|1.10us 1.04us rank 1" "$(awk '/ rank / { rank = $(NF - 1) " " $NF } /gemm/ { print $1, $2, rank }' out | paste -sd '|')"
check "groups: filtered" "$(total_of all.hatchet -g process -i 'rank 1')" "$("$PROTON" diff --ascii --all -m time/ns -g process -i 'rank 1' all.hatchet later.hatchet | awk '/ROOT/ { print $1 }')"
# ---- kernels instead of paths
cat >flat-a.folded <<EOF
main;step;gemm 1000
main;eval;gemm 500
main;step;relu 100
main;step;loss 100
EOF
sed 's/eval;gemm 500/eval;gemm 900/; s/step;gemm 1000/step;gemm 800/; s/loss/drop/' flat-a.folded >flat-b.folded
flat_time_of() { # flat_time_of FILE KERNEL OPTIONS…: what a report says
	"$PROTON" report --flat -m "time/ns" "${@:3}" "$1" | awk -v name="$2" '$NF == name { print $1 }'
}
"$PROTON" diff --flat --ascii --all -m time/ns flat-a.folded flat-b.folded >out
check "flat: each kernel once, of all its contexts" "gemm loss drop relu" "$(sed -n '/STATUS/,/^$/p' out | awk 'NF && !/STATUS|ROOT/ { print $NF }' | xargs)"
for kernel in gemm relu; do
	check "flat: $kernel: what a report has" "$(flat_time_of flat-a.folded $kernel) $(flat_time_of flat-b.folded $kernel)" \
		"$(awk -v name=$kernel '$NF == name { print $1, $2 }' out)"
done
check "flat: the whole" "1700.000 1900.000" "$(awk '/ROOT/ { print $1, $2 }' out)"
has "flat: said" "by kernel, copy and set" out
"$PROTON" diff --flat --ascii --all -m time/ns -i main -e step flat-a.folded flat-b.folded >out
check "flat: of what is left" "500.000 900.000 gemm" "$(awk '/gemm/ { print $1, $2, $NF }' out)"
check "flat: of what is left, as a report" "$(flat_time_of flat-b.folded gemm -e step)" "$(awk '/gemm/ { print $2 }' out)"
status "flat: a kernel over a limit" 1 --flat --each --fail-over 12 flat-a.folded flat-b.folded
has "flat: which" "'gemm' has grown by 13.3%" err
check "flat: json" "True ['gemm'] 1500.0 1700.0" "$("$PROTON" diff --flat -f json flat-a.folded flat-b.folded | python3 -c '
import json, sys
d = json.load(sys.stdin)
n = d["nodes"][0]
print(d["flat"], n["path"], n["a"]["median"], n["b"]["median"])')"
# A mean is that of all executions, not the mean of means.
check "flat: a mean" "700.000 766.667" "$("$PROTON" diff --flat --ascii --all -m avg_time/ns all.hatchet all.hatchet >/dev/null
	profile mean-a.hatchet "gemm 900" "gemm 500"; profile mean-b.hatchet "gemm 1000" "gemm 700" "gemm 600"
	"$PROTON" diff --flat --ascii --all -m avg_time/ns mean-a.hatchet mean-b.hatchet | awk '$NF == "gemm" { print $1, $2 }')"
for option in "-g process" "-d 2" --tree; do
	# shellcheck disable=SC2086
	status "flat: no tree: $option" 2 --flat $option flat-a.folded flat-b.folded
	has "flat: no tree: $option: said" "--flat is of no tree" err
done
# A kernel, and a leaf that no file calls one, of the same name.
two_kinds() { # two_kinds FILE NS
	echo '[{"children":[{"children":[],"frame":{"name":"foo"},"metrics":{"time (ns)":100,"count":1,"device_id":"0","device_type":"CUDA"}},
{"children":[{"children":[],"frame":{"name":"foo"},"metrics":{"time (ns)":'"$2"'}}],"frame":{"name":"s"},"metrics":{}}],"frame":{"name":"ROOT"},"metrics":{}},{}]' >"$1"
}
two_kinds kinds-a.hatchet 900; two_kinds kinds-b.hatchet 5000
check "flat: frames of one name" "1000.000 5100.000 foo" \
	"$("$PROTON" diff --flat --ascii --all -m time/ns kinds-a.hatchet kinds-b.hatchet | awk '/foo/ { print $1, $2, $NF }')"
status "flat: no kernels" 2 --flat empty.hatchet empty.hatchet
has "flat: no kernels: said" "there are no kernels, copies or sets in empty.hatchet and empty.hatchet" err

# A name of a metric is a program's word: in Markdown it is code.
sed 's/"count":1/"**x**<img src=x>":1/' a.hatchet >words.hatchet
has "markdown: words of a program" '`**x**<img src=x>`, inclusive' <("$PROTON" diff -f markdown --all -m '**x**<img src=x>' words.hatchet words.hatchet)

# ---- by the step
# steps FILE N TIME: main entered once; N steps, half of them within another step, each with a gemm of TIME
# ns; what is called step_lr and step's setup are others
steps() {
	python3 - "$@" <<-'END'
		import json, sys
		path, n, ns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
		def node(name, metrics, *children):
		    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": children}
		def gemm(n): return node("gemm", {"time (ns)": n * ns, "count": n, "device_id": "0", "device_type": "CUDA"})
		inner = node("step", {"cpu_count": n // 2}, gemm(n // 2))
		steps = node("step", {"cpu_count": n}, gemm(n), node("again", {}, inner))
		json.dump([node("ROOT", {"time (ns)": 0, "count": 0}, node("main", {"cpu_count": 1}, steps,
		                node("step_lr", {"cpu_count": 5}, gemm(1)), node("nothing", {}))), {}], open(path, "w"))
	END
}
steps short.hatchet 10 1000
steps long.hatchet 40 1000
"$PROTON" diff --ascii --all -m time/ns,count,avg_time/ns --per step short.hatchet long.hatchet >out
check "per: of both sides" "step: A 10, B 40 times" "$(grep times out)"
check "per: what adds up is divided" "1500.000 1500.000 same" "$(awk '/main > step > gemm|main > step$/ { print $1, $2, $5 }' out | head -n 1)"
check "per: a count" "1 1" "$(awk '$NF == "gemm" && /main > step > gemm/ { print $6, $7 }' out)"
check "per: a mean is not" "1000.000 1000.000" "$(awk '/main > step > gemm/ { print $11, $12 }' out)"
has "per: said" "time (ns), inclusive, per step" <("$PROTON" diff --ascii --per step short.hatchet long.hatchet)
has "per: markdown" '`time (ns)`, inclusive, per `step`: ' <("$PROTON" diff -f markdown --per step short.hatchet long.hatchet)
check "per: json" "step 10.0 40.0 1500.0" "$("$PROTON" diff -f json --all --per step short.hatchet long.hatchet | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["per"]["name"], d["per"]["a"]["median"], d["per"]["b"]["median"],
      *[n["a"]["median"] for n in d["nodes"] if n["path"] == ["main", "step"]])')"
check "per: a kernel's launches" "gemm: A 16, B 61 times" "$("$PROTON" diff --ascii --per gemm short.hatchet long.hatchet | grep times)"
check "per: an expression, to the end of a name" "step|step_lr: A 15, B 45 times" "$("$PROTON" diff --ascii --per 'step|step_lr' short.hatchet long.hatchet | grep times)"
check "per: filters do not change it" "step: A 10, B 40 times" "$("$PROTON" diff --ascii -e step --per step short.hatchet long.hatchet | grep times)"
check "per: runs of a side" "step: A 10 to 40, B 40 times" "$("$PROTON" diff --ascii --per step --a short.hatchet long.hatchet --b long.hatchet | grep times)"
status "per: within a limit" 0 --fail-over 5 --per step short.hatchet long.hatchet
status "per: over it without" 1 --fail-over 5 short.hatchet long.hatchet
status "per: with --flat" 0 --fail-over 5 --each --flat --per step short.hatchet long.hatchet
for name in ste nothing again; do
	status "per: $name has no count" 2 --per $name short.hatchet long.hatchet
	has "per: $name: said" "nothing in short.hatchet that is called '$name' has a count" err
done
status "per: no expression" 2 --per '(' short.hatchet long.hatchet
status "per: twice" 2 --per step --per gemm short.hatchet long.hatchet; has "per: twice: said" "only one --per is taken" err
finish
