#!/bin/bash
# proton doctor: what it prints and how it ends, and that no library can take it along.
. "${srcdir:-.}/tests/tools/cli_help.sh"
unset CUDA_VISIBLE_DEVICES PROTON_CUPTI_PATH PROTON_LIBRARY_PATH LD_LIBRARY_PATH LD_PRELOAD
libs=$(dirname "$PROTON")/tests/mocks/.libs
case $libs in /*) ;; *) libs=$PWD/$libs ;; esac
[ -e "$libs/sick_library.so" ] || { echo "no mock libraries in $libs"; exit 77; }

status() { timeout 120 "$PROTON" doctor "$@" >out 2>err </dev/null; echo $?; }
# of JSON in out: finding CHECK KEY, works FEATURE
finding() { python3 -c '
import json, sys
print([c for c in json.load(open("out"))["checks"] if c["name"] == sys.argv[1]][0][sys.argv[2]])' "$@"; }
works() { python3 -c '
import json, sys
print([f for f in json.load(open("out"))["features"] if f["name"] == sys.argv[1]][0]["works"])' "$@"; }

# ---- how it is used
check "an option that is not there" 2 "$(status --nonsense)"
check "a feature that is not there" 2 "$(status cud)"
has "is named" "'cud'" err
check "what works anywhere" 0 "$(status saving nvtx)"
check "nothing on standard error" "" "$(cat err)"

# ---- text: groups, marks, features, plain ASCII in 79 columns; but for lines to copy
[ "$(status)" -le 1 ]; check "0 or 1" 0 $?
for word in nvidia opencl proton environment terminal 'what works'; do
	check "the group '$word'" 1 "$(grep -cx "$word" out)"
done
check "every line has its mark" "" "$(grep -E '^  [^ ]' out | grep -vE '^  (ok|--|!!|\?\?)  [a-z-]+ ')"
check "no control characters, no colours" "" "$(LC_ALL=C grep -n '[[:cntrl:]]' out)"
check "nothing wider than it should be" "" "$(grep -v '^ *\$ ' out | grep -vE ' [^ ]{57,}$' | grep -E '.{80}')"
cp out plain
LC_ALL=C TERM=dumb NO_COLOR=1 status >/dev/null
check "the same without UTF-8 and colours" "" \
	"$(diff <(grep -vE ' (characters|colors|processes|cupti-holders|counter-users) ' plain | grep '^  ..  [a-z]' | cut -c -22) \
		<(grep -vE ' (characters|colors|processes|cupti-holders|counter-users) ' out | grep '^  ..  [a-z]' | cut -c -22))"
has "says that characters are not UTF-8" "export LC_ALL=C.UTF-8" out
# a reader that leaves, a disk that is full
check "a full disk is no success" 2 "$("$PROTON" doctor saving >/dev/full 2>err; echo $?)"
check "and says so, once" "proton: cannot print: No space left on device" "$(cat err)"
check "nor for JSON" 2 "$("$PROTON" doctor --json saving >/dev/full 2>err; echo $?)"

# ---- JSON
status --json saving >/dev/null
check "JSON is JSON" 0 "$(python3 -m json.tool out >/dev/null; echo $?)"
check "what was asked for is what is told" "saving yes" \
	"$(python3 -c 'import json; print(*[v for f in json.load(open("out"))["features"] for v in (f["name"], f["works"])])')"
check "keys of a check" "group mend name seen serves state why" \
	"$(python3 -c 'import json; print(*sorted(json.load(open("out"))["checks"][0]))')"
check "ok and the exit status agree" "$(status --json)" \
	"$(python3 -c 'import json; print(0 if json.load(open("out"))["ok"] else 1)')"

# ---- folders: what a run says too
mkdir here tmp
check "the current folder is told" "$PWD/here" \
	"$(cd here && "$PROTON" doctor --json saving >../out; cd .. && finding profile-folder seen | sed 's/, [^,]* free$//')"
check "the folder of sessions" "$PWD/tmp" "$(XDG_RUNTIME_DIR= TMPDIR=$PWD/tmp status --json >/dev/null; finding session-folder seen)"
check "in which nothing is left" "" "$(ls tmp)"

# ---- the collector
check "a collector that is not there" 1 "$(PROTON_LIBRARY_PATH=/none/libproton.so status --json nvtx)"
check "is missing" missing "$(finding collector state)"
check "a library that is no collector" 1 "$(PROTON_LIBRARY_PATH=$libs/sick_library.so status --json nvtx)"
check "has its own line" "unset PROTON_LIBRARY_PATH" "$(finding collector mend)"

# ---- other tools in the way
check "another tool has the injection" 1 "$(NVTX_INJECTION64_PATH=/opt/other.so status --json nvtx)"
check "is named" "NVTX_INJECTION64_PATH names /opt/other.so" "$(finding nvtx-injection seen)"
check "is mended" "unset NVTX_INJECTION64_PATH" "$(finding nvtx-injection mend)"
check "nothing else is hurt" "no yes" "$(works nvtx) $(status saving >/dev/null; status --json >/dev/null; works saving)"

# ---- hardware metrics, of a mock of the driver and of CUPTI
mkdir mock
ln -s "$libs/libcuda.so.1" mock/
metrics() { LD_LIBRARY_PATH=$work/mock PROTON_CUPTI_PATH=$libs/mock_cupti.so status --json >/dev/null; finding metric-sets "$1"; }
check "passes of sets on the chip that is here" "GH100: gmp 1 pass (4 of 30 metrics)," "$(MOCK_CUPTI_CHIP=GH100 metrics seen | grep -oE '^GH100: gmp [^,]*,')"
check "that a chip is not told" "CUPTI does not tell the chip of device 0: error 999" "$(metrics seen)"
check "hurts nothing" note "$(metrics state)"

# ---- whether they count when they are asked to, each in a child: what is begun is what a run would begin
tried() { # tried CHECK KEY
	LD_LIBRARY_PATH=$work/mock PROTON_CUPTI_PATH=$libs/mock_cupti.so status --json >/dev/null
	for key in "${@:2}"; do finding "$1" "$key"; done
}
export MOCK_CUPTI_CHIP=LIVE100 MOCK_CUDA_DEVICES=1
check "samples of counters" "ok permitted on Mock GPU 0: a sample each 10.0ms; begun in" \
	"$(tried counters state seen | paste -sd ' ' | grep -o '^.*begun in')"
export MOCK_CUPTI_CHIP=GH100
check "ranges" "ok permitted on Mock GPU 0: a range counted; begun in" "$(tried ranges state seen | paste -sd ' ' | grep -o '^.*begun in')"
check "samples of code" "ok permitted on Mock GPU 0: a sample each 2^18 cycles, a buffer of 64 MiB; begun in" \
	"$(MOCK_CUPTI_PC_LOG=$work/settings tried pc-sampling state seen | paste -sd ' ' | grep -o '^.*begun in')"
check "… with these settings" "1 18 4 67108864" "$(grep -E '^[14] ' settings | paste -sd ' ')"
has "not permitted" "it takes CAP_SYS_ADMIN" <(MOCK_CUPTI_RANGES=35 tried ranges seen)
has "… what permits it" "NVreg_RestrictProfilingToAdminUsers=0" <(MOCK_CUPTI_RANGES=35 tried ranges mend)
has "somebody else has them" "another tool has the hardware counters" <(MOCK_CUPTI_PC=26 tried pc-sampling seen)
has "settings that are refused" "cuptiPCSamplingSetConfigurationAttribute fails with 1" <(MOCK_CUPTI_PC=config-1 tried pc-sampling seen)
has "a range without a value" "Mock GPU 0: cuptiRangeProfilerDecodeData fails with 999" <(MOCK_CUPTI_RANGES=broken tried ranges seen)
has "no context" "not tried: the driver makes no context (error 46)" <(MOCK_CUDA_NO_CONTEXT=all tried ranges seen)
has "a device for one process alone" "not tried: its compute mode admits one process" <(MOCK_CUDA_EXCLUSIVE=1 tried pc-sampling seen)
check "a driver that crashes" "note Mock GPU 0: $libs/mock_cupti.so, asked to count a range, crashed with SIGSEGV" \
	"$(MOCK_CUPTI_RANGES=crash-open tried ranges state seen | paste -sd ' ')"
check "one that hangs" "note Mock GPU 0: $libs/mock_cupti.so, asked to sample code, did not end within 15 s" \
	"$(MOCK_CUPTI_PC=hang-open tried pc-sampling state seen | paste -sd ' ')"
check "… which hurts nothing" "yes" "$(works cuda)"

# ---- each device that programs see: a line for all that are alike, else one for each
export MOCK_CUDA_DEVICES=3
check "all of them" "ok permitted on all 3 GPUs: a range counted; begun in" \
	"$(tried ranges state seen | paste -sd ' ' | grep -o '^.*begun in')"
check "one without a context" "note
permitted on GPU0 (Mock GPU 0): a range counted
GPU1 (Mock GPU 1): not tried: the driver makes no context (error 46)
permitted on GPU2 (Mock GPU 2): a range counted" "$(MOCK_CUDA_NO_CONTEXT=1 tried ranges state seen | sed 's/; begun in .*//')"
check "… each in its rows" "  --  ranges           permitted on GPU0 (Mock GPU 0): a range counted; begun
                       GPU1 (Mock GPU 1): not tried: the driver makes no
                       permitted on GPU2 (Mock GPU 2): a range counted; begun" \
	"$(MOCK_CUDA_NO_CONTEXT=1 LD_LIBRARY_PATH=$work/mock PROTON_CUPTI_PATH=$libs/mock_cupti.so status >/dev/null
	awk '/^  ..  [a-z]/ {on = $2 == "ranges"} on' out | grep 'GPU[012] ' | sed 's/begun in.*/begun/')"
check "none: one line" "note all 3 GPUs: not tried: the driver makes no context (error 46)" \
	"$(MOCK_CUDA_NO_CONTEXT=all tried ranges state seen | paste -sd ' ')"
unset MOCK_CUPTI_CHIP MOCK_CUDA_DEVICES

# ---- libraries that crash, hang or leave
mkdir sick
for name in libcuda.so.1 libnvidia-ml.so.1 libOpenCL.so.1; do
	ln -s "$libs/sick_library.so" sick/$name
done
for kind in "crash:crashed with SIGSEGV" "exit:ended the process with status 9" "hang:did not end within 5 s"; do
	check "libraries that ${kind%%:*}" 1 "$(LD_LIBRARY_PATH=$work/sick SICK=${kind%%:*} status --json)"
	check "libcuda: ${kind%%:*}" "loading libcuda.so.1 ${kind#*:}" "$(finding libcuda seen)"
	check "OpenCL: ${kind%%:*}" "loading libOpenCL.so.1 ${kind#*:}" "$(finding opencl-loader seen)"
	check "CUDA and OpenCL do not work" "no no" "$(works cuda) $(works opencl)"
	check "the rest is told: ${kind%%:*}" "yes yes" "$(works nvtx) $(works saving)"
done
check "it says what to try" "unset LD_LIBRARY_PATH" "$(finding libcuda mend)"

# ---- a driver and CUPTI: the collector is loaded by the one and holds the other, as in a run
mkdir gpu
ln -s "$libs/libcuda.so.1" gpu/libcuda.so.1
ln -s "$libs/mock_cupti.so" gpu/libcupti.so.13
ln -s "$libs/mock_cupti_old.so" gpu/libcupti.so.11.0
export LD_LIBRARY_PATH=$work/gpu
cupti() { # cupti FILE: with this one alone
	PROTON_CUPTI_PATH=$work/gpu/$1 status --json cuda
}
check "CUDA works" 0 "$(cupti libcupti.so.13)"
check "with this CUPTI" "CUPTI 13.0 (API 130001), $work/gpu/libcupti.so.13" "$(finding cupti seen)"
check "the driver" "CUDA 13.0, 2 devices (Mock GPU 0, …), $work/gpu/libcuda.so.1" "$(finding libcuda seen)"
check "an old one works as well" 0 "$(cupti libcupti.so.11.0)"
check "its version" "CUPTI 11.0 (API 13), $work/gpu/libcupti.so.11.0" "$(finding cupti seen)"
check "one that is too new" 1 "$(MOCK_CUPTI_VERSION=130300 MOCK_CUPTI_SUBSCRIBE=15 cupti libcupti.so.13)"
check "says so" "CUPTI 13.3 (API 130300), $work/gpu/libcupti.so.13, newer than the driver (CUDA 13.0): error 15" \
	"$(finding cupti seen)"
check "no permission" 1 "$(MOCK_CUPTI_SUBSCRIBE=35 cupti libcupti.so.13)"
check "held by another" 1 "$(MOCK_CUPTI_SUBSCRIBE=39 cupti libcupti.so.13)"
ln -s "$libs/sick_library.so" gpu/libcupti.so.9
check "one that crashes" 1 "$(SICK=crash XDG_RUNTIME_DIR= TMPDIR=$work/tmp cupti libcupti.so.9)"
check "takes a run along" "with the collector, cuInit of libcuda.so.1 crashed with SIGSEGV" "$(finding cupti seen)"
check "a program can do without" "proton record --no-cuda …" "$(finding cupti mend)"
check "and leaves nothing" "" "$(ls tmp)"
check "none" 1 "$(cupti libcupti.so.12)"
check "has its line" "unset PROTON_CUPTI_PATH" "$(finding cupti mend)"
check "no GPU is shown to programs" 1 "$(CUDA_VISIBLE_DEVICES='' cupti libcupti.so.13)"
check "by whom" "unset CUDA_VISIBLE_DEVICES" "$(finding visible-devices mend)"
unset LD_LIBRARY_PATH

# ---- a terminal: its type, size, colours and characters
on_tty() { # on_tty COLUMNS ROWS ARGUMENTS…: the exit status; what was printed goes to out
	python3 -c '
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", int(sys.argv[2]), int(sys.argv[1]), 0, 0))
    out = os.open("out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.execvp(sys.argv[3], sys.argv[3:])
try:
    while os.read(fd, 4096):
        pass
except OSError:
    pass
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' "$1" "$2" "$PROTON" doctor --json "${@:3}"
}
check "a terminal that is known" 0 "$(unset NO_COLOR; TERM=xterm-256color LC_ALL=C.UTF-8 on_tty 100 30 screen)"
check "what it is" "xterm-256color, 100 columns, 30 rows, UTF-8, 256" "$(finding terminal seen), $(finding size seen), \
$(finding characters seen), $(finding colors seen)"
check "one that is not known" 1 "$(TERM=amnesia on_tty 100 30 screen)"
check "its line" "export TERM=xterm-256color" "$(finding terminal mend)"
check "one that is too small" 1 "$(TERM=xterm on_tty 100 4 screen)"
check "no colours and ASCII are no fault" 0 "$(TERM=vt100 LC_ALL=C NO_COLOR='' on_tty 80 24 screen)"
check "but are told" "note note" "$(finding colors state) $(finding characters state)"

# Lines are as wide as it, and words that are longer.
widest() { # widest COLUMNS
	python3 -c '
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], [sys.argv[2], "doctor", "--no-pager"])
text = b""
try:
    while part := os.read(fd, 4096):
        text += part
except OSError:
    pass
os.waitpid(pid, 0)
lines = [l.rstrip() for l in text.decode().splitlines()]
print(max(len(l) for l in lines if l[:23].strip() == "" and " " in l.strip() and not l.strip().startswith("$")))' "$1" "$PROTON"
}
check "on a wide terminal lines are wide" True "$(w=$(widest 140); [ "$w" -gt 90 ] && [ "$w" -le 140 ] && echo True || echo "$w")"
check "on a narrow one they are not" True "$(w=$(widest 60); [ "$w" -le 60 ] && echo True || echo "$w")"

# ---- an empty profile leads to it
"$PROTON" record -o e.hatchet -- true 2>err
has "a recording without work" "proton doctor" err
"$PROTON" report e.hatchet >out 2>&1
has "a report of it" "proton doctor" out
finish
