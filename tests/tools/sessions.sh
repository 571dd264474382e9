# SPDX-License-Identifier: MIT
# Helpers of tests of sessions, sourced before cli_help.sh, which goes to another folder. session_app NAME sets app, the
# program of that name, and what it launches on, the mocks of libcuda (cuda) and libcupti.
session_app() {
	build=$(cd "$(dirname "$PROTON")" && pwd)
	libs=$build/tests/mocks/.libs
	app=$build/tests/programs/$1
	cuda=$libs/libcuda.so.1
	export PROTON_CUPTI_PATH=$libs/mock_cupti.so
	[ -e "$libs/mock_cupti.so" ] || { echo "no mock libcupti in $libs"; exit 77; }
}
# record WHAT [ARGUMENT]: what the program says is in `out`
record() { timeout 240 "$PROTON" record -o run.hatchet -- "$app" "$cuda" "$@" >out 2>err; }
# Paths and executions of a profile, and its losses.
tree() {
	"$PROTON" export -f json "$1" | python3 -c '
import json, sys
p = json.load(sys.stdin)
path, counts = {}, []
for n in p["nodes"]:
    path[n["id"]] = "/".join(filter(None, (path.get(n["parent"]), n["name"] if n["parent"] is not None else "")))
    if n["metrics"].get("count"):
        counts += [path[n["id"]] + " " + str(n["metrics"]["count"])]
print(*sorted(counts), [k for k, v in p["losses"].items() if v and k not in ("pipe_full", "intervals", "wire_gaps")])'
}
# … without these.
counts() { tree "$1" | sed 's/ *\[[^]]*\]$//'; }
