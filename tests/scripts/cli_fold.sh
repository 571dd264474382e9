#!/bin/bash
# --fold-numbers: scopes whose names only count up are one row, and nothing else changes.
data=$(cd "${srcdir:-.}/tests" && pwd)
. "${srcdir:-.}/tests/tools/cli_help.sh"

paths() { # paths FILE OPTIONS…: each path with its time and how many names it stands for
	"$PROTON" export -f csv "${@:2}" "$1" |
		python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    if row["path"] != "ROOT":
        print(row["path"], row.get("time (ns) [inclusive]") or row.get("time (ns)") or "-", row.get("folded") or "-")'
}

cat >steps.folded <<'EOF'
train;iter 0;layer.0;conv2d;gemm_64x64 100
train;iter 0;layer.1;conv2d;gemm_64x64 100
train;iter 0;layer.1;conv2d;gemm_128x64 70
train;iter 1;layer.0;conv2d;gemm_64x64 150
train;iter 2;layer.10;loss;gemm_64x64 1000
train;eval 7;layer.10;loss;gemm_64x64 10
train;epoch 1;only 3;k 1
train;epoch 2;only 4;k 2
/a/b.py:12@f;k 3
/a/b.py:13@f;k 3
EOF
check "below one parent, level by level" "train 1433 -
train;iter # 1420 3
train;iter #;layer.# 1420 3
train;iter #;layer.#;conv2d 420 -
train;iter #;layer.#;conv2d;gemm_64x64 350 -
train;iter #;layer.#;conv2d;gemm_128x64 70 -
train;iter #;layer.#;loss 1000 -
train;iter #;layer.#;loss;gemm_64x64 1000 -
train;eval 7 10 -
train;eval 7;layer.10 10 -
train;eval 7;layer.10;loss 10 -
train;eval 7;layer.10;loss;gemm_64x64 10 -
train;epoch # 3 2
train;epoch #;only # 3 2
train;epoch #;only #;k 3 -
/a/b.py:12@f 3 -
/a/b.py:12@f;k 3 -
/a/b.py:13@f 3 -
/a/b.py:13@f;k 3 -" "$(paths steps.folded --fold-numbers)"
check "the report has a column for it" "TOTAL % folded NAME|3 iter # 3 layer.# 2 epoch # 2 only #" \
	"$("$PROTON" report --tree --ascii --fold-numbers steps.folded | awk '
		NR == 1 { printf "%s %s %s %s|", $1, $2, $3, $4 }
		/ #|\.#/ { sub(/[|` -]*/, "", $4); name = $0; sub(/.*- /, "", name); printf "%s%s %s", n++ ? " " : "", $3, name }')"

# ---- other files: each kernel has what it had, and so has the whole
kernels() { "$PROTON" report --flat --names raw -m time/ns,count,bytes,p50,max "${@:2}" "$1" | sort; }
events() { "$PROTON" export -f chrome "${@:2}" "$1" | python3 -c '
import json, sys
print(sorted((e["ts"], e["dur"], e["name"]) for e in json.load(sys.stdin)["traceEvents"] if e.get("ph") == "X"))' | cksum; }
n=0
for file in "$data"/hatchet/*.json "$data"/hatchet/*.hatchet "$data"/wire/*.tape "$data"/chrome/*.json; do
	"$PROTON" list "$file" >/dev/null 2>&1 || continue
	n=$((n + 1))
	check "kernels of ${file##*/}" "$(kernels "$file" | cksum)" "$(kernels "$file" --fold-numbers | cksum)"
done
check "there are such files" yes "$([ $n -ge 10 ] && echo yes)"
check "each execution of a trace" "$(events "$data/wire/overlap.tape")" "$(events "$data/wire/overlap.tape" --fold-numbers)"
PROTON_FAKE='kernel gemm_1 1000 3;kernel gemm_2 2000 2' "$PROTON" record -q -o kernels.hatchet -- true
check "kernels are never one" "ROOT gemm_1 gemm_2" "$("$PROTON" report --tree --ascii --fold-numbers kernels.hatchet | awk 'NR > 1 && NF { print $NF }' | sort | xargs)"
check "nothing to fold: no column" "" "$("$PROTON" report --tree --fold-numbers kernels.hatchet | grep -w folded)"

# ---- every command that reads
sed 's/^train;iter 2.*/train;iter 12;layer.3;loss;gemm_64x64 1200/' steps.folded >more.folded
check "diff" "changed train > iter # > layer.# > loss > gemm_64x64" \
	"$("$PROTON" diff --ascii --fold-numbers steps.folded more.folded | awk '/gemm/ { $1 = $2 = $3 = $4 = ""; print }' | xargs)"
"$PROTON" merge --fold-numbers -o merged.hatchet steps.folded more.folded
check "merge: folded when they are one" "train;iter # 3040 4" "$(paths merged.hatchet | grep -x 'train;iter # .*')"
check "report of several" "train;iter # 3040 4" "$(paths steps.folded --fold-numbers more.folded | grep -x 'train;iter # .*')"
has "report --diff-profile" "iter #" <("$PROTON" report --ascii --fold-numbers --diff-profile steps.folded more.folded)
has "advise" "nothing ran on a device" <("$PROTON" advise --fold-numbers steps.folded 2>&1)
# Names may be made so that sums of their letters are alike.
python3 -c '
import itertools
for i, word in enumerate(itertools.product(("Aa", "BB"), repeat=13)):
    print("".join(word) + f"{i};k 1")' >alike.folded
check "names that look alike to a hash: in time" "8192 k" "$(timeout 20 "$PROTON" report --flat --fold-numbers -m time/ns alike.folded | awk 'END { print $1 + 0, $2 }')"
echo '[{"children":[{"children":[],"frame":{"name":"iter 0"},"metrics":{"folded":12.5}},{"children":[],"frame":{"name":"iter 1"},"metrics":{"folded":2}}],"frame":{"name":"ROOT"},"metrics":{}},{}]' >own.hatchet
check "a metric of that name that a program has" "14.500 iter #" "$("$PROTON" report --tree --ascii --fold-numbers -m folded own.hatchet | awk '/iter/ { print $1, $(NF - 1), $NF }' | sed 's/^14.5 /14.500 /')"
python3 - >many.folded <<'EOF'
for i in range(30000):
    print(f"train;iter {i};layer.{i % 7};block {i % 3};gemm {i}")
EOF
check "many" "train;iter # 449985000 30000|train;iter #;layer.# 449985000 7|train;iter #;layer.#;block # 449985000 3" \
	"$(paths many.folded --fold-numbers | grep '#' | grep -v gemm | paste -sd '|')"
finish
