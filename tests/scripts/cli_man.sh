#!/bin/bash
# SPDX-License-Identifier: MIT
# The examples of the man pages are commands that work: each is run as it stands there, in a folder that
# has what it speaks of.
man=$(cd "${srcdir:-.}/man" && pwd) && tests=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
. "$tests/tools/cli_help.sh"

# ---- what the examples speak of
mkdir bin home
PATH=$work/bin:$PATH
export HOME=$work/home TERM=xterm
program() { # program NAME: standard input is what it does
	{ echo '#!/bin/bash'; cat; } >"bin/$1"
	chmod +x "bin/$1"
}
export PROTON_CUPTI_PATH=${PROTON%/*}/tests/mocks/.libs/mock_cupti.so # what there are of chips and metrics
export PROTON_FAKE='kernel gemm_bf16 180000 47;kernel cutlass_tensorop 20000 100;copy HtoD pinned 4096000 100000'
program proton <<<"exec '$PROTON' \"\$@\""
program app <<<true
ln -s bin/app app
echo 'pass' >train.py
program less <<<cat
command -v jq >/dev/null || program jq <<<'python3 -m json.tool'
program mpirun <<<'shift 2; for RANK in 0 1 2 3; do export RANK; "$@" || exit; done' # mpirun -n 4 …
steps() { # steps N FILE: a training of so many steps
	python3 -c '
import json, sys
n = int(sys.argv[1])
def node(name, children, **metrics):
    return {"frame": {"name": name}, "metrics": metrics, "children": children}
steps = [node(f"ProfilerStep#{i}", [node("gemm", [], **{"time (ns)": 1000, "count": 2})], cpu_count=1)
         for i in range(n)]
print(json.dumps([node("ROOT", steps), {"CUDA": {"0": {"arch": "90", "num_sms": 132}}}]))' "$1" >"$2"
}
"$PROTON" record -q --tape run.tape -o run.hatchet -- ./app
for name in before after main branch old1 old2 new1 new2 run.part_0; do
	cp run.hatchet $name.hatchet
done
"$PROTON" record -q -o run.part_1.hatchet -- ./app
for RANK in 0 1; do
	RANK=$RANK "$PROTON" record -q -o run.rank$RANK.hatchet -- ./app
done
"$PROTON" merge -o all.hatchet run.rank*.hatchet
steps 10 10steps.hatchet
steps 50 50steps.hatchet
cp "$tests/images/two.ptx" matmul.ptx
mkdir kept
cp -- *.hatchet run.tape matmul.ptx kept
# The code of kernels: of a program, of Triton's cache, and what was dumped of both.
mkdir -p home/.triton/cache/KEY dumped
cp "$tests/images/lines.cubin" home/.triton/cache/KEY/matmul.cubin
cp "$tests/images/two.ptx" dumped/app.2.sm_90.ptx
cp "$tests/ttgir/matmul.ttgir" dumped/
app_is() { # app_is FILE: what ./app is, for what follows
	rm -f app
	ln -s "$1" app
}

# ---- what is not run, what needs a screen, and which may end with another status than 0
is_left_out() { # it speaks of where proton is installed, or of runs elsewhere, which cli_ranks.sh has
	case $1 in 'ln -s /usr/bin/'* | 'ssh node '* | 'proton top unix:'*) return 0 ;; esac
	return 1
}
takes_screen() {
	case $1 in *--batch*) return 1 ;; 'proton top '*) return 0 ;; esac
	return 1
}
may_fail() { # a machine without a GPU misses something, and one without CUDA or Triton their compilers
	case $1 in *'proton doctor'* | 'proton kernel assemble '* | *'proton kernel run '* | *'--stage ttgir'*) return 0 ;; esac
	return 1
}
# On a terminal, where somebody leaves when the program has ended.
on_a_screen() {
	python3 -c '
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execvp("bash", ["bash", "-c", sys.argv[1]])
seen, left = b"", False
while True:
    try:
        some = os.read(fd, 65536)
    except OSError: # it has gone
        break
    seen += some
    if not left and b"ENDED" in seen:
        left = os.write(fd, b"q") == 1
sys.stdout.buffer.write(seen)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' "$1"
}

# ---- the examples: commands after a prompt
examples() { # examples PAGE: without what mdoc needs
	sed -nE 's/^\.Dl \$ //p' "$1" |
		sed -e 's/\\-/-/g' -e 's/\\(dq/"/g' -e "s/\\\\(aq/'/g" -e 's/\\&//g' -e 's/\\e/\\/g'
}
n=0
for page in "$man"/proton*.[1-9]; do
	while read -r command; do
		! is_left_out "$command" || continue
		n=$((n + 1))
		case $command in 'proton kernel '*) app_is "$tests/images/two.default.fatbin" ;; *) app_is bin/app ;; esac
		if takes_screen "$command"; then
			on_a_screen "$command" >out 2>err
		else
			bash -o pipefail -c "$command" </dev/null >out 2>err
		fi
		status=$?
		! may_fail "$command" || { [ $status != 1 ] && [ $status != 125 ]; } || status=0
		check "${page##*/}: $command" 0 $status
		[ "$command" = "${command#*--trace}" ] || continue # the next one is of what it wrote
		cp kept/* . # some write what others read
	done < <(examples "$page")
	check "${page##*/}: a command has a prompt" "" "$(grep -nE '^\.Dl (proton|mpirun|ln) ' "$page")"
done
check "there are examples" yes "$([ $n -ge 40 ] && echo yes || echo $n)"

# ---- the example of a configuration
mkdir -p "$XDG_CONFIG_HOME/proton"
config=$XDG_CONFIG_HOME/proton/config
sed -n '/^\.Sh EXAMPLES/,$ { /^\.Bd -literal/,/^\.Ed/ { /^\.[BE]d/!p } }' "$man/proton-config.5" >"$config"
check "a configuration" yes "$([ "$(grep -c '^[a-z]' "$config")" -ge 3 ] && echo yes)"
"$PROTON" top --keys >out 2>err
check "which is taken without a word" "0 " "$? $(cat err)"
check "and means something" 1 "$("$PROTON" top --no-config --keys | diff - out | grep -c '^> .*quit\|^> .*leave')"
finish
