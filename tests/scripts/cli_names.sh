#!/bin/bash
# SPDX-License-Identifier: MIT
# Names of kernels as people see them: short, different, found by any of their forms.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
if ! "$PROTON" version | grep -q "by libiberty"; then
	echo "skipped: built without libiberty"
	exit 77
fi
profile=$tests/hatchet/h200-torch-add-python.hatchet

# Every kernel of the list in one profile, 10 ns each; every other one is a second file.
python3 - "$tests/names/kernels.tsv" <<'END'
import json, sys

names = [line.rstrip("\n").split("\t")[1] for line in open(sys.argv[1])]

def write(path, kernels):
    device = {"count": 1, "time (ns)": 10, "device_id": "0", "device_type": "CUDA"}
    children = [{"frame": {"name": n, "type": "function"}, "metrics": device, "children": []}
                for n in kernels]
    with open(path, "w") as out:
        json.dump([{"frame": {"name": "ROOT", "type": "function"}, "metrics": {"count": 0, "time (ns)": 0},
                    "children": children}, {"CUDA": {"0": {"arch": "90"}}}], out)

write("all.hatchet", names)
write("a.rank0.hatchet", names[::2])
write("b.rank1.hatchet", names[1::2])
print(len(names))
END
n=$(wc -l <"$tests/names/kernels.tsv")
names_of() {
	awk '/NAME$/ { at = index($0, "NAME"); next } at && length($0) > at { print substr($0, at) }'
}
"$PROTON" report --flat --rows 0 all.hatchet | names_of >out
# A symbol and its signature are one kernel; all others have another name.
"$PROTON" report --flat --rows 0 --names demangled all.hatchet | names_of >whole
kernels=$(sort -u whole | wc -l)
check "report: a kernel is there in two forms" "" "$([ "$kernels" -lt "$n" ] || echo "$kernels of $n")"
check "report: all kernels, each once" "$kernels" "$(grep -c . out)"
check "report: no two have one name" "$kernels" "$(sort -u out | wc -l)"
check "report: no kernel has two" "$kernels" "$(paste whole out | sort -u | wc -l)"
# Cut, few read alike; not cut in favour of what differs, a hundred and more would.
"$PROTON" report --flat --rows 0 --width 80 all.hatchet | names_of >out
check "report: 80 columns: rows that read alike" yes "$([ "$(sort out | uniq -D | wc -l)" -lt 40 ] && echo yes)"
"$PROTON" diff --all --rows 0 --tree a.rank0.hatchet b.rank1.hatchet >out 2>err
check "diff: no two have one name" "" "$(sed 's/.*%  *//; s/.* new  *//' out | sort | uniq -d | head -3)"
"$PROTON" export -f csv --names short all.hatchet | python3 -c '
import csv, sys
names = [row["name"] for row in csv.DictReader(sys.stdin) if row["kind"] != "root"]
print(len(names), len(set(names)))' >out
check "csv: no two have one name" "$n $kernels" "$(cat out)"

# A symbol and its signature are one row, whose numbers are those of both; in files for programs they are
# what they are.
cat >forms.json <<'END'
{"traceEvents": [
 {"ph": "X", "cat": "kernel", "name": "_ZN2at3negILi4EEEvPf", "pid": 0, "tid": 7, "ts": 0, "dur": 10},
 {"ph": "X", "cat": "kernel", "name": "void at::neg<4>(float*)", "pid": 0, "tid": 7, "ts": 20, "dur": 30},
 {"ph": "X", "cat": "kernel", "name": "void at::neg<8>(float*)", "pid": 0, "tid": 7, "ts": 60, "dur": 5}]}
END
for view in kernels bottom-up; do
	"$PROTON" report --view $view forms.json | sed 's/ \+/ /g' >out
	check "$view: two forms are one kernel" " 40.0us 88.9 2 at::neg<4>| 5.00us 11.1 1 at::neg<8>" \
		"$(awk 'NR > 1 { print "", $1, $2, $3, $NF }' out | paste -sd '|')"
done
"$PROTON" report --view callers=neg\<4 forms.json >out
check "callers: once" "1 40.0us" "$(grep -c NAME out) $(awk '/neg<4>/ { print $1 }' out)"
check "csv: raw names" 3 "$("$PROTON" export -f csv --names raw forms.json | grep -c kernel,)"

# By any form, whatever is shown.
for names in short demangled raw; do
	for pattern in _ZN2at6native29vec '.*CUDAFunctorOnSelf_add<float>' 'void at::native::vec'; do
		"$PROTON" report --tree --names $names -i "$pattern" "$profile" >out 2>err
		check "$names: $pattern" "0 yes" "$? $(grep -q elementwise out && echo yes)"
	done
done
"$PROTON" report --tree -i 'elementwise' "$profile" >out 2>err
check "within names: status" 1 $?
has "within names: said" "matches from the beginning of a name on: '.*' in front" err
"$PROTON" report --tree -i 'no_such_thing' "$profile" >out 2>err
check "nowhere: said" "proton: the filter leaves nothing of $profile" "$(cat err)"

# Tables count what expressions leave, as the tree does: by a reader of the file itself.
file=$tests/hatchet/literal.hatchet
for option in "-i .*matmul" "-e .*Fill" "-i _ZN2at6native" "-e .*matmul"; do
	"$PROTON" report --flat -m time/ns,calls ${option% *} "${option#* }" "$file" >out 2>err
	flat="$? $(awk 'NR > 1 { t += $1; n += $2 } END { print t, n }' out)"
	want=$(python3 - "$file" $option <<'END'
import json, re, sys

_, path, option, pattern = sys.argv
time = count = 0
def walk(node):
    global time, count
    m, name = node["metrics"], node["frame"]["name"]
    if "device_id" in m and (re.match(pattern, name) is not None) == (option == "-i"):
        time += m["time (ns)"]
        count += m["count"]
    for child in node["children"]:
        walk(child)
walk(json.load(open(path))[0])
print(time, count)
END
)
	# short and demangled names match too, which the file does not have
	[ "$option" != "-e .*Fill" ] || want="614400 3"
	check "kernels: $option" "0 $want" "$flat"
done

"$PROTON" report --section summary --section tree --section kernels --keep-totals -i '.*matmul' \
	-m time/ns,calls "$file" >out
check "kept totals are the tree's" "device time 614us; 634880 13 ROOT; 614us 3" \
	"$(awk '/^device time/ { printf "%s %s %s; ", $1, $2, $3 } /ROOT$/ { printf "%d %d ROOT; ", $1, $2 }
		/^## Kernels/ { k = 1 } k && /matmul/ { printf "%s %s", $1, $3 }' out)"

# Narrow: namespaces first, and never the functor.
"$PROTON" report --tree --width 105 "$profile" >wide
"$PROTON" report --tree --width 90 "$profile" >narrow
has "wide: the functor" "vectorized_elementwise_kernel<4, CUDAFunctorOnSelf_add<float>>" wide
check "narrow: the functor" yes "$(grep -q 'CUDAFunctorOnSelf_add<float>>' narrow && echo yes)"
"$PROTON" report --tree --names demangled --width 90 "$profile" >narrow
has "narrow, demangled: the functor" "CUDAFunctorOnSelf_add<float>" narrow
check "narrow, demangled: no parameters" "" "$(grep elementwise narrow | grep 'void\|array<char\*, 3')"
finish
