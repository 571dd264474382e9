#!/bin/bash
# SPDX-License-Identifier: MIT
# What PyTorch says of nodes of CUDA graphs (torch.cuda.graph_annotations) is the calling context of what ran in them: where
# it stands in the events of a trace, and where it stands in a file beside it.
trace=$(cd "${srcdir:-.}/tests/chrome" && pwd)/h200-torch-graph.json || exit 99
tools=$(cd "${srcdir:-.}/tests/tools" && pwd) || exit 99
. "${srcdir:-.}/tests/tools/cli_help.sh"
annotated() { python3 "$tools/annotate_trace.py" "$1" "$trace"; }
# Paths with their kinds, and how often what is there ran and for how long; names of kernels are cut.
tree() {
	"$PROTON" export -f json "$@" | python3 -c '
import json, sys
path = {None: ""}
for n in json.load(sys.stdin)["nodes"]:
    name = n["name"].split("<")[0] if n["kind"] == "kernel" else n["name"]
    path[n["id"]] = path[n["parent"]] + "/" * (n["parent"] is not None) + ("%s:%s" % (n["kind"], name) if n["id"] else "")
    if "count" in n["metrics"]:
        print(path[n["id"]], n["metrics"]["count"], int(n["metrics"]["time (ns)"]))' | LC_ALL=C sort
}
at=/scope:replay/graph:'<captured_at>'
named="$at/module:layers.0.mlp.down/scope:down/scope:backward/kernel:void sgemm_largek_lds64 4 51584
$at/module:layers.0.mlp.up/scope:up/kernel:void cublasLt::splitKreduce_kernel 4 7744
$at/module:layers.0.mlp.up/scope:up/kernel:void cutlass::Kernel2 4 21760
$at/module:layers.0.mlp/kernel:void at::native::vectorized_elementwise_kernel 4 5248
$at/scope:epilogue/kernel:void cublasLt::epilogue::impl::globalKernel 4 5984
$at/scope:zero/set:memset device 4 3424
/scope:replay/kernel:void scal_kernel 4 3744"

# ---- in the events ----
annotated numbers >numbers.json
annotated inline >inline.json
annotated lanes >lanes.json
check "in events: a context below the launch; what nobody named stays there" "$named" "$(tree inline.json)"
check "in events: what the trace has without them" "$(tree "$trace")" "$(tree numbers.json)"
check "in events: times on the host stay" \
	"$("$PROTON" report -m cpu_time,launch_time "$trace" | grep replay)" "$("$PROTON" report -m cpu_time,launch_time inline.json | grep replay)"
check "moved to other tracks: the same contexts" "$named" "$(tree lanes.json)"
check "moved to other tracks: the stream that it ran in" "stream 7" \
	"$("$PROTON" report --ascii -g stream -d 2 lanes.json --section tree | grep -o 'stream [0-9]*' | sort -u)"
"$PROTON" export -f hatchet inline.json >inline.hatchet
check "as Hatchet, and back" "$named" "$(tree inline.hatchet)"
event() { # event ARGS: a trace of one kernel
	printf '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {%s}}]}' "$1" >one.json
	tree one.json
}
check "an early spelling" "/graph:<captured_at>/scope:a/kernel:k 1 1000" "$(event '"graph node id": 5, "str": "a"')"
check "a number as text" "/graph:<captured_at>/scope:a/kernel:k 1 1000" "$(event '"graph node id": "5", "name": "a"')"
check "no node of a graph" "/kernel:k 1 1000" "$(event '"name": "a", "module_fqn": "b"')"
check "its number is 0" "/kernel:k 1 1000" "$(event '"graph node id": 0, "name": "a"')"
check "nothing that is known is said" "/kernel:k 1 1000" "$(event '"graph node id": 5, "name": "", "colour": "red"')"
check "its path is in the event" "/kernel:k 1 1000" "$(event '"graph node id": 5, "name": "a", "call_stack": ["ROOT", "k"]')"
for hostile in '{"a": [{}]}' '[["a", {"name": "b"}]]' 7 null true 1e999; do
	check "said by $hostile: nothing" "/kernel:k 1 1000" "$(event '"graph node id": 5, "name": '"$hostile"', "module_fqn": '"$hostile"', "original_stream": '"$hostile")"
done
check "numbers that are none" "/kernel:k 1 1000" "$(event '"graph node id": {"a": 5}, "name": "a"')"

# ---- in a file ----
annotated file >kernel_annotations_rank0_x.json
join=(--graph-annotations kernel_annotations_rank0_x.json)
notes() { "$PROTON" report --section notes "$@" | grep annotations; }
check "a file: as in events" "$named" "$(tree "${join[@]}" numbers.json)"
check "a file: how much" \
	"annotations name 24 of 28 kernels, copies and sets in CUDA graphs; 0 of 6 numbers in them are of nothing that ran here" \
	"$(notes "${join[@]}" numbers.json)"
check "a file: on the screen as text" 1 "$(COLUMNS=120 "$PROTON" view "${join[@]}" numbers.json | grep -c 'layers.0.mlp.down')"
"$PROTON" export -f hatchet "${join[@]}" numbers.json -o joined.hatchet
check "a file: what is exported has it" "$named" "$(tree joined.hatchet)"
gzip -kc numbers.json >numbers.json.gz
gzip -kc kernel_annotations_rank0_x.json >packed.json.gz
if "$PROTON" report numbers.json.gz >out 2>err; then
	check "packed, both" "$named" "$(tree --graph-annotations packed.json.gz numbers.json.gz)"
fi
check "standard input: the trace" "$named" "$(tree "${join[@]}" - <numbers.json)"
check "standard input: the file" "$named" "$(tree --graph-annotations - numbers.json <kernel_annotations_rank0_x.json)"
"$PROTON" report --diff-profile "$trace" "${join[@]}" numbers.json >out 2>err
check "what it is compared with is not joined" "0 " "$? $(cat err)"

said() { # said JSON: what the first kernel stands in
	echo "$1" >said.json
	tree --graph-annotations said.json numbers.json | sed -n 's,^/scope:replay/\(.*\)/kernel:void cutlass.*,\1,p'
}
check "a name alone" 'graph:<captured_at>/scope:a' "$(said '{"30064771072": ["a"]}')"
check "no list" 'graph:<captured_at>/scope:a' "$(said '{"30064771072": {"name": "a"}}')"
check "an early spelling" 'graph:<captured_at>/scope:a' "$(said '{"30064771072": [{"str": "a"}]}')"
check "the last one counts, key by key" 'graph:<captured_at>/module:m/scope:b' \
	"$(said '{"30064771072": [{"name": "a", "module_fqn": "m"}, {"name": "b"}]}')"
check "of a number that is there twice, too" 'graph:<captured_at>/scope:b' \
	"$(said '{"30064771072": [{"module_fqn": "a"}], "30064771072": [{"name": "b"}]}')"
check "the file counts more than the event" 'graph:<captured_at>/scope:a' \
	"$(said '{"30064771072": ["a"]}' >out; tree --graph-annotations said.json inline.json | sed -n 's,^/scope:replay/\(.*\)/kernel:void cutlass.*,\1,p')"
for hostile in '[]' '{}' 'null' '7' '[[["a"]]]' '[{"name": ["a"]}, 7, null, {"Group size": 4}]' '[{"name": {"name": "a"}}]' '[""]'; do
	check "said by $hostile: nothing" "" "$(said '{"30064771072": '"$hostile"'}')"
	check "said by $hostile: is counted so" \
		"annotations name 0 of 28 kernels, copies and sets in CUDA graphs; 0 of 1 numbers in them are of nothing that ran here" \
		"$(notes --graph-annotations said.json numbers.json)"
done
check "numbers of nothing, and keys that are none" \
	"annotations name 4 of 28 kernels, copies and sets in CUDA graphs; 3 of 4 numbers in them are of nothing that ran here" \
	"$(said '{"a": ["b"], "-1": ["b"], "": ["b"], "1.5": ["b"], "36893488147419103232": ["b"], "0": ["b"], "5": ["b"],
		"18446744073709551615": ["b"], "30064771072": ["b"]}' >out; notes --graph-annotations said.json numbers.json)"

refused() { # refused WHAT ANNOTATIONS TRACE SENTENCE
	timeout 300 "$PROTON" report --graph-annotations "$2" "${@:4}" "$3" >out 2>err
	check "$1: refused" "1 " "$? $(cat out)"
}
why() { check "$1: why" "proton: $2" "$(cat err)"; }
refused "a trace without numbers" "${join[1]}" "$trace"
why "a trace without numbers" "$trace: no node of a CUDA graph has a number in it ('graph node id'): annotations are joined with the Chrome trace that torch.profiler made of the same process"
refused "no trace" "${join[1]}" inline.hatchet
why "no trace" "inline.hatchet: no node of a CUDA graph has a number in it ('graph node id'): annotations are joined with the Chrome trace that torch.profiler made of the same process"
echo '{"30064771079": [{"name": "a"}], "7": ["b"]}' >other.json
refused "no number is in the trace" other.json numbers.json
why "no number is in the trace" "numbers.json: none of the 2 numbers in the annotations is that of a node here: they are of another process, or of graphs that did not run"
python3 -c '
import json
trace = json.load(open("numbers.json"))
more = [dict(e, pid=e["pid"] + 1) for e in trace["traceEvents"] if e.get("cat") == "user_annotation"]
json.dump(dict(trace, traceEvents=trace["traceEvents"] + more), open("two.json", "w"))
for rank in 0, 3:
    json.dump(dict(trace, distributedInfo={"backend": "nccl", "rank": rank, "world_size": 4}), open("of_%d.json" % rank, "w"))'
refused "a trace of several processes" "${join[1]}" two.json
why "a trace of several processes" "two.json: is of 2 processes, whose nodes of CUDA graphs have the same numbers: annotations are joined with the trace of one"
refused "another rank" "${join[1]}" of_3.json
why "another rank" "of_3.json: is of rank 3, and the annotations are of rank 0"
check "the same rank" "$named" "$(tree "${join[@]}" of_0.json)"
cp numbers.json trace_rank3.json
refused "another rank, by the name of the trace" "${join[1]}" trace_rank3.json
why "another rank, by the name of the trace" "trace_rank3.json: is of rank 3, and the annotations are of rank 0"
cp "${join[1]}" annotations.json
check "a file that does not say its rank" "$named" "$(tree --graph-annotations annotations.json of_3.json)"

printf '\200\005\225\020\0\0\0\0\0\0\0}' >annotations.pkl
refused "a pickle" annotations.pkl numbers.json
why "a pickle" "annotations.pkl: a pickle of Python: to read one is to run what is in it, so it is not read"
refused "a file that is not there" missing numbers.json
why "a file that is not there" "missing: No such file or directory"
refused "the trace in its place" inline.json numbers.json
why "the trace in its place" "inline.json: no annotations of CUDA graphs by PyTorch: no key is the number of a node"
echo '[{"name": "a"}]' >list.json
refused "a list" list.json numbers.json
why "a list" "list.json: wrong shape: the document is a list at byte 1"
echo '{"30064771072": ["a"]} {}' >two_documents.json
refused "something behind it" two_documents.json numbers.json
head -c 100 "${join[1]}" >torn.json
refused "a torn file" torn.json numbers.json
why "a torn file" "torn.json: truncated at byte 100"
: >empty.json
refused "an empty file" empty.json numbers.json
mkfifo fifo
refused "a FIFO" fifo numbers.json
why "a FIFO" "fifo: a pipe or a device: annotations of graphs are read from a file"
python3 -c 'print("{\"30064771072\": " + "[" * 100000 + "]" * 100000 + "}")' >deep.json
check "a deep one says nothing" "" "$(tree --graph-annotations deep.json numbers.json | grep captured_at)"
"$PROTON" report "${join[@]}" numbers.json of_0.json >out 2>err
check "several files: refused" "1 " "$? $(cat out)"
why "several files" "--graph-annotations are of one process, and there are 2 files: join each with its own ('proton export'), then all of them"
"$PROTON" report --graph-annotations '' numbers.json >out 2>err
check "no file" 2 $?
finish
