#!/bin/bash
# proton metrics: what it lists of a mock of NVIDIA's library, with and without a GPU, and what it says
# where there is nothing to list.
. "${srcdir:-.}/tests/tools/cli_help.sh"
unset CUDA_VISIBLE_DEVICES LD_LIBRARY_PATH LD_PRELOAD MOCK_CUPTI_CHIP MOCK_CUPTI_HOST
libs=$(dirname "$PROTON")/tests/mocks/.libs
case $libs in /*) ;; *) libs=$PWD/$libs ;; esac
[ -e "$libs/mock_cupti.so" ] || { echo "no mock libraries in $libs"; exit 77; }
export PROTON_CUPTI_PATH=$libs/mock_cupti.so

status() { timeout 120 "$PROTON" metrics "$@" >out 2>err </dev/null; echo $?; }
names() { "$PROTON" metrics -f csv "$@" 2>&1 | tr -d '\r' | sed 1d | cut -d , -f 1 | tr '\n' ' '; }
json() { python3 -c 'import json, sys; d = json.load(open("out")); print(eval(sys.argv[1]))' "$1"; }

# ---- a chip by its name
check "a chip is listed" 0 "$(status --chip GH100)"
check "and what it is" "GH100, range profiler, as CUPTI 13.0 knows it
8 metrics: 6 counters, 1 ratio, 1 throughput" "$(head -2 out)"
has "by the unit of the hardware" "dram (4)  " out
has "with unit and description" "  dram__bytes_read  byte       # of bytes read from DRAM" out
check "every metric, in order" "dram__bytes dram__bytes_read dram__sectors dram__throughput gpu__time_duration lts__refused lts__t_sector_hit_rate sm__cycles_active " \
	"$(names --chip GH100)"
hasnt "passes are not asked for" PASSES out
hasnt "a vendor does not steer the terminal" $'\033' out
check "nothing is left to look for" "" "$(grep ' $' out)"
check "in any case" 0 "$(status --chip gh100)"
has "as the library writes it" "GH100, range" out
check "another chip has others" "dram__bytes dram__bytes_op_read dram__sectors dram__throughput gpu__time_duration lts__refused lts__t_sector_hit_rate sm__cycles_active smsp__sass_inst_executed " \
	"$(names --chip GA102)"
check "PM sampling has others" "dram__bytes dram__bytes_read dram__throughput gr__cycles_active TPC.Triage.sm__cycles_active sm__cycles_active " \
	"$(names --chip GH100 --kind pm)"
check "the chips" "0 GH100 GA102 GV100 " "$(status --chips) $(tr '\n' ' ' <out)"

# ---- what is asked for
check "a part of names" "dram__bytes_read dram__sectors " "$(names --chip GH100 sectors read)"
check "a whole name is that one" "dram__bytes " "$(names --chip GH100 dram__bytes)"
check "as files are named" "dram__bytes gpu__time_duration " "$(names --chip GH100 'dram__byte?' 'gpu*')"
check "passes of each" 0 "$(status --chip GH100 dram)"
check "in front" "     1  dram__bytes       byte       # of bytes accessed in DRAM
     2  dram__throughput  percent    DRAM throughput, \"all\" of it" "$(grep -E '_bytes  |_throughput' out)"
check "none that is not known" "     -  lts__refused            -        nobody can count it" \
	"$("$PROTON" metrics --chip GH100 --passes | grep refused)"
status --chip GH100 dram__bytes >/dev/null
has "one metric: with what it is counted" \
	"behind its name: .avg .max .sum; and with nothing or one of these behind that: .per_second" out
status --chip GH100 lts__t_sector_hit_rate >/dev/null
has "also what is no product" "behind its name: .pct .ratio" out
check "with what stands behind it" "0 1 of 1 metric, together in 1 pass" \
	"$(status --chip GH100 dram__bytes.sum) $(sed -n 2p out)"
check "several are counted together" "0 2 of 2 metrics, together in 3 passes" \
	"$(status --chip GH100 dram__bytes.sum dram__throughput.avg.pct_of_peak_sustained_elapsed) $(sed -n 2p out)"
check "beside a pattern" "dram__bytes.sum sm__cycles_active " "$(names --chip GH100 dram__bytes.sum cycles)"

# ---- JSON and CSV
status --chip GH100 -f json dram__throughput lts__refused >/dev/null
check "JSON" "GH100 range 130001 2 1 2 None throughput percent" \
	"$(json '"%s %s %s %s %s %s %s %s %s" % (d["chip"], d["kind"], d["cupti"]["version"], len(d["metrics"]), len(d["submetrics"]["throughput"]), d["metrics"][0]["passes"], d["metrics"][1]["passes"], d["metrics"][0]["type"], d["metrics"][0]["unit"])')"
check "CSV" 'dram__throughput,throughput,dram,percent,2,,"DRAM throughput, ""all"" of it"' \
	"$("$PROTON" metrics --chip GH100 -f csv dram__throughput | tr -d '\r' | sed -n 2p)"
status --chips -f json >/dev/null
check "chips as JSON" "['GH100', 'GA102', 'GV100']" "$(json 'd["chips"]')"

# ---- names that are not there
check "a slip" 2 "$(status --chip GH100 dram__byte.sum)"
check "nearest names" "proton: GH100 has no metric 'dram__byte.sum' (range profiler), did you mean 'dram__bytes'?" "$(cat err)"
check "nothing is printed" "" "$(cat out)"
check "all of them are told" "2 2" "$(status --chip GH100 dram__bytez xyzzy dram) $(grep -c 'no metric' err)"
hasnt "nothing is near to that" "xyzzy' (range profiler), did" err
check "one of another kind" 2 "$(status --chip GH100 gr__cycles_active)"
check "is found there" "proton: GH100 has no metric 'gr__cycles_active' (range profiler), but with --kind pm" "$(cat err)"
check "nothing matches" 2 "$(status --chip GH100 'x*')"
check "another end" 2 "$(status --chip GH100 dram__bytes.sun)"
has "is told apart" "'dram__bytes' is not counted with '.sun' behind it, did you mean '.sum'" err
check "a chip that is not there" 2 "$(status --chip GH10)"
check "the nearest" "proton: 'GH10' is not a chip that CUPTI 13.0 knows, did you mean 'GH100'? (see 'proton metrics --chips')" "$(cat err)"

# ---- sets
cat >mine <<'EOF'
about    of this test
passes   1
sm__cycles_active.avg
dram__bytes_op_read.sum dram__bytes_read.sum   # either
dram__throughput.avg.pct_of_peak_sustained_elapsed
lts__refused.sum
sm__nothing.sum
EOF
check "a set of one's own" 0 "$(status --chip GH100 --set ./mine)"
check "what fits" "./mine: of this test
GH100, range profiler, as CUPTI 13.0 knows it
2 of 5 metrics, together in 1 pass (at most 1)" "$(head -3 out)"
has "the name that the chip has" "     1  dram__bytes_read.sum " out
has "what was left out" "left out: with those before it, too many passes" out
has "what it does not have" "     -  sm__nothing.sum  " out
has "what is refused" "CUPTI cannot say how to count it" out
status --chip GA102 --set ./mine -f json >/dev/null
check "as JSON" "./mine 1 1 ['counted', 'counted', 'left out', 'refused', 'absent'] dram__bytes_op_read.sum" \
	"$(json '"%s %s %s %s %s" % (d["set"], d["most_passes"], d["passes"], [m["state"] for m in d["metrics"]], d["metrics"][1]["name"])')"
sed -i /passes/d mine
check "as many passes as it takes" "0 3 of 5 metrics, together in 3 passes" "$(status --chip GH100 --set ./mine) $(sed -n 3p out)"
check "one that is built in" "0 GH100, PM sampling, as CUPTI 13.0 knows it" "$(status --chip GH100 --set live) $(sed -n 2p out)"
check "by another kind" "0 GH100, range profiler, as CUPTI 13.0 knows it" "$(status --chip GH100 --set live --kind range) $(sed -n 2p out)"
check "none of that name" "2 proton: 'life' is not a set of metrics, did you mean 'live'? (see 'proton metrics --help')" \
	"$(status --set life) $(cat err)"
check "no file of that name" "1 proton: cannot read './none': No such file or directory" "$(status --set ./none) $(cat err)"
check "a folder" "1 proton: cannot read './': Is a directory" "$(status --set ./) $(cat err)"
echo bytes >>mine
check "no set" "1 proton: './mine', line 7: not a line of a set of metrics (see proton-metrics(1))" "$(status --set ./mine) $(cat err)"
check "nor with a NUL in it" "1 proton: './mine', line 2: not a line of a set of metrics (see proton-metrics(1))" \
	"$(printf 'sm__a.sum\n\0dram__bytes.sum\n' >mine; status --set ./mine) $(cat err)"
check "nor one without end" "1 proton: cannot read './long': File too large" "$(yes sm__a.sum | head -c 1100000 >long; status --set ./long) $(cat err)"
check "an empty one" "1 proton: './empty' has no metrics" "$(: >empty; status --set ./empty) $(cat err)"
check "a set stands alone" 2 "$(status --set live dram)"

# ---- the chip of this machine
check "no GPU here" 2 "$(status)"
has "is said, with what to do" "name one with --chip, as GH100 for an H100 (see 'proton metrics --chips')" err
export LD_LIBRARY_PATH=$libs
check "a GPU that says its chip" "0 GA102, range profiler, as CUPTI 13.0 knows it" "$(MOCK_CUPTI_CHIP=GA102 status) $(head -1 out)"
check "one that does not" 2 "$(status)"
has "is said" "which chip? there is no GPU to ask (CUPTI does not tell the chip of device 0: error 999)" err
check "one that this CUPTI does not know" 2 "$(MOCK_CUPTI_CHIP=GR100 status)"
has "is named" "'GR100' is not a chip that CUPTI 13.0 knows" err
check "the chips, all the same" 0 "$(status --chips)"
unset LD_LIBRARY_PATH

# ---- libraries that are none
check "no library" 1 "$(PROTON_CUPTI_PATH=$work status --chip GH100)"
check "where it was looked for, and what has it" "proton: no libcupti of CUDA 12.6 or later at PROTON_CUPTI_PATH; pip has it as nvidia-cuda-cupti, the CUDA toolkit as cuda-cupti: name its folder in PROTON_CUPTI_PATH" "$(cat err)"
check "an older one" 1 "$(PROTON_CUPTI_PATH=$libs/mock_cupti_old.so status --chip GH100)"
has "is told apart" "mock_cupti_old.so is older than CUDA 12.6, and knows no metrics" err
check "after which the next is asked" 0 "$(PROTON_CUPTI_PATH=$libs/mock_cupti_old.so:$libs/mock_cupti.so status --chip GH100)"
check "one that crashes takes nothing along" 1 "$(MOCK_CUPTI_HOST=crash status --chip GH100)"
has "and is named" "mock_cupti.so, asked for the metrics of GH100, crashed with SIGSEGV" err
check "one that fails" 1 "$(MOCK_CUPTI_HOST=fail status --chip GH100)"
has "says at what" "list of metrics: error 999 (asked: '$libs/mock_cupti.so')" err
check "a chip that cannot be sampled" 1 "$(status --chip GV100 --set live)"
has "says so" "GV100 has no PM sampling" err
check "a chip without metrics" "0 0 metrics" "$(status --chip GV100) $(sed -n 2p out)"

# ---- the terminal
check "a full disk is no success" 1 "$("$PROTON" metrics --chip GH100 >/dev/full 2>err; echo $?)"
check "and says so, once" "proton: cannot print: No space left on device" "$(cat err)"
check "an option that is not there" 2 "$(status --nonsense)"
for width in 40 80; do
	python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)' \
		sh -c "stty cols $width; '$PROTON' metrics --no-pager --chip GH100 dram__bytes" >out 2>err </dev/null
	check "lines of $width columns" "" "$(tr -d '\r' <out | grep -E ".{$((width + 1))}")"
	has "with all their words" "per_second" out
done
finish
