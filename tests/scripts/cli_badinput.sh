#!/bin/bash
# SPDX-License-Identifier: MIT
# Bad input, for every reader: one clear line with the file's name, exit status 1, and nothing worse.
traces=$(cd "${srcdir:-.}/tests" && pwd) || exit 99
build=$PWD
. "${srcdir:-.}/tests/tools/cli_help.sh"

built_with() { grep -q "define HAVE_$1 1" "$build/config.h"; }

# What each reader takes, made small.
PROTON_FAKE=$fake "$PROTON" record -q -o whole.hatchet -- sleep 0.1
"$PROTON" export -f hatchet_msgpack -o whole.msgpack whole.hatchet
"$PROTON" export -f folded -o whole.folded whole.hatchet
cp "$traces/chrome/torch.json" whole.json
cp "$traces/wire/copies.tape" whole.tape
"$PROTON" export -f json -o whole.ours whole.hatchet
cp "$traces/stacks/evented.json" whole.speedscope
cp "$traces/fuzz/corpus_import/pprof_go" whole.pprof
readers="hatchet msgpack folded json tape ours speedscope pprof"
if built_with ZLIB; then
	gzip -nc whole.json >whole.gz
	readers+=" gz"
fi
if built_with SQLITE && python3 "$traces/databases/make_databases.py" . 2>/dev/null; then
	cp rocpd2.db whole.db
	readers+=" db"
fi

# ends_well "what" FILE: read, or refused in one line that names the file; never by a signal.
ends_well() {
	local status
	timeout 120 "$PROTON" report "$2" >out 2>err
	status=$?
	if [ $status = 0 ]; then
		[ ! -s err ] && return 0
	elif [ $status = 1 ]; then
		[ "$(wc -l <err)" = 1 ] && grep -q "^proton: $2: " err && return 0
	fi
	echo "FAILED: $1: exit status $status: $(head -3 err)"
	n_failed=$((n_failed + 1))
}

# refused "what" FILE ["text"]: as above, but it must not be read.
refused() {
	timeout 120 "$PROTON" report "$2" >out 2>err; check "$1: status" 1 $?
	check "$1: one line" 1 "$(wc -l <err)"
	has "$1: said" "${3:-proton: $2: }" err
}

for reader in $readers; do
	whole=whole.$reader
	size=$(stat -c %s "$whole")
	"$PROTON" report "$whole" >expected 2>err; check "$reader: whole" "0 " "$? $(cat err)"

	# Cut. What has no end of its own (a line a stack; a tape, whose loss is counted) may be read.
	for part in 4 2; do
		head -c $((size / part)) "$whole" >cut
		case $reader in
		folded|tape) ends_well "$reader: cut to 1/$part" cut ;;
		*) refused "$reader: cut to 1/$part" cut "truncated at byte $((size / part))" ;;
		esac
	done
	for n in 1 2 15 16 17 99 100 101 $((size - 2)); do
		[ "$n" -lt "$size" ] && head -c "$n" "$whole" >cut && ends_well "$reader: $n bytes" cut
	done

	# A byte here and there is another one.
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		cp "$whole" other
		printf '\377' | dd of=other bs=1 seek=$((size * i / 17)) conv=notrunc 2>/dev/null
		ends_well "$reader: byte $((size * i / 17)) is ff" other
		printf '\0' | dd of=other bs=1 seek=$((size * i / 17)) conv=notrunc 2>/dev/null
		ends_well "$reader: byte $((size * i / 17)) is 0" other
	done

	# Not a regular file, and one that is followed by something else.
	mkfifo fifo; cat "$whole" >fifo & "$PROTON" report fifo >out; check "$reader: a FIFO" "" "$(diff expected out | head -3)"
	wait; rm fifo
	"$PROTON" report - <"$whole" >out; check "$reader: standard input" "" "$(diff expected out | head -3)"
	(cat "$whole"; printf 'what is this\n') >longer; ends_well "$reader: something behind it" longer

	# Merging names the bad one and goes on.
	head -c 16 "$whole" >bad
	printf '\0\0\0\0' >>bad
	"$PROTON" merge --keep-going -o m.hatchet whole.hatchet bad whole.folded >out 2>err
	check "$reader: merge --keep-going: status" 1 $?
	has "$reader: merge --keep-going names it" "proton: bad: " err
	"$PROTON" report m.hatchet >out; has "$reader: merge --keep-going goes on" gemm out
	rm -f m.hatchet
	"$PROTON" merge -o m.hatchet whole.hatchet bad >out 2>err; check "$reader: merge stops: status" 1 $?
	check "$reader: merge stops: nothing is written" no "$([ -e m.hatchet ] && echo yes || echo no)"
done

# What no reader takes.
: >empty; refused "empty" empty "proton: empty: the file is empty"
mkdir folder; refused "a folder" folder "proton: folder: Is a directory"
refused "not there" nothing "proton: nothing: No such file or directory"
if [ "$(id -u)" != 0 ]; then
	cp whole.hatchet secret; chmod 0 secret
	refused "no permission" secret "proton: secret: Permission denied"
fi
head -c 5000 /dev/urandom >noise; refused "noise" noise
head -c 5000 /dev/zero >zeros; refused "zeros" zeros
printf 'PK\003\004zip' >zip; refused "a zip archive" zip "zip archive"
head -c 5000 /bin/sh >program; refused "a program" program "a program or library"

# What we write for others, and do not read.
for pair in "csv=CSV" "markdown=Markdown" "flamegraph=XML" "dot=Graphviz"; do
	"$PROTON" export -f "${pair%%=*}" -o ours whole.hatchet
	refused "our ${pair%%=*}" ours "proton: ours: ${pair#*=}"
done

if PROTON_FAKE=$fake "$PROTON" record -q --trace -o trace.hatchet -- sleep 0.1; then
	"$PROTON" export -f perfetto -o ours trace.hatchet
	refused "our perfetto" ours "proton: ours: a Perfetto trace"
fi

# Texts of one reader, what must be said, or "-" where it is read.
while IFS='|' read -r what text said; do
	printf '%b' "$text" >case.in
	if [ "$said" = - ]; then
		"$PROTON" report case.in >out 2>err; check "$what" "0 " "$? $(cat err)"
	else
		refused "$what" case.in "proton: case.in: $said"
	fi
done <<'CASES'
chrome: events are a number|{"traceEvents":3}|wrong shape: 'traceEvents' is a number at byte 16
chrome: an event is a number|{"traceEvents":[7]}|wrong shape: an event is a number
chrome: an event is a list|{"traceEvents":[[]]}|wrong shape: an event is a list
chrome: no events|{"displayTimeUnit":"ms"}|wrong shape: no 'traceEvents'
an object of nobody|{"a":[1,{"b":null}]}|wrong shape: no 'traceEvents' in the object, and a Hatchet profile is a list
what Hatchet's to_json writes|{"graph": [{"0": {"data": {"name": "ROOT"}}}]}|written by to_json() of Hatchet: what its to_literal() makes is read
annotations of PyTorch|{"4294967296": [{"name": "linear", "stream": 7}], "4294967297": ["norm"]}|annotations of CUDA graphs by PyTorch, whose numbers are those of one process: --graph-annotations joins them with its Chrome trace
annotations of PyTorch, laid out| {\n  "4294967296" : [\n    {"name": "linear"}\n  ]\n}|annotations of CUDA graphs by PyTorch, whose numbers are those of one process: --graph-annotations joins them with its Chrome trace
an object with a number for a name|{"12": {"a": [1]}}|wrong shape: no 'traceEvents' in the object, and a Hatchet profile is a list
chrome: a time is a list|{"traceEvents":[{"ph":"X","ts":[]}]}|wrong shape: 'ts' is a list
chrome: a time is a word|{"traceEvents":[{"ph":"X","ts":"soon"}]}|wrong shape: 'ts' is no time
chrome: a time overflows|{"traceEvents":[{"ph":"X","ts":1e400}]}|wrong shape: 'ts' is no time
chrome: a time of 30 digits|{"traceEvents":[{"ph":"X","ts":100000000000000000000000000000}]}|wrong shape: 'ts' is no time
chrome: a correlation overflows|{"traceEvents":[{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1,"args":{"correlation":1e999,"device":999,"stream":-1}}]}|-
chrome: no launch|{"traceEvents":[{"ph":"X","cat":"kernel","name":"k","ts":1,"dur":1,"args":{"correlation":5}}]}|-
chrome: not UTF-8|{"traceEvents":[{"ph":"X","name":"\xff\xc0","ts":1,"dur":1}]}|-
chrome: a list that was never closed|[{"ph":"X","name":"f","ts":1,"dur":1},|-
chrome: cut within an event|[{"ph":"X","name":"f","ts":1|truncated at byte 28
chrome: text behind it|{"traceEvents":[]} more|-
hatchet: a word|"hatchet"|wrong shape: the document is a string
hatchet: children are a number|[{"children":3}]|wrong shape: 'children' is a number at byte 14
hatchet: device 999|[{"frame":{"name":"k"},"metrics":{"time (ns)":1,"count":1,"device_id":"999","device_type":"CUDA"},"children":[]}]|-
hatchet: numbers overflow|[{"frame":{"name":"k"},"metrics":{"time (ns)":1e999,"count":99999999999999999999999},"children":[]}]|-
hatchet: not UTF-8|[{"frame":{"name":"\xff"},"metrics":{"time (ns)":1},"children":[]}]|-
folded: no number|a;b|no format that is read (Hatchet in JSON or MessagePack, our JSON, Chrome trace, speedscope, pprof, folded stacks, SQLite of nsys or rocpd, tape, buffers of warps): 'a;b' at byte 1
text of nobody|\tDear Sir,\nyou|no format that is read (Hatchet in JSON or MessagePack, our JSON, Chrome trace, speedscope, pprof, folded stacks, SQLite of nsys or rocpd, tape, buffers of warps): bytes 09 44 65 61 72 20 53 69 at byte 1
text that is long|0123456789012345678901234567890|no format that is read (Hatchet in JSON or MessagePack, our JSON, Chrome trace, speedscope, pprof, folded stacks, SQLite of nsys or rocpd, tape, buffers of warps): '012345678901234567890123…' at byte 1
a recording of perf|PERFILE2|a recording of perf
UTF-16|\xff\xfe\x61|text in UTF-16: convert it to UTF-8 first
folded: a number overflows|a;b 99999999999999999999999\n|wrong shape: the value of a stack is too large
folded: not UTF-8|\xff;\xc0 3\n|-
msgpack: a byte that means nothing|\x91\x81\xa4name\xc1|not MessagePack: a byte that means nothing
msgpack: a length of 4 GiB|\x91\x81\xdb\xff\xff\xff\xff|truncated at byte
CASES
finish
