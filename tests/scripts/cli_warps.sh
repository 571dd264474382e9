#!/bin/bash
# SPDX-License-Identifier: MIT
# Single scopes of warps: a file of them beside its profile and by itself, buffers and traces of Triton's Proton, as text, as
# JSON, and for other viewers.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"

PROTON_FAKE='kernel _Z6matmulPKfS0_Pf 1000 2' "$PROTON" record -q -o run.hatchet -- true >out 2>err
"$PROTON" report --view warps run.hatchet >out 2>err
check "none: says what would make some" "0 none: proton record --intra-trace keeps single scopes of warps beside the profile" "$? $(cat out)"
"$PROTON" report --view warps --json run.hatchet >out 2>err
check "none: no document" "1 proton: run.hatchet: no single scopes of warps in it, nor beside it 0" "$? $(cat err) $(stat -c %s out)"

python3 "$tests/tools/check_warps.py" make run.warps || exit 99
"$PROTON" report --view warps run.hatchet >beside 2>err
check "beside the profile" "0 " "$? $(cat err)"
"$PROTON" report --view warps run.warps >alone
check "by itself: the same" "" "$(cmp beside alone 2>&1)"
has "clock" "1 launch, 24 blocks, 96 warps, clock 2000 MHz" alone
has "waves" "4 multiprocessors, at most 3 blocks on one at once: 2.0 waves in 9.50us" alone
check "a scope in its place" "288 3.6 109 100 101 302 302 55ns 50ns 151ns - load" \
	"$(grep '    load$' alone | sed 's/^ *//;s/  */ /g')"
has "the slow block by name" "block 17 (SM 1, launch 42): 3.0x the median, 302 cycles, 151ns of load" alone
has "lost" "lost: 96 records" alone
has "lost: of how much time nothing is known" "not known: what warps did in 0.1% of their time, before the first record that is there; % is of the rest" alone
has "dropped" "dropped: 2 warps" alone
has "left out" "of 5 more launches" alone

# As a profile.
"$PROTON" report run.warps >out
has "a profile: the tree" "tile" out
has "a profile: and the table" "## Warps" out
"$PROTON" export -f json run.warps >whole.json
check "a profile: sums" "96 288 288 96 96 96" "$(python3 -c 'import json
print(*(n["metrics"]["scope_entries"] for n in json.load(open("whole.json"))["nodes"] if "scope_entries" in n["metrics"]))')"
"$PROTON" export -f hatchet run.warps >again.hatchet
check "a profile: hatchet" "" "$("$PROTON" report --view tree again.hatchet | cmp - <("$PROTON" report --view tree run.warps) 2>&1)"

# For programs.
"$PROTON" report --view warps --json run.hatchet >warps.json
check "json" "proton-warps 5 matmul 2.0 17 3 150.5 null" "$(python3 -c 'import json
doc = json.load(open("warps.json"))
k = doc["kernels"][0]
scopes = {s["name"]: s for s in k["scopes"]}
load = [s for s in k["scopes"] if s["name"] == "load" and s["depth"] == 1][0]
print(doc["schema"], doc["launches_left_out"], k["short"], k["waves"], load["slowest_blocks"][0]["block"],
      round(load["slowest_blocks"][0]["times_median"]), round(load["time_ns"]["p99"] - .5, 1), "null")')"
"$PROTON" report --view warps,tree --json run.hatchet >out 2>err
check "json of several: refused" 2 $?

# Other viewers have the same of it, in any time; Chrome traces are read again.
for arguments in "" --intra-time=ns --time-shift --time-shift=20; do
	# shellcheck disable=SC2086 # words
	for format in chrome perfetto; do
		"$PROTON" export -f $format --warps $arguments -o run.$format run.hatchet 2>err
		check "$format $arguments" "0 " "$? $(cat err)"
	done
	check "viewers $arguments" "96 960" "$(python3 "$tests/tools/check_warps.py" traces run.chrome run.perfetto 2>&1)"
done
"$PROTON" export -f chrome run.warps >run.chrome_trace
"$PROTON" report --view warps run.chrome_trace >again
check "chrome: read again" "24 blocks, 96 warps|288 109 100 101 302 302 load" \
	"$(sed -n 's/.*launch, //;1p' again)|$(grep '    load$' again | sed 's/^ *//;s/  */ /g' | cut -d' ' -f1,3-)"
"$PROTON" export -f folded --warps run.warps >out 2>err
check "no place for them: status" 2 $?
has "no place for them: which have" "chrome and perfetto have" err
"$PROTON" export -f chrome --intra-time=ns "$tests/warps/upstream-seq.bin" >out 2>err
has "no clock: says so" "has no times of the clock" err

# What Triton's Proton keeps.
"$PROTON" report --view warps "$tests/warps/upstream-seq.bin" >out
check "a buffer: what nests not by its times" "8 100.0 330 324 332 336 336 scope_0" "$(sed -n '4s/  */ /gp' out | sed 's/^ //')"
"$PROTON" report --view warps "$tests/warps/upstream-loop.bin" >out
has "a ring that was too small: the latest" "16  100.0      86   84   84   88   88  scope_0" out
has "a ring that was too small: lost" "lost: 128 records" out
"$PROTON" report --view warps "$tests/chrome/cycles.chrome_trace" >out
has "a trace: two blocks" "add_kernel: 1 launch, 2 blocks, 2 warps" out

# Not whole.
head -c 3000 run.warps >cut.warps
"$PROTON" report --view warps cut.warps >out 2>err
check "cut: status" 0 $?
has "cut: says so" "cut.warps: ends early or is damaged" err
has "cut: what is missing is counted" "dropped: 98 warps" out
head -c 20 run.warps >cut.warps
"$PROTON" report --view warps cut.warps >out 2>err
check "no beginning: status" 1 $?
has "no beginning: says so" "cut.warps: no file of scopes, or its beginning is damaged" err
# What newer Triton records beside scopes.
"$PROTON" report --view warps "$tests/fuzz/corpus_warps/dump_events" >out
check "events, marks and values of a buffer" "2 0 120 scope_1 scope|1 0 40 scope_7 async|1 0 None scope_5 mark|1 0 -1.5 scope_5 value|1 0 0.5 scope_6 value|0 1 None scope_7 async" \
	"$("$PROTON" report --view warps --json "$tests/fuzz/corpus_warps/dump_events" | python3 -c 'import json, sys
rows = []
for s in json.load(sys.stdin)["kernels"][0]["scopes"]:
    total = s.get("cycles", s.get("value", {})).get("sum")
    rows.append("%d %d %s %s %s" % (s["count"], s["open"], total if total is None else "%g" % total, s["name"], s["event"]))
print("|".join(rows))')"
has "and as text" "scope_7 (async)" out
# One that begins in warp 0 and ends in warp 1.
python3 -c 'import struct, sys
d = open(sys.argv[1], "rb").read()
for old, new in ((0x03900000, 300), (0x83900000, 300)), ((0x83900000, 150), (0x03a00000, 150)):
    d = d.replace(struct.pack("<2I", *old), struct.pack("<2I", *new))
open("pair.bin", "wb").write(d)' "$tests/fuzz/corpus_warps/dump_events"
check "an event that ends in another warp" "1 0 190" "$("$PROTON" report --view warps --json pair.bin | python3 -c 'import json, sys
for s in json.load(sys.stdin)["kernels"][0]["scopes"]:
    if s["event"] == "async":
        print(s["count"], s["open"], int(s["cycles"]["sum"]))')"
"$PROTON" export -f chrome --warps -o events.chrome "$tests/fuzz/corpus_warps/dump_events"
"$PROTON" report --view warps events.chrome >out
has "read again from a trace: a mark" "scope_5 (mark)" out
has "read again from a trace: an event" "scope_7 (async)" out

# Some blocks of a launch: when the others ran nobody knows.
"$PROTON" report --view warps "$tests/warps/h200-product.warps" >out
has "in part" "waves, tail: not known, for of no launch all blocks are here" out
check "in part: no waves" 0 "$(grep -c 'on one at once' out)"

# Of several ranks: each keeps its own, also where one has none or its file is damaged.
for rank in 0 1 2; do
	PROTON_FAKE='kernel matmul 1000 2' "$PROTON" record -q -o rank$rank.hatchet -- true
done
cp run.warps rank0.warps
cp run.warps rank1.warps
echo mine >none.warps
"$PROTON" merge -o none.hatchet rank2.hatchet 2>err
check "merge: none, and what is no such file stays" "0  mine" "$? $(cat err) $(cat none.warps)"
"$PROTON" merge -o all.hatchet rank?.hatchet 2>err
check "merge: one has none" "0 proton: rank2.hatchet: has no single scopes of warps: none of its are in 'all.warps'" "$? $(cat err)"
"$PROTON" report --view warps --json all.hatchet >all.json
check "merge: launches of each, by its rank" "2 10 [0, 1]" "$(python3 -c 'import json
doc = json.load(open("all.json"))
k = doc["kernels"][0]
print(k["launches"], doc["launches_left_out"], sorted(b["rank"] for s in k["scopes"] for b in s.get("slowest_blocks", []) if s["name"] == "load"))')"
"$PROTON" report --view warps all.hatchet >out
has "merge: and so as text" "block 17 (SM 1, launch 42 of rank 1): 3.0x the median" out
"$PROTON" export -f chrome --warps -o all.chrome all.hatchet
check "merge: threads of a trace are a rank's" "960 960" "$(grep -o '"pid":"rank 0 matmul(' all.chrome | wc -l) $(grep -o '"pid":"rank 1 matmul(' all.chrome | wc -l)"
"$PROTON" export -f json all.warps >sums.json
check "merge: sums are a process's" "{0: 96, 1: 96}" "$(python3 -c 'import json
doc = json.load(open("sums.json"))
tile = next(n for n in doc["nodes"] if n["name"] == "tile")
print({doc["processes"][r["process"]]["rank"]: r["metrics"]["scope_entries"] for r in tile["rows"] if "scope_entries" in r["metrics"]})')"
head -c 3000 run.warps >rank1.warps
"$PROTON" merge -o all.hatchet rank?.hatchet 2>err
check "merge: one is damaged: status" 0 $?
has "merge: one is damaged" "proton: rank1.warps: ends early or is damaged: what was whole of it is used" err
"$PROTON" report --view warps all.hatchet >out
has "merge: what is whole is there" "2 launches" out
echo nothing >rank1.warps
"$PROTON" merge -o all.hatchet rank[01].hatchet 2>err
check "merge: one is none" "0 1 96" "$? $(grep -c "^proton: rank1.hatchet: has no single scopes of warps: none of its are in 'all.warps'" err) $("$PROTON" report --view warps --json all.hatchet | python3 -c 'import json, sys; print(json.load(sys.stdin)["kernels"][0]["warps"])')"
"$PROTON" merge -o all.hatchet rank1.hatchet rank2.hatchet 2>err
check "merge: those of what was merged before are not this one's" "0 no" "$? $([ -e all.warps ] && echo yes || echo no)"
"$PROTON" merge -o - rank0.hatchet rank2.hatchet >out 2>err
check "merge: to no file" "0  no" "$? $(cat err) $([ -e all.warps ] && echo yes || echo no)"
cp run.warps rank1.warps
"$PROTON" merge -o rank0.hatchet rank0.hatchet rank1.hatchet 2>err
check "merge: onto one of them" "0  2 launches" "$? $(cat err) $("$PROTON" report --view warps rank0.hatchet | grep -o '2 launches')"

# ---- sums of damaged clocks are beyond 64 bits
python3 - "$tests/tools" <<'END'
import struct, sys
sys.path.insert(0, sys.argv[1])
from check_warps import NONE, piece, scope
warp = struct.pack("<II8Q", 0, 0, 0, 0, 0, 0, 0, 0, 0, 2) + scope(0, 2**64 - 2, NONE, 1) + scope(0, 2**64 - 2, NONE, 1)
with open("far.warps", "wb") as f:
    f.write(piece(b"WRPS", struct.pack("<II", 1, 0)) + piece(b"NAME", struct.pack("<III", 1, 1, 1) + b"k") +
            piece(b"LNCH", struct.pack("<IIQiIQQQQQ", 1, 0, 1, 0, 1, 0, 0, 1, 0, 1)) + piece(b"WARP", warp))
END
check "a sum beyond 64 bits is the largest number" "18446744073709551615 18446744073709551615 18446744073709551615" \
	"$("$PROTON" export -f json far.warps | python3 -c 'import json, sys
print(*[m[k] for m in (n["metrics"] for n in json.load(sys.stdin)["nodes"]) if "cycles" in m for k in ("cycles", "cycles_min", "cycles_max")][:3])')"
finish
