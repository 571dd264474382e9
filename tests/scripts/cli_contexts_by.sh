#!/bin/bash
# --by: contexts that are left out pass what they have to those above, in text, exports and comparisons.
. "${srcdir:-.}/tests/tools/cli_help.sh"

# A profile of contexts of all kinds: stacks whose names begin with their kind, and "f" for functions.
cat >stacks <<'END1'
step;python /a/train.py:9@main;python /a/net.py:4@forward;module net.layer1;operator aten::mm;gemm 10
step;python /a/train.py:9@main;python /a/net.py:7@loss;operator aten::mm;gemm 5
step;python /a/train.py:9@main;operator aten::relu;relu 3
step;python /a/train.py:11@main;module net.layer1;python /a/net.py:4@forward;operator aten::mm;gemm 7
module net.layer1;operator aten::mm;gemm 2
step;python /a/train.py:9@main 4
native libx.so;gemm 1
END1
cat >profile.py <<'END1'
"""Stacks as a profile of our JSON, and what a view of it has to be, path by path."""
import json, subprocess, sys
KINDS = ("python", "module", "operator", "native")
SHOWS = {"all": KINDS, "scopes": (), "torch": ("module", "operator"), "python": ("python",), "line": ("python",),
         "native": ("native",)}
def frame(text):
    kind, _, name = text.partition(" ")
    return (kind, name) if kind in KINDS else ("function", text)
def stacks():
    for line in open("stacks"):
        path, _, value = line.rpartition(" ")
        yield [frame(f) for f in path.split(";")], int(value)
def want(view):
    paths = {}
    for path, value in stacks():
        path = [f for f in path if f[0] not in KINDS or f[0] in SHOWS[view]]
        if view == "line":
            last = max((i for i, f in enumerate(path) if f[0] == "python"), default=-1)
            path = [f for i, f in enumerate(path) if f[0] != "python" or i == last]
        for n in range(1, len(path) + 1):
            key = ";".join(f[1] for f in path[:n])
            paths[key] = paths.get(key, 0) + value
    return paths
def have(rows):
    import csv
    column = "time (ns) [inclusive]"
    return {r["path"]: int(r[column]) for r in csv.DictReader(rows) if r["path"] != "ROOT"}
if sys.argv[1] == "make":
    json_of = json.load(open("plain.json"))
    for node in json_of["nodes"]:
        if node["kind"] != "root":
            node["kind"], node["name"] = frame(node["name"])
    json.dump(json_of, open("all.json", "w"))
else:
    a, b = want(sys.argv[1]), have(sys.stdin)
    b = {k: v for k, v in b.items()}
    print("same" if a == b else "want %s, have %s" % (sorted(a.items() - b.items()), sorted(b.items() - a.items())))
END1
cp stacks plain.folded
"$PROTON" export -f json plain.folded >plain.json
python3 profile.py make
for view in all scopes torch python line native; do
	check "paths and times by $view" same "$("$PROTON" export -f csv --by $view all.json | python3 profile.py $view)"
done
check "the report" "step /a/net.py:4@forward gemm" "$("$PROTON" report --tree --ascii --by line -i '.*forward' all.json 2>/dev/null |
	awk '!/ROOT|TOTAL|^left/ && NF { sub(/.*- /, ""); print }' | xargs)"
check "what is compared" "0 changed" "$("$PROTON" diff --by line all.json all.json | grep -o '0 changed')"
"$PROTON" report --by lines all.json >out 2>err
check "another word is refused" 2 $?
has "with the words there are" "'--by' takes all|scopes|torch|python|line|native" err
check "kernels are those of the whole" "$("$PROTON" report --flat all.json | awk '{ print $1, $NF }')" \
	"$("$PROTON" report --flat --by scopes all.json | awk '{ print $1, $NF }')"
finish
