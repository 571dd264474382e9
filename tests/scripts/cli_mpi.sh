#!/bin/bash
# SPDX-License-Identifier: MIT
# Ranks that MPI's own mpirun starts: a file each, one screen around all of them, one that they join.
. "${srcdir:-.}/tests/tools/cli_help.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
app=$(dirname "$PROTON")/tests/programs/collect_idle
command -v mpirun >/dev/null || { echo "no mpirun is installed"; exit 77; }
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so
# mpirun leaves memory behind, which is not ours.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
unset OMPI_COMM_WORLD_RANK PMIX_RANK PMI_RANK PALS_RANKID MV2_COMM_WORLD_RANK SLURM_PROCID RANK

flags=()
mpirun --version 2>/dev/null | grep -q 'Open MPI' && flags=(--oversubscribe --allow-run-as-root)
mpi() { timeout 120 mpirun "${flags[@]}" -n "$@" </dev/null; }
mpi 4 true >out 2>&1 || { echo "mpirun starts nothing here: $(tail -1 out)"; exit 77; }

# Ranks, and how many operations of all of them there are: 14 of each.
told() { "$PROTON" export -f json "$1" | python3 -c '
import json, sys
p = json.load(sys.stdin)
print(*sorted(x["rank"] for x in p["processes"]), *{x["end"] for x in p["processes"]},
      sum(n["metrics"].get("count", 0) for n in p["nodes"]), sum(p["losses"].values()))'; }

mpi 4 "$PROTON" record -q -o 'run.%r.hatchet' -- "$app" "$libs/libcuda.so.1" >out 2>err
check "a file each: status" 0 $?
check "a file each" "run.0.hatchet run.1.hatchet run.2.hatchet run.3.hatchet" "$(echo run.*.hatchet)"
for rank in 0 1 2 3; do
	check "rank $rank" "$rank ended 14 0" "$(told "run.$rank.hatchet")"
done
check "side by side" "RANK 0 1 2 3" "$("$PROTON" merge --ranks run.*.hatchet | sed -n '/  RANK$/,/^$/p' | awk '{ print $NF }' | xargs)"

timeout 120 "$PROTON" top --batch 0 -o top.hatchet -- mpirun "${flags[@]}" -n 4 "$app" "$libs/libcuda.so.1" </dev/null >out 2>err
check "one top around it: status" 0 $?
check "one top around it" "0 1 2 3 ended 56 0" "$(told top.hatchet)"

# It ends when all that came have ended: so one that runs nothing stays until all ranks were there.
"$PROTON" top --batch 0 -o joined.hatchet "unix:$work/ranks.sock" >out 2>err &
top=$!
joined() { [ "$(grep -cF "$work/ranks.sock" /proc/net/unix)" -ge "$1" ]; }
wait_for 20 joined 1
"$PROTON" record -q -o stays.hatchet --forward "unix:$work/ranks.sock" -- \
	sh -c 'while [ -d "$work" ] && [ ! -e done ]; do sleep 0.02; done' 2>stays.err &
stays=$!
wait_for 20 joined 2
mpi 4 "$PROTON" record -q -o 'joined.%r.hatchet' --forward "unix:$work/ranks.sock" -- "$app" "$libs/libcuda.so.1" >seen 2>told
check "one top that they join: status" 0 $?
ended() { [ "$(grep -c "has ended" err)" = "$1" ]; }
wait_for 20 ended 4
touch done
wait $stays
wait $top
check "one top that they join: its status" 0 $?
check "one top that they join" "0 1 2 3 ended 56 0" "$(told joined.hatchet)"

mpi 2 "$PROTON" record -q -o 'status.%r.hatchet' -- sh -c 'exit 3' >out 2>err
check "a status goes through both" 3 $?

finish
