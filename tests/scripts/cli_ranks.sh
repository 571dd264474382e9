#!/bin/bash
# SPDX-License-Identifier: MIT
# Ranks of a job, and runs elsewhere: names of their profiles, streams that are joined.
# shellcheck disable=SC2016
. "${srcdir:-.}/tests/tools/cli_help.sh"
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK PALS_RANKID MV2_COMM_WORLD_RANK SLURM_PROCID RANK
export PROTON_FAKE='kernel gemm 1000 10'

# ---- refused before the program starts
for command in record "top -b 0"; do
	for name in 'run.%x.h' 'run%' 'a/%Q' '%q{NONE' '%q{}'; do
		"$PROTON" $command -o "$name" -- touch ran >out 2>err; check "$command -o $name" 2 $?
		has "$command -o $name: said" "in the name '$name' means nothing: there are %e, %h, %p" err
	done
	"$PROTON" $command -o 'run.%q{NOT_SET}.h' -- touch ran >out 2>err; check "$command: a variable that is not set" 2 $?
	has "is named" "the variable 'NOT_SET' of the name 'run.%q{NOT_SET}.h' is not set" err
done
check "nothing ran" "" "$(ls -A | grep -vx -e out -e err -e .config)"

# ---- each rank its own
for rank in 0 1 2 3 4 5 6 7; do
	RANK=$rank JOB=j7 "$PROTON" record -q -o '%q{JOB}.%h.%r.hatchet' -- sleep 0.1 &
	pids[rank]=$!
done
for pid in "${pids[@]}"; do wait "$pid"; check "a rank" 0 $?; done
for rank in 0 1 2 3 4 5 6 7; do
	check "rank $rank has its file" 10 "$(metric "j7.$(uname -n).$rank.hatchet" gemm count)"
done

file() { echo "j7.$(uname -n).$1.hatchet"; }
"$PROTON" merge --ranks "$(file 3)" "$(file 7)" "$(file 1)" "$(file 5)" "$(file 4)" "$(file 0)" "$(file 6)" "$(file 2)" >out
check "ranks are told in their order" "RANK 0 1 2 3 4 5 6 7" "$(sed -n '/  RANK$/,/^$/p' out | awk '{ print $NF }' | xargs)"

"$PROTON" merge -o came.hatchet "$(file 3)" "$(file 7)" "$(file 1)" "$(file 5)" "$(file 4)" "$(file 0)" "$(file 6)" "$(file 2)"
check "… processes, too" "RANK 0 1 2 3 4 5 6 7" "$("$PROTON" report --view processes came.hatchet | awk '/PID/ || /sleep/ { print $3 }' | xargs)"

# ---- one name for all: nobody loses anything, whoever comes first, and a file of before is replaced
echo old >one.hatchet
ranks() { # ranks N COMMAND…: together, each until all were there
	local i n=$1 together=(); shift
	rm -f here.* err.*
	for i in $(seq "$n"); do
		RANK=$i I=$i N=$n "$@" sh -c 'sleep 0.1 # its kernels
			touch "here.$I"
			while [ -d "$work" ] && [ "$(ls here.* | wc -l)" -lt "$N" ]; do sleep 0.02; done
			exit "$I"' >"out.$i" 2>"err.$i" &
		together[i]=$!
	done
	for i in $(seq "$n"); do wait "${together[i]}"; check "rank $i of $n: its status" "$i" $?; done
}
ranks 8 "$PROTON" record --save-interval 0.05 -o one.hatchet --
check "eight files" "one.2.hatchet one.3.hatchet one.4.hatchet one.5.hatchet one.6.hatchet one.7.hatchet one.8.hatchet one.hatchet" "$(echo one*)"
check "each rank is in one" "1 2 3 4 5 6 7 8" "$(for file in one*; do "$PROTON" export -f json "$file" | python3 -c '
import json, sys
print(*{p["rank"] for p in json.load(sys.stdin)["processes"]})'; done | sort | xargs)"
check "seven say where" 7 "$(cat err.* | grep -c "another run writes 'one.hatchet' now: the profile is in 'one\.[2-8]\.hatchet'")"
check "no lock is left" 0 "$(find . -name '.proton*' | wc -l)"
ranks 2 "$PROTON" top -b 0 -o two.hatchet --
check "top, too" "two.2.hatchet two.hatchet" "$(echo two*)"
"$PROTON" record -q -o one.hatchet -- true; check "alone it is written again" 8 "$(find . -name 'one*' | wc -l)"

(ranks 2 "$PROTON" record -q -o /dev/stdout --; exit $n_failed); n_failed=$?
check "a descriptor has no other name" 0 "$(cat err.* | grep -c 'another run')"

# ---- who was killed has no name any more
"$PROTON" record -q --save-interval 0.05 -o dead.hatchet -- sh -c 'echo $$ >pid; while [ -d "$work" ] && [ ! -e stop ]; do sleep 0.05; done' &
proton=$!
wait_for 20 test -s dead.hatchet; kill -KILL $proton; wait $proton 2>/dev/null
"$PROTON" record -q -o dead.hatchet -- sleep 0.1; check "a killed run's name" 10 "$(metric dead.hatchet gemm count)"
check "is free" "dead.hatchet" "$(echo dead*)"
check "and no lock is left" 0 "$(find . -name '.proton*.lock' | wc -l)"
touch stop

# ---- a stream through a pipe
# until FILE… STATUS: one process, which ends when all are there
cat >until.py <<'X'
import os, sys, time
while os.path.isdir(os.environ["work"]) and not all(os.path.exists(file) for file in sys.argv[1:-1]):
    time.sleep(0.02)
time.sleep(0.3) # what is sent meanwhile
sys.exit(int(sys.argv[-1]))
X
forwards() { "$PROTON" record -q "$@"; }
joins() { "$PROTON" top -q "$@"; }
PROTON_FAKE="$PROTON_FAKE;pause 10;repeat 40"
forwards -o far.hatchet --forward - python3 -c 'import os, sys, time
print("printed")
while os.path.isdir(os.environ["work"]) and open("out").read().count("## Summary") < 2:
    time.sleep(0.02)
sys.exit(3)' 2>err | joins -b 0 -i 0.2 -o near.hatchet - >out
check "a pipe: statuses" "3 0" "${PIPESTATUS[*]}"
n_gemm=$(metric far.hatchet gemm count)
check "all is there, at both ends" yes "$([ "$n_gemm" -ge 10 ] && [ "$(metric near.hatchet gemm count)" = "$n_gemm" ] && echo yes)"
check "pictures came while it ran" yes "$([ "$(grep -c '^## Summary' out)" -gt 1 ] && echo yes)"
check "what the program prints is on standard error" printed "$(cat err)"
has "how it ended is known" "exit 3" <("$PROTON" report near.hatchet)
check "no loss" "" "$("$PROTON" report --section losses near.hatchet | grep -v -e '^##' -e '^none' -e '^$')"
forwards -o far.hatchet --forward - sleep 0.8 >kept.tape; joins -b 0 -o near.hatchet - <kept.tape >out
n_gemm=$(metric far.hatchet gemm count)
check "it is a tape" "$n_gemm $n_gemm" "$(metric kept.tape gemm count) $(metric near.hatchet gemm count)"
(echo "Welcome to node 7"; cat kept.tape) | joins -b 0 -o near.hatchet - >out; check "behind what a shell prints" "$n_gemm" "$(metric near.hatchet gemm count)"
head -c 1500 kept.tape | "$PROTON" top -b 0 -o near.hatchet - >out 2>err; check "cut off" 0 $?
has "is said" "has ended before its program" err; has "and is a loss" "cut off (killed?)" <("$PROTON" report near.hatchet)
check "from a process substitution" 0 "$(joins -b 1 - < <(cat kept.tape) >/dev/null; echo $?)"

# ---- what is refused
refused() { # refused STATUS "text" COMMAND…
	local status=$1 text=$2; shift 2
	"$@" >out 2>err </dev/null; check "$*: status" "$status" $?; has "$*: said" "$text" err
}
refused 2 "neither - nor unix:PATH" "$PROTON" record --forward tcp:host -- touch ran
refused 2 "standard output is what --forward - sends: choose a file with -o" "$PROTON" record --forward - -o - -- touch ran
refused 2 "choose a file with --tape" "$PROTON" record --forward - --tape /dev/stdout -- touch ran
refused 125 "it is no socket" "$PROTON" record --forward unix:out -- touch ran
refused 125 "File name too long" "$PROTON" record --forward "unix:$(printf 'x%.0s' {1..200})" -- touch ran
refused 2 "--context says how a program is run" "$PROTON" top -b 0 --context scopes -
refused 2 "is no word for" "$PROTON" top -b 0 unix:s ./app
refused 1 "something that is no socket is there" "$PROTON" top -b 0 unix:out
refused 1 "a stream ended before it began" "$PROTON" top -b 0 -
check "nothing ran" no "$([ -e ran ] && echo yes || echo no)"
head -c 100000 /dev/urandom >noise; "$PROTON" top -b 0 - <noise >out 2>err; check "noise" 1 $?
has "noise is said" "what came is no stream of proton" err
python3 - kept.tape <<'X'
import random, sys
random.seed(7)
tape = bytearray(open(sys.argv[1], "rb").read())
for i in range(300):
    tape[random.randrange(40, len(tape))] ^= 1 << random.randrange(8)
open("damaged.tape", "wb").write(tape)
X
timeout 60 "$PROTON" top -b 0 -o near.hatchet - <damaged.tape >out 2>err; check "a damaged stream ends" 0 $?
# Only root can make what is another user's.
if [ "$(id -u)" = 0 ] && python3 -c 'import socket
s = socket.socket(socket.AF_UNIX); s.bind("theirs"); s.listen()' && chown 12345 theirs; then
	refused 125 "the socket is another user's" "$PROTON" record --forward unix:theirs -- touch ran
	refused 1 "it is another user's" "$PROTON" top -b 0 unix:theirs
	check "theirs is still there" yes "$([ -S theirs ] && echo yes)"
fi

# ---- ranks at a socket, before who listens and after
listens() { wait_for 20 test -S "$1"; }
ends() { # ends "what" STATUS PID
	wait "$3"; check "$1: status" "$2" $?
}
rm -f here.*
RANK=9 forwards -o early.hatchet --forward unix:s python3 until.py here.{1,2,3,4,5,6,7} 0 2>early.err &
early=$!
wait_for 20 test -s early.hatchet
joins -b 0 -i 0.2 -o near.hatchet unix:s >out 2>err & top=$!
listens s; check "only its user may open it" 600 "$(stat -c %a s)"
refused 1 "somebody listens there" "$PROTON" top -b 0 unix:s
for i in 1 2 3 4 5 6 7; do
	RANK=$i forwards -o rank.%r.hatchet --forward unix:s sh -c "touch here.$i; exec python3 until.py here.1 here.2 here.3 here.4 here.5 here.6 here.7 0" 2>"err.$i" &
	pids[i]=$!
done
for i in 1 2 3 4 5 6 7; do ends "rank $i" 0 "${pids[i]}"; check "rank $i says nothing" "" "$(cat "err.$i")"; done
ends "the early one" 0 $early; ends "top" 0 $top
check "the socket is gone" no "$([ -e s ] && echo yes || echo no)"
check "all ranks are joined" "1 2 3 4 5 6 7 9" "$("$PROTON" export -f json near.hatchet | python3 -c '
import json, sys
print(*sorted({p["rank"] for p in json.load(sys.stdin)["processes"]}))')"
check "with all that they did" "$(for file in early.hatchet rank.?.hatchet; do metric "$file" gemm count; done | awk "{ n += \$1 } END { print n }")" "$(metric near.hatchet gemm count)"

# ---- copies of one machine: the same instances, pids and devices, of other hosts
python3 - kept.tape s <<'X' &
import os, socket, struct, sys, time
tape = open(sys.argv[1], "rb").read()
end = time.monotonic() + 60
def connect():
    while time.monotonic() < end:
        s = socket.socket(socket.AF_UNIX)
        try:
            s.connect(sys.argv[2])
            return s
        except OSError:
            time.sleep(0.02)
    sys.exit("nobody listens")
streams = [connect() for i in range(3)]
for i, s in enumerate(streams):
    s.sendall(tape[:32] + struct.pack("<Q", 77 + i) + tape[40:])
for s in streams:
    s.close()
X
joins -b 0 -o near.hatchet unix:s >out; check "copies: status" 0 $?; wait $!
check "copies are told apart" $((3 * $(metric kept.tape gemm count))) "$(metric near.hatchet gemm count)"

# ---- readers who leave, stand still, and come again
forwards -o far.hatchet --forward - python3 until.py left 5 2>err | sh -c 'exec <&-; touch left'
check "a reader who leaves: status" 5 "${PIPESTATUS[0]}"
has "is said" "the reader at 'standard output' has left" err
check "the profile is there" yes "$([ "$(metric far.hatchet gemm count)" -ge 10 ] && echo yes)"
forwards -o far.hatchet --forward unix:nobody sh -c 'exit 5' 2>err; check "nobody listens: status" 5 $?
has "is said at the end" "nothing was forwarded: nobody listened at 'nobody'" err
forwards -o far.hatchet --forward unix:s python3 until.py go 6 2>err &
far=$!
"$PROTON" top -q -b 0 -i 0.1 unix:s >first.out 2>/dev/null & first=$!
wait_for 20 grep -q gemm first.out; kill -KILL $first; wait $first 2>/dev/null
check "its socket is left behind" yes "$([ -S s ] && echo yes)"
joins -b 0 -i 0.1 -o near.hatchet unix:s >second.out & second=$!
wait_for 20 grep -q gemm second.out; touch go
ends "a reader that was killed: the run" 6 $far; ends "the next one" 0 $second
check "it has all" "$(metric far.hatchet gemm count)" "$(metric near.hatchet gemm count)"
check "nothing is wrong" "" "$(cat err)"

# ---- a sender that is killed
"$PROTON" top -b 0 -i 0.1 -o near.hatchet unix:s >out 2>err & top=$!
listens s
forwards -o far.hatchet --forward unix:s python3 until.py gone 0 2>/dev/null & far=$!
wait_for 20 grep -q gemm out
for pid in $(left); do
	case $(tr '\0' ' ' <"/proc/$pid/cmdline") in "$PROTON record "*) kill -KILL "$pid" ;; esac
done 2>/dev/null
wait $far 2>/dev/null; ends "what it sent to" 0 $top
has "says so" "has ended before its program" err
check "and has what came" yes "$([ "$(metric near.hatchet gemm count)" -ge 10 ] && echo yes)"
touch gone

# ---- who is told to end keeps what came
"$PROTON" top -b 0 -i 0.1 --save-interval 1000 -o term.hatchet unix:s >out 2>err & top=$!
listens s
forwards -o far.hatchet --forward unix:s python3 until.py term 0 2>/dev/null & far=$!
wait_for 20 grep -q gemm out
kill -TERM $top; ends "SIGTERM" 143 $top
has "SIGTERM: the file is named" "wrote 'term.hatchet'" err
check "SIGTERM: what came is kept" yes "$([ "$(metric term.hatchet gemm count)" -ge 1 ] && echo yes)"
touch term; wait $far

# ---- times of another host, whose clock began elsewhere, by its wall clock
forwards --trace -o far.hatchet --forward - sleep 0.3 >here.tape
python3 - <<'X'
import struct
tape = bytearray(open("here.tape", "rb").read())
at = struct.unpack_from("<I", tape, 12)[0]
struct.pack_into("<Q", tape, 32, 99)
while at < len(tape): # the wall clock of the key frame is an hour ahead of the times
    length, kind = struct.unpack_from("<H", tape, at + 4)[0], struct.unpack_from("<H", tape, at + 2)[0]
    if kind == 24:
        struct.pack_into("<Q", tape, at + 32, struct.unpack_from("<Q", tape, at + 32)[0] + 3600 * 10**9)
    at += (length + 7) & ~7
open("there.tape", "wb").write(tape)
X
for where in here there; do joins -b 0 --no-config -o $where.hatchet - <$where.tape >out; "$PROTON" report $where.hatchet >$where.out; done
has "it is said" "is told by its wall clock" there.out
hasnt "of our own it is not" "wall clock" here.out

# ---- one that reads slowly: the program does not wait
cat >slow.py <<'X'
# Reads nothing before the program has ended, then all: its bytes to standard output.
import os, sys, time
end = time.monotonic() + 60
while not os.path.exists("ended") and time.monotonic() < end:
    time.sleep(0.02)
while data := os.read(0, 65536):
    os.write(1, data)
X
rm -f go
PROTON_FAKE="many 20000 kern 10;pause 10;repeat 20" "$PROTON" record -q -o far.hatchet --forward - sh -c 'sleep 1; touch ended' 2>err | python3 slow.py >slow.tape
check "a slow reader: statuses" "0 0" "${PIPESTATUS[*]}"
check "the program has ended before" yes "$([ -e ended ] && echo yes)"
check "and it has all" "$("$PROTON" export -f csv far.hatchet | grep -c kern) $(metric far.hatchet kern1 count)" \
	"$("$PROTON" export -f csv slow.tape | grep -c kern) $(metric slow.tape kern1 count)"

# ---- each rank a part of a device (MIG), which all of them call number 0
for part in 0 1; do
	RANK=$part PROTON_FAKE="device 0 H100-MIG-1g MIG-${part}abc-1;kernel on$part 1000 1$part" forwards -o part.$part.hatchet sleep 0.1
done
"$PROTON" merge -o parts.hatchet part.?.hatchet 2>err
"$PROTON" report -g device --section devices,tree parts.hatchet >out
for part in 0 1; do
	has "part $part has a name" "GPU0.${part}abc H100-MIG-1g" out
	check "and a row" 1 "$(grep -c "^GPU0.${part}abc " out)"
done

finish
