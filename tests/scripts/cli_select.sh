#!/bin/bash
# SPDX-License-Identifier: MIT
# Selectors: what is left of reports, comparisons and exports, and what is said of those that are wrong.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
status() { # status WHAT WANTED WORDS…: of proton
	local what=$1 wanted=$2
	shift 2
	"$PROTON" "$@" >out 2>err
	check "$what" "$wanted" $?
}
left() { grep -h -m1 'left: ' out err; }

# ---- what is left is what is exported
if command -v python3 >/dev/null; then
	python3 "$tests/tools/filter_exports.py" "$PROTON" .; check "exports of a part" 0 $?
else
	echo "skipped: exports of a part: there is no python3"
fi

cat >a.folded <<'EOF2'
train;step 0;conv2d;gemm<128> 90000
train;step 0;conv2d;relu 10000
train;step 1;conv2d;gemm<128> 50000
train;step 1;loss 9000
eval;gemm<128> 1000
loss > 1;k 3
EOF2
for words in "report --tree" "report --view kernels" "view"; do
	status "$words: a condition" 0 $words -i 'time > 40us' a.folded
	check "$words: what is left" "left: 7 of 13 rows, 140us of 160us (87.5 %); with all below a last match" "$(left)"
done
status "export: a condition" 0 export -f folded -i 'time > 40us && name !~ eval' a.folded
check "export: what is left" "proton: left: 7 of 13 rows, 140us of 160us (87.5 %); with all below a last match" "$(left)"
check "export: stacks" "train;step 0;conv2d;gemm<128> 90000|train;step 1;conv2d;gemm<128> 50000" "$(paste -sd '|' out)"
"$PROTON" export -f folded -e '**/gemm*' --fold-numbers a.folded >out 2>err
check "export: folded and filtered" "loss > 1;k 3|train;step #;conv2d;relu 10000|train;step #;loss 9000" "$(sort out | paste -sd '|')"
"$PROTON" export -f folded -t 20us a.folded >out 2>err
check "export: a limit" "train;step 0;conv2d 10000|train;step 0;conv2d;gemm<128> 90000|train;step 1 9000|train;step 1;conv2d;gemm<128> 50000| 160003" \
	"$(grep -v ^ROOT out | sort | paste -sd '|')| $(awk '{ n += $NF } END { print n }' out)"
"$PROTON" export -f folded -d 2 a.folded >out 2>err
check "export: two levels" "eval 1000|loss > 1 3|train 159000" "$(sort out | paste -sd '|')"
stack=$tests/chrome/h200-torch-stack.json
sum() { awk '{ n += $NF } END { print n }'; }
check "export: grouped" "$("$PROTON" export -f folded "$stack" | sum) 1" "$("$PROTON" export -f folded -g device -i 'GPU' "$stack" 2>err | tee out | sum) $(cut -d ';' -f 1 out | sort -u | wc -l)"
status "export: a limit of another unit" 2 export -f folded -t 4K -m time a.folded
status "export: nothing is left" 1 export -f folded -i gem,m a.folded
check "export: nothing: said" "proton: the filter leaves nothing of a.folded" "$(cat err)"
printf 'step;forward;emm 5\nother;emm 7\n' >steps.folded
status "a path without stars" 1 report -i step/forward steps.folded
has "a path without stars: said" "-i 'step/forward' is an expression of names: as a path it is 'step/forward/**'" err
status "a path without stars: export" 1 export -f folded -i step/forward/ steps.folded
has "a path without stars: export: said" "as a path it is 'step/forward/**'" err
status "a path without stars: diff" 2 diff -i step/forward steps.folded steps.folded
has "a path without stars: diff: said" "as a path it is 'step/forward/**'" err
status "a path without stars: as was said" 0 report -i 'step/forward/**' steps.folded
status "export: nothing begins so" 1 export -f folded -i emm a.folded
check "export: nothing begins so: said" "matches from the beginning" "$(grep -o 'matches from the beginning' err)"
status "export: no values in what is left" 2 export -f folded -m bytes -i relu a.folded

# ---- names stay names
for expression in 'gemm<128' 'gemm<128>' 'loss [>] 1' 'loss.> 1'; do
	status "names: $expression" 0 report --tree -i "$expression" a.folded
done
status "a condition, not a name" 2 report --tree -i 'loss > 1' a.folded
check "a condition: said" "proton: -i 'loss > 1': at character 1: no column 'loss'" "$(sed 's/; near.*//' err)"
status "viewer has names alone" 1 viewer -m time -i 'time > 1ms' a.folded
status "without blanks" 1 report -i 'time>1us' a.folded
check "without blanks: said" "proton: -i is an expression of names: a comparison has blanks around its operator, as 'time > 1ms'" "$(head -n 1 err)"

# ---- what is wrong
for words in report view "export -f json"; do
	status "$words: a word" 2 $words -i 'tme > 1' a.folded
	check "$words: a word: said" "proton: -i 'tme > 1': at character 1: no column 'tme'; near it: time" "$(cat err)"
	status "$words: a number" 2 $words -e 'time > 1 && x > y' a.folded
	check "$words: a number: said" "proton: 'time > 1 && x > y': at character 17: 'y' is no number, or has no such unit" "$(cat err)"
	status "$words: a path" 2 $words -i '**//x' a.folded
	check "$words: a path: said" "proton: '**//x': at character 4: a name is missing beside '/'" "$(cat err)"
done
status "diff: a word" 2 diff -i 'tme > 1' a.folded a.folded
check "diff: a word: said" "proton: -i 'tme > 1': at character 1: no column 'tme'; near it: time" "$(cat err)"

# ---- little memory: said, not a crash in the C library, which frees twice then
starved() { # EXPRESSION: how a report of it ends with so much address space, from too little to enough
	python3 - "$PROTON" "$1" <<'END'
import resource, subprocess, sys

proton, text = sys.argv[1:]
if any(b in open(proton, "rb").read() for b in (b"__asan_init", b"__tsan_init")):
    print("said")
    sys.exit()
ends = set()
for kb in range(24000, 80000, 250):
    run = subprocess.run([proton, "report", "-i", text, "a.folded"], capture_output=True,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (kb << 10, kb << 10)))
    if run.returncode not in (0, 1, 2, 127) or b"corrupt" in run.stderr:
        ends.add("%d KB: %d %s" % (kb, run.returncode, run.stderr))
    if b"no memory for the expression" in run.stderr:
        ends.add("said")
print(*ends)
END
}
check "little memory" said "$(starved '(a?){1400}')"

# ---- comparisons: each run by itself
sed 's/50000/30000/' a.folded >b.folded
status "diff: a condition" 0 diff --ascii -i 'time > 40us && name ~ .*gemm' a.folded b.folded
check "diff: a condition: the head" "left of the time: A 87.5 % (140us of 160us), B 64.3 % (90.0us of 140us)" "$(grep 'left of' out)"
status "diff: a path" 0 diff --ascii --all -m time/ns -i '**/conv*/relu' a.folded b.folded
check "diff: a path: whole" "10000.000 10000.000" "$(awk '/ROOT/ { print $1, $2 }' out)"

# ---- of a program that runs: a metric may come later, a unit does not
status "top: a unit" 2 top --batch 1 -e 'time > 1x' true
status "top: a metric that may come" 0 top -i 0.1 --batch 1 -e 'mine > 3' true
status "top: a limit of another unit" 2 top --batch 1 -t 4K true
status "top: what is none" 2 top --batch 1 -e 'p101 > 3' true

# ---- what a program says of a scope is of all the work within: of a part nobody knows how much
python3 - >parts.hatchet <<'EOF'
import json
def node(name, children=(), **metrics):
    return {"frame": {"name": name}, "metrics": metrics, "children": list(children)}
def work(name, ns, **more):
    return node(name, **{"time (ns)": ns, "count": 1, **more})
def host(name, ns, children, **metrics):
    return node(name, children, **{"cpu_time (ns)": ns, "cpu_count": 1, **metrics})
layer = host("layer", 5000, [work("matmul", 3000), work("transpose", 1000), host("wait", 400, [])],
             bytes=8000, flops32=6000, score=10)
whole = node("whole", [work("transpose", 2000)], bytes=600)
copy = work("memcpy HtoD pinned", 500, bytes=100)
print(json.dumps([node("ROOT", [node("step", [layer, whole, copy])]),
                  {"CUDA": {"0": {"arch": "90", "num_sms": 132}}}]))
EOF
values() { # values NAME OPTION…: TOTAL BYTES GB/s FLOPS own metric
	local name=$1; shift
	"$PROTON" report --tree --ascii -m total,bytes,gb/s,flops,score "$@" parts.hatchet | awk -v n="$name" '$NF == n { print $1, $2, $3, $4, $5 }'
}
check "all" "4.00us 8000 2.00 6000 10" "$(values layer)"
check "a part of it" "1.00us - - - -" "$(values layer -i '.*transpose')"
check "the other part" "3.00us - - - -" "$(values layer -e transpose)"
check "all of another" "2.00us 600 0.30 - -" "$(values whole -i '.*transpose')"
check "above them: what is known" "3.00us 600 0.30 - -" "$(values ROOT -i '.*transpose')"
check "with a copy that knows its own" "6.50us 8700 1.34 6000 10" "$(values step)"
"$PROTON" report --tree -e transpose parts.hatchet >out
check "it is said where it goes" "1 0" "$(grep -c '^left: .*; no BYTES, FLOPS of cut scopes$' out) $("$PROTON" report --tree -e wait parts.hatchet | grep -c 'cut scopes')"
check "the whole scope is left" "4.00us 8000 2.00 6000 10" "$(values layer -i layer)"
check "what has no work of its own parts nothing" "4.00us 8000 2.00 6000 10" "$(values layer -e wait)"
check "rows that are small are not left out" "4.00us 8000 2.00 6000 10" "$(values layer -t 40%)"
"$PROTON" export -f hatchet -i '.*transpose' parts.hatchet >part.hatchet
check "in a file of the part" "600 0 0" "$(for m in bytes flops32 score; do python3 -c '
import json, sys
def add(n): return n["metrics"].get(sys.argv[1], 0) + sum(map(add, n["children"]))
print(int(add(json.load(sys.stdin)[0])))' $m <part.hatchet; done | xargs)"
for view in tree host; do
	check "one time on the host: $view" "4.60us" "$("$PROTON" report --ascii --view $view -e wait parts.hatchet | awk '/layer/ { for (i = 1; i < NF; i++) if ($i == "4.60us") { print $i; exit } }')"
done
average() { "$PROTON" report --view "$1" -m 'avg_cpu_time(inc)' "${@:2}" parts.hatchet | awk '$NF == "layer" { print $1; exit }'; }
for view in tree callers=layer; do
	check "host time by what was launched: $view" "2.50us" "$(average $view)"
	check "… and not by a part of that" "-" "$(average $view -e transpose)"
	check "… which waits are not" "2.30us" "$(average $view -e wait)"
done
check "… and what it took: by all that were entered" "4.60us 1 5.00us 5.00us" "$("$PROTON" report --view host -e wait parts.hatchet | awk '$NF == "layer" { print $1, $2, $3, $4 }')"

# no levels would be nothing
for words in "report -d 0" "view --depth=0" "export -f json -o - -d 0" "diff a.folded -d 0"; do
	status "$words is refused" 2 $words a.folded
	check "… with a sentence" "cannot take '0'" "$(grep -o "cannot take '0'" err)"
done

# groups say where something was: the whole is what it is without, in whatever group what a scope's bytes are of ran
train=$tests/../docs/pictures/train.hatchet
of_root() { "$PROTON" report -d 1 -m 'time,calls,bytes,gb/s,flops,tf/s,util(inc),host' "$@" "$train" | grep -m1 ROOT; }
for options in "-i;.*" "-i;attention" "-e;.*memset.*"; do
	IFS=';' read -r -a words <<<"$options"
	whole=$(of_root "${words[@]}")
	for group in process device stream thread; do
		check "ROOT by $group under ${words[*]}" "$whole" "$(of_root "${words[@]}" -g $group)"
	done
done
of_time=$("$PROTON" report --tree -d 1 "$train" | sed -n 's/^(ROOT: GB.s over \([0-9.]*\) %, TF.s over \([0-9.]*\) % of its time)$/\1 \2/p')
check "rates of ROOT are what the file has, and over what" "931 492 $of_time" "$(python3 -c '
import json, sys
def work(node, metric, has):
    m = node["metrics"]
    has = has or m.get(metric, 0) > 0 # files fill up with 0
    parts = [work(c, metric, has) for c in node["children"]]
    return m.get(metric, 0) + sum(p[0] for p in parts), (m.get("time (ns)", 0) if has else 0) + sum(p[1] for p in parts)
root = json.load(open(sys.argv[1]))[0]
whole = work(root, "time (ns)", False)[0]
shares = []
for metric, unit in ("bytes", 1), ("flops16", 1e3):
    of, ns = work(root, metric, False)
    print("%.0f" % (of / ns / unit))
    shares.append("%.1f" % (100 * ns / whole))
print(*shares)' "$train" | xargs)"

"$PROTON" export -f hatchet -e wait parts.hatchet >part.hatchet 2>err
check "a file of what is left has no mean of it" "4.60us 4.60us layer" "$("$PROTON" report --view host part.hatchet | awk '$NF == "layer" { print $1, $3, $4 }')"
"$PROTON" export -f hatchet -e transpose parts.hatchet >part.hatchet 2>err
check "… but of what is whole" "5.00us 1 5.00us" "$("$PROTON" report --view host part.hatchet | awk '$NF == "layer" { print $4, $3, $5 }')"

# what is printed of scopes under a filter, added up from the file by another reader
cat >host.py <<'P'
"""host.py FILE EXPRESSIONS…: which scopes of the view host are not what the file, the words before and the tree say."""
import json, os, re, subprocess, sys

file, *options = sys.argv[1:]
units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
def number(text):
    m = re.match(r"^([\d.]+)(ns|us|ms|s)$", text)
    return float(m[1]) * units[m[2]] if m else float(text) if re.match(r"^\d+$", text) else None
def printed(*words):
    return subprocess.run([os.environ["PROTON"], "report", *words, *options, file], stdout=subprocess.PIPE, text=True).stdout
took, entered, tree = {}, {}, {}
def walk(node, around):
    name, m = node["frame"]["name"], node["metrics"]
    if "cpu_time (ns)" in m and name not in around:
        took[name] = took.get(name, 0) + m["cpu_time (ns)"]
    entered[name] = entered.get(name, 0) + m.get("cpu_count", 0)
    for child in node["children"]:
        walk(child, around | {name})
walk(json.load(open(file))[0], set())
for line in printed("--tree", "--ascii", "-m", "host").splitlines():
    host, _, name = line.strip().partition(" ")
    name = name.strip(" |`-+")
    if number(host) is not None:
        tree[name] = tree.get(name, 0) + number(host)
rows = 0
for line in printed("--view", "host").splitlines():
    cells = line.split(None, 4)
    if len(cells) < 5 or number(cells[0]) is None:
        continue
    left, n, time, mean = map(number, cells[:4])
    name = cells[4].strip()
    rows += 1
    for what, has, wanted in ("TIME", time, took[name]), ("ENTERED", n, entered[name]), ("AVG", mean, took[name] / entered[name]), ("LEFT", left, tree[name]):
        if abs(has - wanted) > 0.006 * wanted:
            print(name, what, has, "is not", wanted)
print("rows" if rows else "no rows")
P
export PROTON
for options in "-i;time > 1ms" "-e;forward" "-i;head" "-e;.*cub.*"; do
	IFS=';' read -r -a words <<<"$options"
	check "the host under ${words[*]}" rows "$(python3 host.py "$train" "${words[@]}" 2>&1)"
done
finish
