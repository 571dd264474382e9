#!/bin/bash
# SPDX-License-Identifier: MIT
# What other programs get: readable names, and in a trace all that is read back.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
profile=$tests/hatchet/h200-torch-add-python.hatchet

# Names. pprof has both: what is shown, and the symbol.
if "$PROTON" version | grep -q "by libiberty"; then
	for format in csv markdown folded speedscope flamegraph dot pprof callgrind; do
		"$PROTON" export -f $format --names short "$profile" >short.$format 2>err
		check "$format: written" "0 " "$? $(cat err)"
		has "$format: short names" elementwise short.$format
		"$PROTON" export -f $format --names demangled "$profile" >whole.$format
		"$PROTON" export -f $format --names raw "$profile" >raw.$format
		check "$format: short is not the whole" 0 "$(grep -c 'std::array.char' short.$format)"
		check "$format: the whole" yes \
			"$(grep -aEq 'CUDAFunctorOnSelf\\?_add' whole.$format && echo yes)"
		check "$format: raw" yes "$(grep -aEq '_ZN2at|\\_ZN2at' raw.$format && echo yes)"
		case $format in
		folded|speedscope|pprof|callgrind|csv|markdown) default=whole ;;
		*) default=short ;;
		esac
		"$PROTON" export -f $format "$profile" | cmp -s - $default.$format
		check "$format: $default by default" 0 $?
		[ $format = pprof ] ||
			check "$format: no symbol" 0 "$(grep -acE '_ZN2at|\\_ZN2at' short.$format)"
	done
	PROTON_FAKE='kernel _ZN2at4gemmEv 1000 2' "$PROTON" record -q --trace -o t.hatchet -- sleep 0.1
	for format in chrome perfetto; do
		"$PROTON" export -f $format t.hatchet >t.$format
		check "$format: readable names" "yes 0" \
			"$(grep -aq at::gemm t.$format && echo yes) $(grep -ac _ZN2at t.$format)"
	done
else
	echo "skipped: names: built without libiberty"
fi

# Copies from where to where, in JSON: added up over nodes, streams and threads, and anew of what was read back.
PROTON_FAKE='copy HtoD pinned 4096 1000;copy HtoD pinned 4096 500;copy DtoH pageable 512 100;copy PtoP unknown 512 5;copy HtoH unknown 30 2;copy DtoD unknown 100 7;kernel k 1000;set device 9999 3' \
	"$PROTON" record -q --no-cuda -o copies.hatchet -- true >out 2>err
check "copies: status" 0 $?
"$PROTON" export -f json copies.hatchet >copies.json
sed -n '/"traffic"/,/\]/p' copies.json | sed '1d;$d;s/^ *//' >traffic
check "copies: from where to where" "\
{\"from\":{\"where\":\"host\",\"device\":null,\"memory\":\"pinned\"},\"to\":{\"where\":\"device\",\"device\":0,\"memory\":null},\"count\":2,\"bytes\":8192,\"time_ns\":1500},
{\"from\":{\"where\":\"device\",\"device\":0,\"memory\":null},\"to\":{\"where\":\"host\",\"device\":null,\"memory\":\"pageable\"},\"count\":1,\"bytes\":512,\"time_ns\":100},
{\"from\":{\"where\":\"device\",\"device\":0,\"memory\":null},\"to\":{\"where\":\"device\",\"device\":null,\"memory\":null},\"count\":1,\"bytes\":512,\"time_ns\":5},
{\"from\":{\"where\":\"device\",\"device\":0,\"memory\":null},\"to\":{\"where\":\"device\",\"device\":0,\"memory\":null},\"count\":1,\"bytes\":100,\"time_ns\":7},
{\"from\":{\"where\":\"host\",\"device\":null,\"memory\":null},\"to\":{\"where\":\"host\",\"device\":null,\"memory\":null},\"count\":1,\"bytes\":30,\"time_ns\":2}" "$(cat traffic)"
"$PROTON" export -f json copies.json | cmp -s - copies.json
check "copies: read and written again" 0 $?
python3 "$tests/tools/validate_json.py" "$tests/../data/proton-profile.schema.json" copies.json >out
check "copies: as the schema says" yes "$([[ $? = 0 || $(tail -1 out) = skipped:* ]] && echo yes)"
PROTON_FAKE='kernel k 1000' "$PROTON" record -q --no-cuda -o none.hatchet -- true >out 2>err
"$PROTON" export -f json none.hatchet >none.json
has "no copies: an empty list" '"traffic": [],' none.json
PROTON_FAKE='copy DtoH pageable 1000 5' "$PROTON" record -q --no-cuda -o more.hatchet -- true >out 2>err
"$PROTON" merge -o both.hatchet copies.hatchet more.hatchet
"$PROTON" export -f json both.hatchet >both.json
has "copies: of two runs" '"memory":"pageable"},"count":2,"bytes":1512,"time_ns":105}' both.json

# Weights by the name that any command takes; the titles of CSV's columns are names, too.
for name in time "time (ns)" TOTAL self; do
	"$PROTON" export -f folded -m "$name" "$profile" >"weight" 2>err
	check "weighed by $name" "0 $("$PROTON" export -f folded "$profile" | cksum)" "$? $(cksum <weight)"
done
"$PROTON" export -f folded -m tme "$profile" >out 2>err; check "weighed by what is not: status" 2 $?
has "weighed by what is not: the nearest" "no such metric: 'tme'; near it: time" err
"$PROTON" export -f folded -m avg_time "$profile" >out 2>err; check "weighed by a quotient: status" 2 $?
"$PROTON" export -f csv "$profile" | head -1 | tr -d '\r' | tr , '\n' | tail -n +7 >titles
while IFS= read -r title; do
	"$PROTON" report --tree -m "$title" "$profile" >out 2>err </dev/null; check "a title of CSV: $title" 0 $?
done <titles
check "titles of CSV" yes "$([ "$(wc -l <titles)" -ge 4 ] && echo yes)"

# Columns of tables by name: derived ones, too. Titles are names of the same columns.
python3 - "$PROTON" "$tests/hatchet/literal.hatchet" >out 2>&1 <<'END'
import csv, io, subprocess, sys

def table(*options):
    text = subprocess.run([sys.argv[1], "export", "-f", "csv", *options, sys.argv[2]],
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    return list(csv.reader(io.StringIO(text, newline="")))

words = ["calls", "TOTAL", "SELF", "time (exc)", "time/us", "avg_time/us", "gbyte/s", "time/%", "bound"]
raw, asked = table(), table("-m", ",".join(words))
head = asked[0][6:]
assert head == words[:4] + ["time/us [inclusive]"] + words[5:], head
assert table("-m", ",".join(head)) == asked
at = {title: i for i, title in enumerate(raw[0])}
whole = float(raw[1][at["time (ns) [inclusive]"]])

def number(row, title):
    return float(row[at[title]] or "nan")

by_id = {row[0]: row for row in raw[1:]}

def line(row):
    """A row and those above it."""
    while row:
        yield row
        row = by_id.get(row[1])

def moving(row):
    """The time at or below a row of what moved bytes; a row's bytes are of all below it, too."""
    return sum(number(r, "time (ns)") for r in raw[1:]
               if row in line(r) and number(r, "time (ns)") >= 0 and
               any(number(up, "bytes") >= 0 for up in line(r)))

rows = 0
for a, b in zip(raw[1:], asked[1:], strict=True):
    assert a[:6] == b[:6]
    time, count, moved = (float(a[at[m + " [inclusive]"]] or "nan")
                          for m in ("time (ns)", "count", "bytes"))
    own = a[at["time (ns)"]]
    want = [count, time, own, own, time / 1e3, time / count / 1e3, moved / (moving(a) or 1), time / whole * 100]
    for x, y in zip(want, b[6:14], strict=True):
        x, y = float(x or "nan"), float(y or "nan")
        assert (x != x and y != y) or abs(x - y) <= 1e-12 * abs(x), (b, want)
    rows += count > 0
assert rows >= 4, rows
print("same")
END
check "columns of CSV by name" same "$(tail -3 out)"
"$PROTON" export -f markdown -m calls,bound "$profile" >out
check "columns of Markdown by name" "| ---: | ---: | ---: | :--- | :--- | :--- | ---: | :--- |" \
	"$(sed -n 2p out)"

# Metrics that are called as other columns: each title stands there once, over its values.
python3 - "$PROTON" >out 2>&1 <<'END'
import csv, io, json, subprocess, sys

names = ["id", "name", "path", "parent", "kind", "depth", "id #2", "time (ns) [inclusive]", "plain"]
values = {name: i + 100 for i, name in enumerate(names)}
frame = lambda name: {"name": name, "type": "function"}
leaf = {"frame": frame("k"), "metrics": {"time (ns)": 7, **values}, "children": []}
with open("titles.hatchet", "w", encoding="utf-8") as f:
    json.dump([{"frame": frame("ROOT"), "metrics": {}, "children": [leaf]}], f)
for options in [], ["-m", "plain,plain,calls,id"]:
    text = subprocess.run([sys.argv[1], "export", "-f", "csv", *options, "titles.hatchet"],
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    head, _, row = csv.reader(io.StringIO(text, newline=""))
    assert len(set(head)) == len(head), head
    at = dict(zip(head, row, strict=True))
    assert at["id"] == "1" and at["name"] == "k" and at["path"] == "k" and at["depth"] == "1", at
    if options:
        continue
    assert at["time (ns) [inclusive]"] == "7" and at["time (ns) [inclusive] #2"] == "107", at
    assert at["name #2"] == "101" and at["plain"] == at["plain [inclusive]"] == "108", at
    assert sorted((at["id #2"], at["id #2 #2"])) == ["100", "106"], at
print("unique")
END
check "titles of CSV are unique" unique "$(tail -3 out)"
# A metric without a name has one, and a name with a NUL does not end there, nor is it another's.
cat >odd.hatchet <<'END'
[{"frame": {"name": "ROOT", "type": "function"}, "metrics": {}, "children": [
  {"frame": {"name": "a\u0000b", "type": "function"}, "metrics": {"time (ns)": 5, "": 7}, "children": []},
  {"frame": {"name": "a\u0000c", "type": "function"},
   "metrics": {"time (ns)": 2, "x\u0000y": 8, "x": 9, "word": "p\u0000q"}, "children": []}]}]
END
"$PROTON" export -f csv odd.hatchet >out
check "an empty title" "time (ns),time (ns) [inclusive],<unnamed>,<unnamed> [inclusive],x^@y,x^@y [inclusive],x,x [inclusive],word" \
	"$(head -1 out | tr -d '\r' | cut -d, -f7-)"
check "NULs in CSV" "function,a^@b,a^@b,5,5,7,7,,,,,
function,a^@c,a^@c,2,2,,,8,8,9,9,p^@q" "$(tail -2 out | tr -d '\r' | cut -d, -f4-)"
check "a column without a title" 7 "$("$PROTON" report --tree -m '<unnamed>' odd.hatchet | awk '/a\^@b/ { print $1 }')"
for section in tree kernels; do
	check "NULs in a report: $section" "a^@b a^@c" \
		"$("$PROTON" report --section "$section" odd.hatchet | awk '/a\^@/ { print $NF }' | xargs)"
done
check "NULs in view" "a^@b a^@c" \
	"$("$PROTON" view odd.hatchet </dev/null | grep -o 'a^@[bc]' | sort -u | xargs)"
check "NULs in stacks" "a^@b 5 a^@c 2" "$("$PROTON" export -f folded odd.hatchet | xargs)"
sed 's/a.u0000b/a\\u0000d/' odd.hatchet >other.hatchet
check "NULs in a comparison" "a^@b a^@d" \
	"$("$PROTON" diff odd.hatchet other.hatchet | grep -o 'a^@[bd]' | sort -u | xargs)"
"$PROTON" export -f hatchet -o again.hatchet odd.hatchet 2>/dev/null
check "NULs are kept" 2 "$(grep -o '"a.u0000[bc]"' again.hatchet | sort -u | wc -l)"
for words in tme calls,,avg "" ,; do
	"$PROTON" export -f csv -m "$words" "$profile" >out 2>err
	check "no columns of CSV: '$words'" "2 1" "$? $(wc -l <err)"
done

# A metric may have a comma in its name, and be like two others: the longest name is the word.
cat >comma.hatchet <<'END'
[{"frame": {"name": "ROOT", "type": "function"}, "metrics": {}, "children": [
  {"frame": {"name": "k", "type": "function"},
   "metrics": {"time (ns)": 100, "a": 1, "b": 2, "a,b": 7, "LOSS": 3, "loss": 4}, "children": []}]}]
END
"$PROTON" export -f csv -m "calls,a,b,b,a,a,b/%" comma.hatchet >out
check "a comma in a name: csv" 'id,parent,depth,kind,name,path,calls,"a,b [inclusive]",b [inclusive],a [inclusive],"a,b/%"' \
	"$(head -1 out | tr -d '\r')"
check "a comma in a name: csv: values" ",7,2,1,100" "$(tail -1 out | tr -d '\r' | cut -d, -f7-)"
"$PROTON" report --tree -m "a,b,time" comma.hatchet >out 2>err
check "a comma in a name: report" "7 100ns k" "$(awk '$NF == "k" { print $1, $2, $NF }' out; cat err)"
"$PROTON" view -m "a,b,time" comma.hatchet >out 2>err
check "a comma in a name: view" "7 100ns k" "$(awk '$NF == "k" { print $1, $2, $NF; exit }' out; cat err)"
"$PROTON" diff --text --all -m "a,b" comma.hatchet comma.hatchet >out 2>err
check "a comma in a name: diff" "7 7 0 0.0 same k" "$(awk '$NF == "k"' out | xargs; cat err)"
"$PROTON" merge --ranks -m "a,b" comma.hatchet >out 2>err; check "a comma in a name: ranks" "0 " "$? $(cat err)"
has "a comma in a name: ranks: its values" "       7    1.00  comma.hatchet" out
check "a comma in a name: folded" "k 7" "$("$PROTON" export -f folded -m "a,b" comma.hatchet)"
"$PROTON" report -m lss comma.hatchet >out 2>err
check "near names are said once" "proton: -m: no such metric: 'lss'; near it: LOSS (all: 'proton list FILE')" \
	"$(cat err)"

# The host's own time is what nested scopes leave, also where something stands between.
cat >nested.hatchet <<'END'
[{"frame": {"name": "ROOT", "type": "function"}, "metrics": {}, "children": [
  {"frame": {"name": "outer", "type": "function"}, "metrics": {"cpu_time (ns)": 10}, "children": [
    {"frame": {"name": "between", "type": "function"}, "metrics": {}, "children": [
      {"frame": {"name": "inner", "type": "function"}, "metrics": {"cpu_time (ns)": 4},
       "children": []}]}]}]}]
END
check "own time on the host" "outer 6 outer;between;inner 4" \
	"$("$PROTON" export -f folded nested.hatchet | xargs)"

for format in json hatchet hatchet_msgpack; do
	"$PROTON" export -f $format --names short "$profile" >out 2>err
	check "$format: --names: status" 2 $?
	check "$format: --names: said" \
		"proton: '$format' keeps names as they are, --names is for the other formats" "$(cat err)"
	"$PROTON" export -f $format "$profile" >out
	has "$format: raw names" _ZN2at6native29vectorized_elementwise_kernel out
done

# A trace, written and read: the same work on the same devices, and the same ranges on the host.
for trace in torch.json h200-torch-graph.json h200-torch-stack.json proton.chrome_trace nsys.json; do
	"$PROTON" export -f chrome "$tests/chrome/$trace" >again.chrome_trace 2>err
	check "$trace: written" "0 " "$? $(cat err)"
	for section in kernels transfers devices host processes; do
		"$PROTON" report --section $section "$tests/chrome/$trace" >before
		"$PROTON" report --section $section again.chrome_trace >after
		check "$trace: again: $section" "" "$(diff before after | head -5)"
	done
	"$PROTON" export -f hatchet -o again.hatchet "$tests/chrome/$trace"
	"$PROTON" export -f chrome again.hatchet | cmp - again.chrome_trace
	check "$trace: by way of Hatchet" 0 $?
done
# Fractions of which a file cannot hold all: what each loses the next ones have, and the sum is right.
python3 - >thirds.hatchet <<'END'
import json
def node(name, children=(), **metrics):
    return {"frame": {"name": name}, "metrics": metrics, "children": list(children)}
print(json.dumps([node("ROOT", [node("k%d" % i, score=1 / 3) for i in range(300)]), {}]))
END
check "fractions add up" 1000000 "$("$PROTON" export -f folded -m score thirds.hatchet 2>/dev/null | python3 -c '
import sys
print(str(sum(int(line.split()[-1]) for line in sys.stdin))[:7])')"

# ---- a trace that does not say what its copies moved
xla=$tests/chrome/xla.json
check "unknown bytes: JSON" null "$("$PROTON" export -f json "$xla" | python3 -c '
import json, sys
print(*{json.dumps(t["bytes"]) for t in json.load(sys.stdin)["traffic"]})')"
check "unknown bytes: CSV" "GPU0,GPU0,1,,1000" "$("$PROTON" export -f csv --table copy-pairs "$xla" | tail -n +2 | tr -d "\r")"
finish
