#!/bin/bash
# SPDX-License-Identifier: MIT
# What devices say of themselves while a program runs: seen by a helper process, kept in the profile and on
# the tape, and the program notices nothing of a library that crashes or hangs.
mocks=$(cd "${builddir:-.}/tests/mocks/.libs" && pwd)
. "${srcdir:-.}/tests/tools/cli_help.sh"
mkdir lib && cp "$mocks/libnvidia-ml.so.1" lib/
export MOCK_NVML=$work/says PROTON_FAKE='kernel gemm 1000000 10;pause 20;repeat 100'

# says KEY NUMBER…: what the library tells from now on.
says() { printf "%s %s\n" "$@" >says.new && mv says.new says; }
# of FILE KEY: what a profile has of its first device.
of() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
s = json.load(sys.stdin)["sensors"]
v = s[0][sys.argv[1]] if s else "none"
print("%g" % v if isinstance(v, float) else v)' "$2"
}
run() { LD_LIBRARY_PATH=$work/lib "$PROTON" record -q "$@"; }
# A program that ends when devices were looked at so often from its start, or its exec, on: a machine that is busy lets
# none pass in a time that is long for one that is not.
cat >looked.py <<'END'
# looked.py FILE N: what the library says is in FILE. A look is over when the next one begins.
import os, sys, time
looks = sys.argv[1] + ".looks"
begun = lambda: os.path.getsize(looks) if os.path.exists(looks) else 0
wanted, end = begun() + int(sys.argv[2]) + 1, time.monotonic() + 100
while begun() < wanted and os.path.isdir(os.environ["work"]) and time.monotonic() < end:
    time.sleep(0.02)
END
looked="python3 looked.py says"
all='clock 1500 clock_limit 1980 power_mw 612500 power_limit_mw 700000 temperature 61 generation 5
generation_limit 5 width 16 width_limit 16 memory 1000000 memory_total 8000000 errors 3 reasons 0'

# ---- what is told is kept, and nothing else
says $all
run -o a.hatchet --tape a.tape -- $looked 3
check "clock" "1500" "$(of a.hatchet clock_mhz_mean)"
check "its limit" "1980" "$(of a.hatchet clock_mhz_limit)"
check "power" "612.5" "$(of a.hatchet power_w_max)"
check "temperature" "61" "$(of a.hatchet temperature_c_max)"
check "memory" "1e+06" "$(of a.hatchet memory_bytes_max)"
check "the link" "5 16" "$(of a.hatchet pcie_generation) $(of a.hatchet pcie_width)"
check "errors of the time before" None "$(of a.hatchet errors)"
check "nobody else" None "$(of a.hatchet others)"
seconds=$("$PROTON" export -f json a.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
print((p["end_ns"] - p["start_ns"]) / 1e9)')
check "some looks, and no more than two a second" yes \
	"$(python3 -c "print('yes' if 3 <= $(of a.hatchet looks) <= 2 + 2 * $seconds else '$(of a.hatchet looks) in $seconds')")"
check "on the tape" "1500 612.5" "$(of a.tape clock_mhz_mean) $(of a.tape power_w_max)"
check "written again" "$(of a.hatchet looks)" \
	"$("$PROTON" export -f hatchet -o b.hatchet a.hatchet && of b.hatchet looks)"
check "merged" "$(of a.hatchet looks)" \
	"$("$PROTON" merge -o m.hatchet a.hatchet >/dev/null 2>&1; of m.hatchet looks)"

says clock 900 part 1
run -o part.hatchet -- $looked 1
check "a part of a device (MIG)" 900 "$(of part.hatchet clock_mhz_mean)"
says nothing 0
run -o silent.hatchet -- $looked 1
check "one that tells nothing" "None None" "$(of silent.hatchet clock_mhz_now) $(of silent.hatchet memory_bytes_now)"

# ---- why it is slow, and who else is there
says reasons 104 $all # 0x20 heat, told by the driver, 0x40 by the hardware, 0x8 hardware
run -o hot.hatchet -- $looked 2
check "heat" "$(of hot.hatchet working) None 1500" \
	"$(of hot.hatchet cut_by_heat) $(of hot.hatchet cut_by_hardware) $(of hot.hatchet clock_mhz_cut)"
says reasons 5 $all # power, while it is idle
run -o idle.hatchet -- $looked 2
check "idle: no cut, no mean" "None None" "$(of idle.hatchet cut) $(of idle.hatchet clock_mhz_mean)"
sleep 60 & other=$!
cat >both.sh <<'END'
{ cat says; echo "pid0 $$"; echo "pid1 $1"; } >says.new
mv says.new says
exec python3 looked.py says 3
END
says $all
run -o both.hatchet -- sh both.sh "$other"
check "somebody else" 1 "$(of both.hatchet others_max)"
says $all
run -o own.hatchet -- sh -c '
	sleep 60 & { cat says; echo "pid0 $$"; echo "pid1 $!"; } >says.new; mv says.new says; python3 looked.py says 3; kill $!'
check "a child of the program is no other" None "$(of own.hatchet others_max)"
says pid0 "$other" $all
run -o far.hatchet -- $looked 2
check "numbers of another pid namespace say nothing" None "$(of far.hatchet others_max)"
kill "$other"; wait "$other" 2>/dev/null

# ---- AMD's devices, by their address: what each version of its library has where
mkdir rocm rocm/lib && cp "$mocks/libamd_smi.so" rocm/lib/
export MOCK_AMDSMI=$work/amd_says
amd_says() { printf "%s %s\n" "$@" >amd.new && mv amd.new amd_says; }
amd_run() { ROCM_PATH=$work/rocm "$PROTON" record -q "$@"; }
# The address as the library packs it: 0000:c1:00.1.
amd='address 49409 clock 1700 clock_limit 2100 power 550 power_cap 750000000 edge 48 memory 3000000
memory_total 9000000 activity 97'
on_amd='device 1 Instinct pci-0000:c1:00.1;kernel gemm 1000000 10;pause 20;repeat 100'
# amd_of KEY…: what amd.hatchet has of a device that is known by its address
amd_of() {
	"$PROTON" export -f json amd.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
amd = [i for i, d in enumerate(p["devices"]) if d["uuid"] == "pci-0000:c1:00.1"]
of = [s for s in p["sensors"] if s["device"] in amd]
print(*["%g" % v if v is not None else "-" for v in (of[0][k] for k in sys.argv[1:])] if of else ["none"])' "$@"
}
amd_all() { amd_of clock_mhz_mean clock_mhz_limit power_w_max power_w_limit temperature_c_max memory_bytes_max memory_bytes_total; }
amd_looked() { # VERSION…
	amd_says version "$1" version2 "$2" $amd
	PROTON_FAKE=$on_amd amd_run -o amd.hatchet -- python3 looked.py amd_says 1
}
for version in '23 2' '23 4' '24 6' '25 3' '26 0'; do
	amd_looked $version
	check "AMD SMI $version" "1700 2100 550 750 48 3e+06 9e+06" "$(amd_all)"
done
amd_looked 27 0
check "a newer one: what no version has changed" "- - - - 48 3e+06 9e+06" "$(amd_all)"
amd=${amd/edge 48/hotspot 61000} amd=${amd/activity 97/activity 0}
amd_looked 26 2
check "the hottest spot alone; idle" "61 - 1700" "$(amd_of temperature_c_max clock_mhz_mean clock_mhz_now)"
amd_says version 26 version2 0 address 5
PROTON_FAKE=$on_amd amd_run -o amd.hatchet -- sleep 1
check "a device that it does not know" none "$(amd_of clock_mhz_now)"
amd_says crash 1
PROTON_FAKE=$on_amd amd_run -o amd.hatchet -- sh -c 'sleep 1; exit 7'
check "one that crashes" "7 none" "$? $(amd_of clock_mhz_now)"
# Each vendor's devices by its own library, side by side.
says $all
amd_looked 26 2
PROTON_FAKE="kernel gemm 1000000 10;$on_amd" LD_LIBRARY_PATH=$work/lib amd_run -o amd.hatchet -- \
	sh -c 'python3 looked.py says 1; python3 looked.py amd_says 1'
check "both vendors" "1700 1500" "$(amd_of clock_mhz_now) $(of amd.hatchet clock_mhz_now)"
# OpenCL tells the address, in either form.
demo=$mocks/../../../examples/demo_opencl
if [ -x "$demo" ]; then
	for form in '' 1; do
		amd_says version 26 version2 0 $amd
		OPENCL_LAYERS=$mocks/libamdlayer.so MOCK_AMD_BUS_INFO=$form amd_run -o amd.hatchet -- \
			sh -c '"$0" --seconds 100 & python3 looked.py amd_says 1; kill $!; wait' "$demo" >/dev/null
		check "OpenCL, form '$form'" 61 "$(amd_of temperature_c_now)"
	done
else
	echo "skipped: no OpenCL demo"
fi

# ---- without harm
says crash 1
run -o crash.hatchet -- sh -c 'sleep 1.2; exit 7'
check "a library that crashes: the status" 7 $?
check "and the profile" none "$(of crash.hatchet looks)"
says hang 1
run -o hang.hatchet -- sh -c 'sleep 1; exit 7'
check "one that hangs" 7 $?
says scribble 1
run -o scribble.hatchet -- sh -c 'sleep 1.2; exit 7'
check "one that writes where it likes" 7 $?
check "and all that is ours is there" ok "$("$PROTON" report scribble.hatchet | grep -q gemm && echo ok)"
# Who is traced does not end for anybody but the tracer: as one who is stuck in a driver.
says $all
check "a helper that does not die" "7 in time" "$(LD_LIBRARY_PATH=$work/lib python3 - "$PROTON" 2>&1 <<'END'
import ctypes, os, subprocess, sys, time

run = subprocess.Popen([sys.argv[1], "record", "-q", "-o", "held.hatchet", "--", "sh", "-c",
    'while [ -d "$work" ] && [ ! -e seized ]; do sleep 0.02; done; exit 7'])
ours = f"/proc/{run.pid}/task/{run.pid}/children"
def is_helper(pid):
    try:
        return os.getpgid(pid) == pid and os.readlink(f"/proc/{pid}/exe").endswith("proton")
    except OSError: # it has ended
        return False
start = time.monotonic()
helpers = []
while not helpers and time.monotonic() < start + 60:
    helpers = [int(pid) for pid in open(ours).read().split() if is_helper(int(pid))]
    time.sleep(0.02)
seized = ctypes.CDLL(None).ptrace(0x4206, helpers[0], 0, 0) == 0  # PTRACE_SEIZE
open("seized", "w").close()
try:
    print(run.wait(60), "in time")
except subprocess.TimeoutExpired:
    print("hangs" if seized else "nobody may be traced, and it hangs")
    run.kill()
END
)"
# What the library does not tell for a while is no number, and what it tells then is none of the run.
says $all
echo "$all" | xargs -n 2 >whole
echo clock 1500 >part
run -o gap.hatchet -- sh -c '
	for says in whole part whole; do
		cp $says says.new; mv says.new says
		python3 looked.py says 1
	done'
check "errors that were not told for a while" None "$(of gap.hatchet errors)"
rm says
"$PROTON" record -q -o without.hatchet -- sleep 1
check "no library" none "$(of without.hatchet looks)"
says $all
run --no-sensors -o off.hatchet -- sleep 1
check "--no-sensors" none "$(of off.hatchet looks)"
run -o killed.hatchet -- sleep 30 &
recorder=$!
has_helper() { pgrep -P "$recorder" -f record; }
wait_for 10 has_helper
helper=$(has_helper)
kill -KILL "$recorder"; wait "$recorder" 2>/dev/null
gone() { ! kill -0 "$helper" 2>/dev/null; }
check "it ends with who records" yes "$(wait_for 5 gone && echo yes)"
pkill -P 1 -f 'sleep 30'
finish
