#!/bin/bash
# SPDX-License-Identifier: MIT
# Time of the host in calls of CUDA (--api), end to end: which calls, how often, how long, where.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_api
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so LC_ALL=C.UTF-8

cat >calls.py <<'END'
# A call a line: the scope, its name, how often, and the least that these took in us, as the program has it.
import json, sys
p = json.load(sys.stdin)
nodes, found = {n["id"]: n for n in p["nodes"]}, {}
for n in p["nodes"]:
    m = n["metrics"]
    if n["kind"] not in ("call", "sync") or "api_calls" not in m:
        continue
    fits = 0 < m["api_time_min (ns)"] * m["api_calls"] <= m["api_time (ns)"] <= m["api_time_max (ns)"] * m["api_calls"]
    fits &= (n["kind"] == "sync") == ("Synchronize" in n["name"]) == (m.get("cpu_time (ns)") == m["api_time (ns)"])
    fits &= {r["device"] for r in n["rows"]} == {None}
    found[nodes[n["parent"]]["name"], n["name"]] = (m["api_calls"], m["api_time (ns)"], fits)
for line in open(sys.argv[1]):
    scope, name, n, least = line.split()
    calls, ns, fits = found.pop((scope, name), (0, 0, False))
    # Ours is the processor's clock, the program's the kernel's: over some milliseconds their rates differ a little.
    if not fits or calls != int(n) or ns < int(least) * 999:
        print(scope, name, "is", calls, ns, fits, "expected", line, end="")
print("besides:", sorted(found))
END
calls() { "$PROTON" export -f json "$1" | python3 calls.py expected; }
kinds() { "$PROTON" export -f json "$1" | python3 -c '
import json, sys
n = {}
for k in json.load(sys.stdin)["nodes"]:
    n[k["kind"]] = n.get(k["kind"], 0) + k["metrics"].get(sys.argv[1], 0)
print({k: v for k, v in sorted(n.items()) if v})' "$2"; }

timeout 120 "$PROTON" record -q --api --tape f.tape -o api.hatchet -- "$app" "$libs/libcuda.so.1" >expected 2>err
check "status" 0 $?
check "nothing to say" "" "$(cat err)"
check "as made" "besides: []" "$(calls api.hatchet)"
check "in the tape" "besides: []" "$(calls f.tape)"
check "the work is as without" "{'copy': 1, 'kernel': 602}" "$(kinds api.hatchet count)"

# Waits are calls, so both options together have them once, by the name that the program calls.
timeout 120 "$PROTON" record -q --api --sync -o f.hatchet -- "$app" "$libs/libcuda.so.1" >expected 2>err
check "with --sync" "besides: []" "$(calls f.hatchet)"

# Waits alone, as CUPTI records them.
timeout 120 "$PROTON" record -q --sync -o f.hatchet -- "$app" "$libs/libcuda.so.1" >expected 2>err
check "--sync alone" "{'sync': 3}" "$(kinds f.hatchet api_calls)"
"$PROTON" report --view api f.hatchet >out
has "--sync alone: said" "(waits alone: proton top and record see other calls with --api)" out

timeout 120 "$PROTON" record -q -o f.hatchet -- "$app" "$libs/libcuda.so.1" >expected 2>err
check "not wanted: nothing" "{}" "$(kinds f.hatchet api_calls)"
check "not wanted: the work" "{'copy': 1, 'kernel': 602}" "$(kinds f.hatchet count)"
check "not wanted: said" "none (proton top and record see them with --api)" "$("$PROTON" report --view api f.hatchet)"

timeout 120 env MOCK_CUPTI_DOMAIN=7 "$PROTON" record --api -o f.hatchet -- "$app" "$libs/libcuda.so.1" >expected 2>err
has "refused: said" "calls of CUDA are not timed: CUPTI refuses it (error 7)" err
check "refused: the work" "{'copy': 1, 'kernel': 602}" "$(kinds f.hatchet count)"

# What the host waited in lets a device wait: known without the records that --sync asks for.
idle() { "$PROTON" export -f json "$1" | python3 -c '
import json, sys
sums = {}
for n in json.load(sys.stdin)["nodes"]:
    for k, v in n["metrics"].items():
        if k.startswith("idle_") and n["name"] == "timed":
            sums[k] = sums.get(k, 0) + v
print(sums.get("idle_gaps"), sums.get("idle_late (ns)", 0) == 0, sums.get("idle_sync (ns)", 0) > 4000000)'; }
check "what a device waited for" "1 True True" "$(idle api.hatchet)"
check "without: it was late" "1 False False" "$(idle f.hatchet)"

# Merged, the calls of both are added; csv has them as a column.
timeout 120 "$PROTON" record -q --api -o f.hatchet -- "$app" "$libs/libcuda.so.1" >expected 2>err
"$PROTON" merge -o merged.hatchet api.hatchet f.hatchet
check "merged" "{'call': 1210, 'sync': 6}" "$(kinds merged.hatchet api_calls)"
check "csv" 1 "$("$PROTON" export -f csv api.hatchet | head -1 | grep -c 'api_time (ns)')"

# What people read of it.
"$PROTON" report --view api api.hatchet >out
check "report: functions" "cuLaunchKernel cuStreamSynchronize cudaFree cudaLaunchKernel cudaMalloc cudaMemcpy cudaStreamSynchronize" \
	"$(sed -n '/^Time of/,/^$/p' out | awk 'NF == 7 && $1 != "TIME" { print $NF }' | LC_ALL=C sort | xargs)"
has "report: contexts" "load › cudaMalloc" out
check "the tree has calls where a column asks for them" "cudaFree cudaMalloc" \
	"$("$PROTON" report -m api_time,time api.hatchet | grep -o 'cudaMalloc\|cudaFree' | LC_ALL=C sort | xargs)"
"$PROTON" report api.hatchet >out
check "… and no rows without numbers" "" "$(grep -o 'cudaMalloc\|cu[a-zA-Z]*LaunchKernel' out)"
has "… but waits, which have time of the host" "─ cudaStreamSynchronize" out
"$PROTON" report --view bottom-up api.hatchet >out
check "… nor from the bottom up" "" "$(grep -o 'cudaMalloc\|cu[a-zA-Z]*LaunchKernel' out)"
"$PROTON" report --view bottom-up -m api_time api.hatchet >out
has "… but where a column asks for them" "cudaMalloc" out
"$PROTON" view api.hatchet >out
check "on the screen, too" "" "$(grep -o 'cudaMalloc\|cu[a-zA-Z]*LaunchKernel' out)"
"$PROTON" report --view api --include load api.hatchet >out
check "report: of what is left" "cudaFree cudaMalloc" \
	"$(sed -n '/^Time of/,/^$/p' out | awk 'NF == 7 && $1 != "TIME" { print $NF }' | LC_ALL=C sort | xargs)"

# Calls that are left by a jump have no end: what follows is none of theirs.
timeout 120 "$PROTON" record -q --api -o left.hatchet -- "$app" "$libs/libcuda.so.1" left >expected 2>err
check "left by a jump: status" 0 $?
check "left by a jump: what follows" "besides: []" "$(calls left.hatchet)"
check "left by a jump: counted" 2 "$("$PROTON" export -f json left.hatchet | python3 -c 'import json, sys; print(json.load(sys.stdin)["losses"]["calls_left"])')"
check "none is" 0 "$("$PROTON" export -f json api.hatchet | python3 -c 'import json, sys; print(json.load(sys.stdin)["losses"]["calls_left"])')"
finish
