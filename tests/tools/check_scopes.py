#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check_scopes.py FILE [EXPECT]: scopes within kernels of a profile in JSON against what the program said that it recorded (standard input
when left out), in lines

    scope KERNEL/SCOPE/… entries=N value=X least=X most=X mean=CYCLES~PERCENT
    loss WORD=N

in which '_' also is what is no letter or digit in a name. One line a difference; exit status 1 when there is one."""
import json, re, sys

KEYS = {"entries": "scope_entries", "value": "scope_value", "least": "scope_value_min", "most": "scope_value_max"}


def paths(profile):
    """Metrics by path from the kernel on."""
    path, out = {}, {}
    for n in profile["nodes"]:
        name = re.sub(r"\W", "_", n["name"])
        path[n["id"]] = path[n["parent"]] + "/" + name if path.get(n["parent"]) else name if n["kind"] == "kernel" else ""
        out.setdefault(path[n["id"]], {}).update(n["metrics"])
    return out


def differs(metrics, key, want):
    if key == "mean":
        cycles, percent = want.split("~")
        got = metrics["cycles"] / metrics["scope_entries"] if "cycles" in metrics else -1
        return got if abs(got - float(cycles)) > float(cycles) * float(percent) / 100 else None
    got = metrics.get(KEYS[key], 0)
    return got if got != float(want) else None


def main():
    profile = json.load(open(sys.argv[1]))
    known, bad, n = paths(profile), [], 0
    for line in open(sys.argv[2]) if len(sys.argv) > 2 else sys.stdin:
        kind, *words = line.split()
        if kind == "scope":
            metrics, words, where = known.get(words[0], {}), words[1:], words[0]
            wanted = [(w, differs(metrics, *w.split("=", 1))) for w in words]
        elif kind == "loss":
            where, (key, want) = "losses", words[0].split("=")
            got = profile["losses"].get(key, 0)
            wanted = [(words[0], None if got == int(want) else got)]
        else:
            continue
        n += len(wanted)
        bad += ["%s: want %s, got %s" % (where, w, got) for w, got in wanted if got is not None]
    print("\n".join(bad) or "%d agree" % n)
    sys.exit(1 if bad or not n else 0)


main()
