#!/bin/bash
# A CUDA program under a mock libcuda and libcupti and the real collector: exact numbers, torn down
# in every order, and what is said when CUPTI does not work.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_app
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
# A sanitized program has its runtime's _exit() and its runtime's word on the exit status of a fork.
if grep -q 'define PROTON_SANITIZED 1' "$(dirname "$PROTON")/config.h" 2>/dev/null; then
	echo "skipped: the programs of this build end as the sanitizer's runtime wants"
	exit 77
fi
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
cuda=$libs/libcuda.so.1

record() { timeout 120 "$PROTON" record -o f.hatchet --save-interval 0.1 -- "$@" >out 2>err; echo $?; }
# What the profile says: "NAME count bytes" of each kind of work, "threads", "devices", "paths".
sums() {
	"$PROTON" export -f json f.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
name = {n["id"]: n for n in p["nodes"]}
work = {}
def path(n):
    up = name.get(n["parent"])
    return path(up) + [n["name"]] if up else []
for n in p["nodes"]:
    if n["kind"] in ("kernel", "copy", "set"):
        w = work.setdefault(n["name"], [0, 0, set(), []])
        w[0] += n["metrics"].get("count", 0)
        w[1] += n["metrics"].get("bytes", 0)
        for r in (r for r in n["rows"] if "count" in r["metrics"]):
            w[2].add((r["process"], r["thread"], r["metrics"]["count"], r["metrics"].get("bytes", 0)))
        w[3].append("/".join(path(n)[:-1]))
for w in sorted(work):
    c, b, rows, paths = work[w]
    print(w, c, b, "threads", len({r[:2] for r in rows}), "each", sorted(r[2] for r in rows),
          sorted(r[3] for r in rows), "under", " ".join(sorted(paths)))
print("devices", [d["name"] for d in p["devices"]])
print("processes", len(p["processes"]))
# Both depend on who gets the processor when, and neither takes anything from the numbers above.
print("losses", {k: v for k, v in p["losses"].items() if v and k not in ("pipe_full", "intervals", "vanished")})'
}
wanted() { # wanted THREADS LAUNCHES PATHS: of one process
	python3 - "$@" <<'PY'
import sys
t, n, paths = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
for name, c, size in (("add", n, lambda k: 0), ("memcpy DtoD", 1, lambda k: 7),
                      ("memcpy DtoH pageable", 1, lambda k: 10 * k),
                      ("memcpy HtoD pageable", 1, lambda k: 1000 * k),
                      ("memset device", 1, lambda k: 3)):
    each = [size(k) for k in range(1, t + 1)]
    print(name, c * t, sum(each), "threads", t, "each", [c] * t, each, "under", paths)
print("devices", ["Mock GPU 0"])
print("processes", 1)
print("losses", {})
PY
}
scopes() { seq -s ' ' 0 $(($1 - 1)) | sed 's|[0-9][0-9]*|worker&/step|g'; }

# ---- exact numbers
check "8 threads: status" 7 "$(record "$app" "$cuda" return 8 20000)"
check "8 threads: numbers" "$(wanted 8 20000 "")" "$(sums)"
check "stdout" output "$(cat out)"
check "8 threads with scopes: status" 7 "$(record "$app" "$cuda" return 8 20000 scopes)"
check "8 threads with scopes: numbers" "$(wanted 8 20000 "$(scopes 8)")" "$(sums)"
check "64 threads" "7 $(wanted 64 300 "$(scopes 64 | tr ' ' '\n' | LC_ALL=C sort | tr '\n' ' ' | sed 's/ $//')")" \
	"$(record "$app" "$cuda" return 64 300 scopes) $(sums)"
check "--no-cuda" "7 processes 1" "$(timeout 120 "$PROTON" record -q --no-cuda -o f.hatchet -- "$app" "$cuda" return 2 10 scopes \
	>out 2>err; echo "$? $(sums | grep processes)")"
check "and no work" "" "$(sums | grep add)"

# ---- kernels by grid and block: as many as without
shapes() { "$PROTON" export -f json "$1" | python3 -c '
import json, sys
n = {}
for k in json.load(sys.stdin)["nodes"]:
    if k["kind"] == "kernel":
        n[k["name"]] = n.get(k["name"], 0) + k["metrics"]["count"]
print(sorted(n), sum(n.values()))'; }
check "--by-shape: status" 7 "$(timeout 120 "$PROTON" record --by-shape -o s.hatchet -- "$app" "$cuda" return 2 3000 scopes >out 2>err; echo $?)"
check "--by-shape: kernels" "['add<<<128,256>>>', 'add<<<128x2,256>>>'] 6000" "$(shapes s.hatchet)"

# ---- waits: on the host, of the thread and calling context that waits, and no work of the device
waits() {
	"$PROTON" export -f json f.hatchet | python3 -c '
import json, sys
p = json.load(sys.stdin)
name = {n["id"]: n for n in p["nodes"]}
def path(n):
    up = name.get(n["parent"])
    return path(up) + [n["name"]] if up else []
waits = [n for n in p["nodes"] if n["kind"] == "sync"]
print(sorted(("/".join(path(n)), n["metrics"]["cpu_count"], n["metrics"]["cpu_time (ns)"] > 0,
              "count" in n["metrics"], len({r["thread"] for r in n["rows"]}),
              {r["device"] for r in n["rows"]}) for n in waits))'
}
check "no waits unless they are wanted" "[]" "$(waits)"
check "--sync: status" 7 "$(timeout 120 "$PROTON" record --sync -o f.hatchet -- "$app" "$cuda" return 2 10 scopes >out 2>err; echo $?)"
check "--sync: waits" "[('worker0/step/cuCtxSynchronize', 1, True, False, 1, {None}), ('worker1/step/cuCtxSynchronize', 1, True, False, 1, {None})]" "$(waits)"
check "--sync: the work is as without" "$(wanted 2 10 "$(scopes 2)")" "$(sums)"
timeout 120 "$PROTON" record --sync -o f.hatchet -- "$app" "$cuda" return 2 10 >out 2>err
check "--sync: without scopes" "[('cuCtxSynchronize', 2, True, False, 2, {None})]" "$(waits)"
timeout 120 env MOCK_CUPTI_SYNC=7 "$PROTON" record --sync -o f.hatchet -- "$app" "$cuda" return 2 10 >out 2>err
has "waits refused: said" "waits for CUDA are not recorded: CUPTI refuses them (error 7)" err
check "waits refused: the rest is there" "$(wanted 2 10 "")" "$(sums)"

# ---- the end, in every order; without us it is the same
for end in exit _exit quick_exit thread main-leaves dlclose fork-after fork-before; do
	check "$end: status" 7 "$(record "$app" "$cuda" "$end" 3 500 scopes)"
	check "$end: stderr" error "$(grep -v ^proton: err | head -1)"
	n=1; [ "$end" = fork-after ] && n=2
	# A driver that is unloaded at once may be gone before it was asked for its devices.
	check "$end: numbers" "$(wanted 3 500 "$(scopes 3)" | sed "/^devices/d;s/^processes.*/processes $n/")" \
		"$(sums | sed '/^devices/d')"
	[ "$end" = fork-after ] && check "fork-after: the child's scope" 1 "$(metric f.hatchet child cpu_count)"
done
check "the only thread leaves: status" 0 "$(record "$app" none return)"
check "the only thread leaves: scope" 1 "$(metric f.hatchet alone cpu_count)"

# Those that give nobody a word: what was sent before is there.
dies() { # dies END STATUS
	rm -f ready go f.hatchet
	timeout 120 "$PROTON" record -o f.hatchet --save-interval 0.1 -- "$app" "$cuda" "$1" 3 500 >out 2>err &
	local pid=$!
	wait_for 15 test -e ready || check "$1: gets to its end" yes no
	wait_for 15 eval 'test -s f.hatchet && sums | grep -q "^memset device 3 " && sums | grep -q "^add 1500 "' ||
		check "$1: all is in the file before it dies" yes no
	touch go
	wait "$pid" 2>/dev/null; check "$1: status" "$2" $?
}
dies abort 134; check "abort: numbers" "$(wanted 3 500 "")" "$(sums)"
dies kill 137; check "kill: numbers" "$(wanted 3 500 "")" "$(sums)"
dies exec 7
check "exec: both programs" "add 1510 0" "$(sums | grep -o '^add [0-9]* [0-9]*')"
check "exec: two processes" "processes 2" "$(sums | grep processes)"

# Nothing is lost by exec, also where nobody waits; and where it fails, the program goes on as before.
check "exec at once: status" 7 "$(record "$app" "$cuda" exec-now 3 500)"
check "exec at once: both programs" "add 1510 0" "$(sums | grep -o '^add [0-9]* [0-9]*')"
check "exec at once: two processes" "processes 2" "$(sums | grep processes)"
check "exec at once: nothing is missing" "losses {}" "$(sums | grep losses)"
check "exec at once: an end like others" 0 "$(grep -c 'cut off' err)"
check "exec fails: status" 7 "$(record "$app" "$cuda" exec-fails 3 500)"
check "exec fails: what came before and after" "add 2000 0" "$(sums | grep -o '^add [0-9]* [0-9]*')"
check "exec fails: one process" "processes 1" "$(sums | grep processes)"
check "exec fails: nothing is missing" "losses {}" "$(sums | grep losses)"

# ---- CUPTI that does not work: one sentence, and the program is unharmed
says() { # says "what" "sentence" [VARIABLE=VALUE…]
	local what=$1 text=$2; shift 2
	check "$what: status" 7 "$(env "$@" timeout 120 "$PROTON" record -o f.hatchet -- "$app" "$cuda" return 2 100 \
		>out 2>err; echo $?)"
	check "$what: stdout" output "$(cat out)"
	check "$what: stderr" error "$(head -1 err)"
	has "$what: said" "$text" err
	check "$what: once" 1 "$(grep -cF -- "$text" err)"
}
says "busy" "nsys" MOCK_CUPTI_SUBSCRIBE=39 MOCK_CUPTI_HOLDER=nsys
check "busy: no work" "" "$(sums | grep ^add)"
says "no permission" "CAP_PERFMON" MOCK_CUPTI_SUBSCRIBE=35
says "records refused" "CUPTI refuses activity records (error 15)" MOCK_CUPTI_ENABLE=15
says "missing" "there is no libcupti at PROTON_CUPTI_PATH" PROTON_CUPTI_PATH=/nonexistent/libcupti.so
echo "no library" >libcupti.so
says "not a library" "cannot load" PROTON_CUPTI_PATH="$PWD/libcupti.so"
says "broken" "proton: note:" PROTON_CUPTI_PATH="$libs/mock_cupti_broken.so"
check "old: status" 7 "$(PROTON_CUPTI_PATH=$libs/mock_cupti_old.so record "$app" "$cuda" return 2 100)"
check "old: numbers" "$(wanted 2 100 "")" "$(sums)"
says "drops" "records dropped by the vendor's library" MOCK_CUPTI_DROP_EVERY=10
check "drops: all launches are accounted for" 208 "$(sums | python3 -c '
import ast, sys
n = 0
for line in sys.stdin:
    if " threads " in line: n += int(line.split(" threads ")[0].split()[-2])
    if line.startswith("losses"): n += ast.literal_eval(line[7:]).get("dropped_records", 0)
print(n)')"
check "zero timestamps: status" 7 "$(record "$app" "$cuda" zero 1 10)"
has "zero timestamps: said" "lost: 1 record without timestamps" err
finish
