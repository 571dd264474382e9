#!/bin/bash
# SPDX-License-Identifier: MIT
# What comes over the wire is not trusted: segments, names of files, and how much there is of it.
tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
command -v python3 >/dev/null || { echo "skipped: there is no python3"; exit 77; }
export PYTHONPATH=$tests/tools PYTHONDONTWRITEBYTECODE=1
python=$(python3 -c 'import sys; print(sys.executable)')

facts() { # facts FILE: operations in the trace, times that make sense, losses
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
p = json.load(sys.stdin)
good = sum(i["end_ns"] - i["start_ns"] == 5 for i in p["intervals"])
print(len(p["intervals"]), good, *("%s=%d" % l for l in sorted(p["losses"].items()) if l[1] and l[0] != "vanished"))'
}
forged() { # forged OPTIONS… : a program that sends what its standard input says
	{ echo 'from forge import *'; cat; } >program.py
	"$PROTON" record --no-preload -o w.hatchet "$@" -- "$python" program.py >out 2>err
}

# ---- segments: more than is taken in one call, and cut where no entry ends
forged --trace --tape w.tape <<'PY'
c = Instance(open_stream())
c.kernel(1, "k"); c.lane(1)
with open(session() + "/" + c.segment_name(), "wb") as f:
    f.write(intervals(400000))  # 9.6 MB
c.segment(c.text(c.segment_name()), 400000 * 24)
PY
check "9.6 MB of a trace at once" "400000 400000" "$(facts w.hatchet)"
check "on the tape, too" "400000 400000" "$(facts w.tape)"
forged --trace --tape w.tape <<'PY'
c = Instance(open_stream())
c.kernel(1, "k"); c.lane(1)
with open(session() + "/" + c.segment_name(), "wb") as f:
    f.write(intervals(1000)[:-7])
c.segment(c.text(c.segment_name()), 1000 * 24 - 7)
PY
check "part of an entry at the end" "999 999 trace_unread=1" "$(facts w.hatchet)"
check "on the tape, too" "999 999 trace_unread=1" "$(facts w.tape)"
has "is named" "lost: 1 operation of the trace not read back" err
forged --trace <<'PY'
c = Instance(open_stream())
c.kernel(1, "k"); c.lane(1)
with open(session() + "/" + c.segment_name(), "wb") as f:
    f.write(intervals(100) + intervals(10, node=77) + intervals(100))
c.segment(c.text(c.segment_name()), 210 * 24)
PY
check "entries that name nothing" "200 200 trace_unread=10" "$(facts w.hatchet)"
python3 - <<'PY'
from forge import *
c = Instance(open_tape("cut.tape"), pid=1)
c.kernel(1, "k"); c.lane(1)
c.segment(c.text(c.segment_name()), 1000 * 24)
data = intervals(1000)
c.bulk(0, data[:2400]); c.bulk(2400, data[2400:2500]); c.bulk(2500, data[2500:3000])  # within entries
c.bulk(3000, data[3000:4800])                                                        # whole again
c.bulk(7200, data[7200:9600]); c.bulk(7200, data[7200:9600])                         # a gap, and twice
c.segment(1, 10**9, kind=3)                                                          # becomes another kind
c.bulk(24000, data[:24])                                                             # beyond what was announced
PY
# 100 whole, 5 + 21 cut, 75 whole, 100 missing, 100 whole, 600 that never came
check "pieces that are cut, missing, there twice" "275 275 trace_unread=726 wire_errors=2" "$(facts cut.tape)"

# ---- names of files: the collector's own, of this instance and segment, and nothing else
forged --trace <<'PY'
import hashlib
c = Instance(open_stream())
c.kernel(1, "k"); c.lane(1)
before = open(session() + "/control", "rb").read()
c.segment(c.text("control"), 4096 // 24 * 24)
for i, name in enumerate(["owner", "stream", "../" + os.path.basename(session()) + "/control", c.segment_name(7), ""]):
    c.segment(c.text(name), 240, number=i + 1)
with open(session() + "/" + c.segment_name(7), "wb") as f:
    f.write(intervals(10))
os.link(session() + "/control", session() + "/" + c.segment_name(8))
c.segment(c.text(c.segment_name(8)), 240, number=8)
Instance(open_stream(), 0x77).segment(0, 240)  # of another instance: it has no name yet
c.segment(c.text(c.segment_name(9)), 240, number=9)
with open(session() + "/" + c.segment_name(9), "wb") as f:
    f.write(intervals(10))
import time
end = time.monotonic() + 20  # until the last is read: then it holds nothing any more
while any(open(session() + "/" + c.segment_name(9), "rb").read()) and time.monotonic() < end:
    time.sleep(0.01)
print("taken in time" if time.monotonic() < end else "not taken")
after = open(session() + "/control", "rb").read()
print("control", "same" if after[:8] == before[:8] and after[24:40] == before[24:40] else "gone")
PY
has "the last segment is read" "taken in time" out
has "a segment named control" "control same" out
check "its bytes are nobody's operations" "10 10" "$(facts w.hatchet | cut -d' ' -f1,2)"

# ---- metrics: each instance sends what it has of one in its own type
cat >declare.py <<'PY'
import sys
from forge import *
tape = open_tape(sys.argv[1])
for i, (kind, value) in enumerate(eval(sys.argv[2])):
    c = Instance(tape, 1 + i, pid=1 + i)
    c.kernel(1, "k")
    c.text("a text", number=100)
    c.metric(50, sys.argv[3] if len(sys.argv) > 3 else "tokens", kind); c.metric(51, "other", U64)
    c.slot(1, [50, 51]); c.values(1, value, 1)
PY
types() { # types METRIC [(TYPE, VALUE)…] NAME: its sum, that of the metric beside it, losses
	python3 declare.py types.tape "$2" "$1"
	echo "$(metric types.tape k "$1") $(metric types.tape k other) $(facts types.tape | cut -d' ' -f3-)"
}
check "a whole number, then a fraction" "3.5 2 " "$(types tokens '[(U64, 3), (F64, .5)]')"
check "a fraction, then a whole number" "3.5 2 " "$(types tokens '[(F64, .5), (U64, 3)]')"
check "below zero, among whole numbers" "4.5 4 " "$(types tokens '[(U64, 3), (U64, 4), (F64, -3.), (F64, .5)]')"
check "what proton counts stays whole" "4 2 " "$(types bytes '[(U64, 3), (F64, .7)]')"
check "and has nothing below zero" "3 2 wire_errors=1" "$(types bytes '[(U64, 3), (F64, -1.)]')"
check "a text among numbers" "3 2 wire_errors=1" "$(types tokens '[(U64, 3), (TEXTS, 100)]')"
check "a number among texts" "2 wire_errors=1" "$(types direction '[(TEXTS, 100), (U64, 3)]' 2>&1 | tail -1 | cut -d' ' -f2-)"
cat >twice.py <<'PY'
from forge import *
c = Instance(open_tape("twice.tape"), pid=1)
c.kernel(1, "k"); c.metric(50, "tokens", U64); c.metric(51, "other", U64)
c.slot(1, [50, 51, 50]); c.values(1, 5, 6, 7); c.slot(2, [51]); c.values(2, 1)
PY
python3 twice.py
check "a metric twice in a set: neither counts" "0 1 wire_errors=3" \
	"$(metric twice.tape k tokens) $(metric twice.tape k other) $(facts twice.tape | cut -d' ' -f3-)"

# ---- texts: so many as a collector can have
cat >texts.py <<'PY'
import sys
from forge import *
c = Instance(open_tape(sys.argv[1]), pid=1)
for i in range(int(sys.argv[2])):
    c.text(("%09d" % i) + "x" * int(sys.argv[3]), number=1 + i % int(sys.argv[4]))
PY
python3 texts.py long.tape 160 1000000 160
check "160 MB of texts: memory is bounded" "" "$(needs_at_most 140 long.tape 2>&1)"
check "160 MB of texts: counted" "0 0 strings_full=93" "$(facts long.tape)"
python3 texts.py many.tape 300000 1 1
check "300,000 texts under one id" "0 0 strings_full=1" "$(facts many.tape)"
finish
