#!/bin/bash
# SPDX-License-Identifier: MIT
# proton kernel assemble: who assembles, what is shown of it, and what is said where it cannot be. The most of it by a
# ptxas that is none; where NVIDIA's is installed, PTX out of a cubin becomes the same code again.
tests=$(cd "${srcdir:-.}/tests" && pwd)
. "$tests/tools/cli_help.sh"
samples=$tests/images
mkdir tools
status() { timeout 120 "$PROTON" kernel "$@" >out 2>err </dev/null; echo $?; }

# ---- a ptxas of ours: it gives a cubin that was made before, and says what it was asked
cat >tools/ptxas <<EOF
#!/bin/bash
echo "\$@" | sed "s,/proc/[0-9]*/fd/[0-9]*,PATH,g" >"$work/asked"
while [ \$# -gt 0 ]; do
	[ "\$1" != -o ] || out=\$2
	shift
done
case \$FAKE in
refuse) echo "ptxas /proc/7/fd/3, line 23; error   : Unknown symbol 'x'"; echo "ptxas fatal   : Ptx assembly aborted"; exit 255 ;;
old) echo "ptxas /proc/7/fd/3, line 1; fatal   : Unsupported .version 9.0; current version is '8.0'"; exit 255 ;;
crash) kill -SEGV \$\$ ;;
wait) until [ -e "$work/shown" ]; do read -r -t 0.05 _ <> <(:) || :; done ;;
esac
cat "$samples/lines.cubin" >"\$out"
echo "ptxas info    : Function properties for _Z4turnIdEvPT_"
echo "    0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads"
EOF
chmod +x tools/ptxas
export FAKE
ours() { FAKE=$1; shift; status assemble --ptxas tools/ptxas "$@" "$samples/two.ptx"; }
refused() { echo "1 proton: cannot assemble '$samples/two.ptx': $1"; }

check "PTX is assembled" 0 "$(ours "" -o new.cubin --beside "$samples/plain.cubin")"
check "for its chip, with its lines" "-v PATH -o PATH -arch=sm_90a -lineinfo" "$(cat asked)"
check "the cubin is written" same "$(cmp new.cubin "$samples/lines.cubin" && echo same)"
has "what kernels take, and took" "    12      12    2048    2048      12  turn<double>" out
has "spills that nobody told" "    10      10       0       0       -  saxpy" out
check "no registers at all" 2 "$(ours "" --max-registers 0)"
check "for another chip, with fewer registers" 0 "$(ours "" --arch sm_100 --max-registers 32)"
check "as is asked" "-v PATH -o PATH -arch=sm_100 -lineinfo -maxrregcount=32" "$(cat asked)"
has "nothing to compare with" "     -      12       -    2048      12  turn<double>" out
check "what is refused" "$(refused "ptxas refuses it: line 23; error: Unknown symbol 'x'")" "$(ours refuse) $(cat err)"
check "and if it is too old" "$(refused "ptxas refuses it: line 1; fatal: Unsupported .version 9.0; current version is '8.0'")" \
	"$(ours old) $(cat err)"
check "a crash" "$(refused "ptxas crashed with SIGSEGV")" "$(ours crash) $(cat err)"
# On a terminal it is said how long he is waited for: he ends when that was seen.
on_terminal() { # on_terminal kernel…
	rm -f shown
	FAKE=wait PATH=$PWD/tools:$PATH python3 -c '
import os, pty, sys
seen = b""
def read(fd):
    global seen
    data = os.read(fd, 4096)
    seen += data
    if b" of 60 s at most" in seen:
        open("shown", "w").close()
    return data
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read)))' "$PROTON" kernel "$@" >out 2>&1 </dev/null
	echo $?
}
check "a slow ptxas on a terminal: assemble" 0 "$(on_terminal assemble "$samples/two.ptx")"
has "is waited for with a word" "assembling: " out
check "a slow ptxas on a terminal: probe" 0 "$(on_terminal probe "$samples/two.ptx")"
has "is waited for with a word, too" "assembling: " out
check "a quick one elsewhere: no word" "" "$(ours "" >/dev/null; cat err)"
check "no such tool" "$(refused "'nowhere' is no program that can be run")" \
	"$(status assemble --ptxas nowhere "$samples/two.ptx") $(cat err)"
check "one that is none" "$(refused "ptxas made no cubin of it")" \
	"$(status assemble --ptxas /bin/true -o nothing "$samples/two.ptx") $(cat err)"
check "of which nothing is written" "" "$(ls nothing 2>/dev/null)"
check "no PTX" "1 proton: cannot assemble '$samples/lines.cubin': it is no PTX" "$(status assemble "$samples/lines.cubin") $(cat err)"
check "no file" "1 proton: cannot read 'nowhere': No such file or directory" "$(status assemble nowhere) $(cat err)"
mkfifo pipe
cat "$samples/two.ptx" >pipe &
check "a pipe" "0 " "$(status assemble --ptxas tools/ptxas pipe) $(cat err)"
check "one file" "2 proton: 'kernel assemble' takes one file (see 'proton kernel assemble --help')" "$(status assemble) $(cat err)"

# ---- a library of ours, where ptxas is too old: it takes PTX only with a zero behind it, whatever its size is
ln -s "$(dirname "$PROTON")/tests/mocks/.libs/libnvJitLink.so.13" tools/
library() { FAKE=old PATH=$PWD/tools:$PATH LD_LIBRARY_PATH=$PWD/tools status assemble -o linked.cubin "$1"; }
size=$(stat -c %s "$samples/two.ptx")
for whole in $((size + 1)) 4096 8192; do
	{ cat "$samples/two.ptx"; head -c $((whole - size)) /dev/zero | tr '\0' '\n'; } >whole.ptx
	check "a library takes PTX of $whole bytes" 0 "$(MOCK_CUBIN=$samples/lines.cubin library whole.ptx)"
done
has "and is named" "assembled by libnvJitLink" out
check "its cubin is written" same "$(cmp linked.cubin "$samples/lines.cubin" && echo same)"
printf '.version 8.0\n.target sm_90\n\0\n' >zero.ptx
check "what it refuses, it says in capitals" \
	"1 proton: cannot assemble 'zero.ptx': libnvJitLink refuses it: ERROR 1: bad input: does not match type NVJITLINK_INPUT_PTXptx" \
	"$(library zero.ptx) $(cat err)"
rm tools/libnvJitLink.so.13

# ---- NVIDIA's
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
if ! command -v ptxas >/dev/null; then
	echo "skipped: code assembled again: no nvcc, nor its ptxas"
	finish
fi
# What the code in a cubin is, a kernel a line.
code() { python3 - "$1" <<'END'
import hashlib, struct, sys
d = open(sys.argv[1], 'rb').read()
at, = struct.unpack_from('<Q', d, 40)
n, names = struct.unpack_from('<HH', d, 60)
s = [struct.unpack_from('<IIQQQQIIQQ', d, at + i * 64) for i in range(n)]
name = lambda o: d[s[names][4] + o:d.index(0, s[names][4] + o)].decode()
for x in sorted(s, key=lambda x: name(x[0])):
    if name(x[0]).startswith('.text.'):
        print(name(x[0]), x[5], hashlib.sha256(d[x[4]:x[4] + x[5]]).hexdigest())
END
}
check "PTX of a cubin is taken out" 0 "$(status dump --stage ptx -o ptx "$samples/lines.cubin")"
check "and assembled" 0 "$(status assemble -o again.cubin --beside "$samples/lines.cubin" ptx/lines.cubin.1.sm_90a.ptx)"
has "with as many registers" "    12      12    2048    2048       0  turn<double>" out
has "it is said by whom" "assembled by ptxas" out
mkdir old
cp tools/ptxas old/ptxas
# NVIDIA's library links nothing beside the runtime of a sanitizer.
if ldd "$PROTON" | grep -q 'lib[alt]*san'; then
	:
elif ls "${CUDA_HOME:-/usr/local/cuda}"/lib64/libnvJitLink.so.1[23] >/dev/null 2>&1; then
	check "where ptxas is too old" 0 "$(FAKE=old PATH=$PWD/old:$PATH status assemble -o linked.cubin ptx/lines.cubin.1.sm_90a.ptx)"
	has "a library does it" "assembled by libnvJitLink" out
	has "and takes as many registers" "     -      12       -    2048       0  turn<double>" out
	check "PTX with places that were inlined is taken out" 0 "$(status dump --stage ptx -o ptx "$samples/inlined.cubin")"
	check "the library takes it" 0 "$(FAKE=old PATH=$PWD/old:$PATH status assemble -o inlined.cubin ptx/inlined.cubin.1.sm_90.ptx)"
	check "for the same chip" 0 "$(status dump linked.cubin)"
	has "with its letter" "cubin sm_90a" out
else
	echo "skipped: assembling by libnvJitLink: no nvcc with it"
fi
if ptxas --version | grep -q 'release 13.0,'; then
	check "it is the same code" "$(code "$samples/lines.cubin")" "$(code again.cubin)"
	check "of two kernels" 2 "$(code again.cubin | wc -l)"
else
	echo "skipped: the same code again: no nvcc 13.0, of which the samples are"
fi
finish
