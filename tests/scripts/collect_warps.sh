#!/bin/bash
# SPDX-License-Identifier: MIT
# Single scopes of single warps, kept beside the profile: which launches, how many of their warps, whatever ends the program.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
. "$here/tools/inside_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_slices
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
record() { # record CASE OPTION...
	timeout 120 "$PROTON" record -o run.hatchet "${@:2}" -- "$app" "$libs/libcuda.so.1" "$here/cubins/scopes.cubin" "$1" >out 2>err
	status=$?
}
warps() { python3 "$here/tools/warps.py" "${1:-run.warps}"; }
numbers() { warps "$@" | awk '$2 ~ /^\[/ { print $3 }' | sort -n | paste -sd ' '; }
left_out() { warps "$@" | tail -n 1; }
# What a launch of two warps has.
both='1x2 2-0: tile 2 200 tile/load 2 40'

record plain
check "not asked: nothing" "0 1" "$(ls -- *.warps 2>/dev/null | wc -l) $(grep -c run.hatchet err)"
record plain --intra-trace
check "plain: status" 0 "$status"
check "plain: each launch, its context, its record" "k [outer] 2 1000ns $both|k [outer] 3 1000ns $both|0 left out|" "$(warps | tr '\n' '|')"
has "plain: told" "proton: wrote 'run.warps': 8 scopes of 4 warps in 2 launches; 0 launches were left out" err
check "plain: sums are as ever" "outer/k/tile 400 200 4 100 100, outer/k/tile/load 80 40 4 20 20" "$(inside run.hatchet)"
check "plain: none is lost" "" "$(losses run.hatchet)"
check "plain: nothing else is left" "run.hatchet run.warps" "$(echo run.*)"

record many --intra-trace=18
check "many: all" "$(seq -s ' ' 18)" "$(numbers)"
check "many: their sums are the profile's" "$(inside run.hatchet)" "$(warps | awk '{ n += $8; a += $9; m += $11; b += $12 } END { printf "k/tile %d %d %d 100 100, k/tile/load %d %d %d 20 20\n", a, a / 2, n, b, b / 2, m }')"
record many --intra-trace
check "many: the first, the slowest, the last" "1 2 9 16 17 18" "$(numbers)"
check "many: how many are not there" "12 left out" "$(left_out)"
has "many: that is told" "in 6 launches; 12 launches were left out" err
check "many: none is lost" "" "$(losses run.hatchet)"
record many --intra-trace=1
check "one: the first" "1; 17 left out" "$(numbers); $(left_out)"
record burst --intra-trace
check "burst: the first, the slowest, the last; all others are counted" "1 2, 150 299 300, 294 left out" "$(numbers | awk '{ print $1, $2 "," (/ 150 / ? " 150" : ""), $(NF - 1), $NF }'), $(left_out)"
check "burst: sums are of all" "k/tile 60000 30000 600 100 100, k/tile/load 12000 6000 600 20 20" "$(inside run.hatchet)"
check "burst: none is lost" "" "$(losses run.hatchet)"
LAUNCHES=60000 record burst --intra-trace
check "flood: sums are of all" "k/tile 12000000 6e+06 120000 100 100, k/tile/load 2400000 1.2e+06 120000 20 20" "$(inside run.hatchet)"
check "flood: none is lost" "" "$(losses run.hatchet)"
record large --intra-trace=1MiB
check "large: whole blocks, as many as fit" True "$(warps | python3 -c '
import re, sys
blocks, per, n, missing, tiles = map(int, re.search(r"(\d+)x(\d+) (\d+)-(\d+): tile (\d+)", sys.stdin.read()).groups())
print(blocks == 4096 and per == 2 and n + missing == 8192 and n == tiles and n % 2 == 0 and 600 < n < 2200)')"
check "large: sums are of all" "k/tile 819200 100 8192 100 100, k/tile/load 163840 20 8192 20 20" "$(inside run.hatchet)"
cp run.warps kept.warps
cat >looks.sh <<'END'
for i in {1..600}; do [ -e run.warps ] || exit 5; read -r -t 0.1 _ <> <(:); done
END
"$PROTON" record -q -o run.hatchet -- bash looks.sh 2>err
check "what a run before has kept is gone before this one ends" 5 $?
mv kept.warps run.warps
record module
check "what a run before has kept is not this one's" "no" "$([ -e run.warps ] && echo yes || echo no)"
echo mine >run.warps
record module
check "what is no such file stays" mine "$(cat run.warps)"
rm run.warps
record contexts --intra-trace
check "contexts: with the same number" "5 5 6" "$(numbers)"
record lost --intra-trace
check "lost: what has no record is not there" 1 "$(numbers)"
record forked --intra-trace
check "forked: the parent's" "1 2; 0 left out" "$(numbers); $(left_out)"

# ---- sessions of the program
cp run.warps none.warps
record sessions --intra-trace=18
check "sessions: as the program sees them" "0 0" "$(cat out)"
check "sessions: the run has all" "1 2 3 4" "$(numbers)"
check "sessions: each has its own" "2 3|3 4" "$(numbers first.warps)|$(numbers second.warps)"
check "sessions: as its sums" "k/tile 400 200 4 100 100, k/tile/load 80 40 4 20 20" "$(inside first.hatchet)"
check "sessions: one without launches: not those of a run before" no "$([ -e none.warps ] && echo yes || echo no)"
record sessions --intra-trace=1
check "sessions: of launches that are not kept there is no file" "1 no" "$(numbers) $(ls first.warps second.warps 2>/dev/null || echo no)"
record sessions
check "sessions: nobody asked" "no" "$(ls first.warps second.warps 2>/dev/null || echo no)"
rm -f first.* second.* none.*

# ---- the end
(record killed --intra-trace=4; exit $status) 2>/dev/null
status=$?
check "killed: status" 137 "$status"
check "killed: what was written is there, whole" True "$(numbers | python3 -c 'n = sorted(map(int, input().split())); print(len(n) >= 2 and n[0] == 1)')"
timeout 120 "$PROTON" record -q --intra-trace --tape run.tape -o two.hatchet -- sh -c '"$@" & "$@"; wait' - "$app" "$libs/libcuda.so.1" "$here/cubins/scopes.cubin" many
check "two processes: each has its own" "1 1 2 2 9 9 16 16 17 17 18 18; 24 left out" "$(numbers two.warps); $(left_out two.warps)"
check "the tape has the same beside it" "$(warps two.warps)" "$(warps run.warps)"
timeout 120 "$PROTON" record -q --intra-trace -o short.hatchet -- sh -c 'ulimit -f 0; exec "$@"' - "$app" "$libs/libcuda.so.1" "$here/cubins/scopes.cubin" plain 2>err
check "no room: sums go on" "outer/k/tile 400 200 4 100 100, outer/k/tile/load 80 40 4 20 20" "$(inside short.hatchet)"
check "no room: counted" "warp_files=2" "$(losses short.hatchet)"
notes short.hatchet >notes
has "no room: and why" "scopes of single warps are not kept of all launches: File too large" notes
# A file system of our own, that fills up.
mkdir small
unshare -rm sh -c 'mount -t tmpfs -o size=2m none small && echo on >mounted || exit
	mkdir -m 700 small/run; export XDG_RUNTIME_DIR=$PWD/small/run
	"$1" record -q --intra-trace -o full.hatchet -- sh -c '"'"'head -c 9000000 /dev/zero >small/fill 2>/dev/null; exec "$@"'"'"' - "$2" "$3" "$4" plain' \
	- "$PROTON" "$app" "$libs/libcuda.so.1" "$here/cubins/scopes.cubin" 2>err
if [ -e mounted ]; then
	check "a full disk: sums go on" "outer/k/tile 400 200 4 100 100, outer/k/tile/load 80 40 4 20 20" "$(inside full.hatchet)"
	check "a full disk: counted" "warp_files=2" "$(losses full.hatchet)"
	notes full.hatchet >notes
	has "a full disk: and why" "scopes of single warps are not kept of all launches: No space left on device" notes
else
	echo "a disk that is full: no file system can be mounted here"
fi
record plain --intra-trace -o x.warps
has "a profile that is called so" "cannot keep scopes of single warps beside 'x.warps': File exists" err
hasnt "a profile that is called so: not that no kernel ran" "no kernel with scopes ran" err
mkfifo fifo.warps
for at in fifo:"File exists" device:"File exists" folder:"Is a directory"; do
	case ${at%%:*} in device) ln -s /dev/full device.warps ;; folder) mkdir folder.warps ;; esac
	record plain --intra-trace -o "${at%%:*}.hatchet"
	check "a ${at%%:*} where they go: status" 0 "$status"
	has "a ${at%%:*} where they go" "cannot keep scopes of single warps beside '${at%%:*}.hatchet': ${at#*:}" err
	hasnt "a ${at%%:*} where they go: not that no kernel ran" "no kernel with scopes ran" err
done
record plain --intra-trace -o /dev/null
check "no file: status" 0 "$status"
record plain -o plain.hatchet --intra-trace --no-follow --quiet
check "quiet: no word" "" "$(cat err)"

# ---- live
let_go() { touch "$work/seen"; }
timeout 240 "$PROTON" top -b 0 -i 0.1 --ascii --intra-trace -o live.hatchet -- "$app" "$libs/libcuda.so.1" "$here/cubins/scopes.cubin" live </dev/null >out 2>err &
top=$!
check "top: a scope has its numbers while the program runs" 0 "$(wait_for 60 grep -qE ' [0-9.]+[KMG]? +[0-9.]+[KMG]? +[0-9.]+[KMG]?  +`- tile$' out; echo $?)"
let_go
wait "$top"
check "top: status" 0 $?
has "top: they have heads" "cycles normalized_cycles scope_entries  NAME" out
check "top: it keeps warps, too" "1 2" "$(numbers live.warps | cut -d' ' -f 1,2)"

rm -f seen
timeout 240 "$PROTON" top -q -b 0 -i 0.1 --ascii --view warps --intra-trace -o pictures.hatchet -- "$app" "$libs/libcuda.so.1" "$here/cubins/scopes.cubin" live </dev/null >out 2>err &
top=$!
check "top --batch: single scopes while the program runs" 0 "$(wait_for 60 grep -qE '^ +[0-9]+ .* tile$' out; echo $?)"
let_go
wait "$top"
check "top --batch: status" 0 $?
"$PROTON" report --ascii --view warps pictures.hatchet >text
check "top --batch: at the end, those of the report" "" "$(tail -n $(($(wc -l <text) + 1)) out | head -n -1 | diff - text)"
"$PROTON" top -q -b 0 --view warps --intra-trace -o none.hatchet -- true >out 2>err
check "top --batch: none" none "$(grep . out)"
for wrong in "-- true" unix:/nowhere; do
	"$PROTON" top -b 0 --view warps $wrong >out 2>err
	check "top --batch: refused for $wrong" "2 1" "$? $(grep -c "^proton: --view warps: " err)"
done

rm -f seen
"$PROTON" record -q --save-interval 0.1 --intra-trace -o cut.hatchet -- sh -c '"$@"; touch over' - "$app" "$libs/libcuda.so.1" "$here/cubins/scopes.cubin" live </dev/null >/dev/null 2>&1 &
proton=$!
check "proton is killed: they are there while the program runs" 0 "$(wait_for 60 test -s cut.warps; echo $?)"
{ kill -9 "$proton"; wait "$proton"; } 2>/dev/null
check "proton is killed: whole" 1 "$(numbers cut.warps | cut -d ' ' -f 1)"
let_go
check "proton is killed: the program goes on to its end" 0 "$(wait_for 60 test -e over; echo $?)"

# ---- of a real device: examples/kernel_scopes on an H200, one launch within 1 MiB
check "H200: what is kept" "_Z7productPKfS0_Pf [] 3 367260ns 1024x32 192-32576: load 1536 802505 multiply 1536 2455828 wait 1536 3072|9 left out|" "$(warps "$here/warps/h200-product.warps" | tr '\n' '|')"

# ---- options
for wrong in 0 1.5 six 64kiB 5% ,; do
	record plain --intra-trace=$wrong
	check "--intra-trace=$wrong: status" 2 "$status"
	has "--intra-trace=$wrong" "--intra-trace: '$wrong' is not understood: there are a number of launches (1 to 100000) and a size (1MiB to 64GiB), such as 6,64MiB" err
done
record kernels-without --intra-trace
has "nothing to keep" "no kernel with scopes ran, whose warps --intra-trace would keep" err
finish
