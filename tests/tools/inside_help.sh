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
        out.append("%s %d %g %d %d %d" % (path[n["id"]], *(m[k] for k in ("cycles", "normalized_cycles", "scope_entries", "cycles_min", "cycles_max"))))
print(*sorted(out), sep=", ")'
}
