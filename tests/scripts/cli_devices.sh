#!/bin/bash
# SPDX-License-Identifier: MIT
# proton top --device: what devices say of themselves without any program, by mocks of the vendor's libraries.
mocks=$(cd "${builddir:-.}/tests/mocks/.libs" && pwd)
. "${srcdir:-.}/tests/tools/cli_window.sh"
unset CUDA_VISIBLE_DEVICES LD_PRELOAD MOCK_CUPTI_HOST MOCK_CUPTI_PM
[ -e "$mocks/mock_cupti.so" ] || { echo "no mock libraries in $mocks"; exit 77; }
mkdir lib driver && cp "$mocks/libnvidia-ml.so.1" "$mocks/libcuda.so.1" lib/ && cp "$mocks/libcuda.so.1" driver/
export MOCK_NVML=$work/says PROTON_CUPTI_PATH=$mocks/mock_cupti.so LD_LIBRARY_PATH=$work/lib MOCK_CUPTI_CHIP=LIVE100
printf '%s %s\n' devices 2 clock 1500 clock_limit 1980 power_mw 612500 power_limit_mw 700000 temperature 61 generation 5 \
	generation_limit 5 width 16 width_limit 16 memory 31000000000 memory_total 144000000000 reasons 0 >says

# Pictures of devices, until they are told to end; then `status` is theirs.
begin() { rm -f out err; "$PROTON" top -b 0 -i 0.1 "$@" >out 2>err & top=$!; }
finish_top() { kill -TERM $top; wait $top; status=$?; }
until_shown() { wait_for 10 grep -q -- "$1" out; }
until_said() { wait_for 10 grep -qF -- "$1" err; }
# row DEVICE NAME: the mean of a counter in the last picture
row() { awk -v device="$1" -v name="$2" '$1 == device && substr($0, length($0) - length(name) + 1) == name { v = $2 } END { print v }' out; }
# sensors DEVICE: of the last picture
sensors() { awk -v device="$1" '/^Their sensors/ { on = 1; v = "" } /^## Hardware/ { on = 0 } on && $1 == device { v = $2 " " $3 " " $4 " " $5 } END { print v }' out; }
of() { "$PROTON" export -f json "$1" | python3 -c 'import json, sys; p = json.load(sys.stdin); print(eval(sys.argv[1]))' "$2"; }

# ---- sensors, and counters
begin --device all -o a.hatchet --save-interval 1000
until_shown 'GPU1 .* SM active'; until_shown 'GPU1 .* 31.0G'
finish_top
check "SIGTERM" 143 "$status"
check "all: sensors" "1500 612 61 31.0G, 1500 612 61 31.0G" "$(sensors GPU0), $(sensors GPU1)"
check "columns of which no device knows anything are not there" "DEVICE MEMORY NAME GPU0 144G Mock GPU 0" "$(grep -m 1 -A 1 "^DEVICE" out | xargs)"
check "all: counters" "62.5 63.1" "$(row GPU0 'SM active') $(row GPU1 'SM active')"
has "their names" "Mock GPU 1" out
has "the file is named" "wrote 'a.hatchet'" err
check "it is whole" "(True, 2, 2, [0, 1])" "$(of a.hatchet 'p["ended"], len(p["devices"]), len(p["sensors"]), sorted({c["device"] for c in p["counters"]})' )"
check "no program is another's" None "$(of a.hatchet 'p["sensors"][0]["others"]')"
begin --device 1
until_shown 'GPU1 .* SM active'; finish_top
check "one of them: counters" " 63.1" "$(row GPU0 'SM active') $(row GPU1 'SM active')"
check "the other one is not there" 0 "$(grep -c GPU0 out)"
export CUDA_VISIBLE_DEVICES=1
begin --device 0
until_shown 'GPU0 .* SM active'; finish_top
check "numbers are those of the machine" 62.5 "$(row GPU0 'SM active')"
unset CUDA_VISIBLE_DEVICES
begin --device 0 --counters=off
until_shown 'GPU0 .* 31.0G'; finish_top
check "--counters=off" "1500 612 61 31.0G " "$(sensors GPU0) $(row GPU0 'SM active')$(cat err)"
begin --device 0 --no-sensors
until_shown 'GPU0 .* SM active'; finish_top
check "--no-sensors" " 62.5" "$(sensors GPU0) $(row GPU0 'SM active')"
begin --device 0 --counters=100us --json-lines
until_shown '"sm_active_percent":62.5'; finish_top
check "lines of JSON" True "$(head -1 out | python3 -c 'import json, sys; print(json.load(sys.stdin)["source"] == "devices")')"
"$PROTON" top --device all --json-lines -i 0.05 2>err | head -c 1 >first
check "it ends with a reader who leaves" "{" "$(cat first)"
"$PROTON" top --device 0 -b 2 -i 0.05 >out 2>err
check "so many pictures, then it ends" "0 2" "$? $(grep -c '^## Devices' out)"

# ---- no counters: one sentence, and the sensors stay
while IFS='|' read -r words sentence; do
	export MOCK_CUPTI_PM=$words
	begin --device 0,1
	until_said "$sentence"; until_shown 'GPU1 .* 31.0G'
	finish_top
	has "'$words': a sentence" "$sentence" err
	check "'$words': the sensors" "1500 612 61 31.0G 143" "$(sensors GPU1) $status"
done <<END
35|no hardware counters: the driver keeps hardware counters for administrators: it takes CAP_SYS_ADMIN
26|no hardware counters of GPU1: another tool has the hardware counters of this GPU: DCGM
43|no hardware counters of GPU0: a part of a GPU (MIG) has no hardware counters
END
export MOCK_CUPTI_PM=crash MOCK_CUPTI_PM_MARK=$work/shown
begin --device 0,1
until_shown 'GPU1 .* SM active'; until_shown 'GPU1 .* 31.0G'
touch shown
until_said "crashed with"
finish_top
has "crash: a sentence" "hardware counters are missing from here on: $mocks/mock_cupti.so, which samples, crashed with SIGSEGV" err
check "crash: the sensors" "1500 612 61 31.0G 143" "$(sensors GPU1) $status"
unset MOCK_CUPTI_PM MOCK_CUPTI_PM_MARK
PROTON_CUPTI_PATH=$work/none begin --device 0
until_said "no libcupti"; until_shown 'GPU0 .* 31.0G'; finish_top
check "no CUPTI: the sensors" "1500 612 61 31.0G" "$(sensors GPU0)"
sed -i 's/^devices 2/devices 4/' says
begin --device 3
until_said "no hardware counters of GPU3: the driver does not show it"; until_shown 'GPU3 .* 31.0G'; finish_top
check "one that the driver does not show: the sensors" "1500 612 61 31.0G" "$(sensors GPU3)"
sed -i 's/^devices 4/devices 2/' says
LD_LIBRARY_PATH=$work/driver begin --device 1
until_shown 'GPU1 .* SM active'; finish_top
check "without NVML: the counters" " 63.1" "$(sensors GPU1) $(row GPU1 'SM active')"

# ---- sensors that crash or hang: one sentence, and the counters stay
cp says whole
echo crash 1 >>says
begin --device 0
until_said "sensors are missing"; until_shown 'GPU0 .* SM active'; finish_top
has "a library of sensors that crashes: a sentence" "sensors are missing from here on: libnvidia-ml.so.1 ended with SIGABRT" err
check "… and the counters" 62.5 "$(row GPU0 'SM active')"
cp whole says
begin --device 0 -o h.hatchet
until_shown 'GPU0 .* 31.0G'; until_shown 'GPU0 .* SM active'
echo hang 1 >>says
wait_for 60 grep -qF "sensors say nothing" err
finish_top
has "one that hangs: a sentence" "sensors say nothing: libnvidia-ml.so.1 has not answered for 10 s" err
check "… once" "1 143" "$(grep -c "sensors say nothing" err) $status"
check "… and the counters, and what was told before" "62.5 1500.0" "$(row GPU0 'SM active') $(of h.hatchet 'p["sensors"][0]["clock_mhz_max"]')"
has "… and the file has it" "sensors say nothing" <("$PROTON" report --view notes h.hatchet)
cp whole says

# ---- helpers that are killed or stopped, and who asks
helpers() { # of this process
	local file
	for file in $(grep -lsx "PPid:[[:space:]]*$1" /proc/[0-9]*/status); do basename "${file%/status}"; done
}
begin --device 0 -o k.hatchet
until_shown 'GPU0 .* SM active'; until_shown 'GPU0 .* 31.0G'
kill -KILL $(helpers $top)
until_said "hardware counters are missing from here on"
finish_top
check "killed helpers: it goes on" 143 "$status"
check "what they said is kept" "1500.0 62.5" "$(of k.hatchet 'str(p["sensors"][0]["clock_mhz_max"]) + " " + str(p["counters"][0]["sm_active_percent"])')"
begin --device 0 -o k.hatchet
until_shown 'GPU0 .* SM active'; until_shown 'GPU0 .* 31.0G'
theirs=$(helpers $top)
kill -STOP $theirs
finish_top
gone() { local pid; for pid in $theirs; do ! kill -0 "$pid" 2>/dev/null || return 1; done; }
check "stopped helpers: it ends" 143 "$status"
check "… with them" 0 "$(wait_for 5 gone; echo $?)"
check "… and what they said" "1500.0 62.5" "$(of k.hatchet 'str(p["sensors"][0]["clock_mhz_max"]) + " " + str(p["counters"][0]["sm_active_percent"])')"
has "… and why no more was counted" "hardware counters are missing from here on: " <("$PROTON" report --view notes k.hatchet)
begin --device 0
until_shown 'GPU0 .* SM active'; until_shown 'GPU0 .* 31.0G'
theirs=$(helpers $top)
kill -KILL $top; wait $top 2>/dev/null
check "helpers end with who asks" "2 0" "$(echo $theirs | wc -w) $(wait_for 5 gone; echo $?)"

# ---- what cannot be
refused() { # refused "text" OPTIONS…
	local text=$1; shift
	"$PROTON" top -b 1 "$@" >out 2>err; check "$*: status" 2 $?; has "$*: said" "$text" err
	check "$*: in one line" 1 "$(wc -l <err)"
}
refused "--device: this machine has devices 0 to 1" --device 2
refused "--device: this machine has devices 0 to 1" --device 0,63
sed -i 's/^devices 2/devices 1/' says; refused "--device: this machine has device 0 alone" --device 1
LD_LIBRARY_PATH= refused "--device: no libcuda.so.1, which comes with the driver" --device all
for value in 64 '' 0, ,0 x 0-1 -1 18446744073709551616; do refused "cannot take '$value'" "--device=$value"; done
refused "'sleep' is not run" --device 0 sleep 1
refused "--trace says how a program is run" --device 0 --trace
refused "--exit is about a program" --device 0 --exit
refused "--app-log is about a program" --device 0 --app-log log
refused "is no interval" --device 0 --counters=5

# ---- on the screen
sed -i 's/^devices 1/devices 2/' says
dead() { ! kill -0 "$(cat top)" 2>/dev/null; }
lacks() { if shows "$2"; then echo "FAILED: $1: '$2' on:"; screen; n_failed=$((n_failed + 1)); else echo "ok: $1"; fi; }
window 80x24 "$noting_pid $PROTON top --device all -i 0.2 -o s.hatchet; echo status=\$?"
see "80x24: sensors" "clock 1500 of 1980 MHz  power 612 of 700 W"
see "80x24: counters" "SM 62%"; see "80x24: as a table" "62.5   62.5   62.5   62.5    %"
see "80x24: the other device" "SM 63%"
see "80x24: it begins at the counters" "NOW   MEAN"
see "80x24: which" "2 devices"
lacks "no panel of a program" "1:Tree"
lacks "no table of a program" "CALLS"
lacks "no share of what is not measured" "busy"
keys P; see "nothing to pause" "no program was started that could be paused"
keys K; see "nothing to signal" "no program was started that could be signalled"
keys 5; see "the notes" "Notes"
keys 1; see "no tree" "no program was started: of devices alone there are no calling contexts"
keys 4; see "the devices" "SLOWED%"
lacks "no table of a program there" "CALLS"
keys q; see "q leaves" "status=0"
see "and the file is there" "wrote 's.hatchet'"
window 40x10 "$noting_pid $PROTON top --device 0 -i 0.2; echo status=\$?"
see "40x10: sensors" "clock 1500 of 1980 MHz"; see "40x10: counters" "62.5    %"; see "40x10: the panel" "NOW UNIT"
keys C-c; see "Ctrl-C leaves" "status=0"
MOCK_CUPTI_PM=26 window 140x40 "MOCK_CUPTI_PM=26 $noting_pid $PROTON top --device 0 -i 0.2; echo status=\$?"
see "140x40: refused" "no hardware counters of GPU0: another tool has the hardware counters"; see "140x40: sensors" "memory 31.0GB of 144GB"
kill -TERM "$(cat top)"; see "SIGTERM gives the terminal back" "status=143"
echo crash 1 >>says
window 80x24 "$noting_pid $PROTON top --device 0 -i 0.2; echo status=\$?"
see "sensors crash: a sentence" "sensors are missing from here on: libnvidia-ml.so.1 ended with"
see "… and the counters" "SM 62%"
keys q; see "… and q leaves" "status=0"
cp whole says
rm -f top t.hatchet
window 80x24 "$noting_pid $PROTON top --device 0 -i 0.2 -o t.hatchet; echo status=\$?"
see "live" "SM 62%"
t kill-server; wait_for 10 dead
check "the terminal is gone: so is it" 0 "$(dead; echo $?)"
check "and the file is whole" True "$(of t.hatchet 'p["ended"]')"
finish
