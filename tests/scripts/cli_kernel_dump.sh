#!/bin/bash
# SPDX-License-Identifier: MIT
# proton kernel dump: what it lists of each form in which code of kernels lies, what it writes, and what it says of
# files without any.
tests=$(cd "${srcdir:-.}/tests" && pwd)
. "$tests/tools/cli_help.sh"
samples=$tests/images

status() { timeout 60 "$PROTON" kernel "$@" >out 2>err </dev/null; echo $?; }

# ---- the command
check "a subcommand is needed" "2 proton: 'kernel' needs a subcommand (see 'proton kernel --help')" "$(status) $(cat err)"
check "the nearest is named" "2 proton: 'dmp' is not a subcommand of 'kernel', did you mean 'dump'? (see 'proton kernel --help')" \
	"$(status dmp) $(cat err)"
check "help lists them" 0 "$(status --help)"
has "with what they do" "dump " out
"$PROTON" help kernel dump >out
has "help of one" "Usage: proton kernel dump" out

# ---- every way to pack
for mode in none speed size balance default; do
	check "$mode: listed" 0 "$(status dump "$samples/two.$mode.fatbin")"
	has "$mode: the cubin" "cubin sm_90a" out
	has "$mode: the PTX" "ptx sm_80" out
	has "$mode: what a kernel takes" "      12    2048      0     512  turn<double>" out
	check "$mode: written" 0 "$(status dump -o "$mode" "$samples/two.$mode.fatbin")"
	check "$mode: the same code" same "$(cmp "$mode/two.$mode.fatbin.1.sm_90a.cubin" none/two.none.fatbin.1.sm_90a.cubin && echo same)"
	check "$mode: the same PTX" same "$(cmp "$mode/two.$mode.fatbin.2.sm_80.ptx" none/two.none.fatbin.2.sm_80.ptx && echo same)"
done

# ---- one image
check "PTX" 0 "$(status dump "$samples/two.ptx")"
has "is for a chip" "ptx sm_90a" out
has "and has kernels" " saxpy" out
check "a cubin with lines" 0 "$(status dump --stage ptx -o lines "$samples/lines.cubin")"
check "holds PTX" "lines.cubin.1.sm_90a.ptx" "$(ls lines)"
# What the assembler keeps is without comments, blanks and lines.
bare() { sed 's,//.*,,; s/^[ \t]*//; s/[ \t]*$//; /^\.\(loc\|file\)/d; /^\.section/,$d; /^$/d' "$1"; }
check "which is that of nvcc" "" "$(diff <(bare lines/*.ptx) <(bare "$samples/two.ptx"))"

hasnt "and is no kernel without it" "no PTX" out
check "a cubin without" 0 "$(status dump "$samples/plain.cubin")"
has "says what to do" "  2 of 2 kernels have no PTX: compile with -lineinfo, or for a compute_NN as well" out

# ---- folders
mkdir -p tree/one/deep tree/two
cp "$samples/two.size.fatbin" tree/one/deep/app
cp "$samples/two.ptx" tree/two/k.ptx
cp "$samples/plain.cubin" tree/two/libcublas.so.13
echo text >tree/two/k.json
check "a folder" 0 "$(status dump --stage ptx -o all tree)"
check "its images keep where they were" "one/deep/app.2.sm_80.ptx two/k.ptx.1.sm_90a.ptx" "$(cd all && find . -type f | sort | sed 's,./,,' | xargs)"
has "where they went is said" "written to all/one/deep/app.2.sm_80.ptx" out
check "NVIDIA's libraries are left out" "proton: 1 of NVIDIA's libraries in 'tree' are left out (--all)" "$(cat err)"
check "or not" "0 " "$(status dump --all tree) $(cat err)"
has "as is asked" "tree/two/libcublas.so.13: 1 image" out
check "one that is named" 0 "$(status dump tree/two/libcublas.so.13)"
mkdir empty
check "a folder without" "1 proton: cannot dump 'empty': there is no code for NVIDIA's GPUs in it" "$(status dump empty) $(cat err)"
check "Triton's cache" 0 "$(TRITON_CACHE_DIR=tree/two status dump)"
has "is looked at where nothing is named" "tree/two/k.ptx: 1 image" out
check "a cache without a home" "1 proton: no file is named, and without a home there is no cache of Triton" \
	"$(HOME='' TRITON_HOME='' TRITON_CACHE_DIR='' status dump --json) $(cat err)"
check "as JSON" 0 "$(status dump --json "$samples/two.none.fatbin" "$samples/plain.cubin")"
check "with all that is known" "[(2, 2, 0), (1, 2, 2)] sm_90a cubin _Z4turnIdEvPT_ 12 2048" "$(python3 -c '
import json
f = json.load(open("out"))["files"]
i = f[0]["images"][0]; k = i["kernels"][0]
print([(len(x["images"]), x["kernels"], x["kernels_without_ptx"]) for x in f], i["arch"], i["kind"], k["name"], k["registers"], k["shared_bytes"])')"

# ---- nothing to write to
echo mine >mine
mkdir -p links && ln -s ../mine links/two.ptx.1.sm_90a.ptx
check "a link where a file is to be: it is replaced" "0 mine" "$(status dump -o links "$samples/two.ptx") $(cat mine)"
check "… by the file" yes "$([ ! -L links/two.ptx.1.sm_90a.ptx ] && cmp -s links/two.ptx.1.sm_90a.ptx "$samples/two.ptx" && echo yes)"
mkdir -p from/below elsewhere onto && cp "$samples/two.ptx" from/below/ && ln -s ../elsewhere onto/below
check "a link where a folder is to be" "1 proton: cannot write 'onto/below': Not a directory 0" \
	"$(status dump -o onto from) $(cat err) $(ls elsewhere | wc -l)"
check "a folder that is none" "1 proton: cannot write 'text/two.ptx.1.sm_90a.ptx': Not a directory" \
	"$(echo >text; status dump -o text "$samples/two.ptx") $(cat err)"

# Its list waits for who reads it, more than a pipe holds.
for ((i = 0; i < 1000; i++)); do cat "$samples/two.size.fatbin"; done >many
mkfifo pipe
timeout 60 "$PROTON" kernel dump many >pipe 2>err &
exec 3<pipe
read -r _ <&3
: >many
cat <&3 >rest
exec 3<&-
wait $!
check "a file that is cut short while it is read" "1 proton: a file was cut short while it was read" "$? $(cat err)"

# ---- none
echo "no code" >text
check "a text" "1 proton: cannot dump 'text': it is no image of kernels, or a broken one" "$(status dump text) $(cat err)"
check "a program" "1 proton: cannot dump '/bin/true': there is no code for NVIDIA's GPUs in it" "$(status dump /bin/true) $(cat err)"
check "what is not there" "1 proton: cannot dump 'nowhere': No such file or directory" "$(status dump nowhere) $(cat err)"
mkfifo fifo
check "a FIFO" "1 proton: cannot dump 'fifo': it is no regular file" "$(status dump fifo) $(cat err)"
head -c 1000 "$samples/two.default.fatbin" >cut
check "a fatbin that is cut" "1 proton: cannot dump 'cut': it is no image of kernels, or a broken one" "$(status dump cut) $(cat err)"

# ---- what nvcc makes now
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
if ! command -v nvcc >/dev/null; then
	echo "skipped: images of this nvcc: no nvcc in PATH"
	finish
fi
lists() { status dump "$1" >status; sed -n 's/^  \([0-9]*: [a-z]* sm_[0-9a-z]*\).*/\1/p' out | sort -u | xargs; }
for mode in none speed size balance default; do
	nvcc -fatbin -arch=sm_90 --compress-mode=$mode "$samples/two.cu" -o now.fatbin 2>/dev/null ||
		{ echo "skipped: --compress-mode: no nvcc 13.0"; continue; }
	check "packed by nvcc, $mode" "1: cubin sm_90 2: ptx sm_90" "$(lists now.fatbin)"
	check "unpacked" 4 "$(grep -c '  \(turn<double>\|saxpy\)$' out)"
done
nvcc -c -arch=sm_90 "$samples/two.cu" -o plain.o
check "an object" "1: cubin sm_90 2: ptx sm_90" "$(lists plain.o)"
nvcc -dc -arch=sm_90 "$samples/two.cu" -o device.o
check "one to be linked" "1: cubin sm_90 2: ptx sm_90" "$(lists device.o)"
nvcc -dc -dlto -arch=sm_90 "$samples/two.cu" -o later.o
check "one to be made when it is linked" "1: ptx sm_90 2: lto sm_90" "$(lists later.o)"
nvcc -shared -Xcompiler -fPIC -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_80,code=sm_80 "$samples/two.cu" -o two.so
check "a library for two chips" 0 "$(status dump two.so)"
check "has code for both" "cubin sm_80 cubin sm_90a" "$(sed -n 's/^  [0-9]*: \(cubin sm_[0-9a]*\).*/\1/p' out | sort -u | xargs)"
has "without PTX" "2 of 2 kernels have no PTX" out
echo 'int main() { return 0; }' >main.cu
nvcc -arch=sm_90 plain.o main.cu -o app
check "a program" 0 "$(status dump app)"
check "has the kernels of its objects" 4 "$(grep -c '  \(turn<double>\|saxpy\)$' out)"
# What kernels take, as ptxas says.
for arch in sm_80 sm_90a sm_120; do
	nvcc -cubin -arch=$arch -Xptxas -v "$samples/two.cu" -o said.cubin 2>said
	registers=$(sed -n '/_Z4turn/,$s/.*Used \([0-9]*\) registers.* \([0-9]*\) bytes smem.*/\1 \2/p' said | head -1)
	status dump said.cubin >status
	check "$arch: registers and shared memory as ptxas says" "$registers" "$(awk '/turn/ { print $1, $2 }' out)"
done
finish
