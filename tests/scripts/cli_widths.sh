#!/bin/bash
# SPDX-License-Identifier: MIT
# Lines of a report are as wide as asked for, and names keep room in them.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
export LC_ALL=C.UTF-8

# Kernels with all that a table shows, the last one below thirty scopes.
python3 - <<'END'
import json

def node(name, children=(), **metrics):
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": list(children)}

def kernel(name, time):
    return node(name, **{"time (ns)": time, "count": 3, "bytes": 4096, "flops": 8192,
                         "device_id": "0", "device_type": "CUDA"})

elements = ["BFloat16", "Half", "float", "double"]
kernels = [kernel("void at::native::reduce_kernel<512, 1, sum_functor<%s, float> >(int)" % e, 1000 + i)
           for i, e in enumerate(elements)]
deep = kernel("a_kernel_below_many_scopes", 10)
for i in range(30):
    deep = node("scope_number_%d" % i, [deep])
json.dump([node("ROOT", kernels + [deep]), {"CUDA": {"0": {"arch": "90", "num_sms": 132,
    "clock_rate": 1980000, "memory_clock_rate": 2619000, "bus_width": 5120}}}],
    open("all.hatchet", "w"))
END

# widest FILE: the most characters of a line
widest() { python3 -c 'import sys; print(max(len(l.rstrip("\n")) for l in sys.stdin))' <"$1"; }
for width in 40 60 80 120; do
	for option in --tree --flat "--tree --ascii" "--flat --ascii"; do
		"$PROTON" report $option --width $width all.hatchet >out
		check "report $option --width $width: no line is wider" yes \
			"$([ "$(widest out)" -le $width ] && echo yes || widest out)"
	done
	"$PROTON" report --flat --width $width all.hatchet >out
	room=$(head -1 out | awk -v width=$width '{ print width - index($0, "NAME") + 1 }')
	check "--width $width: names have room" yes \
		"$([ "$room" -ge $((width * 2 / 5 < 32 ? width * 2 / 5 : 32)) ] && echo yes || echo "$room")"
done
"$PROTON" report --flat --width 80 all.hatchet >out
check "at 80 columns names are told apart" 4 \
	"$(grep reduce out | sed 's/.*  //' | sort -u | grep -c .)"
check "what tells least goes first" "TOTAL % CALLS" "$(awk 'NR == 1 { print $1, $2, $3 }' out)"
has "what went is said" "more columns: -m NAME,... shows them)" out
for width in $(seq 60 90); do "$PROTON" report --flat --width $width all.hatchet | grep '^([0-9]* more col'; done >said
check "one column is one" "(1 more column: -m NAME shows it)" "$(grep '^(1 ' said | sort -u)"
"$PROTON" report --flat --width 0 all.hatchet >out
check "without a width nothing goes" "0" "$(grep -c 'more columns' out)"

# Rows of different kernels that read alike, counted by the source: every kernel of the list has a time of
# its own, by which its row is known, whatever is left of its name.
python3 - "$tests/names/kernels.tsv" <<'END'
import json, sys

def node(name, children=(), **metrics):
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": list(children)}

names = [line.rstrip("\n").split("\t")[1] for line in open(sys.argv[1])]
kernels = [node(name, **{"time (ns)": 1000 * (100 + i), "count": 1, "device_id": "0", "device_type": "CUDA"})
           for i, name in enumerate(names)]
# A few below each scope, so that all stand at one depth and siblings are as few as people have.
scopes = [node("scope %d" % i, [node("inner", kernels[i:i + 20])]) for i in range(0, len(kernels), 20)]
json.dump([node("ROOT", scopes), {"CUDA": {"0": {"arch": "90"}}}], open("kernels.hatchet", "w"))
json.dump({"%dus" % (100 + i): name for i, name in enumerate(names)}, open("kernels.json", "w"))
END
# alike OPTION...: how many rows of the report read like that of another kernel
alike() {
	"$PROTON" report --rows 0 "$@" kernels.hatchet | python3 -c '
import collections, json, re, sys
kernels = json.load(open("kernels.json"))
rows = collections.defaultdict(set)
for line in sys.stdin:
    words = line.split(None, 2)
    if len(words) < 3 or words[0] not in kernels:
        continue
    name = words[2].lstrip(" │├└─█▏|`#-")
    if not name.startswith(("scope ", "inner")): # sums of few kernels look as one
        rows[name].add(kernels[words[0]])
seen = sum(len(k) for k in rows.values())
assert seen >= len(kernels) - 2, (seen, len(kernels)) # what is there in two forms may be one row
print(sum(len(k) for k in rows.values() if len(k) > 1))'
}
at_most() { # at_most MOST OPTION...
	local most=$1 n
	shift
	n=$(alike "$@")
	check "report $*: at most $most rows read alike" yes "$([ "$n" -le "$most" ] && echo yes || echo "$n")"
}
if "$PROTON" version | grep -q "by libiberty"; then
	at_most 2 --tree --width 0 -m total,% # one kernel is there as a symbol, too
	at_most 30 --tree --width 80 -m total,%
	at_most 40 --tree --width 80 -m total,% --ascii
	at_most 30 --view bottom-up --width 80 -m self,%
	at_most 150 --view flame --width 80
fi

# Contexts that were read at some launches alone: their rows are marked, and the mark is explained.
python3 - <<'END'
import json

def node(name, children=(), **metrics):
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": list(children)}

def kernel(name, time, count, **more):
    return node(name, **{"time (ns)": time, "count": count, "device_id": "0", "device_type": "CUDA"}, **more)

model = node("/home/me/training/model.py:40@forward",
             [kernel("gemm", 6000000, 300, guessed=120), kernel("relu", 500000, 100)])
optim = node("/home/me/training/optim.py:7@update", [kernel("adam", 900000, 100)])
json.dump([node("ROOT", [node("train.py:12@step", [model, optim])]), {"CUDA": {"0": {"arch": "90"}}}],
          open("sampled.hatchet", "w"))
END
"$PROTON" report --tree --width 60 sampled.hatchet >out
check "sampled contexts" "   TOTAL       %   CALLS     AVG  NAME
  7.40ms   100.0     500  14.8us  ROOT
  7.40ms   100.0     500  14.8us  └─ ~ train.py:12@step
  6.50ms    87.8     400  16.2us     ├─ ~ mod….py:40@forward
  6.00ms    81.1     300  20.0us     │  ├─ ~ gemm
   500us     6.8     100  5.00us     │  └─ relu
   900us    12.2     100  9.00us     └─ optim.py:7@update
   900us    12.2     100  9.00us        └─ adam
(~ some calls may belong elsewhere)" "$(cat out)"
"$PROTON" report --tree --width 40 --ascii sampled.hatchet >out
check "sampled contexts at 40 columns" "   TOTAL       %  NAME
  7.40ms   100.0  ROOT
  7.40ms   100.0  \`- ~ train.py:12@step
  6.50ms    87.8     |- ~ ...:40@forward
  6.00ms    81.1  (+2) |- ~ gemm
   500us     6.8  (+2) \`- relu
   900us    12.2     \`- op...py:7@update
   900us    12.2  (+2) \`- adam
(2 more columns: -m NAME,... shows them)
(~ some calls may belong elsewhere)" "$(cat out)"
"$PROTON" report --tree --width 60 all.hatchet >out
check "no mark, no word about it" 0 "$(grep -c '~' out)"

# Who names columns gets them.
columns=total,%,calls,avg,bytes,gb/s,flops,tf/s
"$PROTON" report --flat --width 60 -m $columns all.hatchet >out
check "columns that were asked for stay" 9 "$(head -1 out | wc -w)"
"$PROTON" report --tree --width 60 -m $columns all.hatchet >out
check "in the tree, too" 9 "$(head -1 out | wc -w)"
finish
