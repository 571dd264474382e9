#!/bin/bash
# SPDX-License-Identifier: MIT
# Forms of CUDA graphs, by nodes and whole: handles that come again, threads that capture at once, graphs in graphs,
# copies, very many in one place. The same program runs both ways: what is counted and which forms there are is equal.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_forms
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
export MOCK_CUPTI_IN_ORDER=1

# SCOPE FORM LAUNCHES, in order; how many kernels ran in each scope.
forms() {
	"$PROTON" export -f json "$1" | python3 -c '
import collections, json, sys
p, path, form, n, ran = json.load(sys.stdin), {}, {}, collections.Counter(), collections.Counter()
for node in p["nodes"]:
    path[node["id"]] = path.get(node["parent"], []) + [node["name"]] if node["parent"] is not None else []
    at, m = path[node["id"]], node["metrics"]
    if len(at) < 2 or at[1] != "<captured_at>":
        continue
    launches = m.get("graph_launches") or (m.get("count") if node["kind"] == "graph_run" else 0) or 0
    if launches:
        n[at[0], m.get("graph_form")] += launches
    ran[at[0]] += m.get("graph_nodes") or 0
for (scope, f), launches in sorted(n.items(), key=str):
    if scope == "others":
        n["others", bool(f)] = n.get(("others", bool(f)), 0)
    else:
        print(scope, f, launches)
print("others", sum(v for (scope, f), v in n.items() if scope == "others"))
print("ran", *("%s=%d" % i for i in sorted(ran.items())))
print("losses", *("%s=%d" % (k, v) for k, v in sorted(p["losses"].items())
                  if v and k not in ("pipe_full", "intervals", "wire_gaps")))'
}

for how in nodes whole; do
	timeout 300 "$PROTON" record -q --graphs $how -o $how.hatchet -- "$app" "$libs/libcuda.so.1" $how >out 2>err
	check "$how: status" 0 $?
	forms $how.hatchet >$how
	check "$how: what ran, a body of a conditional node four times" "$([ $how = nodes ] && echo 27 || echo 9)" \
		"$(sed -n 's/^ran.* conditional=\([0-9]*\).*/\1/p' $how)"
	sed -i 's/ conditional=[0-9]*//' $how
	check "$how: what ran" \
		"ran built=18 cloned=10 many=20000 nested=9 others=4500 renamed=2 reused=10 threads=14 unloaded=4 unnamed=4" "$(grep ^ran $how)"
	check "$how: nothing is lost" "losses" "$(grep ^losses $how | sed 's/ *$//')"
	check "$how: more forms than are told apart are counted" "others 1500" "$(grep ^others $how)"
	check "$how: launches by form" "built 1|built 8|cloned 5|conditional 3|many 5000|many 5000|nested 3|renamed 1|reused 2|reused 3|threads 3|threads 4|unloaded 2|unnamed 2|" \
		"$(grep -v '^ran\|^losses\|^others' $how | awk '{print $1, $3}' | LC_ALL=C sort | tr '\n' '|')"
done
check "forms are the same, however graphs are recorded" "$(cat nodes)" "$(cat whole)"
# Of two kernels, whatever else: the same ones are the same form in each place.
check "forms are of kernels alone" 1 "$(awk '$1 == "cloned" || ($1 == "built" && $3 == 8) || $1 == "renamed" || ($1 == "reused" && $3 == 3) || ($1 == "threads" && $3 == 3) {print $2}' nodes | sort -u | wc -l)"
check "added by hand, too, where the driver said which they are" "0 0" "$(awk '$1 == "unnamed" || $1 == "unloaded" {print $2}' nodes | xargs)"
check "and differ where these do" 2 "$(awk '$1 == "threads" {print $2}' nodes | sort -u | wc -l)"
# A number that is in files of users: it stays.
check "and stay the same" 2930122553264443 "$(awk '$1 == "cloned" {print $2}' nodes)"
"$PROTON" report --graph-shares nodes.hatchet whole.hatchet >report
check "each place but that of too many forms is joined" "conditional others" "$(sed -n "s/.* in '\(.*\)' stays whole.*/\1/p" report | sort -u | xargs)"
finish
