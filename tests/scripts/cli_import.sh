#!/bin/bash
# SPDX-License-Identifier: MIT
# What other tools wrote is told by its content and read by every command.
# Each file in tests/chrome, and each database that tests/databases makes, has a NAME.report;
# PROTON_GOLDEN=update make check TESTS=tests/scripts/cli_import.sh writes them anew.
chrome=$(cd "${srcdir:-.}/tests/chrome" && pwd) || exit 99
databases=$(cd "${srcdir:-.}/tests/databases" && pwd) || exit 99
stacks=$(cd "${srcdir:-.}/tests/stacks" && pwd) || exit 99
tests=${stacks%/*}
build=$PWD
. "${srcdir:-.}/tests/tools/cli_help.sh"
columns=time/us,count,cpu_time/us,launch_time/us,bytes,cycles,flops
sections="--section tree --section transfers --section devices --section losses --section notes"

golden() { # golden "what" file-that-was-made golden-file
	if [ "${PROTON_GOLDEN:-}" = update ]; then
		cp "$2" "$3"
	fi
	if diff -u "$3" "$2" >diff.out; then echo "ok: $1"; else
		echo "FAILED: $1"; head -40 diff.out; n_failed=$((n_failed + 1)); fi
}

# shellcheck disable=SC2086 # the sections are words
report() { # report FILE: as the golden files are made
	"$PROTON" report --ascii -m "$columns" $sections "$1"
}

for trace in torch.json h200-torch-graph.json h200-torch-stack.json h200-triton.chrome_trace \
	proton.chrome_trace cycles.chrome_trace array.json nsys.json xla.json; do
	cp "$chrome/$trace" named-otherwise
	report named-otherwise >report 2>err
	check "$trace: report" "0 " "$? $(cat err)"
	golden "$trace: report is as expected" report "$chrome/$trace.report"
	report - <"$chrome/$trace" >piped; check "$trace: standard input" "" "$(diff report piped | head -3)"
	"$PROTON" export -f hatchet named-otherwise >again.hatchet
	report again.hatchet >again; check "$trace: as Hatchet" "" "$(diff report again | head -5)"
done

# How kernels were launched, where a trace says it: of a device of 132 multiprocessors of capability 9.0, and of one whose
# numbers are another vendor's.
launches() { "$PROTON" report --view launches "$1" | sed '/^(/,$d' | awk '{$NF = ""; print}' | cut -d' ' -f2-12 | sed -n 2,3p; }
check "launches of a trace" "4 100.0 32 4356 - 0.009 0.0 0ns full 2x1x5 16x16
4 37.5 74 20.5K - 0.04 0.0 0ns regs 8x1x4 128" "$(launches "$chrome/h200-torch-graph.json")"
sed 's/"warpSize": 32/"warpSize": 64/' "$chrome/h200-torch-graph.json" >waves_of_64.json
check "… of another vendor's device" "4 - 32 4356 - - - - - 2x1x5 16x16" "$(launches waves_of_64.json | head -1)"
"$PROTON" export -f hatchet "$chrome/h200-torch-graph.json" >launches.hatchet
check "… through a file" "$(launches "$chrome/h200-torch-graph.json")" "$(launches launches.hatchet)"
one_kernel() { # one_kernel GRID: a second of one that has all warps
	cat <<-EOF
		{"deviceProperties": [{"id": 0, "name": "H", "computeMajor": 9, "computeMinor": 0, "warpSize": 32, "numSms": 100}],
		 "traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1000000, "args": {"device": 0,
		  "grid": $1, "block": [256, 1, 1], "registers per thread": 32, "shared memory": 0}}]}
	EOF
}
one_kernel '[40, 1, 1]' >one_kernel.json
check "… that leave a device empty" "1 kernel in 1.00s, 60.0% of the multiprocessors without a block" \
	"$("$PROTON" advise one_kernel.json | sed -n '3s/^ *//p')"
for grid in '[40]' '[40, -1, 1]' '[40, null, "1"]'; do
	one_kernel "$grid" >one_kernel.json
	check "… of a grid $grid" "1 100.0 32 0 - - - - full 40 256 no findings" \
		"$(launches one_kernel.json) $("$PROTON" advise one_kernel.json)"
done

# Copies by stream, and what ran beside them, in no order, on two devices; one stream is not known.
python3 -c '
import json, random
random.seed(5)
names = [f"Memcpy {d}" for d in ("HtoD (Pinned -> Device)", "DtoH (Device -> Pageable)", "DtoD (Device -> Device)")]
events = []
for i in range(6000):
    args = {"device": random.randrange(2), "context": 1, "stream": random.randrange(1, 6)}
    copies = random.random() < 0.3
    if copies:
        args["bytes"] = random.choice((1, 1023, 1024, 5000, 1 << 30))
    if args["stream"] == 5:
        del args["stream"]
    events.append({"ph": "X", "cat": "gpu_memcpy" if copies else "kernel", "ts": random.randrange(1000000) / 1000,
                   "name": random.choice(names) if copies else "gemm", "args": args,
                   "dur": random.choice((0, 1, 30, 200, 900)) / 1000})
print(json.dumps({"traceEvents": events}))' >streams.json
python3 "$databases/check_copies.py" "$PROTON" streams.json >out 2>&1
check "a trace: copies by stream" "30 streams" "$(sed 's/,.*//' out)"
# Copies that took no time have no speed, and no line of it is wider than a screen.
echo '{"traceEvents": [{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pinned)", "pid": 0, "tid": 7,
	"ts": 10, "dur": 0, "args": {"device": 0, "stream": 7, "bytes": 4096}}]}' >no_time.json
"$PROTON" report --ascii --view transfers no_time.json >out
check "no time: no speed" "- GPU0 to host pinned" "$(grep 'GPU0 to host pinned' out | tr -s ' ' | cut -d ' ' -f 7-)"
check "no time: lines" "" "$(awk 'length > 80' out)"
"$PROTON" report --ascii --view transfers streams.json | sed -n '/^Copies by stream/,/^$/p' >out
check "a trace: a stream that is not known, and no channel" "6 - -" \
	"$(awk '$9 ~ /^GPU/ && $7 == "-" { n++; also = $7 " " $8 } END { print n, also }' out)"

# What ran in a stream that nobody told is in none, wherever streams are told apart.
in_streams() { "$PROTON" report --ascii -g stream -d 2 "$1" --section tree | grep -o 'GPU[01] .*stream.*' | sort; }
two() { for device in 0 1; do printf 'GPU%s%s\n' $device " stream 1" $device " stream 2" $device " stream 3" $device " stream 4" $device " no stream"; done | sort; }
check "a stream that is not known: by stream" "$(two)" "$(in_streams streams.json)"
"$PROTON" export -f chrome streams.json >streams.chrome_trace
check "a stream that is not known: as a trace, and back" "$(two)" "$(in_streams streams.chrome_trace)"
check "a stream that is not known: is not in the events" "" "$(grep -o '"stream":0\|"stream":42.*' streams.chrome_trace | head -3)"
"$PROTON" export -f hatchet streams.json >streams.hatchet
check "a stream that is not known: as Hatchet, and back" "$(two)" "$(in_streams streams.hatchet)"
"$PROTON" report --ascii --view transfers streams.json >out
"$PROTON" report --ascii --view transfers streams.hatchet >again
check "copies by stream, of no process: as Hatchet, and back" "" "$(diff out again | head -5)"
check "a stream that is not known: over time" "2 0" \
	"$("$PROTON" report --view timeline streams.json >out; echo "$(grep -c '^ *no stream' out) $(grep -c 'stream 0\|stream 42' out)")"

# A channel that is no number is not known, and is not channel 0; what has lost its place adds up.
python3 -c '
import json
lanes = []
def find(value):
    if isinstance(value, dict):
        lanes.extend(value.get("copy_lanes", []))
        for v in value.values():
            find(v)
    elif isinstance(value, list):
        for v in value:
            find(v)
profile = json.load(open("streams.hatchet"))
find(profile)
first = lanes[0]
for lane, channel in zip(lanes, (0, "x", -1, 1.5, 1 << 32, None, 7)):
    lane.update(first, channel_kind="copy", channel=channel, count=1, time_ns=10, hidden_ns=4, unsure_ns=0)
json.dump(profile, open("channels.hatchet", "w"))' || n_failed=$((n_failed + 1))
check "channels that are no numbers: not known" "('', 0, 5, 50, 20) ('copy', 0, 1, 10, 4) ('copy', 7, 1, 10, 4)" \
	"$("$PROTON" export -f json channels.hatchet | python3 -c '
import json, sys
lanes = [l for l in json.load(sys.stdin)["copy_lanes"] if l["time_ns"] in (10, 50)]
print(*sorted((l["channel_kind"], l["channel"], l["count"], l["time_ns"], l["hidden_ns"]) for l in lanes))')"

# A filter leaves all of what ran on a device, or a part of what ran in a stream, of which no more is known.
beside() { "$PROTON" report --ascii --view transfers "$@" streams.json; }
beside -g device -i GPU1 >out
check "a filter: of one device" "15 GPU1 0" \
	"$(sed -n '/^Copies by stream/,$p' out | awk '$9 ~ /^GPU/ { print $9 }' | sort | uniq -c | awk '{ $1 = $1 } 1') $(grep -c 'of the whole run' out)"
check "a filter: from where to where, and sizes" "3 0 $(beside | grep -c GPU1)" "$(grep -c 'within GPU1\|to GPU1\|GPU1 to' out) $(grep -c GPU0 out) $(grep -c GPU1 out)"
sums() { sed -n '/^Copies, from/,/^$/p' "$1" | awk '/GPU/ { n += $4 } END { print n }'; }
sizes() { sed -n '/^Sizes/,/^$/p' "$1" | awk '/KiB|GiB/ { n += $1 + $3 + $5 } END { print n }'; }
check "a filter: as many in each table" "True True" "$(python3 -c "
import sys
copies, sizes, all = map(int, sys.argv[1:])
print(copies == sizes, 0 < copies < all)" "$(sums out)" "$(sizes out)" "$(beside >all; sums all)")"
beside -e 'memcpy HtoD.*' >out
check "a filter: without one direction" "20 0" "$(sed -n '/^Copies by stream/,$p' out | grep -c 'GPU.$') $(grep -c 'HtoD\|of the whole run' out)"

# What a trace has as a share of several copies says nothing of their sizes.
"$PROTON" export -f chrome -o shares.json streams.json
check "a trace: shares have no size" "0 copies_of, 1 bytes_mean_of" "$("$PROTON" export -f json shares.json |
	grep -c 'copies_of_4KiB') copies_of, $(grep -c -m1 bytes_mean_of shares.json) bytes_mean_of"
moved() { "$PROTON" export -f json "$1" | python3 -c 'import json, sys
print(sum(p["bytes"] for p in json.load(sys.stdin)["traffic"]))'; }
check "a trace: their bytes" "$(moved streams.json)" "$(moved shares.json)"

# Stacks: recorded by py-spy, by Go, and by hand.
for profile in py-spy.json evented.json go-cpu.pb.gz go-heap.pb.gz; do
	case $profile in *.gz) grep -q 'define HAVE_ZLIB 1' "$build/config.h" || continue ;; esac
	cp "$stacks/$profile" named-otherwise
	"$PROTON" report --ascii --section tree --section losses --section notes named-otherwise >report 2>err
	check "$profile: report" "0 " "$? $(cat err)"
	golden "$profile: report is as expected" report "$stacks/$profile.report"
	"$PROTON" report --ascii --section tree --section losses --section notes - <"$stacks/$profile" >piped
	check "$profile: standard input" "" "$(diff report piped | head -3)"
	"$PROTON" export -f hatchet named-otherwise >again.hatchet
	"$PROTON" report --ascii --section tree --section losses --section notes again.hatchet >again
	check "$profile: as Hatchet" "" "$(diff report again | head -5)"
done

# Our own JSON is the whole profile: read and written, it is the same to the byte.
for profile in "$chrome"/torch.json "$chrome"/h200-torch-graph.json "$chrome"/nsys.json \
	"$tests"/hatchet/h200-torch-add-python.hatchet "$tests"/wire/overlap.tape; do
	"$PROTON" export -f json -o ours.json "$profile"
	"$PROTON" export -f json ours.json | cmp - ours.json; check "${profile##*/}: our JSON again" 0 $?
	"$PROTON" report "$profile" >report; "$PROTON" report ours.json >again
	check "${profile##*/}: report of our JSON" "" "$(diff report again | head -5)"
done

lanes() { # lanes FILE: contexts and streams of devices
	"$PROTON" export -f json "$1" | python3 -c 'import json, sys
print(len({(l["context"], l["stream"]) for l in json.load(sys.stdin)["lanes"] if l.get("device") is not None}))'
}
for stream in 7 4294967303 '"8589934599"' -1 -2 1e30 4294967303; do
	echo "${event:+,}{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"ts\":1,\"dur\":1,\"args\":{\"stream\":$stream,\"device\":0}}"
	event=more
done | { echo '{"traceEvents":['; cat; echo ']}'; } >handles.json
check "streams that are handles stay apart, in a trace" 6 "$(lanes handles.json)"

# Databases, made here: as nsys and rocprofiler-sdk would, and as nobody would.
if ! grep -q 'define HAVE_SQLITE 1' "$build/config.h"; then
	printf 'SQLite format 3\0' >db
	"$PROTON" report db 2>err; check "without sqlite3: status" 1 $?
	has "without sqlite3: said" "built without sqlite3" err
elif ! python3 "$databases/make_databases.py" . 2>err; then
	echo "skipped: databases: python3 cannot make them: $(tail -1 err)"
else
	for db in nsys.sqlite nsys_old.sqlite rocpd2.db rocpd3.db rocpd4.db matmul.rpd types.sqlite; do
		report "$db" >report 2>err
		check "$db: report" "0 " "$? $(cat err)"
		golden "$db: report is as expected" report "$databases/$db.report"
		cat "$db" | report - >piped; check "$db: a pipe" "" "$(diff report piped | head -3)"
		cp "$db" gone && (rm gone; report -) <gone >piped
		check "$db: removed" "" "$(diff report piped | head -3)"
	done
	for db in rocpd2.db rocpd3.db rocpd4.db; do
		"$PROTON" export -f json "$db" >json
		has "$db: a thread by its row" '"thread":4243' json
	done
	# Recorded by nsys itself: a program with NVTX, streams, threads, managed memory and graphs.
	for db in nsys-2023.4-node nsys-2025.3-graph nsys-2025.3-torch; do
		gzip -dc "$databases/$db.sqlite.gz" >"$db.sqlite"
		report "$db.sqlite" >report 2>err
		check "$db: report" "0 " "$? $(cat err)"
		golden "$db: report is as expected" report "$databases/$db.report"
		check "$db: the sums of SQL" "" "$(python3 "$databases/check_sums.py" "$PROTON" "$db.sqlite" 2>&1)"
		python3 "$databases/check_copies.py" "$PROTON" "$db.sqlite" >>copies 2>&1
	done
	check "copies by stream, and what ran beside them" "9 streams, 899839 ns hidden
9 streams, 968125 ns hidden
1 streams, 0 ns hidden" "$(cat copies)"
	# What never ended lasts until the end; what has no time is lost, not there at time 0.
	"$PROTON" report --ascii --section tree -m count,cpu_time/ns open.sqlite | sed 's/  */ /g; s/^ //' >out
	check "ranges that never ended" "1 393.000 ROOT
1 199.000 |- training
1 25.000 | \`- step
1 - | \`- k
- 194.000 \`- epoch" "$(grep -v NAME out | grep -v '^#')"
	for db in open.sqlite open2.db open3.db open.rpd; do
		"$PROTON" export -f json "$db" | python3 -c 'import json, sys
p = json.load(sys.stdin)
print(*[p["losses"].get(w + "_timestamps", 0) for w in ("zero", "reversed")], sum(i["end_ns"] > 10000 for i in p["intervals"]))' >>lost
	done
	check "no time is not time 0" "3 0 0 1 0 0 1 0 0 1 0 0" "$(xargs <lost)"
	check "streams that are handles stay apart" "7 2 2" "$(lanes handles.sqlite) $(lanes handles.db) $(lanes handles.rpd)"
	gzip -c nsys.sqlite >nsys.gz
	report nsys.sqlite >report; report nsys.gz >out
	check "a database in gzip" "" "$(diff report out | head -3)"
	said() { # said "what" file "line": it is the only one, and the exit status is 1
		timeout 120 "$PROTON" report "$2" >out 2>err; check "$1: status" 1 $?
		check "$1: said" "proton: $2: $3" "$(cat err)"
	}
	said "a database of others" other.sqlite \
		"an SQLite database, but neither nsys nor rocprofiler-sdk wrote it"
	said "a table without times" no_times.sqlite \
		"wrong shape: table 'CUPTI_ACTIVITY_KIND_KERNEL' has no column 'start'"
	said "a schema that cannot be read" schema.sqlite \
		'SQLite: malformed database schema (v) - near "VIE": syntax error'
	said "computed columns" computed.sqlite \
		"wrong shape: a table has columns that are computed"
	head -c 9000 nsys.sqlite >cut.sqlite; said "a cut database" cut.sqlite "truncated at byte 9000"
	head -c 16 nsys.sqlite >head.sqlite; said "a database's first bytes" head.sqlite "truncated at byte 16"
	said "a view instead of a table" view.sqlite \
		"a report of nsys without CUDA activity (nsys profile --trace cuda,nvtx)"
	said "rocpd without events" rpd.db "a rocpd database without regions, kernels and copies"
fi

# Packed, whatever it is.
"$PROTON" report "$chrome/torch.json" >plain
if ! grep -q 'define HAVE_ZLIB 1' "$build/config.h"; then
	gzip -c "$chrome/torch.json" >t.gz
	"$PROTON" report t.gz 2>err; check "without zlib: status" 1 $?
	has "without zlib: said" "built without zlib" err
else
	gzip -c "$chrome/torch.json" >t.gz
	"$PROTON" report t.gz >out; check "gzip" "" "$(diff plain out | head -3)"
	"$PROTON" report - <t.gz >out; check "gzip, standard input" "" "$(diff plain out | head -3)"
	(head -c 700 "$chrome/torch.json" | gzip; tail -c +701 "$chrome/torch.json" | gzip) >two.gz
	"$PROTON" report two.gz >out; check "gzip of two members" "" "$(diff plain out | head -3)"
	"$PROTON" export -f hatchet t.gz | gzip >h.gz
	"$PROTON" report h.gz >out; check "gzip of Hatchet" "" "$(diff plain out | head -3)"
	head -c 400 t.gz >cut.gz
	"$PROTON" report cut.gz 2>err; check "gzip, cut: status" 1 $?
	check "gzip, cut: said" "proton: cut.gz: gzip: truncated at byte 400" "$(cat err)"
	head -c 900 "$chrome/torch.json" | gzip >inner.gz
	"$PROTON" report inner.gz 2>err; check "a cut trace in gzip: status" 1 $?
	check "a cut trace in gzip: said" \
		"proton: inner.gz: truncated at byte 900 of what is packed" "$(cat err)"
fi

# What has no place in a profile is counted.
cat >mixed.json <<'EOF'
{"traceEvents":[{"ph":"X","name":"f","ts":1,"dur":9,"pid":1,"tid":1},
{"ph":"b","cat":"c","id":1,"name":"a","ts":1},{"ph":"n","cat":"c","id":1,"name":"a","ts":2},
{"ph":"e","cat":"c","id":1,"name":"a","ts":3},{"ph":"s","cat":"ac2g","id":1,"name":"a","ts":1},
{"ph":"f","cat":"ac2g","id":1,"name":"a","ts":2},{"ph":"C","name":"m","ts":1,"args":{"v":1}},
{"ph":"i","name":"[memory]","ts":1},{"ph":"i","name":"Iteration Start: PyTorch Profiler","ts":1},
{"ph":"X","cat":"overhead","name":"Buffer Flush","ts":1,"dur":2},{"ph":"X","name":"g"},
{"ph":"?","name":"g","ts":1},{"name":"h","ts":1},{}]}
EOF
"$PROTON" report --section notes mixed.json >out
check "left out: counted" "left out: asynchronous events: 2, instants: 1, values of counters: 1, \
overhead of the profiler: 1, events without a time: 1, events of no known kind: 2" "$(tail -1 out)"
"$PROTON" report --section notes "$chrome/torch.json" >out; check "left out: nothing" none "$(tail -1 out)"

# Work by begin and end, whose end says only when; what is not kept nests with it. One that never ends, or
# is complete without a duration, is counted, and none of its time is made up.
cat >pairs.json <<'EOF'
{"traceEvents":[{"ph":"B","name":"k","cat":"kernel","ts":0,"pid":0,"tid":7,"args":{"device":0,"stream":7}},
{"ph":"E","name":"k","cat":"kernel","ts":5,"pid":0,"tid":7},
{"ph":"B","name":"note","cat":"gpu_user_annotation","ts":10,"pid":0,"tid":7},
{"ph":"B","name":"k","cat":"kernel","ts":11,"pid":0,"tid":7,"args":{"device":0,"stream":7}},
{"ph":"E","ts":14,"pid":0,"tid":7},{"ph":"E","ts":15,"pid":0,"tid":7},
{"ph":"B","name":"Memcpy HtoD (Pinned -> Device)","cat":"gpu_memcpy","ts":20,"pid":0,"tid":8,"args":{"device":0,"stream":8,"bytes":64}},
{"ph":"E","ts":22,"pid":0,"tid":8},
{"ph":"B","name":"open","cat":"kernel","ts":30,"pid":0,"tid":8,"args":{"device":0,"stream":8}},
{"ph":"X","name":"endless","cat":"kernel","ts":31,"pid":0,"tid":9,"args":{"device":0,"stream":9}},
{"ph":"X","name":"f","cat":"cpu_op","ts":31,"pid":1,"tid":1}]}
EOF
"$PROTON" report --ascii --section tree,losses,notes -m time/us,count,BYTES pairs.json >out
check "work by begin and end" "## Calling contexts time/us count BYTES NAME 10.000 3 64 ROOT \
8.000 2 - |- k 2.000 1 64 \`- memcpy HtoD pinned ## Losses 2 records without timestamps \
## Notes left out: ranges without a duration: 1" "$(xargs <out)"

# Calls that launched are numbers of their caller; without work or caller they are shown.
cat >launches.json <<'EOF'
{"traceEvents":[{"ph":"X","cat":"cpu_op","name":"op","ts":0,"dur":50,"pid":1,"tid":1},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":1,"dur":9,"pid":1,"tid":1,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_driver","name":"cuLaunchKernel","ts":2,"dur":5,"pid":1,"tid":1,"args":{"correlation":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":20,"dur":4,"pid":1,"tid":1,"args":{"correlation":2}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernelExC","ts":30,"dur":4,"pid":1,"tid":1,"args":{"correlation":9}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","ts":60,"dur":4,"pid":1,"tid":1,"args":{"correlation":3}},
{"ph":"X","cat":"kernel","name":"k","ts":70,"dur":2,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","ts":72,"dur":2,"args":{"correlation":2}},
{"ph":"X","cat":"kernel","name":"k","ts":74,"dur":2,"args":{"correlation":3}}]}
EOF
"$PROTON" report --ascii --section tree -m count,cpu_time/us,launch_time/us,launch_count launches.json |
	sed 's/  */ /g; s/^ //' >out
check "launches" "count cpu_time/us launch_time/us launch_count NAME
3 54.000 13.000 2 ROOT
2 50.000 13.000 2 |- op
2 - - - | |- k
- 4.000 - - | \`- cudaLaunchKernelExC
1 - - - |- k
- 4.000 - - \`- cudaLaunchKernel" "$(tail -n +1 out | grep -v '^#')"

# What a trace's owner knew of the run may stand before the events, however long it is.
{ printf '{"metadata": {"log": "'; head -c 200000 /dev/zero | tr '\0' x; printf '"},'; tail -c +2 "$chrome/torch.json"; } >long
"$PROTON" report long >out 2>err; check "metadata before the events" "" "$(diff plain out | head -3)$(cat err)"
# Stacks that begin as JSON and XML do.
printf '[unknown];main 5\n<string>:1@<module>;f 7\n{lambda(int)};g 9\n' >stacks
for stack in unknown string lambda; do
	grep $stack stacks >first.folded; "$PROTON" report first.folded >out 2>err
	has "folded stacks, first $stack" "$stack" out
done
# Where nothing ran on a device, the host's time is what is weighed, each range without those in it.
cat >host.json <<'END'
{"traceEvents": [{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "name": "outer", "ts": 0, "dur": 10},
{"ph": "X", "cat": "cpu_op", "pid": 1, "tid": 1, "name": "inner", "ts": 2, "dur": 3}]}
END
"$PROTON" export -f folded host.json >out
check "folded stacks of the host's time" "outer 7000 outer;inner 3000" "$(echo $(cat out))"
"$PROTON" export -f flamegraph host.json >out; has "a flame graph of it" "outer: 10000 ns (100.00 %)" out

# A trace that knows no process knows how long its device was busy, and so does what is made of it.
cat >nopid.json <<'END'
{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 5, "args": {"device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "ts": 3, "dur": 5, "args": {"device": 0, "stream": 8}}]}
END
"$PROTON" export -f hatchet -o nopid.hatchet nopid.json; "$PROTON" merge -o nopid.merged.hatchet nopid.hatchet
for file in nopid.json nopid.hatchet nopid.merged.hatchet; do
	"$PROTON" report --section devices --section notes "$file" >out
	check "$file: busy" "7.00us 100.0 10.0us 2 none" "$(awk '/GPU0/ { printf "%s %s %s %s ", $2, $3, $4, $5 } END { print }' out)"
done

# How much of copies ran beside other work: 4 of 6 us, and of 7 us of kernels 4; what is made of it says so, too.
cat >beside.json <<'END'
{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": 5, "args": {"device": 0, "stream": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "ts": 3, "dur": 5, "args": {"device": 0, "stream": 8}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pinned -> Device)", "ts": 4, "dur": 2, "args": {"device": 0, "stream": 9, "bytes": 64}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pinned)", "ts": 5, "dur": 5, "args": {"device": 0, "stream": 10, "bytes": 64}}]}
END
"$PROTON" export -f hatchet -o beside.hatchet beside.json; "$PROTON" merge -o beside.merged.hatchet beside.hatchet
"$PROTON" export -f json -o beside.ours.json beside.hatchet
for file in beside.json beside.hatchet beside.merged.hatchet beside.ours.json; do
	"$PROTON" report --view devices "$file" >out
	check "$file: copies beside other work" "GPU0 6.00us 66.7 57.1" "$(grep -A2 '^Their copies' out | tail -1 | xargs)"
	has "$file: in the report of memory" "(copies ran in 6.00us; other work ran there, too, in 4.00us of that, 66.7%)" \
		<("$PROTON" report --view memory "$file")
done
check "without copies nothing is said of them" "" "$("$PROTON" report --view devices,memory nopid.json | grep -i "copies ran\|Their copies")"
# A file may say what cannot be: no more is hidden than there was.
sed 's/"hidden_ns": *[0-9]*/"hidden_ns": 99000000/' beside.hatchet >odd.hatchet
check "more hidden than copied" "GPU0 6.00us 100.0 66.7" "$("$PROTON" report --view devices odd.hatchet | grep -A2 '^Their copies' | tail -1 | xargs)"

# The other commands.
"$PROTON" view "$chrome/torch.json" </dev/null >view.out; has "view" aten::linear view.out
"$PROTON" list "$chrome/torch.json" >list.out; has "list" "cpu_time (ns)" list.out
"$PROTON" export -f folded "$chrome/torch.json" >folded.out
has "export" "aten::mm;sm90_xmma_gemm_f32f32 8128" folded.out
"$PROTON" diff "$chrome/torch.json" "$chrome/nsys.json" >diff.out; has "diff" vecadd diff.out
"$PROTON" merge -o merged.hatchet "$chrome/torch.json" "$chrome/nsys.json" >merge.out
"$PROTON" report --tree merged.hatchet >merged.out
has "merge: one" vecadd merged.out
has "merge: the other" aten::mm merged.out
"$PROTON" export -f tape "$chrome/torch.json" 2>err; check "what cannot be written: status" 2 $?
# No collector of ours was there: what it would have counted is absent, not 0.
check "processes of others" "4242 - 3 - ended - - - python3" \
	"$("$PROTON" report --section processes "$chrome/torch.json" | tail -1 | xargs)"
finish
