#!/bin/bash
# SPDX-License-Identifier: MIT
# What panels of the screen show, as text: `report --view`, and `view --view` into a pipe.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
torch=$tests/wire/torch.tape leaf=$tests/hatchet/upstream-leaf_nodes.json
every="tree kernels transfers bottom-up callers=step flame memory host ranks findings devices processes losses notes run summary"
names() { sed -n '/NAME$/,/^(/{/NAME$/d;/^(/d;s/.* //;p}' "$1" | xargs; } # of rows whose names are words

# ---- the words
"$PROTON" report --view bottom_up "$leaf" >out 2>err
check "no such view" "2" $?
check "no such view: those that there are" \
	"proton: there is no view 'bottom_up'; as text there are: $("$PROTON" help --list-values report:view | paste -sd, | sed 's/,/, /g')" "$(cat err)"
for view in roofline durations log; do
	"$PROTON" report --view tree,$view "$leaf" >out 2>err
	check "$view: on the screen only" "2 0" "$? $(stat -c %s out)"
	has "$view: those that have a text" "'$view' is on the screen only; as text there are: run, summary, steps, tree, " err
	"$PROTON" view --view $view "$leaf" 2>err >out; check "$view: of view" 2 $?
	has "$view: of view, said" "'$view' is on the screen only" err
done
for value in "" , tree, ,tree tree,,kernels kernels=x; do
	"$PROTON" report --view "$value" "$leaf" >out 2>err; check "'$value' is no list of views" "2 0" "$? $(stat -c %s out)"
done
for value in callers callers= tree,callers callers,tree; do
	"$PROTON" report --view "$value" "$leaf" >out 2>err
	check "$value: of what" "2 proton: callers of which function? (--view callers=NAME)" "$? $(cat err)"
done
"$PROTON" report --view callers=a --view callers=b "$leaf" >out 2>err
check "callers: two functions" "2 proton: callers of one function only: 'b' is a second one" "$? $(cat err)"
for word in $("$PROTON" help --list-values view:view); do # every panel has a text, or says that it has none
	[ "$word" != callers ] || word=callers=step
	"$PROTON" view --view "$word" "$torch" >out 2>err
	check "$word: a text, or a sentence" yes "$({ [ -s out ] || grep -q 'on the screen only' err; } && echo yes)"
done

# ---- bottom-up: time on the host is that of the row alone, and orders rows without time on a device
cat >host.json <<'EOF'
[{"frame":{"name":"ROOT"},"metrics":{},"children":[
 {"frame":{"name":"outer"},"metrics":{"cpu_time (ns)":100000},"children":[
  {"frame":{"name":"inner"},"metrics":{"cpu_time (ns)":90000},"children":[
   {"frame":{"name":"kernel"},"metrics":{"time (ns)":5000,"count":1},"children":[]}]}]}]},{}]
EOF
check "bottom-up: host time of the rows alone, the most first" "5.00us - kernel|- 90.0us inner|- 10.0us outer" \
	"$("$PROTON" report --view bottom-up -d 1 -m SELF,HOST host.json | sed '1d;s/^ *//;s/  */ /g' | paste -sd '|')"

# ---- several, in one order; --section is the same
"$PROTON" report --view losses,tree --view run "$torch" >out
check "several: in the order of a report" "Run|Calling contexts|Losses" "$(sed -n 's/^## //p' out | paste -sd '|')"
"$PROTON" report --section losses --section tree,run "$torch" >out2
check "--section is the same" "" "$(cmp out out2 2>&1)"
"$PROTON" report --view all "$torch" >out
check "all: but what needs a name, and a picture" "$("$PROTON" help --list-values report:view | grep -cv -e all -e callers -e timeline -e warps)" "$(grep -c '^## ' out)"
"$PROTON" report "$torch" >out; check "the usual report stays" "Run? Calling contexts Kernels, copies and sets Transfers Losses Notes" \
	"Run? $(sed -n 's/^## //p' out | grep -v '^Run$' | xargs)"

# ---- every view: of any profile, in lines that fit, in ASCII, and the same from view
echo '[{"children":[],"frame":{"name":"ROOT"},"metrics":{}},{}]' >empty.hatchet
for view in $every; do
	[ "$view" != callers=step ] || view=callers=ROOT
	"$PROTON" report --view $view empty.hatchet >out 2>err
	check "$view: of an empty profile" "0 yes " "$? $([ -s out ] && echo yes) $(cat err)"
done
for view in bottom-up flame host ranks kernels; do
	check "$view: nothing in it" none "$("$PROTON" report --view $view empty.hatchet)"
done
for view in $every; do
	"$PROTON" report --view $view -t 0.5% -d 4 -s name -e '.*Fill' --names demangled -g process "$torch" >out
	"$PROTON" view --view $view -t 0.5% -d 4 -s name -e '.*Fill' --names demangled -g process "$torch" >out2
	check "$view: the same from view" "yes " "$([ -s out ] && echo yes) $(cmp out out2 2>&1)"
	"$PROTON" report --view $view --ascii "$torch" >out
	check "$view: ASCII" 0 "$(LC_ALL=C grep -c '[^ -~]' out)"
	LC_ALL=C "$PROTON" report --view $view "$torch" >out2
	check "$view: ASCII, because the locale is" "" "$(cmp out out2 2>&1)"
	case $view in devices | processes) continue ;; esac # tables of words are as wide as these
	"$PROTON" report --view $view --ascii --width 80 "$torch" >out
	check "$view: 80 columns" 0 "$(awk 'length > 80' out | wc -l)"
done
for view in tree kernels transfers bottom-up callers=step flame memory host; do
	"$PROTON" report --view $view --ascii --width 40 "$torch" >out
	check "$view: 40 columns" 0 "$(awk 'length > 40' out | wc -l)"
done

for option in "-g device" "-d 2"; do
	"$PROTON" report --flat $option "$torch" >out 2>err
	check "--flat $option" "2 proton: --flat is of no tree: -g and -d do not go with it" "$? $(cat err)"
	"$PROTON" report --flat --tree $option "$torch" >out 2>err
	check "--flat --tree $option" "0 " "$? $(cat err)"
done

# ---- several views
"$PROTON" report --view transfers,memory "$tests/wire/copies.tape" >both
check "where copies go is said once" 1 "$(grep -c '^Copies, from where to where' both)"
check "… with memory alone, too" 1 "$("$PROTON" report --view memory "$tests/wire/copies.tape" | grep -c '^Copies, from where to where')"

# ---- numbers: what is printed adds up to what the profile has
for file in "$torch" "$leaf" "$tests"/wire/{copies,graph,overlap,storm,threads}.tape "$tests"/hatchet/h200-*.hatchet; do
	check "numbers of ${file##*/}" "" "$(python3 "$tests/tools/views.py" "$PROTON" "$file" 2>&1)"
done
"$PROTON" report --view findings --width 90 "$torch" >out
"$PROTON" advise --width 90 "$torch" >out2; check "findings are those of advise" "" "$(cmp out out2 2>&1)"
check "devices: all that ran there" "$("$PROTON" report --view summary "$torch" | sed -n 's/device time *//p') 553 54.5M" \
	"$("$PROTON" report --view devices "$torch" | awk 'NR == 2 { print $8, $9, $10 }')"

# ---- filters: no view counts what they leave out
for view in kernels bottom-up flame memory host ranks callers=step; do
	"$PROTON" report --view $view -e '.*gemm|memcpy|backward' "$torch" >out
	check "$view: nothing of what is excluded" "yes 0" "$([ -s out ] && echo yes) $(grep -cE 'gemm|memcpy|backward|GeluBackw' out)"
	"$PROTON" report --view $view -i nothing "$torch" >out 2>err
	check "$view: an expression that leaves nothing" 1 $?
done
left=$("$PROTON" report --tree -m time/ns -i '.*gemm' "$torch" | awk '$2 == "ROOT" { print $1 }')
sum() { awk '{ n += $1 } END { printf "%.3f", n }'; }
check "kernels: a filter's sum" "$left" "$("$PROTON" report --view kernels -m time/ns -i '.*gemm' "$torch" | sum)"
check "bottom-up: a filter's sum" "$left" "$("$PROTON" report --view bottom-up -d 1 -m 'time/ns(exc)' -i '.*gemm' "$torch" | sum)"
check "flame: a filter's whole" "$left" "$("$PROTON" report --view flame -m time/ns -i '.*gemm' "$torch" | awk '/ROOT/ { print $1 }')"
check "ranks: a filter's sum" "6.13ms" "$("$PROTON" report --view ranks -i '.*gemm' "$torch" | awk '$2 == "1.00" { print $1 }')"

# ---- limits: what is small is left out, and counted
"$PROTON" report --view kernels -t 1ms "$torch" >out
check "kernels: a limit in time" "5 (17 more)" "$(grep -c 'ms .* ' out) $(tail -n 1 out)"
"$PROTON" report --view kernels -m calls -t 40 "$torch" >out
check "kernels: a limit of the first column" "yes" "$(awk 'NR > 1 && !/more/ && $1 < 40 { bad = 1 } END { print bad ? "no" : "yes" }' out)"
"$PROTON" report --view kernels -m calls,total -t 0.04K "$torch" >first; "$PROTON" report --view kernels -m calls,total -t 40 "$torch" >out
check "kernels: a limit with a prefix" "$(cat out)" "$(cat first)"
"$PROTON" report --view kernels -m bytes/KiB -t 4KB "$torch" >out
check "kernels: a limit in bytes, whatever the column counts in" "yes" "$(awk 'NR > 1 && !/more/ && $1 < 4000 / 1024 { bad = 1 } END { print bad || NR < 3 ? "no" : "yes" }' out)"
"$PROTON" report --tree -t 4KB --ascii "$torch" >out
check "tree: a limit in bytes is one of bytes" "$("$PROTON" report --tree -m total,bytes -t 4KB --ascii "$torch" | wc -l)" "$(grep -vc "^(ROOT: " out)"
"$PROTON" report --tree -t 4K "$torch" >out 2>err; check "a limit of another unit" "2 proton: -t: 'time' has another unit: 1ms is of times, 4MiB of bytes, 20K of other numbers" "$? $(cat err)"
# So many rows of the tree, too: those with the most time, with what is above them, and how many more there are.
rows() { grep -vc 'NAME$\|^(' "$1"; }
"$PROTON" report --tree --ascii "$torch" >all; "$PROTON" report --tree -n 4 --ascii "$torch" >out
check "tree: four rows" "4 $(($(rows all) - 4))" "$(rows out) $(sed -n 's/^(\([0-9]*\) more)$/\1/p' out)"
largest=$(sed '1d;/^(/d' all | awk '{ print $2 }' | sort -rn | head -n 4 | paste -sd ' ')
check "tree: those with the most time" "$largest" "$(sed '1d;/^(/d' out | awk '{ print $2 }' | sort -rn | paste -sd ' ')"
check "tree: their numbers are those of all" "" "$(sed '1d;/^(/d' out | awk '{ print $1, $2, $3, $NF }' | grep -vxFf <(awk '{ print $1, $2, $3, $NF }' all))"
check "tree: of its first levels" "2 $(($("$PROTON" report --tree -d 3 --ascii "$torch" >some; rows some) - 2))" \
	"$("$PROTON" report --tree -d 3 -n 2 --ascii "$torch" >out; rows out) $(sed -n 's/^(\([0-9]*\) more)$/\1/p' out)"
check "tree: no more" 0 "$("$PROTON" report --tree -n 100000 --ascii "$torch" | grep -c ' more)')"
"$PROTON" report --view bottom-up -t 20% --ascii "$torch" >out
check "bottom-up: a limit" "1 (26 more)" "$(grep -vcE 'NAME|[|\`]- |more' out) $(tail -n 1 out)"
"$PROTON" report --view bottom-up -n 2 -d 1 --ascii "$torch" >out
check "bottom-up: two kernels" "2 (25 more)" "$(grep -vcE 'NAME|more' out) $(tail -n 1 out)"
"$PROTON" report --view flame -d 2 "$torch" >out; check "flame: two levels" "6 (27 more boxes)" "$(wc -l <out) $(tail -n 1 out)"
"$PROTON" report --view flame -t 20% "$torch" >out; check "flame: a limit" "0 yes" \
	"$(awk 'NR > 1 && !/more/ && $2 < 20' out | wc -l) $(tail -n 1 out | grep -q 'more boxes' && echo yes)"
"$PROTON" report --view callers=step -t 10% -n 1 --ascii "$torch" >out
check "callers: limits" "^ ROOT|step|v optimizer|(4 more)" "$(sed '1d;s/.*  //' out | paste -sd '|')"
check "devices: no wider than the terminal" "" "$("$PROTON" report --view devices --width 60 "$torch" | LC_ALL=C.UTF-8 awk 'length($0) > 60')"
has "devices: what it leaves out is said" "(5 more columns in wider lines)" <("$PROTON" report --view devices --width 60 "$torch")
"$PROTON" report --view devices,findings,kernels,summary -i forward "$torch" >out
check "a filter: what is of the whole run says so" "Findings Devices" \
	"$(grep -B1 '^(of the whole run, whatever the filter leaves)$' out | sed -n 's/^## //p' | xargs)"
check "a filter: contexts that are left" "$(sed -n 's/^left: \([0-9]*\) of.*/\1/p' out)" "$(($(sed -n 's/^contexts *//p' out) - 1))"
check "nothing reaches the limit" "none (22 below the limit)" "$("$PROTON" report --view kernels -t 100s "$torch")"
"$PROTON" report --view host -i step -t 50% "$torch" >out; check "host: half of what is not nested" "step forward" "$(names out)"
"$PROTON" report --view host -t 100ms "$torch" >out; check "host: a limit" "forward (4 more)" "$(awk '/ms|more/ { print $NF == "more)" ? $0 : $NF }' out | xargs)"
"$PROTON" report --view memory -t 1% "$torch" >out; check "memory: a limit" "2" "$(grep -c 'more)' out)"
moved=$tests/../docs/pictures/train.hatchet # most bytes take little of the time
"$PROTON" report --view memory -t 5% --ascii "$moved" >out
check "memory: a limit is a share of bytes, as the column" "490M|92.1 5.2" \
	"$(awk '/! pageable/ { print $2 }' out)|$(sed '1,/^Calling/d' out | awk '/memcpy/ { print $2 }' | xargs)"
check "memory: … of the time where that was asked for" 2 "$("$PROTON" report --view memory -m time -t 5% "$moved" | grep -c 'below the limit')"
"$PROTON" report --view summary "$moved" >out
check "summary: copies and sets are no kernels" "49 3" "$(sed -n 's/^kernels *//p;s/^copies and sets *//p' out | xargs)"

check "flame: the widest first, whatever the order of tables" "" \
	"$(cmp <("$PROTON" report --view flame "$torch") <("$PROTON" report --view flame -s calls "$torch") 2>&1)"
check "a limit is one of the first column that was asked for, in all tables" \
	"$("$PROTON" report --view kernels -m calls -t 3 "$torch" | tail -n 1)" \
	"$("$PROTON" report --view tree,kernels -m calls -t 3 "$torch" | tail -n 1)"
has "a limit of calls leaves something out" "more)" <("$PROTON" report --view tree,kernels -m calls -t 3 "$torch")

check "callers: however small it is, the function has its numbers" "$("$PROTON" report --view callers=step --ascii "$torch" | grep -E ' step$')" \
	"$("$PROTON" report --view callers=step -t 99% --ascii "$torch" | grep -E ' step$')"
check "memory: by share" "$("$PROTON" report --view memory "$torch" | sed -n '/^Calling/,$p')" "$("$PROTON" report --view memory -s % "$torch" | sed -n '/^Calling/,$p')"
python3 -c 'print(*(f"a;kernel_{i} 1" for i in range(25)), sep="\n")' >functions.folded
check "callers: of many functions" "20 (5 more functions have this in their names: say more of it)" \
	"$("$PROTON" report --view callers=kern functions.folded | tee out | grep -c 'kernel_') $(tail -n 1 out)"

# ---- flame
cat >flame.folded <<EOF
a;b 300
a;c 100
a 100
d 500
EOF
"$PROTON" report --view flame --ascii --width 80 flame.folded >out
check "flame: from left to right" "ROOT a b c d" "$(awk 'NR > 1 { print $NF }' out | xargs)"
check "flame: widths and places" "0 26|0 13|0 8|8 2|13 13" "$(awk 'NR > 1 { s = substr($0, 19, 26); i = match(s, /[#|]+/); print RSTART - 1, RLENGTH }' out | paste -sd '|')"
"$PROTON" report --view flame -m bytes -t 30% "$torch" >out; check "flame: of another metric" "54.5M 100.0 ROOT" "$(awk 'NR == 2 { print $1, $2, $NF }' out)"
for metric in avg util time/% direction; do
	"$PROTON" report --view flame -m $metric "$torch" >out 2>err
	check "flame: $metric adds up to nothing" "2 proton: '$metric' does not add up: widths of flames and ranks need a metric that does" "$? $(cat err)"
done

# ---- callers
cat >calls.folded <<EOF
main;solve;solve;k<1, 2> 30
main;solve;k<1, 2> 20
main;other;k<1, 2> 50
main;resolve 7
EOF
"$PROTON" report --view "tree,callers=k<1, 2>" --ascii calls.folded >out
check "callers: a comma in a name" "^ other|^ solve|k<1, 2>" "$(sed -n '/^## Callers/,$p' out | sed '1,2d;s/.*  //' | paste -sd '|' | sed 's/^\^ solve|^ other/^ other|^ solve/')"
"$PROTON" report --view callers=solve --ascii calls.folded >out
has "callers: recursion is told" "it calls itself: rows overlap" out
check "callers: the name, not a part of others" 0 "$(grep -c resolve out)"
"$PROTON" report --view callers=solv --ascii calls.folded >out
check "callers: a part of two names" 2 "$(grep -c NAME out)"
"$PROTON" report --view callers=nobody calls.folded >out 2>err
check "callers: of nobody" "1 proton: no function of calls.folded has 'nobody' in its name" "$? $(cat err)"

# ---- memory, host, ranks
"$PROTON" report --view memory "$torch" >out
has "memory: pinning is advised" "memcpy HtoD pageable  ! pageable: pin the memory" out
check "memory: sizes and shares" "2.27M 100.0|61.5" "$(awk '/! pageable/ { print $4, $6 }' out)|$(awk '/33.6M/ { print $2 }' out)"
cat >host.hatchet <<'EOF'
[{"frame":{"name":"ROOT"},"metrics":{},"children":[
 {"frame":{"name":"step"},"metrics":{"cpu_time (ns)":1000},"children":[
  {"frame":{"name":"load"},"metrics":{"cpu_time (ns)":300},"children":[]},
  {"frame":{"name":"step"},"metrics":{"cpu_time (ns)":400},"children":[]}]}]},{}]
EOF
"$PROTON" report --view host host.hatchet >out
check "host: own and whole" "700ns 70.0 1.00us step|300ns 30.0 300ns load" "$(awk '/ns/ { print $1, $2, $3, $4 }' out | paste -sd '|')"
"$PROTON" report --view host -s time -i step host.hatchet >out
check "host: with an expression no own time" "0 1.00us 1.00us step" "$(grep -c OWN out) $(awk '$3 == "step" { print $1, $2, $3 }' out)"
cat >nested.hatchet <<'EOF'
[{"frame":{"name":"ROOT"},"metrics":{},"children":[
 {"frame":{"name":"halves"},"metrics":{"cpu_time (ns)":10000,"cpu_count":1},"children":[
  {"frame":{"name":"halves"},"metrics":{"cpu_time (ns)":8000,"cpu_count":3},"children":[]}]}]},{}]
EOF
check "host: nested in itself, the mean is TIME by ENTERED" "10.0us 100.0 4 10.0us 2.50us halves" \
	"$("$PROTON" report --view host nested.hatchet | awk '$NF == "halves" { $1 = $1; print }')"
"$PROTON" report --view host -s name host.hatchet >out; check "host: by name" "load step" "$(awk '/ns/ { print $NF }' out | xargs)"
sed 's/30$/60/' calls.folded >b.folded && "$PROTON" merge -o a.rank0.hatchet calls.folded && "$PROTON" merge -o a.rank1.hatchet b.folded
"$PROTON" report --view ranks -n 5 a.rank0.hatchet a.rank1.hatchet >out
"$PROTON" merge --ranks -n 5 a.rank0.hatchet a.rank1.hatchet >out2
check "ranks are those of merge" "yes " "$(grep -q 'over 2 ranks' out && echo yes) $(cmp out out2 2>&1)"
"$PROTON" report --view ranks -e main a.rank0.hatchet a.rank1.hatchet >out; check "ranks: a filter" none "$(tail -n 1 out)"
"$PROTON" report --view bottom-up -g process --ascii a.rank0.hatchet a.rank1.hatchet >out
check "bottom-up: a group is the last caller" "rank 0 rank 1" "$(grep -o 'rank [01]' out | sort -u | xargs)"

# ---- rates are of what has both: bytes that are known of work without a time are no speed
graph=$tests/hatchet/h200-triton-graph.hatchet
speed=$(python3 -c '
import json, sys
moved = time = 0
def add(node):
    global moved, time
    m = node["metrics"]
    if m.get("bytes") and m.get("time (ns)"):
        moved += m["bytes"]
        time += m["time (ns)"]
    for child in node["children"]:
        add(child)
add(json.load(open(sys.argv[1]))[0])
print("%.0f" % (moved / time))' "$graph")
for column in gb/s gbyte/s; do
	check "$column: what has bytes and time" "$speed" "$("$PROTON" report --ascii --tree -m $column "$graph" | awk '$NF == "ROOT" { printf "%.0f", $1 }')"
done
check "no speed without a time" "-" "$("$PROTON" report --ascii --tree -m gb/s "$graph" | awk '$NF == "captured0" { v = $1 } END { print v }')"
check "no parent is faster than the fastest below it" yes "$("$PROTON" report --ascii --tree -m gb/s "$graph" | awk 'NR > 1 && $1 ~ /^[0-9]/ { if ($NF == "ROOT") root = $1; else if ($1 > most) most = $1 } END { print root <= most ? "yes" : root " > " most }')"
# ---- what Triton runs to learn about a launch is in no sum
python3 - >metadata.hatchet <<'EOF'
import json
def node(name, children=(), **metrics):
    return {"frame": {"name": name}, "metrics": metrics, "children": list(children)}
def kernel(name, ns):
    return node(name, **{"time (ns)": ns, "count": 1, "device_id": "0", "device_type": "CUDA"})
print(json.dumps([node("ROOT", [kernel("add", 1664), node("__proton_launch_metadata", [kernel("look", 4064)])]),
                  {"CUDA": {"0": {"arch": "90", "num_sms": 132}}}]))
EOF
check "launch metadata: the tree" "1.66us 1" "$("$PROTON" report --ascii --view tree metadata.hatchet | awk '$NF == "ROOT" { print $1, $3 }')"
check "launch metadata: devices" "1.66us 1" "$("$PROTON" report --ascii --view devices metadata.hatchet | awk 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } /GPU0/ { n = 0; for (i = 1; i <= NF; i++) if ($i == "1.66us" || $i == "1") out = out (out ? " " : "") $i; print out }')"
hidden="hidden as launch metadata: 1 operation, 4.06us; devices were busy with it, no time has it"
check "launch metadata: notes say what is hidden" "$hidden" "$("$PROTON" report --ascii --view notes metadata.hatchet | grep hidden)"
check "launch metadata: devices say what is hidden" "($hidden)" "$("$PROTON" report --ascii --view devices metadata.hatchet | grep hidden)"
check "launch metadata: nothing is said of none" "" "$("$PROTON" report --ascii --view notes,devices "$graph" | grep hidden)"
# ---- a timeline: half of a thread, 75 % of a stream, all of one with two at once; and what a filter leaves
cat >trace.json <<'EOF'
{"traceEvents": [
 {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1, "tid": 1, "ts": 0, "dur": 40},
 {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 0, "dur": 40, "args": {"device": 0, "stream": 7, "context": 1}},
 {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 60, "dur": 20, "args": {"device": 0, "stream": 7, "context": 1}},
 {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 9, "ts": 0, "dur": 80, "args": {"device": 0, "stream": 9, "context": 1}},
 {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 9, "ts": 20, "dur": 2, "args": {"device": 0, "stream": 9, "context": 1}}]}
EOF
picture() { "$PROTON" report --ascii --view timeline --width 46 "$@" 2>&1 | grep -E "stream|thread|\+" | sed 's/ *$//'; }
check "timeline" "\
  thread 1        @@@@@@@@@@            50.0%
  stream 7        @@@@@@@@@@     @@@@@  75.0%
  stream 9        @@@@@@@@@@@@@@@@@@@@ 100.0%
    +1                 =                 2.5%" "$(picture trace.json)"
check "timeline: what the numbers are" "80.0us, from 0ns after the run began; a column is 4.00us  BUSY% IN ALL" \
	"$("$PROTON" report --ascii --view timeline --width 46 trace.json | head -1)"
check "timeline: of what a filter leaves" "\
  stream 7                       @@@@@  25.0%
    +1                 =                 2.5%" "$(picture --include b trace.json | grep -v ' 0.0%')"
check "timeline: without a trace" "no trace: 'proton record --trace' keeps when each operation ran" \
	"$("$PROTON" report --view timeline "$leaf")"
# ---- why nothing ran, what was held, and threads that did next to nothing
cat >late.json <<'EOF'
{"traceEvents": [
 {"ph": "X", "cat": "user_annotation", "name": "step", "pid": 1, "tid": 1, "ts": 0, "dur": 200},
 {"ph": "X", "cat": "user_annotation", "name": "moment", "pid": 1, "tid": 2, "ts": 0, "dur": 0.1},
 {"ph": "X", "cat": "user_annotation", "name": "moment", "pid": 1, "tid": 3, "ts": 50, "dur": 0.1},
 {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 10, "dur": 50, "args": {"device": 0, "stream": 7, "context": 1, "latency_ns": 10000}},
 {"ph": "X", "cat": "kernel", "name": "c", "pid": 0, "tid": 9, "ts": 20, "dur": 50, "args": {"device": 0, "stream": 9, "context": 1, "latency_ns": 10000}},
 {"ph": "X", "cat": "kernel", "name": "b", "pid": 0, "tid": 7, "ts": 120, "dur": 20, "args": {"device": 0, "stream": 7, "context": 1, "latency_ns": 10000}},
 {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 160, "dur": 40, "args": {"device": 0, "stream": 7, "context": 1}}]}
EOF
"$PROTON" export -f hatchet -o held.hatchet late.json
python3 - <<'EOF'
import json
p = json.load(open("held.hatchet"))
samples = [{"device": 0, "metric": "live_bytes", "process": 0, "time_ns": t, "value": v}
           for t, v in ((40000, 4 << 20), (100000, 8 << 20), (150000, 0))]
p[0]["proton"]["samples"] = samples
json.dump(p, open("held.hatchet", "w"))
EOF
check "timeline: reasons, memory, threads, longest gaps" "\
200us, from 0ns after the run began; a column is 10.0us  BUSY% IN ALL
host, pid 1
  thread 1        @@@@@@@@@@@@@@@@@@@@ 100.0%
  2 threads below 0.1%
GPU0, pid 1
  busy             @@@@@@  l  @@  @@@@  60.0%
  mem, and most       ======@@@@@       8.39M
  stream 7         @@@@@      @@  @@@@  55.0%
  stream 9          @@@@@               25.0%
nothing ran:  l late  s sync  n launch  q queued  g graph

Longest times in which nothing ran on GPU0, pid 1
LENGTH      AT  WHY                         BEFORE
50.0us  70.0us  late 40.0us, launch 10.0us  b
20.0us   140us  -                           a
(1 more column in wider lines)" "$("$PROTON" report --ascii --view timeline --width 46 held.hatchet | sed 's/ *$//')"
hasnt "all: without the picture" "stream 7  " <("$PROTON" report --ascii --view all trace.json)

# ---- what was not recorded is no gap, of no share a part, and launches in it have no arrow
python3 - <<'EOF'
import json
p = json.load(open("held.hatchet"))
p[0]["proton"]["unrecorded"] = [{"process": 0, "number": 1, "reason": "paused", "start_ns": 80000, "end_ns": 112000},
                                {"process": 0, "number": 2, "reason": "some day", "start_ns": 141000, "end_ns": 0}]
json.dump(p, open("unrecorded.hatchet", "w"))
EOF
check "timeline: what was not recorded" "\
200us, from 0ns after the run began; a column is 10.0us  BUSY% IN ALL
host, pid 1
  thread 1        @@@@@@@@@@@@@@@@@@@@ 100.0%
  2 threads below 0.1%
GPU0, pid 1
  busy             @@@@@@ /// @@//@@@@  80.5%
  mem, and most       ======@@@@@       8.39M
  stream 7         @@@@@  /// @@//@@@@  73.8%
  stream 9          @@@@@ ///   //      33.6%
/ not recorded

Not all that ran was recorded for 91.0us, which is no part of BUSY% and no gap:
  32.0us from 80.0us on: paused
  59.0us from 141us on: for a reason that is not known
  but GPU0 is known to have worked for 40.0us of it, which counts" "$("$PROTON" report --ascii --view timeline --width 46 unrecorded.hatchet | sed 's/ *$//')"
arrows() { "$PROTON" export -f chrome "$1" | grep -c '"ph":"s"'; }
for name in held unrecorded; do # by the thread whose step it is
	python3 -c '
import json, sys
p = json.load(sys.stdin)
for lane in p[0]["proton"]["lanes"]:
    if "device" in lane:
        lane["thread"] = 1
json.dump(p, sys.stdout)' <$name.hatchet >$name.launched.hatchet
done
check "an arrow from each launch that is known" "3 2" "$(arrows held.launched.hatchet) $(arrows unrecorded.launched.hatchet)"
"$PROTON" export -f hatchet -o again.hatchet unrecorded.hatchet
check "… and again" "" "$(cmp <("$PROTON" report --view timeline unrecorded.hatchet) <("$PROTON" report --view timeline again.hatchet) 2>&1)"

# ---- a trace for Chrome has them, too, and is read again
"$PROTON" export -f chrome -o unrecorded.json unrecorded.hatchet
told() { # reason, from, to
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
for u in sorted(json.load(sys.stdin)["unrecorded"], key=lambda u: u["start_ns"]):
    print(u["process"], u["reason"], u["start_ns"], u["end_ns"])'
}
check "marks of a trace are read again" "None paused 80000 112000
None  141000 200000" "$(told unrecorded.json)"
pictured() { "$PROTON" report --ascii --view timeline --width 46 "$1" | grep -A9 "^Not all"; }
check "… and tell the same" "$(pictured unrecorded.hatchet)" "$(pictured unrecorded.json)"
"$PROTON" export -f chrome -o twice.json unrecorded.json
check "… as often as one likes" "$(told unrecorded.json)" "$(told twice.json)"

# ---- one of which the file does not say whose it is may be of any
for whose in nobodys others; do # the file's second process has run nothing
	python3 -c '
import json, sys
p = json.load(sys.stdin)
x = p[0]["proton"]
x["processes"].append(dict(x["processes"][0], instance="12345", pid=2))
for u in x["unrecorded"]:
    u["process"] = 1
    if sys.argv[1] == "nobodys":
        del u["process"]
json.dump(p, sys.stdout)' $whose <unrecorded.hatchet >$whose.hatchet
done
pictures() { cmp <("$PROTON" report --view timeline unrecorded.hatchet | sed 's/ of pid [0-9]*//') \
	<("$PROTON" report --view timeline "$1" | sed 's/ of pid [0-9]*//') 2>&1; }
check "nobody's time not recorded" "" "$(pictures nobodys.hatchet)"
check "… another's is not" 1 "$(pictures others.hatchet | grep -c differ)"
check "… and its picture is the same" "" "$(pictures <("$PROTON" merge -o - nobodys.hatchet))"

# ---- a pause of which nobody said when it was looks as if nothing had run
PROTON_FAKE='kernel gemm 1000 10' "$PROTON" record -q --trace -o run.hatchet -- sleep 0.1
hasnt "all was recorded" "was not recorded" <("$PROTON" report --view timeline run.hatchet)
sed 's/"wall_ns": *\([0-9]*\)/"wall_ns":\1,"paused_ns":300000000/' run.hatchet >paused.hatchet
has "a pause is told" "(what ran was not recorded for 300ms of the run: such a time looks as if nothing had run)" \
	<("$PROTON" report --view timeline paused.hatchet)
"$PROTON" merge -o merged.hatchet nobodys.hatchet run.hatchet
check "nobody's time not recorded, merged with another file: of each process of its own" "2 of 1, 2 of 2" "$("$PROTON" export -f json merged.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
pids = [p["processes"][u["process"]]["pid"] for u in p["unrecorded"]]
print(", ".join("%d of %d" % (pids.count(i), i) for i in sorted(set(pids))))')"
finish
