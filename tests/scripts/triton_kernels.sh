#!/bin/bash
# SPDX-License-Identifier: MIT
# Kernels of Triton that get records by rules: its own compiler makes code of them, for a GPU that is not here.
# PROTON_TRITON_PYTHON may name the interpreter that has it, PROTON_TRITON_DIR a folder that holds it.
here=$(cd "${srcdir:-.}/tests" && pwd)
. "$here/tools/cli_help.sh"
. "$here/tools/mock_python.sh"
. "$here/tools/inside_help.sh"

export PYTHONPATH=$here/programs${PROTON_TRITON_DIR:+:$PROTON_TRITON_DIR}
has_compiler() { "$1" -c 'import triton; from triton._C.libtriton import proton; from triton import knobs; assert triton.backends.backends' >/dev/null 2>&1; }
python=
while read -r candidate; do
	has_compiler "$candidate" && python=$candidate && break
done < <([ -z "${PROTON_TRITON_PYTHON-}" ] || echo "$PROTON_TRITON_PYTHON"; pythons)
[ -n "$python" ] || { echo "skipped: no compiler of Triton's for any interpreter (PROTON_TRITON_PYTHON or PROTON_TRITON_DIR may name one)"; exit 77; }

export NO_GPU_CUDA=$cuda TRITON_CACHE_DIR=$work/cache
app=$here/programs/triton_kernels.py
run() { timeout 240 "$PROTON" record -q --context scopes -o run.hatchet -- "$python" "$app" "$@" >out 2>err; }

# ---- in one step
PROTON_TRITON_MODE=default PROTON_TRITON_RULES=func,loop,ld run add multiply share early
check "rules: status" 0 $?
check "rules: records, buffers, clocks" "add 6 True|multiply + True|share + True|early 2 True|" \
	"$(awk '{print $1, ($2 > 6 ? "+" : $2), $4 ($3 ? "" : "?")}' out | tr '\n' '|')"
check "rules: buffers are told, and nothing else" "Triton's kernel 'add' records into 8192 bytes of shared memory of a thread block, 256 entries and exits of each warp|0" \
	"$(notes run.hatchet | grep "'add'")|$(notes run.hatchet | grep -vc 'records into')"
check "rules: scopes below their kernels" \
	"add/add 800 100 8 100 100,add/add/tt.load@triton_kernels.py:16 720 90 8 90 90,add/add/tt.load@triton_kernels.py:17 640 80 8 80 80" \
	"$(inside run.hatchet | tr ',' '\n' | sed 's/^ //' | grep '^add/' | paste -sd,)"
PROTON_TRITON_MODE=default PROTON_TRITON_RULES='kernel mul*,mma as dot' run add multiply
check "rules: one kernel, one name" "add 0 False|multiply 2 True|" "$(awk '{print $1, $2, $4}' out | tr '\n' '|')"
PROTON_TRITON_MODE=default PROTON_TRITON_RULES=func run compiled
check "compiled and not run, as by torch.compile" "add 2 8320 True" "$(cat out)"
mkdir -p torch/_inductor/compile_worker
echo 'import triton_kernels; triton_kernels.run_compiled()' >torch/_inductor/compile_worker/__main__.py
PROTON_TRITON_MODE=default PROTON_TRITON_RULES=func timeout 240 "$PROTON" record -q -o run.hatchet -- "$python" torch/_inductor/compile_worker/__main__.py >out 2>err
check "compiled for another process: as it was" "add 0 0 False" "$(cat out)"
has "… and a note says so" "kernels that torch.compile compiles in processes of its own have no scopes: TORCHINDUCTOR_COMPILE_THREADS is not 1" <(notes run.hatchet)
run add
check "without rules it is as ever" "add 0 0 False" "$(cat out)"
PROTON_TRITON_MODE=default:buffer_size=1000 PROTON_TRITON_RULES=func run add
check "a buffer that cannot be: status" 0 $?
check "a buffer that cannot be: the kernel is as it was" "0 False" "$(awk '{print $3, $4}' out)"
has "… and a note says so" "no scopes within Triton's kernel 'add'" <(notes run.hatchet)
PROTON_TRITON_MODE=default PROTON_TRITON_RULES=nonsense run add
has "a rule that is none" "'nonsense' is no rule" <(notes run.hatchet)
PROTON_TRITON_MODE=default:granularity=cta PROTON_TRITON_RULES=func run add
has "a mode that is none" "Only warp granularity is supported" <(notes run.hatchet)
check "… and the program runs" "add 0 0 False" "$(cat out)"
PROTON_TRITON_MODE=default PROTON_TRITON_RULES=func,st run session multiply
check "a session of the program's own has its mode, and the rules" "add 4 True|multiply 4 True|" "$(awk '{print $1, $2, $4}' out | tr '\n' '|')"
check "… and its own file" "own.hatchet" "$(ls own.*)"

# ---- what a report of such a profile shows
PROTON_TRITON_MODE=default PROTON_TRITON_RULES=func,ld run add early
cat >wanted <<'END'
   CALLS  cycles normalized_cycles scope_entries  NAME
       2       -                 -             -  ROOT
       1       -                 -             -  ├─ add
       -     800               100             8  │  └─ add
       -     640                80             8  │     ├─ tt.load@triton_kernels.py:17
       -     720                90             8  │     └─ tt.load@triton_kernels.py:16
       1       -                 -             -  └─ early
       -     800               100             8     └─ tt.load@triton_kernels.py:53
END
LC_ALL=C.UTF-8 "$PROTON" report --view tree -m calls,cycles,normalized_cycles,scope_entries run.hatchet >out 2>err
check "a report" "$(cat wanted)" "$(cat out)"

# ---- in three steps
timeout 240 "$PROTON" kernel dump --stage ttgir -o dumped -- "$python" "$app" add early >out 2>err
check "dump: status" 0 $?
check "dump: what the program says, and files" "2 add.ttgir early.ttgir" \
	"$(grep -c False out) $(find dumped -type f -printf '%f\n' | sort | paste -sd' ')"
check "dump: nothing else is left" 2 "$(find dumped -mindepth 1 -maxdepth 1 | wc -l)"
timeout 240 "$PROTON" kernel dump --stage ttgir -o dumped -- "$python" -c 'raise SystemExit(3)' >out 2>err
check "dump: nothing compiled" "1 proton: Triton compiled no kernel of the program" "$? $(cat err)"
cp -r dumped plain
timeout 60 "$PROTON" kernel insert --rules func,tt.load dumped >out 2>err
check "insert: status" 0 $?
check "insert: scopes" "add tt.load@triton_kernels.py:16 tt.load@triton_kernels.py:17" "$(grep -A3 'add.ttgir' out | tail -n +2 | paste -sd' ' | tr -s ' ' | sed 's/^ //')"
has "insert: what is no scope" "early returns at several places" out
"$PROTON" kernel insert --rules func dumped/*/add.ttgir >out 2>err
check "insert: no second time" 1 $?
has "… and why" "stays as it is: it has records of a scope 'add' already" err
"$PROTON" kernel insert --rules atomic plain >out 2>err
check "insert: no rule fits" "1 proton: no rule is about anything in these kernels" "$? $(cat err)"
mkdir -p none && "$PROTON" kernel insert none >out 2>err
check "insert: nothing of Triton" "1 proton: no kernel of Triton ('*.ttgir') is there" "$? $(cat err)"
echo '.version 8.0' >ptx.ttgir
"$PROTON" kernel insert ptx.ttgir >out 2>err
check "insert: what is not read stays" "1 .version 8.0" "$? $(cat ptx.ttgir)"
has "… and why" "'ptx.ttgir' stays as it is: line 1: '.version 8.0' is no operation" err
"$PROTON" kernel insert --rules 'loc x' plain >out 2>err
check "insert: a wrong rule" "2 proton: --rules: 'x' is not FILE:LINE or FILE:LINE-LINE" "$? $(cat err)"
echo 'func # all' >mine
"$PROTON" kernel insert --rules mine plain >out 2>err
check "insert: a file of rules without a slash" 2 $?
has "… is none" "; a file of rules is named with a slash: './mine'" err
"$PROTON" kernel insert --rules ./mine none >out 2>err
check "insert: … and with one: they are read" "1 proton: no kernel of Triton ('*.ttgir') is there" "$? $(cat err)"
TRITON_ALWAYS_COMPILE=1 TRITON_KERNEL_OVERRIDE=1 TRITON_OVERRIDE_DIR=dumped run session
check "run: status" 0 $?
has "run: the kernel has its records" "add 6 8320 True" out
check "run: scopes of its session" "add/add,add/add/tt.load@triton_kernels.py:16,add/add/tt.load@triton_kernels.py:17" \
	"$(inside own.hatchet | tr ',' '\n' | awk '{print $1}' | paste -sd,)"
TRITON_ALWAYS_COMPILE=1 TRITON_KERNEL_OVERRIDE=1 TRITON_OVERRIDE_DIR=dumped run beside
children() { python3 -c 'import json, sys; print(*[c["frame"]["name"] for c in json.load(open(sys.argv[1]))[0]["children"]])' "$1"; }
check "run: a session beside it has the kernel first, what was read of it last" "add add __proton_launch_metadata" "$(children inside.hatchet) $(children beside.hatchet)"

intra() { timeout 240 "$PROTON" record -q --context scopes -o run.hatchet "$@" -- "$python" "$app" add >out 2>err; }
intra --intra=ttgir:func,st --intra-mode default:buffer_size=4096
check "record --intra: status" 0 $?
has "record --intra: records, buffer" "add 4 4224 True" out
check "record --intra: scopes" "add/add add/add/tt.store@triton_kernels.py:18" "$(inside run.hatchet | tr ',' '\n' | awk '{print $1}' | paste -sd' ')"
told=$("$PROTON" record -q --intra=ttgir:func -o run.hatchet -- env | grep TORCHINDUCTOR_ | paste -sd' ')
check "record --intra: torch.compile is told" "TORCHINDUCTOR_COMPILE_THREADS=1 TORCHINDUCTOR_USE_STATIC_CUDA_LAUNCHER=0" "$told"
told=$(TORCHINDUCTOR_COMPILE_THREADS=4 "$PROTON" record -q --intra=ttgir:func -o run.hatchet -- env | grep TORCHINDUCTOR_C)
check "… unless somebody said otherwise" "TORCHINDUCTOR_COMPILE_THREADS=4" "$told"
chosen() {
	intra --intra=ttgir:func --intra-mode "default:sampling_strategy=selective:sampling_options=$1"
	echo "$(cat out) $(inside run.hatchet)"
}
check "record --intra: a range of warps is each of them" "$(chosen 1,2,3)" "$(chosen 1-3)"
check "… and not the first alone" no "$([ "$(chosen 1-3)" = "$(chosen 1)" ] && echo yes || echo no)"
intra --intra=ttgir:dumped
has "record --intra, a folder" "add 6 8320 True" out
intra --intra=ttgir:nonsense
check "record --intra: a wrong rule" "2 proton: --intra: 'nonsense' is no rule" "$? $(cut -d: -f1-3 err)"
kernel_run() { timeout 240 "$PROTON" record -q --context scopes -o run.hatchet -- "$PROTON" kernel run "$@" -- "$python" "$app" add >out 2>err; }
kernel_run --intra ttgir:dumped --intra-mode default:optimizations=clock32
check "kernel run, a folder: status" 0 $?
has "kernel run, a folder: its records" "add 6 8320 True" out
kernel_run --intra ttgir:st --intra-mode default:buffer_size=4096
has "kernel run, rules: records, buffer" "add 2 4224 True" out
check "kernel run, rules: a scope" "add/tt.store@triton_kernels.py:18" "$(inside run.hatchet | awk '{print $1}')"
kernel_run --intra ttgir:
has "kernel run, the usual rules" "add 2 8320 True" out
kernel_run --intra ttgir:nonsense
check "kernel run: a wrong rule" 2 $?
has "… and why" "proton: --intra: 'nonsense' is no rule" err
kernel_run --intra ttgir:func --intra-mode default:buffer_type=local
check "kernel run: a wrong mode" 2 $?

# ---- modes of sessions
PROTON_TRITON_MODE=default PROTON_TRITON_RULES=func run modes
check "modes: status" 0 $?
check "modes: buffers of a block" "8320 4224 1152 8320 8320" "$(awk '{print $3}' out | paste -sd' ')"
check "modes: warps that recorded" "8 8 4 8  " "$(for i in 0 1 2 3 4; do inside $i.hatchet | awk '{print $4}'; done | paste -sd' ') "
has "modes: a warp that is not there" "scopes within kernel 'add' are left out: ValueError: sampling_options name warp 9, and it has 4 warps" <(notes run.hatchet)
has "modes: what is for others" "sched_barriers in a mode is for AMD's compiler" <(notes run.hatchet)

# ---- the examples: their kernels are compiled, those of Gluon, too
run examples
check "examples: status" 0 $?
check "examples: records, clocks" "vector_add 4 True|vector_add 0 False|matmul 8 True|" "$(awk '{print $1, $2, $4}' out | tr '\n' '|')"

# ---- the package proton, in a run and alone
export PYTHONPATH=$here/../python:$PYTHONPATH
dumped=(env TRITON_ALWAYS_COMPILE=1 TRITON_KERNEL_OVERRIDE=1 TRITON_OVERRIDE_DIR="$PWD/dumped")
scopes="add/add 800 100 8 100 100"
rm -f own.hatchet
timeout 240 "$PROTON" record -q --context scopes -o run.hatchet -- "${dumped[@]}" "$python" "$app" package >out 2>err
check "package: status" 0 $?
check "package: scopes" "$scopes" "$(inside own.hatchet | cut -d, -f1)"
rm -f own.hatchet
alone=(env PROTON_LIBRARY_PATH="$(dirname "$PROTON")/.libs/libproton.so" PROTON_COMMAND="$PROTON")
timeout 240 "${alone[@]}" "${dumped[@]}" "$python" "$app" package >out 2>err
check "alone: status" 0 $?
check "alone: scopes" "$scopes" "$(inside own.hatchet | cut -d, -f1)"
rm -f own.hatchet # variables of a run that is over, or never was
PROTON_LIBRARY=$(dirname "$PROTON")/.libs/libproton.so PROTON_COMMAND=$PROTON timeout 240 "${dumped[@]}" "$python" "$app" package >out 2>err
check "alone, with a variable of a run: scopes" "$scopes" "$(inside own.hatchet | cut -d, -f1)"
# Two blocks that say that they are the same one, of four warps, three scopes each.
traced() { python3 -c '
import json
events = json.load(open("own.chrome_trace"))["traceEvents"]
print(len(events), len({e["pid"] + e["tid"].partition(" (")[0] for e in events}), len({e["name"] for e in events}))'; }
timeout 240 "$PROTON" record -q -o run.hatchet -- "${dumped[@]}" "$python" "$app" traced >out 2>err
check "package, a trace" "24 4 3" "$(traced)"
rm own.chrome_trace
timeout 240 "${alone[@]}" "${dumped[@]}" "$python" "$app" traced >out 2>err
check "alone, a trace" "24 4 3" "$(traced)"
rm -f own.hatchet
PROTON_LIBRARY_PATH=$(dirname "$PROTON")/.libs/libproton.so PROTON_COMMAND=$PROTON timeout 240 "${dumped[@]}" "$python" "$app" behind >out 2>err
check "alone, behind Triton's collector: scopes" "$scopes" "$(inside own.hatchet | cut -d, -f1)"
has "… which is Triton's again" "again Triton's own: True" out
has "… and not replaced while it has a session" "RuntimeError: backend 'instrumentation': a session of triton.profiler is under way" err
finish
