# SPDX-License-Identifier: MIT
"""tutorial.py FILE [names]: runs the commands of a tutorial, one after another in this folder, and says of each "ok", or what is
wrong. names: what its tables show has to be in what is printed, too; other numbers, and other things, may be."""
import os
import re
import subprocess
import sys


def commands(text):
    """Pairs of a command and what is shown below it."""
    for block in re.findall(r"^```\n(.*?)^```$", text, re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, shown = part.partition("\n")
            yield command, shown.splitlines()


def names(lines):
    """Of a table or tree: what stands in its last column."""
    at = None
    for line in lines:
        head = re.search(r"[A-Z0-9] +(NAME|SCOPE)$", line)
        if head:
            at = head.start(1)
        elif at is not None:
            yield line[at:].strip(" │├─└")


def missing(program):
    """The command's own words decide which program it is."""
    words = [w for w in program.split() if "=" not in w]
    return not any(os.access(os.path.join(folder, words[0]), os.X_OK) for folder in os.get_exec_path() + ["."])


def main():
    shows_names = "names" in sys.argv[2:]
    tutorial = os.path.basename(sys.argv[1])
    with open(sys.argv[1], encoding="utf-8") as file:
        text = file.read()
    for command, shown in commands(text):
        if missing(command):
            print("skipped: %s: no %s" % (tutorial, command.split()[0]))
            return
        done = subprocess.run(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240)
        printed = done.stdout.decode(errors="replace")
        lacks = [name for name in names(shown) if shows_names and name not in printed]
        if done.returncode:
            print("%s: exit status %d\n%s" % (command, done.returncode, printed[-2000:]))
        elif lacks:
            print("%s: without %s\n%s" % (command, lacks, printed[:2000]))
        else:
            print("ok")


main()
