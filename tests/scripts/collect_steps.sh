#!/bin/bash
# SPDX-License-Identifier: MIT
# The steps of a program's loop: which they are, how long they took, and where that is shown.
. "${srcdir:-.}/tests/tools/cli_help.sh"
app=$(dirname "$PROTON")/tests/programs/collect_steps

# The loops of a profile, a line each: name of the first scope, steps, "fits" if times are within what the
# program itself saw.
cat >loops.py <<'END'
import json, sys
n, least, most, slowest = open(sys.argv[1]).read().split()
for node in sorted(json.load(sys.stdin)["nodes"], key=lambda n: n["name"]):
    m = node["metrics"]
    if not m.get("steps"):
        continue
    ordered = m["step_min (ns)"] <= m["step_median (ns)"] <= m["step_p95 (ns)"] <= m["step_max (ns)"]
    mean = m["step_time (ns)"] / m["steps"]
    fits = ordered and m["step_min (ns)"] <= mean <= m["step_max (ns)"]
    if int(most):
        fits &= int(least) <= m["step_time (ns)"] <= int(most)
    if slowest != "any":
        # of one that is so much slower the deviation is what it makes of it
        share = (m["step_max (ns)"] - mean) / m["steps"] ** .5
        fits &= m["step_slowest"] == int(slowest) and m["step_deviation (ns)"] >= .9 * share
    print(node["name"], m["steps"], "fits" if fits else "does not fit: %s" % m)
END
loops() { "$PROTON" export -f json "${2:-run.hatchet}" | python3 loops.py seen; }
recorded() { timeout 120 "$PROTON" record "${@:3}" -o run.hatchet -- "$app" "$1" "$2" >seen 2>err; }
# What devices did in steps is known by two clocks.
run() { steadily recorded "$@"; }

run steps 200 --tape run.tape
check "status" 0 $?
check "they count up; what is in them begins anew" "step 0 199 fits" "$(loops)"
check "in the tape" "step 0 199 fits" "$(loops x run.tape)"
check "in the summary" "1" "$(grep -c 'proton: 199 steps of .*+-.* (max .* at #.*), the first in .*: step #$' err)"
check "in the report" "## Steps" "$("$PROTON" report run.hatchet | grep '^## Steps')"
# There may be a step that is slow for a reason.
check "as a view, without columns of which nothing is known" "STEPS MEAN DEVIATION MEDIAN P95 MIN MAX AT FIRST BETWEEN STEP" \
	"$("$PROTON" report --view steps run.hatchet | head -1 | sed 's/WHY//; s/OTHERS//' | xargs)"
check "… its row" "199 step #" "$("$PROTON" report --view steps run.hatchet | sed -n 2p | awk '{ print $1, $(NF-1), $NF }')"
check "in csv" "1" "$("$PROTON" export -f csv run.hatchet | head -1 | grep -c 'step_time (ns)')"
"$PROTON" export -f hatchet -o again.hatchet run.hatchet
check "in a file of it" "step 0 199 fits" "$(loops x again.hatchet)"
# Of two that are merged one may lack it.
sed 's/"step_max (ns)": *[0-9]*,//; s/"step_deviation (ns)": *[0-9.]*,//' again.hatchet >less.hatchet
check "what a file lacks is not nothing" "STEPS MEAN MEDIAN P95 MIN FIRST BETWEEN STEP" \
	"$("$PROTON" report --view steps --width 0 less.hatchet | head -1 | sed 's/WHY//; s/OTHERS//' | xargs)"
hasnt "… and no finding is of it" "half of" <("$PROTON" advise less.hatchet)
timeout 120 "$PROTON" top --batch 0 -- "$app" steps 200 >out 2>/dev/null
check "live, as text" "199 steps step #" "$(grep '^steps ' out | tail -1 | awk '{ print $2, $3, $(NF-1), $NF }')"
check "findings: steps that are not alike" "1" "$("$PROTON" advise run.hatchet | grep -c 'half of 199 steps')"

run profiler 60
check "torch's" "ProfilerStep#0 59 fits" "$(loops)"
run loops 60
check "without a word for it, from the third on" "loop 2 57 " "$(loops | sed 's/fits\|does not.*//')"
run numbers 40
check "of two numbers which" "1,7" "$("$PROTON" report --view steps run.hatchet | awk 'NR == 2 { print $8 }' | sed "$(grep -q any seen && echo 's/^1,[0-9]*$/1,7/')")"
has "… in the summary" "at #1," err
run train 60
check "one name is no loop by itself" "" "$(loops)"
run train 60 --steps train
check "… but where it is asked for" "train 59 fits" "$(loops)"
run steps 60 --steps 'step #'
check "asked for by what counts up" "step 0 59 fits" "$(loops)"
run steps 60 --steps 'no such'
check "asked for, and not there" "" "$(loops)"
run steps 60 --steps off
check "off" "" "$(loops)"
check "… and said so" "none were found (see --steps of 'proton record')" "$("$PROTON" report --view steps run.hatchet)"
run steps 60 --no-fold-numbers
check "with rows of their own" "step 0 59 fits" "$(loops)"
run steps 4
check "too few" "" "$(loops)"
run blocks 6000
check "numbers that begin anew" "" "$(loops)"
run epochs 40
check "epochs hold steps" "batch 0 199 fits|epoch 0 4 fits" "$(loops | paste -sd '|')"
check "… which come first" "batch #" "$("$PROTON" report --view steps run.hatchet | awk 'NR == 2 { print $(NF-1), $NF }')"
run overlap 40
check "another thread's while one is open" "step 0 39 fits" "$(loops)"
run open 40
check "one that is never left" "step 0 39 fits" "$(loops)"
run fork 40
check "a child's and its parent's" "step 0 79" "$(loops | cut -d ' ' -f 1-3)"

libs=$(dirname "$PROTON")/tests/mocks/.libs
if [ -e "$libs/mock_cupti.so" ]; then
	export PROTON_CUPTI_PATH=$libs/mock_cupti.so
	recorded() { timeout 120 "$PROTON" record "${@:3}" -o run.hatchet -- "$app" "$1" "$2" "$libs/libcuda.so.1" >seen 2>err; }
	# 14 kernels a step, from one's start to the next's; some are gone before it is sure, one has others behind it
	period() { "$PROTON" export -f json run.hatchet | python3 -c '
import json, sys
for n in json.load(sys.stdin)["nodes"]:
    m = n["metrics"]
    if m.get("steps"):
        print(n["kind"], m["step_works"], 450 < m["steps"] < 500, m["step_min (ns)"], m["step_median (ns)"] < 145000,
              m["step_max (ns)"], m["steps_otherwise"])'; }
	# What devices did in them: of how many it is known, busy and idle of each, of all and of the slowest
	busy() { "$PROTON" export -f json "${1:-run.hatchet}" | python3 -c '
import json, sys
for n in json.load(sys.stdin)["nodes"]:
    m = n["metrics"]
    if m.get("steps"):
        print(m["steps"] - m["steps_known"], m["step_busy (ns)"] - m["steps"] * m["step_busy_median (ns)"],
              m["step_busy_median (ns)"], m["step_busy_max (ns)"], m["step_slowest_busy (ns)"],
              m["step_slowest_known"] == m["step_slowest"],
              m["step_busy (ns)"] + m["step_idle (ns)"] == m["step_time (ns)"], m["step_idle_max (ns)"] > 20e6)'; }
	run kernels 500
	check "by what is launched" "root 14 True 140000 True 5140000 1" "$(period)"
	check "… and what the device did" "0 0 70000 70000 70000 True True False" "$(busy)"
	has "… the host was late" "; slow by a late host: 1 (#240 took 5.14ms, busy 70.0us); usually busy 70.0us" <("$PROTON" advise --width 300 run.hatchet)
	check "… said how it was found" 1 "$("$PROTON" report --view steps run.hatchet | sed -n 2p | grep -c '14 operations, again and again$')"
	check "… in the summary" 1 "$(grep -c 'steps of .*: 14 operations, again and again$' err)"
	# 1.2 us of 4.5 nothing runs; 0.3 more are between two nodes of a graph, which recording them may have made.
	PROTON_FAKE='after 700 100;kernel a 1000;after 500 9000 7;kernel b 1000;after 300 10300 7;kernel c 1000;repeat 400' \
		timeout 120 "$PROTON" record -q --no-cuda -o graphs.hatchet -- true 2>err
	check "between nodes of a graph no device is idle" "4500 3000 1200 1200 True" "$("$PROTON" export -f json graphs.hatchet | python3 -c '
import json, sys
for n in json.load(sys.stdin)["nodes"]:
    m = n["metrics"]
    if m.get("steps"):
        print(*(m[k] for k in ("step_median (ns)", "step_busy_median (ns)", "step_idle_median (ns)", "step_idle_max (ns)")),
              m["step_idle (ns)"] == 1200 * m["steps_known"])')"
	run devices 60 --tape run.tape
	check "busy and idle in steps with names" "0 400000 300000 700000 300000 True True True" "$(busy)"
	check "… in the tape" "0 400000 300000 700000 300000 True True True" "$(busy run.tape)"
	check "… in the summary" 1 "$(grep -c 'proton: devices busy 307us a step (300us of #7, the slowest)' err)"
	check "… in the report" "307us 300us 700us 300us" "$("$PROTON" report --view steps run.hatchet | awk '/MED BUSY/ { getline; print $1, $2, $3, $4 }')"
	check "… in its summary" 1 "$("$PROTON" report --view summary run.hatchet | grep -c '^steps .*; devices busy 307us a step (300us of #7, the slowest)$')"
	"$PROTON" report --width 80 --view summary run.hatchet >narrow
	check "… in lines that fit" "" "$(LC_ALL=C.UTF-8 grep -E '^.{81,}' narrow)"
	check "… all of it" "1" "$(xargs <narrow | grep -c '; devices busy 307us a step (300us of #7, the slowest) processes')"
	sed 's/"step_slowest": *[0-9]*/"step_slowest": -1/' run.hatchet >odd.hatchet
	check "which was the slowest is not known" "0 1 1" "$("$PROTON" report --width 300 --view summary,findings odd.hatchet >out; echo \
		"$(grep -c '#nan' out) $(grep -c '^steps .* (max [^ ]*): step #' out) $(grep -c 'slow by a late host: ' out)")"
	# Three late hosts and two times more work: which they are, and of each cause the slowest.
	run slow 500
	has "causes apart" "; slow by a late host: 3 (#449 took 2.60ms, busy 70.0us), by more work: 2 (#252 took 2.40ms, busy 2.33ms); usually busy 70" \
		<("$PROTON" advise --width 300 run.hatchet)
	check "… in the report" "3 2 late host" "$("$PROTON" report --view steps run.hatchet | awk '/HOST LATE/ { getline; print $8, $9 }') $(
		"$PROTON" report --view steps run.hatchet | awk 'NR == 2 { print $9, $10 }')"
	sed 's/,3,449,[0-9]*,/,3,449,null,/' run.hatchet >odd.hatchet
	has "… of one it is not known how long it took" "; slow by a late host: 3, by more work: 2 (#252 took" <("$PROTON" advise --width 300 odd.hatchet)

	# 39 times 10 ms between steps that take nothing, whatever a busy machine adds.
	run apart 40
	check "between steps" "True" "$("$PROTON" export -f json run.hatchet | python3 -c '
import json, sys
print(*(m["between_steps (ns)"] >= 39 * 10**7 for m in (n["metrics"] for n in json.load(sys.stdin)["nodes"]) if m.get("steps")))')"
	"$PROTON" advise --width 300 run.hatchet >findings
	check "… a finding" 1 "$(grep -c " of the loop's time is between its steps: .* before each of 39 steps, which take .* ('step #')" findings)"
	check "… where" "at train" "$(grep -A1 'between its steps' findings | tail -1 | xargs)"
	run kernels 500
	hasnt "… none where one ends as the next one starts" "(between-steps)" <("$PROTON" advise run.hatchet)

	# Bytes in steps and at their ends: of how many they are known, all, the most and the growth.
	moved() { "$PROTON" export -f json "${1:-run.hatchet}" | python3 -c '
import json, sys
for n in json.load(sys.stdin)["nodes"]:
    m = n["metrics"]
    if m.get("steps") and n["name"] != "ROOT":
        print(m["steps"] - m.get("steps_memory_known", 0), m["steps"] - m["steps_copies_known"],
              *(m.get(f"step_{what}{of}_bytes", 0) for what in ("memory", "to_device", "to_host", "within")
                for of in ("", "_max", "_growth")))'; }
	MIB=$((1 << 20))
	run grows 41 --tape run.tape
	grown="0 0 $((3600 * MIB)) $((168 * MIB)) $((4 * MIB)) $((2100 * MIB / 16)) $((72 * MIB / 16)) $((MIB / 16)) \
$((20 * MIB)) $((MIB / 2)) 0 $((10 * MIB)) $((MIB / 4)) 0"
	check "bytes held and copied" "$(echo $grown)" "$(moved)"
	check "… in the tape" "$(echo $grown)" "$(moved run.tape)"
	"$PROTON" report --width 80 --view steps run.hatchet >narrow
	check "… in lines that fit" "" "$(LC_ALL=C.UTF-8 grep -E '^.{81,}' narrow)"
	check "… what is held" "94.4M 176M 4.19M step #" "$(grep -A1 'MAX HELD' narrow | tail -1 | xargs)"
	check "… what is copied" "3.44M 65.5K 524K 0 262K 0 step #" "$(grep -A1 'TO GPU' narrow | tail -1 | xargs)"
	check "… and at most" "3.44M 4.72M 65.5K 524K 524K 0 262K 262K 0 step #" \
		"$("$PROTON" report --width 140 --view steps run.hatchet | grep -A1 'TO GPU' | tail -1 | xargs)"
	check "… of all, not said" 0 "$("$PROTON" report --view steps run.hatchet | grep -c 'known of')"
	sed 's/"steps_memory_known": *[0-9]*/"steps_memory_known": 10/' run.hatchet >odd.hatchet
	check "… of some: said" "step #, known of 10 steps" "$("$PROTON" report --width 80 --view steps odd.hatchet | grep -A1 'MAX HELD' | tail -1 | xargs | cut -d ' ' -f 4-)"
	has "… in the summary" "proton: with each 4.19MB more of devices' memory is held" err
	"$PROTON" advise --width 300 run.hatchet >findings
	has "a finding of memory" "4.19MB more with each of the last 30 steps ('step #'), 176MB in the end" findings
	has "… where" "at alloc device" findings
	check "… once" "1" "$(grep -cE '\((growing-memory|left-behind|unreleased-memory)\)' findings)"
	has "a finding of copies" "from host to device: 65.5KB more with each of the last 30 steps ('step #'); 3.44MB a step on average, 4.72MB at most" findings
	run stays 41
	check "what comes once stays" "$(echo 0 0 $((936 * MIB)) $((24 * MIB)) 0 $((80 * MIB)) $((2 * MIB)) 0 \
$((20 * MIB)) $((MIB / 2)) 0 $((10 * MIB)) $((MIB / 4)) 0)" "$(moved)"
	hasnt "… and is no finding" "growing-" <("$PROTON" advise run.hatchet)
	run devices 60
	check "nothing of memory and copies where there are none" 0 "$("$PROTON" export -f csv run.hatchet | head -1 | grep -cE 'step_(memory|to_device)')"
	run devices 60 --no-idle
	check "not where idle times are not wanted" 0 "$("$PROTON" export -f csv run.hatchet | grep -c step_busy)"
	run kernels 500 --steps off
	check "… not where that is off" "" "$(period)"
	run halves 500
	check "by what two threads launch" "root 14 True 140000 True 140000 0" "$(period)"
	run noise 500
	check "what does not repeat" "" "$(period)"
	check "what does not repeat: was there" 5000 "$("$PROTON" export -f json run.hatchet | python3 -c '
import json, sys
print(sum(n["metrics"].get("count", 0) for n in json.load(sys.stdin)["nodes"]))')"

	traced() { "$PROTON" export -f json run.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
name = {n["id"]: n["name"] for n in p["nodes"]}
work = [i for i in p.get("intervals", []) if p["lanes"][i["lane"]]["device"] is not None]
print(*(name[i["node"]] for i in sorted(work, key=lambda i: i["start_ns"])))'; }
	run traced 12 --trace-window steps:3-5
	check "a trace of some" "k3 k4 k5" "$(traced)"
	check "… nothing is known before and after it" "- k3 True" "$("$PROTON" export -f json run.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
name = {n["id"]: n["name"] for n in p["nodes"]}
spans = [(i["start_ns"], name[i["node"]]) for i in p["intervals"] if p["lanes"][i["lane"]]["device"] is not None]
steps = [(u["start_ns"], "-") for u in p["unrecorded"] if u["reason"] == "window" and (u["end_ns"] == 0 or u["end_ns"] > u["start_ns"])]
print(*[s[1] for s in sorted(spans + steps)][:2], any(u["end_ns"] == 0 for u in p["unrecorded"]))')"
	check "… sums of all" 12 "$("$PROTON" export -f json run.hatchet | python3 -c '
import json, sys
print(sum(n["metrics"].get("count", 0) for n in json.load(sys.stdin)["nodes"]))')"
	run traced 12 --trace-window steps:9-
	check "to the end" "k9 k10 k11" "$(traced)"
	run traced 12 --trace-window steps:0-0 --steps 'epoch #'
	check "of the loop that was asked for" "k0 k1 k2 k3 k4 k5 k6 k7 k8 k9 k10 k11" "$(traced)"
	run traced 12 --trace-window steps:40-50
	check "none" "" "$(traced)"
	has "none: said" "the trace is empty: nothing ran in its window, 'steps:40-50'" <("$PROTON" report --ascii --view notes run.hatchet)
	run kernels 500 --trace-window steps:40-50
	check "of steps that are found by what is launched: none" "" "$(traced)"
	has "… and why" "steps that are found by what is launched have no window ('steps:40-50')" <("$PROTON" report --ascii --width 300 --view notes run.hatchet)
	unset PROTON_CUPTI_PATH
else
	echo "skipped: no mock libcupti in $libs"
fi
status() { "$@" >/dev/null 2>&1; echo $?; }
for window in steps: steps:3 steps:5-3 steps:-3 steps:a-b steps:1-2x; do
	check "refused: '$window'" 2 "$(status "$PROTON" record --trace-window "$window" -- true)"
done

"$PROTON" record --steps off --trace-window steps:1-2 -o x -- true 2>err
check "a trace of steps that are not to be found" 2 $?
has "… said" "not for --steps off" err
"$PROTON" record --steps '' -o x -- true 2>err
check "no name" 2 $?
check "said" "1" "$(grep -c -- '--steps' err)"
finish
