#!/bin/bash
# proton metrics with NVIDIA's own library, which needs no GPU for it: chips by name, and what is known of
# their passes. Where it is: PROTON_CUPTI_PATH, a CUDA toolkit, or Python's package nvidia-cuda-cupti.
. "${srcdir:-.}/tests/tools/cli_help.sh"
wheel=$(python3 -c '
import glob, sysconfig
print(":".join(f for p in ("purelib", "platlib") for f in glob.glob(sysconfig.get_path(p) + "/nvidia/*/lib")
    if glob.glob(f + "/libcupti.so*")))' 2>/dev/null)
if ! "$PROTON" metrics --chips >out 2>err </dev/null; then
	export PROTON_CUPTI_PATH=${PROTON_CUPTI_PATH:-$wheel}
	"$PROTON" metrics --chips >out 2>err </dev/null || { echo "skipped: no real libcupti: $(tail -1 err)"; exit 77; }
fi
version=$("$PROTON" metrics --chips -f json | python3 -c 'import json, sys; print(json.load(sys.stdin)["cupti"]["version"])')

for chip in GH100 GA102 AD102 GA100; do
	check "$chip is known" 1 "$(grep -cx "$chip" out)"
done
counts() { "$PROTON" metrics --chip "$1" --kind "$2" | sed -n 2p; }
together() { "$PROTON" metrics --chip "$1" --set "$2" | sed -n 3p; }
for chip in GH100 GA102; do
	for kind in range pm; do
		n=$(counts "$chip" "$kind" | cut -d ' ' -f 1)
		check "$chip, $kind: hundreds of metrics" yes "$([ "${n:-0}" -gt 500 ] && echo yes || echo "$n")"
	done
	check "$chip: what is live takes one pass" "together in 1 pass (at most 1)" "$(together "$chip" live | sed 's/.*, //')"
	for metric in sm__cycles_active.avg.pct_of_peak_sustained_elapsed dram__read_throughput.avg.pct_of_peak_sustained_elapsed; do
		check "$chip: $metric is among it" counted "$("$PROTON" metrics --chip "$chip" --set live -f csv | grep "^$metric," | cut -d , -f 6)"
	done
done
absent() { "$PROTON" metrics --chip GH100 --set "$1" -f csv | sed 1d | grep -v ,counted, | cut -d , -f 1; }
for set in gmp memory tensor occupancy; do
	check "GH100 has all of $set" "" "$(absent $set)"
done
# What other chips call otherwise, or have besides.
check "GH100 has what operations and bytes are made of" "" "$(absent roofline | grep -vE '_op_f(add|mul|fma)2_pred_on|_src_fp(8|16)_dst_')"
check "a name that is not there" 2 "$("$PROTON" metrics --chip GH100 dram__byte.sum >out 2>err; echo $?)"
has "has a nearest one" "did you mean 'dram__bytes'" err
check "one with what stands behind it" "     1  dram__bytes.sum" "$("$PROTON" metrics --chip GH100 dram__bytes.sum | tail -1 | cut -c -23)"
# Numbers of one version of the library.
if [ "${version%??}" = 1300 ]; then
	check "GH100, ranges" "3650 metrics: 3389 counters, 205 ratios, 56 throughputs" "$(counts GH100 range)"
	check "GH100, PM sampling" "1279 metrics: 611 counters, 605 ratios, 63 throughputs" "$(counts GH100 pm)"
	check "GMP's thirty on GH100" "30 of 30 metrics, together in 6 passes" "$(together GH100 gmp)"
	check "a throughput" "     8  sm__throughput.avg.pct_of_peak_sustained_elapsed" \
		"$("$PROTON" metrics --chip GH100 sm__throughput.avg.pct_of_peak_sustained_elapsed | tail -1 | cut -c -56)"
fi
finish
