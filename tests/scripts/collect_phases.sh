#!/bin/bash
# Phases of sessions that a program starts by proton.h: what is in the data of each while the program runs and in
# their files, what is left of those that were cleared; threads, forks, and either side that is killed.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_phases
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
cuda=$libs/libcuda.so.1

# record WHAT [ARGUMENT]: what the program says is in `out`
record() { timeout 240 "$PROTON" record -o run.hatchet -- "$app" "$cuda" "$@" >out 2>err; }
# Paths and executions of a profile.
tree() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
path, counts = {}, []
for n in json.load(sys.stdin)["nodes"]:
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), n["name"] if n["parent"] is not None else "")))
    if n["metrics"].get("count"):
        counts += [path[n["id"]] + " " + str(n["metrics"]["count"])]
print(*sorted(counts))'
}

# ---- three of them
record three
check "it says" "complete 0,depth 1,advance 1,advance 2,complete 1,now 0,data 0,data 0,data 0,clear 0,cleared 1,data 0,deactivate 0,data 0,a 0,b 0," \
	"$(tr '\n' , <out)"
check "phase 0" "add 3 step/mul 4" "$(tree 0.json)"
check "phase 0 as MessagePack" "add 3 step/mul 4" "$(tree 0.msgpack)"
check "phase 1" "add 5" "$(tree 1.json)"
check "phase 2" "mul 7" "$(tree 2.json)"
check "a cleared one" "" "$(tree cleared.json)"
check "as Triton's Proton writes it" "True False" "$(python3 -c '
import json
text = open("0.json").read()
root, devices = json.loads(text)
print(text == json.dumps([root, devices], separators=(",", ":"), ensure_ascii=False), "proton" in root)')"
check "files" "a.part_1.hatchet a.part_2.hatchet b.hatchet" "$(ls | grep -E '^[ab]\.' | tr '\n' ' ' | sed 's/ $//')"
check "file of phase 1" "$(tree 1.json)" "$(tree a.part_1.hatchet)"
check "file of phase 2" "mul 7" "$(tree a.part_2.hatchet)"
check "a session without" "add 8 mul 8 step/mul 4" "$(tree b.hatchet)"
check "the run has all" "10 12 100" "$(metric run.hatchet add count) $(metric run.hatchet mul count) $(metric run.hatchet step flops | sed 's/\.0$//')"
rm -f a.part*
record three hatchet_msgpack
check "a format by its name" "a.part_1.hatchet_msgpack a.part_2.hatchet_msgpack" "$(ls | grep part | tr '\n' ' ' | sed 's/ $//')"
check "and what is in it" "mul 7" "$(tree a.part_2.hatchet_msgpack)"
finish
