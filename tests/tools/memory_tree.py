# SPDX-License-Identifier: MIT
"""What a profile (JSON, from standard input) says of memory: a line a calling context; the last line has its losses."""
import json, sys
names = dict(allocations="n", allocated_bytes="bytes", releases="freed_n", released_bytes="freed", left_bytes="left",
             live_bytes="live", peak_bytes="peak", at_peak_bytes="at_peak", pool_bytes="reserved",
             pool_used_bytes="used", pool_peak_bytes="pool_peak")
if sys.argv[1:] == ["pools"]:
    names = dict(pool_bytes="reserved", pool_used_bytes="used", pool_peak_bytes="reserved_peak",
                 pool_used_peak_bytes="used_peak", pool_unused_at_peak_bytes="unused", pool_grown_bytes="grown",
                 pool_fragmented_bytes="fragmented", pool_fragmented_times="times")
if sys.argv[1:] == ["left"]:  # what scopes leave behind, and nothing else
    names = dict(left_behind_bytes="behind", left_behind_blocks="blocks", left_behind_times="times",
                 left_behind_live_bytes="unfreed", left_behind_peak_bytes="most")
p, path, sums = json.load(sys.stdin), {}, {}
for n in p["nodes"]:
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), n["name"] if n["parent"] is not None else "")))
    for key, value in n["metrics"].items():
        if key in names:
            at = path[n["id"]], names[key]
            sums[at] = (max if "peak" in key and key != "at_peak_bytes" else int.__add__)(sums.get(at, 0), value)
for where in sorted({at for at, _ in sums}):
    print(where, *("%s=%d" % (k, sums[where, k]) for k in names.values() if sums.get((where, k))))
print([k for k, v in p["losses"].items() if v and k not in ("pipe_full", "intervals", "wire_gaps")])
