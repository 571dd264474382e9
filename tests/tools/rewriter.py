#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Stands in for "proton rewrite": answers as $REWRITER says, and adds a line to $REWRITER_LOG."""
import os
import select
import signal
import struct
import sys

MAGIC = 0x31575250


def answer(text, image, promised=None, magic=MAGIC, kernels=1):
    size = len(image) if promised is None else promised
    head = struct.pack("<IIQII", magic, len(text), size, kernels, 0)
    os.write(1, head + text)
    for at in range(0, len(image), 4096):  # in pieces
        os.write(1, image[at : at + 4096])


def hang():
    """Until nobody waits for the answer."""
    gone = select.poll()
    gone.register(1, 0)
    gone.poll()


def wait():
    """Until the program says so, or is not there any more."""
    gone = select.poll()
    gone.register(1, 0)
    while not os.path.exists(os.environ["REWRITER_AWAITS"]):
        if gone.poll(0):
            sys.exit(1)
        os.sched_yield()


def meet():
    """As many as that are at it at the same time."""
    folder = os.environ["REWRITER_MEET"]
    open(os.path.join(folder, str(os.getpid())), "w").close()
    while len(os.listdir(folder)) < 2:
        os.sched_yield()


opened = [fd for fd in sorted(os.listdir("/proc/self/fd")) if os.path.exists("/proc/self/fd/" + fd)]
image = sys.stdin.buffer.read()
words = sys.argv[1:]
with open(os.environ["REWRITER_LOG"], "a") as log:
    log.write("%s chip %s limit %s open %s\n" % (
        words[0], words[words.index("--chip") + 1], words[words.index("--limit") + 1],
        ",".join(opened)))
how = os.environ["REWRITER"]
good = image.replace(b"original", b"rewritten")
if how == "good":
    answer(b"i k: 10 -> 12 registers\n", good)
elif how == "large":
    answer(b"", good + b" " * (1 << 20))
elif how == "refuse":
    answer(b"w k: there is no PTX of it\nw l: it is too odd\n", b"", kernels=0)
elif how == "meet":
    meet()
    answer(b"", good)
elif how == "wait":
    wait()
    answer(b"", good)
elif how == "short":
    answer(b"", good, promised=len(good) + 1)
elif how == "other":
    answer(b"", good, magic=MAGIC + 1)
elif how == "complain":
    sys.exit("something is wrong with me today, and this is how I say so")
elif how == "crash":
    os.kill(os.getpid(), signal.SIGKILL)
elif how == "hang":
    hang()
elif how == "stay":
    answer(b"", good)
    hang()
