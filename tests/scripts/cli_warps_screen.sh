#!/bin/bash
# SPDX-License-Identifier: MIT
# Single scopes of warps on a real terminal (tmux): of a file of them, and of the file beside a profile, which the kernel's row
# opens.
programs=$(cd "${builddir:-.}/tests/programs" && pwd)
here=$(cd "${srcdir:-.}/tests" && pwd)
. "${srcdir:-.}/tests/tools/cli_window.sh"
"$programs/attention_warps" run.warps || exit 99

# ---- a file of them alone
window 100x30 "$PROTON view run.warps"
see "warps: in front at once" "flash_fwd<128, 128>  launch 3811 (1 of 2)  GPU0  2.00 GHz"
see "warps: which device they are of" "GPU0: scopes of warps, and nothing else of it is in the file"
see "warps: waves and tail" "20 CTAs on 8 SMs  3 waves  tail 4.71us, 15.3% empty"
see "warps: the one that is late, at the end of the table" "11 2.4x"
keys L; see "warps: and where it is" "CTA 11 on SM 3: softmax takes 1500 cycles, 2.4 times"
keys Enter; see "warps: into it" "cycles  stands out"
keys x; see "warps: in nanoseconds" "times: nanoseconds"
keys G; see "warps: lanes of four" "w8-11"
keys '>'; see "warps: the next launch" "launch 3812 (2 of 2)"
keys 1; see "warps: the tree shows the scopes at once" "─softmax"
keys q; window_close

# ---- beside a profile
check "export: a profile of its sums" 0 "$("$PROTON" export -f hatchet -o run.hatchet run.warps >out 2>&1; echo $?)"
window 100x30 "$PROTON view run.hatchet"
see "profile: the tree" "flash_fwd"
see "profile: the scopes, at once" "─softmax"
keys / flash Enter M-9
see "profile: the scopes beside it" "launch 3811 (1 of 2)"
keys t; see "profile: and back" "NAME"
keys q; window_close

# ---- what cannot be read
head -c $(($(wc -c <run.warps) * 3 / 4)) run.warps >cut.warps
window 100x30 "$PROTON view cut.warps 2>err"
see "cut: what is whole of it" "flash_fwd<128, 128>"
keys q; window_close
check "cut: and that it is not all" 1 "$(grep -c "cut.warps: ends early or is damaged" err)"

# ---- launches that were all left out
"$programs/attention_warps" left.warps 12
window 100x30 "$PROTON view left.warps"
see "left out: one sentence" "of 12 launches with scopes of warps none is kept"
keys q; window_close
check "left out: the report, too" "none: of 12 launches with scopes of warps none is kept" "$("$PROTON" report --view warps left.warps)"
cp run.hatchet left.hatchet
check "left out: beside a profile" "none: of 12 launches with scopes of warps none is kept" "$("$PROTON" report --view warps left.hatchet)"
check "left out: nothing to export" 1 "$("$PROTON" export -f chrome --warps -o left.json left.warps >out 2>&1; echo $?)"

# ---- while the program runs: a mock driver whose launches go on until somebody has seen them
libs=$(dirname "$PROTON")/tests/mocks/.libs
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs: nothing runs"; finish; }
live="PROTON_CUPTI_PATH=$libs/mock_cupti.so $PROTON top -i 0.1 -o live.hatchet"
app="$programs/collect_slices $libs/libcuda.so.1 $here/cubins/scopes.cubin live"
number() { screen | grep -oE 'k  launch [0-9]+ ' | tr -dc 0-9; }
is_other() { [ -n "$(number)" ] && [ "$(number)" != "$1" ]; }
window 140x30 "$live --intra-trace -- $app; echo left"
see "live: sums of scopes are columns of the tree" "CYCLES  CYCLES/WARP  ENTRIES  MIN CYC  MAX CYC  NAME"
shows_sums() { screen | grep -qE ' [0-9.]+[KMG]? +[0-9.]+[KMG]? +[0-9.]+[KMG]? +100 +100 +.* tile$'; }
check "live: with their numbers" 0 "$(wait_for 20 shows_sums; echo $?)"
keys M-9
see "live: a launch" "k  launch "
check "live: the next one takes its place" 0 "$(wait_for 20 is_other "$(number)"; echo $?)"
keys z; see "live: held" "FROZEN"
held=$(number)
keys Down; keys Up
check "live: it stands still" "$held" "$(number)"
keys z
check "live: it goes on" 0 "$(wait_for 20 is_other "$held"; echo $?)"
keys '<'; see "live: one that was before" "in no scope"
touch seen
see "live: the program is over" "ended"
keys M-9; see "live: its launches are there still" "k  launch "
keys q; see "live: left" "left"
window_close
rm seen
window 100x30 "$live -- $app; echo left"
keys M-9
see "not asked: what to ask for" "'proton top --intra-trace' keeps what each warp did when"
touch seen
see "not asked: over" "ended"
keys q; see "not asked: left" "left"
window_close
finish
