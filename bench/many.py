#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""many.py BUILD [SECONDS [TAPE N BEGIN]]: how much of a core `proton top` needs for many streams.

A screen of 200x50 shows (a) a program with 512 streams of a device, each with 40 kernels that run again every
100 ms; (b) 512 runs elsewhere that are joined at a socket, which send a tape of such a program with one stream, as fast
as it was recorded. Processor time of top, with what its children needed, while it runs, not while it
begins: other work on the machine does not count. With a TAPE: of N runs elsewhere that send it, from BEGIN seconds after
they began."""
import fcntl
import os
import pty
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

N = 512
HEADER, WIRE_HEADER = 32, 32
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(pid):
    """Of a process, by the scheduler's count, for ticks miss what is short; and of the children that it has waited for."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    own = int(open(f"/proc/{pid}/schedstat").read().split()[0]) / 1e9
    return own + sum(int(n) for n in fields[13:15]) / TICKS


def drain(master, seconds):
    """Read what is drawn, as a terminal does. Returns the number of bytes."""
    end, n = time.monotonic() + seconds, 0
    while (left := end - time.monotonic()) > 0:
        if select.select([master], [], [], left)[0]:
            try:
                n += len(os.read(master, 65536))
            except OSError:
                break
    return n


def start_top(words, panel, env):
    pid, master = pty.fork()
    if pid == 0:
        os.execvpe(words[0], words[:2] + ["--no-config", "--view", panel] + words[2:], env)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    return pid, master


def measure(what, words, panel, env, seconds, feed=None, begin=5):
    pid, master = start_top(words, panel, env)
    feeder = feed() if feed else None
    drain(master, begin)
    before, at = cpu_s(pid), time.monotonic()
    drawn = drain(master, seconds)
    share = (cpu_s(pid) - before) / (time.monotonic() - at)
    print(f"{what:28} {panel:10} {share:6.1%} of a core, {drawn / seconds:7.0f} bytes/s drawn", flush=True)
    if not drawn:
        sys.exit("nothing was drawn")
    os.kill(pid, signal.SIGHUP)
    drain(master, 1)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(master)
    if feeder:
        feeder.kill()
        feeder.wait()


def script_of(streams):
    return "".join(f"stream {i}\nmany 40 k 1000\n" for i in range(streams)) + "pause 100\nrepeat 100000\n"


def frames_of(tape):
    """(time, bytes) of each frame."""
    at = struct.unpack_from("<I", tape, 12)[0]
    while at + WIRE_HEADER <= len(tape):
        length, when = struct.unpack_from("<H", tape, at + 4)[0], struct.unpack_from("<Q", tape, at + 24)[0]
        size = (length + 7) & ~7
        yield when, tape[at:at + size]
        at += size


def play(path, target, n):
    """What `many.py --play` does: n streams, each a copy of the tape, over and over in time."""
    tape = open(path, "rb").read()
    frames = list(frames_of(tape))
    streams = []
    for i in range(n):
        s = socket.socket(socket.AF_UNIX)
        while s.connect_ex(target):
            time.sleep(0.05)
        s.sendall(tape[:HEADER - 20] + struct.pack("<I", HEADER + 8) + tape[16:HEADER] + struct.pack("<Q", i + 1))
        streams.append(s)
    start, first = time.monotonic(), frames[0][0]
    batch, due = [], first
    for when, frame in frames:
        if when - due > 50_000_000 and batch:
            time.sleep(max(0, start + (due - first) / 1e9 - time.monotonic()))
            data = b"".join(batch)
            for s in streams:
                s.sendall(data)
            batch, due = [], when
        batch.append(frame)
    for s in streams:
        s.sendall(b"".join(batch))


def measure_runs(proton, env, seconds, tape, n, begin=5):
    for panel in ("tree", "ranks"):
        measure(f"{n} runs elsewhere", [proton, "top", "-o", "c.hatchet", "unix:s"], panel, env, seconds,
                lambda: subprocess.Popen([sys.executable, os.path.abspath(__file__), "--play", tape, "s", str(n)]), begin)


def measure_all(proton, env, seconds, work):
    for name, streams in (("many", N), ("one", 1)):
        open(name, "w").write(script_of(streams))
    env["PROTON_FAKE"] = os.path.join(work, "many")
    for panel in ("tree", "kernels", "ranks"):
        measure(f"{N} streams of a program", [proton, "top", "-o", "a.hatchet", "sleep", "1000"], panel, env, seconds)
    measure(f"{N} streams, a row each", [proton, "top", "-g", "stream", "-o", "a.hatchet", "sleep", "1000"], "tree",
            env, seconds)
    env["PROTON_FAKE"] = os.path.join(work, "one")
    subprocess.run([proton, "record", "-q", "-o", "b.hatchet", "--tape", "b.tape", "sleep", str(seconds + 12)],
                   env=env, check=True)
    measure_runs(proton, env, seconds, "b.tape", N)


def main():
    if sys.argv[1] == "--play":
        return play(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    proton = os.path.abspath(os.path.join(sys.argv[1], "proton"))
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    tape = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else None
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        env = dict(os.environ, TERM="xterm-256color", LC_ALL="C.UTF-8")
        if tape:
            measure_runs(proton, env, seconds, tape, int(sys.argv[4]), float(sys.argv[5]))
        else:
            measure_all(proton, env, seconds, work)


__file__ = os.path.abspath(__file__)
main()
