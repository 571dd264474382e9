#!/bin/bash
# SPDX-License-Identifier: MIT
# Hardware counters on a real terminal (tmux), as a mock of CUPTI plants them: while a program runs, and when it is over.
tests=$(cd "${srcdir:-.}/tests" && pwd)
. "$tests/tools/cli_window.sh"
libs=$(dirname "$PROTON")/tests/mocks/.libs
case $libs in /*) ;; *) libs=$PWD/$libs ;; esac
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
app=${libs%/mocks/.libs}/programs/mock_cuda_app
mkdir lib && cp "$libs/libcuda.so.1" lib/
with="PROTON_CUPTI_PATH=$libs/mock_cupti.so LD_LIBRARY_PATH=$work/lib MOCK_CUPTI_CHIP=LIVE100"

# Until `going` is no more.
cat >app.sh <<END2
"$app" "$work/lib/libcuda.so.1" 1 100 >/dev/null
while [ -e going ]; do read -r -t 0.05 _ <> <(:) || :; done
END2
touch going
window 80x24 "$with $PROTON top --view counters --counters=5ms -o run.hatchet -- bash app.sh"
see "what is now" "NOW   MEAN"
see "a percentage" "62.5   62.5   62.5   62.5    %"
see "its name" "SM active"
see "above the panel, how much of the last second" "SM 62%"
see "a clock" "1755   1755   1755   1755  MHz"
rm going
see "it is over" ENDED
lacks() { ! screen | grep -q "NOW   MEAN"; }
check "nothing is now" 0 "$(wait_for 20 lacks; echo $?)"
keys q; window_close

window 80x24 "$PROTON view run.hatchet"
see "the tree" ROOT
keys M-8
see "of the profile" "62.5   62.5   62.5    %"
keys q; window_close

"$PROTON" record -q -o off.hatchet -- true
window 80x24 "$PROTON view --view counters off.hatchet"
see "none, and what would make some" "proton top and record read hardware counters with --counters"
keys q; window_close
finish
