#!/bin/bash
# SPDX-License-Identifier: MIT
# proton kernel run: compilers find a ptxas that makes kernels record, by stand-ins for Triton's package and for a CUDA
# toolkit; and nvcc itself, where it is installed.
tests=$(cd "${srcdir:-.}/tests" && pwd)
. "$tests/tools/cli_help.sh"
samples=$tests/images
export XDG_CACHE_HOME=$work/cache
unset VIRTUAL_ENV TRITON_PTXAS_PATH TRITON_PTXAS_BLACKWELL_PATH CUDA_PATH
real_home=${CUDA_HOME:-/usr/local/cuda}
unset CUDA_HOME
status() { timeout 120 "$PROTON" kernel run "$@" >out 2>err </dev/null; echo $?; }

# ---- stand-ins
# A ptxas says which it is, keeps the PTX that it is given, and refuses one that records when it is told to.
make_ptxas() { # make_ptxas FILE NAME
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<EOF
#!/bin/bash
[ "\$1" != --version ] || { echo "ptxas: $2"; echo "Cuda compilation tools, release 13.0, V13.0.88"; exit 0; }
echo "\$*" >>"$work/$2.asked"
for word in "\$@"; do
	case \$word in *.ptx|/proc/*) cat "\$word" >"$work/$2.ptx" ;; esac
done
if [ "\${REFUSE-}" ] && grep -q proton "$work/$2.ptx"; then echo refused; exit 255; fi
echo "$2 says so" >&2
exit \${STATUS:-0}
EOF
	chmod +x "$1"
}
packages=venv/lib/python3.11/site-packages/triton/backends/nvidia/bin
make_ptxas $packages/ptxas triton
make_ptxas $packages/ptxas-blackwell blackwell
make_ptxas toolkit/bin/ptxas nvidia
mkdir -p venv/bin toolkit/include
# What Triton does of it: asks for the version, and assembles a file.
cat >venv/bin/python3 <<'EOF'
#!/bin/sh
"$TRITON_PTXAS_PATH" --version
cp "$1" k.ptx
"$TRITON_PTXAS_PATH" -lineinfo -v --gpu-name=sm_90a k.ptx -o k.cubin
EOF
# nvcc starts the ptxas that lies beside it.
cat >toolkit/bin/nvcc <<'EOF'
#!/bin/sh
echo "by $0, include: $(ls -d "$(dirname "$0")/../include")"
"$(dirname "$0")/ptxas" -arch=sm_90 k.ptx -o k.cubin
EOF
chmod +x venv/bin/python3 toolkit/bin/nvcc
PATH=$work/toolkit/bin:$PATH

# ---- Triton
check "a program with Triton" 0 "$(status -- venv/bin/python3 "$samples/two.ptx")"
has "asks its own ptxas for the version" "ptxas: triton" out
has "which Triton can read" "release 13.0, V" out
has "and which names the rules" "with scopes by proton " out
check "it assembles PTX that records" 1 "$(grep -c '\.global .*proton_kernel_arena' triton.ptx)"
check "with its options" "-lineinfo -v --gpu-name=sm_90a FILE -o k.cubin" "$(sed 's,/proc/self/fd/[0-9]*,FILE,' triton.asked)"
check "the file stays as it was" same "$(cmp k.ptx "$samples/two.ptx" && echo same)"
has "what it says is passed on" "triton says so" err
first=$(tail -1 out)
check "other rules" 0 "$(status --intra loop -- venv/bin/python3 "$samples/two.ptx")"
check "are another version" different "$([ "$first" = "$(tail -1 out)" ] || echo different)"
check "the same ones" 0 "$(status --intra func,loop venv/bin/python3 "$samples/two.ptx")"
check "are the same" "$first" "$(tail -1 out)"
echo "func" >mine.rules
check "rules of a file" 0 "$(status --intra ./mine.rules venv/bin/python3 "$samples/two.ptx")"
before=$(tail -1 out)
echo "bar" >mine.rules
check "that was changed" 0 "$(status --intra ./mine.rules venv/bin/python3 "$samples/two.ptx")"
check "are other rules" different "$([ "$before" = "$(tail -1 out)" ] || echo different)"
check "what it refuses" "0 proton: no scopes within kernels of 'k.ptx': ptxas refuses what was inserted|triton says so|" \
	"$(REFUSE=1 status venv/bin/python3 "$samples/two.ptx") $(tr '\n' '|' <err)"
check "is assembled as it was" same "$(cmp triton.ptx "$samples/two.ptx" && echo same)"
check "the program's status is ours" 3 "$(STATUS=3 status venv/bin/python3 "$samples/two.ptx")"
check "one that the user chose" 0 "$(TRITON_PTXAS_PATH=$work/toolkit/bin/ptxas status venv/bin/python3 "$samples/two.ptx")"
has "is asked" "ptxas: nvidia" out
echo "text" >no.ptx
check "no PTX" "0 triton says so" "$(status venv/bin/python3 no.ptx) $(grep -v '^proton' err)"
check "is given as it is" text "$(cat triton.ptx)"

# ---- nvcc
for name in nvcc "$work/toolkit/bin/nvcc"; do
	cp "$samples/two.ptx" k.ptx
	check "$name" 0 "$(status -- "$name")"
	has "$name: is started from a folder of ours" "by $XDG_CACHE_HOME/proton/ptxas/" out
	check "$name: its PTX records" 1 "$(grep -c '\.global .*proton_kernel_arena' nvidia.ptx)"
	check "$name: the file, too" same "$(cmp k.ptx nvidia.ptx && echo same)"
done
check "it has all of the toolkit" "bin include" "$(ls "$(dirname "$(sed -n 's/^by \([^,]*\),.*/\1/p' out)")/.." | xargs)"
cp "$samples/two.ptx" k.ptx
check "a build finds it" 0 "$(status sh -c '"$CUDA_HOME/bin/nvcc" && "$CUDACXX" && command -v nvcc')"
has "in PATH" "$XDG_CACHE_HOME/proton/ptxas/" out
has "PTX that records is left as it is" "no scopes within kernels of 'k.ptx': it records already" err

# ---- used wrongly
check "no program" "2 proton: 'kernel run' needs a program (see 'proton kernel run --help')" "$(status) $(cat err)"
check "no such program" "127 proton: cannot run 'nowhere': not found" "$(status nowhere) $(cat err)"
check "no rules" "2 proton: --intra: 'foo' is no rule; there are func, loop, loop:iter, loc, bar, wait, mma, wgmma, tma, ld, st, label, match, kernel, skip, limit" "$(status --intra foo true) $(cat err)"

# ---- NVIDIA's
PATH=$real_home/bin:$PATH
if [ ! -x "$real_home/bin/nvcc" ]; then
	echo "skipped: kernels compiled to record: no nvcc in $real_home"
	finish
fi
check "nvcc makes an object" 0 "$(status nvcc -arch=sm_90 -c "$samples/two.cu" -o two.o)"
"$PROTON" kernel dump --stage ptx -o dumped two.o >out 2>err
check "whose PTX records" 1 "$(grep -c '\.global .*proton_kernel_arena' dumped/two.o.2.sm_90.ptx)"
check "and a cubin" 0 "$(status nvcc -arch=sm_90 -cubin "$samples/two.cu" -o two.cubin)"
has "which records as well" proton_kernel_arena two.cubin
# Kernels that would not have room for the blocks that they may be launched with.
make_wide() { # make_wide BOUNDS: one with some 62 registers
	cat >wide.cu <<-EOF
	__global__ void $1 wide(float *out, int n)
	{
		float f[56];
		for (int k = 0; k < 56; k++)
			f[k] = out[k * 32 + threadIdx.x];
		for (int i = 0; i < n; i++)
			for (int k = 0; k < 56; k++)
				f[k] = f[k] * 1.01f + f[(k + 7) % 56];
		for (int k = 0; k < 56; k++)
			out[k * 32 + threadIdx.x] = f[k];
	}
	EOF
}
make_wide ""
check "a kernel near the limit" 0 "$(status nvcc -arch=sm_90 -cubin wide.cu -o wide.cubin)"
if grep -q proton_kernel_arena wide.cubin; then
	"$PROTON" kernel dump --stage cubin wide.cubin >out
	check "still has room" yes "$(awk '/ wide/ { print $1 <= 64 ? "yes" : "no: " $1 }' out)"
else
	has "is left as it was" "registers, and blocks of 9" err
fi
make_wide "__launch_bounds__(256)"
check "one that says how large its blocks are" 0 "$(status nvcc -arch=sm_90 -cubin wide.cu -o wide.cubin)"
has "records" proton_kernel_arena wide.cubin
finish
