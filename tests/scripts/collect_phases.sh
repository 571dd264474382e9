#!/bin/bash
# Phases of sessions that a program starts by proton.h: what is in the data of each while the program runs and in
# their files, what is left of those that were cleared; threads, forks, and either side that is killed.
. "${srcdir:-.}/tests/tools/sessions.sh"
. "${srcdir:-.}/tests/tools/cli_help.sh"
session_app collect_phases

# ---- three of them
record three
check "it says" "complete 0,depth 1,advance 1,advance 2,complete 1,now 0,data 0,data 0,data 0,clear 0,cleared 1,data 0,deactivate 0,data 0,a 0,b 0," \
	"$(tr '\n' , <out)"
check "phase 0" "add 3 step/mul 4" "$(counts 0.json)"
check "phase 0 as MessagePack" "add 3 step/mul 4" "$(counts 0.msgpack)"
check "phase 1" "add 5" "$(counts 1.json)"
check "phase 2" "mul 7" "$(counts 2.json)"
check "a cleared one" "" "$(counts cleared.json)"
check "as Triton's Proton writes it" "True False" "$(python3 -c '
import json
text = open("0.json").read()
root, devices = json.loads(text)
print(text == json.dumps([root, devices], separators=(",", ":"), ensure_ascii=False), "proton" in root)')"
check "files" "a.part_1.hatchet a.part_2.hatchet b.hatchet" "$(ls | grep -E '^[ab]\.' | tr '\n' ' ' | sed 's/ $//')"
check "file of phase 1" "$(counts 1.json)" "$(counts a.part_1.hatchet)"
check "file of phase 2" "mul 7" "$(counts a.part_2.hatchet)"
check "a session without" "add 8 mul 8 step/mul 4" "$(counts b.hatchet)"
check "the run has all" "10 12 100" "$(metric run.hatchet add count) $(metric run.hatchet mul count) $(metric run.hatchet step flops | sed 's/\.0$//')"
rm -f a.part*
record three hatchet_msgpack
check "a format by its name" "a.part_1.hatchet_msgpack a.part_2.hatchet_msgpack" "$(ls | grep part | tr '\n' ' ' | sed 's/ $//')"
check "and what is in it" "mul 7" "$(counts a.part_2.hatchet_msgpack)"

# ---- what is wrong
record wrong nonsense
check "it is said" 15 "$(wc -l <out)"
check "statuses" "-3 -3 -3 -3 -2 -2 -2 0 0 -2 -2 0 -2 0 -3" \
	"$(sed -E 's/^(no session|below 0|to come|[a-z]+) (-?[0-9]+).*/\2/' out | tr '\n' ' ' | sed 's/ $//')"
has "a phase to come" "to come -2 there is no phase 1 of session 0" out
has "a mode" "mode -2 mode 'nonsense' is not known: pcsampling, metrics:names=gmp, and periodic_flushing" out

# ---- threads launch, others ask, the main one goes on
# Executions in all files of phases together.
sum() {
	"$PROTON" export -f json a.part_*.hatchet | python3 -c '
import json, sys
print(sum(n["metrics"].get("count", 0) for n in json.load(sys.stdin)["nodes"]))'
}
record threads
check "it says" "phases 0,finalize 0," "$(tr '\n' , <out)"
check "each launch is in one phase" 80000 "$(sum)"
check "and in the run" "80000 []" "$(metric run.hatchet add count) $("$PROTON" export -f json run.hatchet | python3 -c '
import json, sys
print([k for k, v in json.load(sys.stdin)["losses"].items() if v and k not in ("pipe_full", "intervals", "wire_gaps")])')"
rm -f a.part_*
record threads clear
check "with phases that are cleared" "phases 0,finalize 0," "$(tr '\n' , <out)"
check "the run has all" 80000 "$(metric run.hatchet add count)"
check "and at most 21 phases are there" 1 "$((0 < $(ls a.part_* | wc -l) && $(ls a.part_* | wc -l) <= 21))"

# ---- for ever: 4 * 10^5 launches, 4 * 10^4 names
record flat 4000
check "phases are steps, but for the first few" True "$("$PROTON" export -f json run.hatchet | python3 -c '
import json, sys
print(*(3980 < n["metrics"]["steps"] < 4000 for n in json.load(sys.stdin)["nodes"]
        if n["metrics"].get("steps") and n["name"].startswith("phase")))')"
check "… of a loop of their own" "step # phase #" "$("$PROTON" report --view steps run.hatchet | awk 'NR > 1 { print $(NF-1), $NF }' | xargs)"
check "it goes on" "finalize 0" "$(tail -1 out)"
check "the run has all" 400000 "$(metric run.hatchet add count)"
# While there is a session 16,384 names that count up have rows: from there on nothing comes to them. 20,000 names
# more would cost 20 MiB without clearing, about.
check "neither half grows" yes \
	"$(awk 'NR == 5 { a = $1; b = $2 } NR == 10 { print $1 < a + 4096 && $2 < b + 4096 ? "yes" : $0 }' out)"

# ---- written as they are over
rm -f a.*
record periodic periodic_flushing
check "it says" "start 0,complete 1,written 1,finalize 0," "$(tr '\n' , <out)"
check "a file each" 101 "$(ls a.part_*.hatchet | wc -l)"
check "with what it had" "add 1 add 51 add 100 mul 7" "$(counts a.part_0.hatchet) $(counts a.part_50.hatchet) $(counts a.part_99.hatchet) $(counts a.part_100.hatchet)"
check "and the run has all" "5050 7" "$(metric run.hatchet add count) $(metric run.hatchet mul count)"
rm -f a.*
record periodic Periodic_Flushing:format=hatchet_msgpack
check "in another format" 101 "$(ls a.part_*.hatchet_msgpack | wc -l)"
check "with what it had" "add 51" "$(counts a.part_50.hatchet_msgpack)"
rm -f a.*
mkdir a.part_7.hatchet
record periodic periodic_flushing
check "one that cannot be written" "start 0,complete 1,written 1,finalize -5 the file was not written: Invalid argument," "$(tr '\n' , <out)"
check "the others are" 101 "$(ls -d a.part_*.hatchet | wc -l)"
has "a note says so" "phases of session 0 are kept until it is finalized: a file was not written: Invalid argument" err
rmdir a.part_7.hatchet

# ---- when operations ran
events() { python3 -c '
import collections, json, sys
n = collections.Counter(e["name"] for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X")
print(*("%s %d" % i for i in sorted(n.items())))' "$1"; }
for run in "" --trace; do
	rm -f a.* b.*
	timeout 240 "$PROTON" record $run -o run.hatchet -- "$app" "$cuda" trace periodic_flushing >out 2>err
	check "it says" "data 0,tree -2,trace -2,hatchet -2,a 0,b 0,tree 0,empty 0," "$(sed 's/^\([a-z]* [-0-9]*\).*/\1/' out | tr '\n' ,)"
	check "phases" "add 3, mul 4" "$(events a.part_0.chrome_trace), $(events a.part_1.chrome_trace)"
	check "as data" "add 3" "$(events 0.json)"
	check "another session" "mul 4" "$(events b.chrome_trace)"
	check "one in which nothing ran" "" "$(events empty.chrome_trace)"
	check "a tree beside them" "add 5 step/add 3" "$(metric tree.hatchet add count | sed 's/^/add /') $(counts tree.hatchet | grep -o 'step/add 3')"
	"$PROTON" export -f chrome -o run.json run.hatchet >out 2>&1
	check "the run has ${run:-none}" "${run:+add 14 mul 4 step 1}" "$([ -n "$run" ] && events run.json)"
	check "and says so" "${run:-no}" "$(grep -q "no trace" out && echo no || echo "$run")"
done
timeout 240 "$PROTON" record --tape run.tape -o run.hatchet -- "$app" "$cuda" trace >out 2>err
check "a tape has them" "add 3 mul 4" "$("$PROTON" export -f chrome -o tape.json run.tape && events tape.json)"

# ---- forks, and ends
is_sanitized() { grep -q 'define PROTON_SANITIZED 1' "$(dirname "$PROTON")/config.h" 2>/dev/null; }
if is_sanitized; then
	echo "skipped: a forked child waits for locks of the sanitizer that others held"
else
	record fork
	check "fork" "child -3 there is no session 0,child 1,child 0,child 0,parent 0,parent 0," "$(tr '\n' , <out)"
	check "the parent's" "add 3 add 1" "$(counts parent.part_0.hatchet) $(counts parent.part_1.hatchet)"
	check "the child's" 5 "$(metric child.part_0.hatchet s flops | sed 's/\.0$//')"
	check "as data" 5 "$(metric child.json s flops | sed 's/\.0$//')"
fi
(record killed 8) 2>/dev/null
check "a program that is killed while it asks" 137 $?
check "the run has what there was" 3 "$(metric run.hatchet add count)"
check "and so has the session" 3 "$(metric killed.hatchet add count)"
(record leave) 2>/dev/null
check "one that forgets its phases" "add 2 add 3" "$(counts left.part_1.hatchet) $(counts left.part_2.hatchet)"
check "but for those that were cleared" "left.part_1.hatchet left.part_2.hatchet" "$(ls left.* | tr '\n' ' ' | sed 's/ $//')"
# The shell is the parent that the program would kill.
(record orphan kill) 2>/dev/null
wait_for 60 grep -q "goes on" out
has "whoever profiles is killed" "data -5 proton did not answer" out
has "and the program goes on" "goes on 0" out

# ---- a tape is read, and answers nothing
timeout 240 "$PROTON" record --tape run.tape -o run.hatchet -- "$app" "$cuda" three >out 2>err
rm -f a.* b.*
check "a tape has the run" "10 12" "$(metric run.tape add count) $(metric run.tape mul count)"
check "and writes no file" "" "$(ls | grep -E '^[ab]\.')"
finish
