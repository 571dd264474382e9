# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# What profiles say of scopes within kernels, for scripts behind cli_help.sh.

# notes FILE: a line each
notes() { "$PROTON" export -f json "$1" | python3 -c 'import json, sys; print(*[n["text"] if isinstance(n, dict) else n for n in json.load(sys.stdin)["notes"]], sep="\n")'; }
# inside FILE: scopes by path: cycles, of a warp, entries, shortest, longest
inside() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
path, out = {}, []
for n in json.load(sys.stdin)["nodes"]:
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), n["name"] if n["parent"] is not None else "")))
    m = n["metrics"]
    if "cycles" in m:
        out.append("%s %d %g %d %s %s" % (path[n["id"]], *(m[k] for k in ("cycles", "normalized_cycles", "scope_entries")), *(m.get(k, "-") for k in ("cycles_min", "cycles_max"))))
print(*sorted(out), sep=", ")'
}
# moments FILE: marks and values by path: how many, and of values sum, least and most
moments() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
path, out = {}, []
for n in json.load(sys.stdin)["nodes"]:
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), n["name"] if n["parent"] is not None else "")))
    m = n["metrics"]
    if "scope_entries" in m and "cycles" not in m:
        out.append(" ".join([path[n["id"]], str(m["scope_entries"])] + ["%g" % m[k] for k in ("scope_value", "scope_value_min", "scope_value_max") if k in m]))
print(*sorted(out), sep=", ")'
}
