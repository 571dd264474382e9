#!/bin/bash
# view, report, export, list on files of all kinds.
build=$PWD
. "${srcdir:-.}/tests/tools/cli_help.sh"
PROTON_FAKE=$fake "$PROTON" record -q -o f.hatchet -- sleep 0.1

"$PROTON" view f.hatchet >out; has "view without a terminal is text" "gemm" out
"$PROTON" report - <f.hatchet >out; has "standard input" "gemm" out
"$PROTON" export -f json -o o.json f.hatchet; has "json" '"proton-profile"' o.json
"$PROTON" export -f hatchet f.hatchet >o.hatchet
"$PROTON" report o.hatchet >b; "$PROTON" report f.hatchet >a; check "hatchet again" "" "$(diff a b)"
"$PROTON" list f.hatchet >out; has "list" "time (ns)" out
"$PROTON" report f.hatchet | head -1 >/dev/null; check "a closed pipe is quiet" "" "$("$PROTON" report f.hatchet 2>&1 >/dev/null | head -1)"

# A tool that changed what everybody reads of our file is believed, not our own key beside it.
cat >edit.py <<'PY'
import copy, json
whole = json.load(open("f.hatchet"))
def write(name, change):
    tree = copy.deepcopy(whole)
    for node in tree[0]["children"]:
        if node["frame"]["name"] == "gemm":
            change(node)
    json.dump(tree, open(name, "w"))
def rows(value):
    return lambda node: node["proton"].update(rows=value)
write("same.hatchet", lambda node: node["metrics"].update({"time (ns)": float(node["metrics"]["time (ns)"])}))
write("metrics.hatchet", lambda node: node["metrics"].update({"time (ns)": 7000}))
write("gone.hatchet", lambda node: node["metrics"].pop("time (ns)"))
write("new.hatchet", lambda node: node["metrics"].update(score=3))
for i, value in enumerate(([], [[1, 0, 0]], ["x"], [[99, 0, 0, 5]], [[0, 0, 9, 5]])):
    write("rows%d.hatchet" % i, rows(value))
PY
gemm() { "$PROTON" report --ascii --section tree -m time/ns,count "$1" 2>&1 | awk '/gemm/ { print $1, $2 }'; }
if python3 edit.py 2>err; then
	own=$(gemm f.hatchet); note="changed by another tool: of 1 calling context "
	check "numbers written anew" "$own none" "$(gemm same.hatchet) $("$PROTON" report --section notes same.hatchet | tail -1)"
	check "metrics changed" "7000.000 ${own#* }" "$(gemm metrics.hatchet)"
	check "a metric taken away" "- ${own#* }" "$(gemm gone.hatchet)"
	"$PROTON" report --section notes metrics.hatchet >out; has "metrics changed: said" "$note" out
	"$PROTON" report --ascii --section tree -m score new.hatchet >out; has "a metric added" "3  |- gemm" out
	for i in 0 1 2 3 4; do
		check "rows changed, $i" "$own" "$(gemm rows$i.hatchet)"
		"$PROTON" report --section notes rows$i.hatchet >out; has "rows changed, $i: said" "$note" out
	done
fi

fails() { # fails "what" file "text"
	"$PROTON" report "$2" >out 2>err; check "$1: status" 1 $?
	has "$1: said" "$3" err
	check "$1: one line" 1 "$(wc -l <err)"
}
head -c 700 f.hatchet >cut.hatchet; fails "truncated" cut.hatchet "at byte"
echo 'not json' >bad.hatchet; fails "not JSON" bad.hatchet "'not json' at byte 1"
echo '[{"a": 1}]' >shape.hatchet; fails "wrong shape" shape.hatchet "at byte"
: >empty.hatchet; fails "empty" empty.hatchet "empty.hatchet"
fails "a directory" /tmp "Is a directory"
fails "not there" nothing.hatchet "No such file or directory"
head -c 100 /dev/urandom >noise; fails "noise" noise "at byte"
# ---- names that would fill the memory, in files of some hundred KB; and long ones that are meant
cat >names.py <<'PY'
import gzip, json, struct, sys
MB = 1 << 20
def packed(name, parts):
    with gzip.open(name, "wb", 1) as f:
        for part in parts: f.write(part)
def long(head, n, tail): return [head] + [b"x" * MB] * n + [tail]
packed("json.gz", long(b'[{"frame":{"name":"', 150, b'"},"metrics":{"count":1},"children":[]}]'))
packed("quotes.gz", [b'[{"frame":{"name":"'] + [b'\\"' * (MB // 2)] * 150 + [b'"}}]'])
packed("digits.gz", [b'[{"metrics":{"count":'] + [b"9" * MB] * 150 + [b"}}]"])
packed("chrome.gz", long(b'{"traceEvents":[{"ph":"X","ts":1,"dur":1,"name":"', 150, b'"}]}'))
packed("unknown.gz", long(b'{"traceEvents":[],"what":"', 150, b'"}'))
packed("msgpack.gz", long(b"\x91\x83\xa5frame\x81\xa4name\xdb" + struct.pack(">I", 150 * MB), 150,
                          b"\xa7metrics\x80\xa8children\x90"))
packed("speedscope.gz", long(b'{"$schema":"speedscope.app","shared":{"frames":[{"name":"', 150, b'"}]}}'))
packed("ours.gz", long(b'{"schema":"proton-profile","source":"', 150, b'"}'))
packed("pprof.gz", long(b"\x0a\x04\x08\x01\x10\x02\x32\x80\x80\x80\x4b", 150, b""))
packed("folded.gz", long(b"a;", 150, b" 5\n"))
packed("frame.gz", long(b"a;", 20, b" 5\n"))
packed("fits.gz", long(b'[{"frame":{"name":"', 15, b'"},"metrics":{"count":1},"children":[]}]'))
packed("deep.gz", [b'[{"children":[],"frame":{"name":"k"},"what":'] + [b"[" * MB] * 17)
packed("nested.gz", [b'[{"children":[],"frame":{"name":"k"},"what":'] + [b"[" * MB] * 15 + [b"]" * MB] * 15 + [b"}]"])
nodes = [{"frame": {"name": "%06d" % i + "n" * 100000}, "metrics": {"count": 1}, "children": []} for i in range(300)]
packed("many.gz", [json.dumps([{"frame": {"name": "r"}, "metrics": {}, "children": nodes}]).encode()])
PY
if grep -q 'define HAVE_ZLIB 1' "$build/config.h"; then
python3 names.py
for what in json quotes digits chrome unknown msgpack speedscope ours pprof; do
	fails "a $what of 150 MB" $what.gz "a name or value of more than 16 MiB"
	check "a $what of 150 MB: memory" "" "$(needs_at_most 90 $what.gz 2>&1)"
done
fails "17 million brackets" deep.gz "nested deeper than 16777216 levels"
check "15 million brackets" "1 k" "$("$PROTON" export -f csv nested.gz | awk -F, 'NR > 1 { print NR - 2, $5 }' | tail -1)"
fails "a stack of 150 MB" folded.gz "a stack of more than 64 MiB"
check "a stack of 150 MB: memory" "" "$(needs_at_most 200 folded.gz 2>&1)"
fails "a frame of 20 MB" frame.gz "a frame of more than 16"
check "a name of 15 MB" 15728640 "$("$PROTON" export -f json fits.gz | python3 -c '
import json, sys
print(max(len(n["name"]) for n in json.load(sys.stdin)["nodes"]))')"
check "300 names of 100 KB" 300 "$("$PROTON" export -f json many.gz | python3 -c '
import json, sys
print(sum(len(n["name"]) == 100006 for n in json.load(sys.stdin)["nodes"]))')"
fi

# ---- a full disk is no success, and neither is a closed descriptor
for command in --help "help top" version "list f.hatchet" "report f.hatchet" "export -f json f.hatchet" "top --keys"; do
	# shellcheck disable=SC2086
	"$PROTON" $command >/dev/full 2>err; check "$command on a full disk: status" 1 $?
	has "$command: said" "No space left on device" err
	# shellcheck disable=SC2086
	"$PROTON" $command >&- 2>err; check "$command to nobody: status" 1 $?
	has "$command to nobody: said" "Bad file descriptor" err
done
finish
