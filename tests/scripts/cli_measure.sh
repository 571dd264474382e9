#!/bin/bash
# SPDX-License-Identifier: MIT
# proton doctor --measure: what it prints and keeps, what uses it, and that no driver can take it along.
. "${srcdir:-.}/tests/tools/cli_help.sh"
unset CUDA_VISIBLE_DEVICES LD_PRELOAD XDG_STATE_HOME
libs=$(dirname "$PROTON")/tests/mocks/.libs
case $libs in /*) ;; *) libs=$PWD/$libs ;; esac
[ -e "$libs/sick_library.so" ] || { echo "no mock libraries in $libs"; exit 77; }
export LC_ALL=C.UTF-8 HOME=$PWD/home
mkdir gpu home
ln -s "$libs/libcuda.so.1" gpu/libcuda.so.1

measure() { LD_LIBRARY_PATH=$PWD/gpu timeout 120 "$PROTON" doctor --measure "$@" >out 2>err </dev/null; echo $?; }
file=home/.local/state/proton/peaks
first=GPU-00010203-0405-0607-0809-0a0b0c0d0e0f
second=GPU-10111213-1415-1617-1819-1a1b1c1d1e1f
rates="to_device=5e+10 to_host=4e+10 pageable_to_device=8e+09 device_to_pageable=6e+09 memory=2e+12"

check "it measures" 0 "$(measure)"
check "nothing on standard error" "" "$(cat err)"
check "what it prints" "\
Mock GPU 0 ($first)
  pinned memory to the device        50.0 GB/s
  the device to pinned memory        40.0 GB/s
  pageable memory to the device      8.00 GB/s
  the device to pageable memory      6.00 GB/s
  memory of the device               2000 GB/s" "$(head -6 out)"
check "where it is kept" "kept in $PWD/$file: reports and screens use it for these devices" "$(tail -1 out)"
check "a line a device" "$first $rates|$second $rates|" "$(grep -v '^#' $file | tr '\n' '|')"
check "that nobody else may look at" 700 "$(stat -c %a home/.local/state/proton)"

# Others' lines stay, what is no line goes, and the same device has one.
{ echo "$first to_device=1 memory=2"; echo "nonsense"; echo "GPU-other memory=5 to_host=x"; echo; } >$file
check "again" 0 "$(measure)"
check "each has one line" "GPU-other memory=5|$first $rates|$second $rates|" "$(grep -v '^#' $file | tr '\n' '|')"
check "nothing is left beside it" peaks "$(ls home/.local/state/proton)"
check "in XDG_STATE_HOME" 0 "$(XDG_STATE_HOME=$PWD/state measure)"
check "… it is" "$first" "$(grep -o "^$first" state/proton/peaks)"

# Reports of these devices use it.
PROTON_CUPTI_PATH=$libs/mock_cupti.so timeout 120 "$PROTON" record -q -o m.hatchet -- \
	"$(dirname "$PROTON")/tests/programs/collect_memory" "$libs/libcuda.so.1" kinds >/dev/null 2>&1
check "a run on it" 0 $?
"$PROTON" report --view devices m.hatchet >report
check "devices say it" "50.0 40.0 8.00 6.00 2000 GPU0" "$(grep -A2 '^Measured by' report | tail -1 | tr -s ' ' | sed 's/^ //')"
XDG_STATE_HOME=$PWD/nowhere "$PROTON" report --view devices m.hatchet >report
hasnt "where nothing was measured nothing is said" "Measured by" report
# 2 MB of pinned memory in 100 us are 20 GB/s of 50.
python3 - "$first" <<'PY'
import json, sys
copy = lambda name, n, size, ns: {"frame": {"name": name, "type": "function"}, "metrics": {
    "count": n, "bytes": n * size, "time (ns)": n * ns, "device_id": "0", "device_type": "CUDA"}, "children": []}
root = {"frame": {"name": "ROOT", "type": "function"}, "metrics": {"count": 0, "time (ns)": 0}, "children": [
    copy("memcpy HtoD pinned", 1000, 2000000, 100000), copy("memcpy DtoH pinned", 1000, 2000000, 50000)]}
root["proton"] = {"devices": [{"type": "CUDA", "index": 0, "arch": "90", "uuid": sys.argv[1]}]}
device = {"arch": "90", "bus_width": 6144, "clock_rate": 1980000, "memory_clock_rate": 3201000, "num_sms": 132}
json.dump([root, {"CUDA": {"0": device}}], open("slow.hatchet", "w"))
PY
"$PROTON" report --view memory slow.hatchet | sed -n '/^Copies, from/,$p' | tr -s ' ' >report
has "copies are a share of it" "2.00G 50.0 100ms 1000 2.00M 20.0 40.0 host pinned to GPU0" report
has "… that one, too" "2.00G 50.0 50.0ms 1000 2.00M 40.0 100.0 GPU0 to host pinned" report
has "… and of what is said" "(PEAK%: of what proton doctor --measure measured of pinned copies)" report
"$PROTON" advise --width 200 slow.hatchet >report
has "the finding says by how much" "long pinned copies to it at 20.0 GB/s; proton doctor measured 50.0" report
hasnt "only of what is slow" "long pinned copies from it" report
"$PROTON" advise -f json slow.hatchet | python3 -c '
import json, sys
print([f["price_ns"] for f in json.load(sys.stdin)["findings"] if f["rule"] == "link"])' >price
check "at the price of the difference" "[60000000.0]" "$(sed 's/\[60000000\]/[60000000.0]/' price)"
"$PROTON" viewer -l slow.hatchet >/dev/null 2>&1
check "proton viewer is as Triton's" "$(XDG_STATE_HOME=$PWD/nowhere "$PROTON" viewer -m util slow.hatchet 2>&1)" \
	"$("$PROTON" viewer -m util slow.hatchet 2>&1)"

# What is odd in the file harms nobody.
head -c 100000 /dev/urandom >$file
"$PROTON" report --view devices m.hatchet >/dev/null 2>err
check "a broken file" "0 " "$? $(cat err)"
rm $file; mkdir $file
"$PROTON" report --view devices m.hatchet >/dev/null 2>err
check "a folder in its place" "0 " "$? $(cat err)"
check "cannot be written" 1 "$(measure)"
has "… and why" "cannot write '$PWD/$file'" err
check "no HOME" 1 "$(HOME= measure)"
has "… is said" "neither XDG_STATE_HOME nor HOME names a folder" err
check "a full disk is no success" 2 "$(LD_LIBRARY_PATH=$PWD/gpu XDG_STATE_HOME=$PWD/state "$PROTON" doctor --measure >/dev/full 2>err; echo $?)"

# Drivers that are not there, not well, or not willing.
rm -r $file
check "no memory" 1 "$(MOCK_CUDA_FULL=1 measure)"
has "… is said" "it has no 512 MiB of memory to spare" err
check "no context" 1 "$(MOCK_CUDA_NO_CONTEXT=all measure)"
has "… is said" "no context (error 46)" err
check "… nothing is kept" "no" "$([ -e $file ] && echo yes || echo no)"
rm gpu/libcuda.so.1
ln -s "$libs/sick_library.so" gpu/libcuda.so.1
for sick in crash exit; do
	check "a driver that has $sick in it" 1 "$(SICK=$sick measure)"
	has "… is said" "loading libcuda.so.1" err
done
check "a library that is no driver" 1 "$(measure)"
has "… is said" "libcuda.so.1 has no cuInit" err
rm gpu/libcuda.so.1
check "none" 1 "$(measure)"
has "… is said" "nothing was measured" err
check "not with JSON" 2 "$(measure --json)"
check "nor with features" 2 "$(measure cuda)"
finish
