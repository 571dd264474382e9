#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hostile_text.py PROTON TESTS DATABASE...: controls in every text of every kind of file, and the bytes
of all that is printed: no control but the end of a line and our own colours, whatever is in the file."""
import fcntl
import itertools
import json
import os
import pty
import re
import select
import sqlite3
import struct
import subprocess
import sys
import termios
import time

# An escape sequence each way that there is one, what reorders or breaks a line, and what is no UTF-8.
EVIL = ("\x1b]0;pwned\x07\x1b[31m\x9b31m\x90\u202e\u2066\u200e\u200b\ufeff\u2028\u2029\x85\x7f\x08\r\n\t"
        "\udc9b31m\udcff" + "e" + "\u0301" * 40)
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
FORBIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
                       "|\u0301{9}")
# Every panel of the screen, drawn anew each time, and what can be copied of it.
KEYS = b"".join(b"%s\x0c" % k for k in (b"1", b"d", b"d", b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"9", b"0", b"\x1b2",
                                        b"\x1b1", b"y", b"Y")) + b"Q"
KINDS = {"ph", "cat", "type", "device_type", "displayTimeUnit", "schema", "version"}  # the reader's own words


def raw(text):
    return text.encode("utf-8", "surrogateescape")


def paths_of(x, at=()):
    """Where there are strings and keys, as one path for all members of a list."""
    if isinstance(x, dict):
        for key, value in x.items():
            yield at + ("key:" + key,)
            yield from paths_of(value, at + (key,))
    elif isinstance(x, list):
        for value in x:
            yield from paths_of(value, at if at and at[-1] in ("[]", "children") else at + ("[]",))
    elif isinstance(x, str):
        yield at


def short(path):
    """A tree is as one node: children of children have the path of children."""
    out = []
    for part in path:
        if part != "children" or "children" not in out:
            out.append(part)
    return tuple(out)


def spoiled(x, which, at=()):
    """The document with EVIL behind all strings and keys whose path is one of these."""
    if isinstance(x, dict):
        return {key + EVIL if short(at + ("key:" + key,)) in which else key:
                spoiled(value, which, at + (key,)) for key, value in x.items()}
    if isinstance(x, list):
        return [spoiled(value, which, at if at and at[-1] in ("[]", "children") else at + ("[]",)) for value in x]
    return x + EVIL if isinstance(x, str) and short(at) in which else x


def packed(x):
    """MessagePack."""
    if isinstance(x, bool) or x is None:
        return b"\xc0" if x is None else b"\xc3" if x else b"\xc2"
    if isinstance(x, int):
        return struct.pack(">Bq", 0xd3, x) if x < 1 << 63 else struct.pack(">BQ", 0xcf, x)
    if isinstance(x, float):
        return struct.pack(">Bd", 0xcb, x)
    if isinstance(x, str):
        return struct.pack(">BI", 0xdb, len(raw(x))) + raw(x)
    if isinstance(x, list):
        head = bytes([0x90 | len(x)]) if len(x) < 16 else struct.pack(">BI", 0xdd, len(x))
        return head + b"".join(map(packed, x))
    return struct.pack(">BI", 0xdf, len(x)) + b"".join(packed(k) + packed(v) for k, v in x.items())


def text_of(x):
    return raw(json.dumps(x, ensure_ascii=False))


def documents(tests):
    for name, path, ways in [("hatchet", "/hatchet/upstream-triton.json", (text_of, packed)),
                             ("cuda", "/hatchet/upstream-cuda.json", (text_of,)),
                             ("samples", "/hatchet/h200-triton-samples.hatchet", (text_of, packed)),
                             ("torch", "/chrome/torch.json", (text_of,)),
                             ("nsys", "/chrome/nsys.json", (text_of,)),
                             ("chrome", "/chrome/proton.chrome_trace", (text_of,))]:
        with open(tests + path, encoding="utf-8") as f:
            document = json.load(f)
        for way in ways:
            yield name + ("" if way is text_of else "-packed"), document, way


def of_document(checks, name, document, way):
    """Each path alone, then together all that can be read; names of metrics are keys."""
    readable, metrics = set(), set()
    for path in sorted(set(map(short, paths_of(document)))):
        status = checks.file("%s %s" % (name, "/".join(path)), way(spoiled(document, {path})), short=True)
        if status == 0 and path[-1].startswith("key:"):
            metrics.update({path} if len(path) > 1 and path[-2] == "metrics" else ())
        elif status == 0 and path[-1] not in KINDS:
            readable.add(path)
    checks.whole("%s: all" % name, way(spoiled(document, readable)))
    if metrics:
        checks.whole("%s: metrics" % name, way(spoiled(document, readable | metrics)))


def of_database(checks, path):
    """One column more each time, as long as it can be read."""
    name = os.path.basename(path)
    with open(path, "rb") as f:
        whole = f.read()
    columns = []
    for column in columns_of(path):
        if checks.file("%s %s" % (name, column), with_columns(whole, columns + [column]), short=True) == 0:
            columns.append(column)
    checks.whole("%s: all" % name, with_columns(whole, columns))


def columns_of(path):
    db = sqlite3.connect(path)
    tables = [row[0] for row in db.execute("select name from sqlite_master where type = 'table'")]
    found = [(t, row[1]) for t in tables for row in db.execute('pragma table_info("%s")' % t)
             if db.execute('select 1 from "%s" where typeof("%s") = \'text\'' % (t, row[1])).fetchone()]
    db.close()
    return found


def with_columns(whole, columns):
    with open("spoiled.db", "wb") as f:
        f.write(whole)
    db = sqlite3.connect("spoiled.db")
    for table, column in columns:
        db.execute('update or ignore "%s" set "%s" = cast(cast("%s" as blob) || ? as text) where typeof("%s") = \'text\'' %
                   (table, column, column, column), (raw(EVIL),))
    db.commit()
    db.close()
    with open("spoiled.db", "rb") as f:
        return f.read()


def of_tape(checks, path):
    """Texts of the stream keep their length: each begins with another part of what is evil."""
    with open(path, "rb") as f:
        head, whole = f.read(32), f.read()
    evil = b"\x1b]0;p\x07\xc2\x9b\x9b1m\xe2\x80\xae\x7f\x08" * 99
    starts = itertools.count()
    checks.whole("tape", head + re.sub(
        rb"[A-Za-z_./]{4,}", lambda m: (m[0][:1] + evil[next(starts) % 15:])[:len(m[0])], whole))


def unsafe(data, colours=False):
    try:
        text = data.decode()
    except UnicodeDecodeError as why:
        return str(why)
    found = FORBIDDEN.search(COLOUR.sub("", text) if colours else text)
    return found and "%r in %r" % (found[0], text[max(found.start() - 60, 0):found.end() + 20])


class Checks:
    def __init__(self, proton):
        self.proton, self.n, self.failed = proton, 0, 0

    def say(self, what, why):
        self.n += 1
        if why:
            self.failed += 1
            print("FAILED: %s: %s" % (what, why))

    def command(self, what, *words, env=None):
        r = subprocess.run([self.proton, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, timeout=60,
                           stderr=subprocess.PIPE, check=False, env=env)
        self.say("%s: %r" % (what, words), unsafe(r.stdout) or unsafe(r.stderr) or
                 (r.returncode < 0 and "signal %d" % -r.returncode))
        return r

    def file(self, what, data, short=False):
        """All text commands on a file; the status of the first."""
        with open("file", "wb") as f:
            f.write(data)
        status = self.command(what, "report", "--section", "all", "file").returncode
        metrics = self.command(what, "list", "file").stdout.decode(errors="replace").splitlines()
        if status:
            return status
        self.command(what, "report", "-m", "time/ms,count", "file")
        if short:
            return status
        raw_metrics = ",".join(re.split(r"  +|\^", m)[0] for m in metrics if m and m[0] != " " and "," not in m)
        for words in [("report", "--names", "raw", "file"), ("report", "--width", "60", "--ascii", "file"),
                      ("report", "--flat", "--color", "file"), ("report", "-f", "file_function", "file"),
                      ("report", "-g", "process", "file"), ("report", "-g", "stream", "file"),
                      ("report", "-m", raw_metrics, "file"), ("report", "--print-sorted", "file"),
                      ("report", "--diff-profile", "file", "file"), ("report", "-l", "file"),
                      ("report", "-m", "util,bound", "file"), ("viewer", "-m", "time/ms", "file"),
                      ("viewer", "--print-sorted", "-m", "count", "file"), ("viewer", "-l", "file"),
                      ("diff", "--text", "file", "file"), ("diff", "-f", "markdown", "file", "file"),
                      ("diff", "--text", "--tree", "--width", "50", "file", "file"),
                      ("merge", "--ranks", "file"), ("export", "-f", "markdown", "file"),
                      ("export", "-f", "dot", "file")]:
            r = subprocess.run([self.proton, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                               check=False)
            shown = r.stdout.replace(b"\n\t", b"\n") if words[2] == "dot" else r.stdout  # its own
            self.say("%s: %r" % (what, words), unsafe(shown, "--color" in words) or unsafe(r.stderr))
        for words in [("export", "-f", "json"), ("export", "-f", "speedscope"), ("export", "-f", "chrome"),
                      ("diff", "-f", "json", "file"), ("advise", "-f", "json")]:
            self.json(what, *words, "file")
        for form in ("csv", "folded", "json", "hatchet", "chrome", "flamegraph", "speedscope", "callgrind", "hatchet_msgpack"):
            self.terminal(what, "export", "-f", form, "file")
        self.terminal(what, "diff", "--no-pager", "-f", "json", "file", "file")
        self.screen(what)
        return status

    def json(self, what, *words):
        """JSON has no control in it, wherever it goes; what is read is what was there. How many marks are on one
        letter is its reader's business."""
        r = subprocess.run([self.proton, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60, check=False)
        self.say("%s: %r" % (what, words), unsafe(r.stdout.replace("\u0301".encode(), b"")) or unsafe(r.stderr))
        if words[:3] == ("export", "-f", "json") and b"pwned" in r.stdout:
            names = json.dumps(json.loads(r.stdout), ensure_ascii=False)
            self.say("%s: %r: what is read" % (what, words), "\u202e\u2066\u200e\u200b\ufeff" not in names and "another text")

    def whole(self, what, data):
        """A file with all of it must be read, or nothing has been shown."""
        self.say("%s: read" % what, self.file(what, data) and "refused")

    def terminal(self, what, *words):
        """What is a file's on a terminal: a tab there is only a tab."""
        data, _ = on_terminal([self.proton, *words], b"")
        self.say("%s: %r on a terminal" % (what, words), unsafe(data.replace(b"\r\n", b"\n").replace(b"\t", b" ")))

    def screen(self, what):
        """The screen draws with sequences: none of them may be the file's."""
        data, _ = on_terminal([self.proton, "view", "file"], KEYS)
        bad = [x for x in (b"\x1b]0;", b"\xc2\x9b", b"\xc2\x85", b"\xe2\x80\xae", b"\xe2\x80\xa8") if x in data]
        bad += [] if b"\x1b[?1049" in data else ["no screen"]
        try:
            data.decode()
        except UnicodeDecodeError as why:
            bad.append(str(why))
        self.say("%s: screen" % what, bad)


def on_terminal(argv, keys):
    """What is sent to it, and the exit status."""
    pid, fd = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color")
        os.execv(argv[0], argv)
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    data, end = b"", time.monotonic() + 60
    while time.monotonic() < end and select.select([fd], [], [], end - time.monotonic())[0]:
        try:
            more = os.read(fd, 65536)
        except OSError:  # the other side has been closed
            break
        if not more:
            break
        data += more
        if keys and b"\x1b[?1049h" in data:
            os.write(fd, keys)
            keys = b""
    os.close(fd)
    return data, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def of_words(c):
    """Names of files, options and metrics in messages."""
    evil = os.fsdecode(raw(EVIL.replace("\n", "")))
    with open("x" + evil, "wb") as f:
        f.write(b"neither" + raw(EVIL))
    for words in [("report", evil), ("report", "x" + evil), (evil,), ("report", "--" + evil), ("report", "-" + evil),
                  ("report", "-m", evil, "good"), ("report", "-i", "(" + evil, "good"),
                  ("report", "--section", evil, "good"), ("export", "-f", evil, "good"), ("merge", "-o", "/" + evil + "/x", "good"),
                  ("diff", "good", evil), ("viewer", "-m", evil, "good"), ("export", "-m", evil, "-f", "folded", "good"),
                  ("record", evil), ("report", "--peaks", "x" + evil, "good"), ("help", evil), ("diff", "--metrics", evil, "good", "good")]:
        r = c.command("message", *words)
        c.say("message: %r: said" % (words,), not r.stderr and "nothing")
    os.mkdir("d" + evil)
    with open("d" + evil + "/good", "wb") as f, open("good", "rb") as g:
        f.write(g.read())
    c.command("path", "report", "--section", "all", "d" + evil + "/good")
    c.command("path", "diff", "--text", "d" + evil + "/good", "good")
    c.command("path", "merge", "--ranks", "d" + evil + "/good", "good")


def of_programs(c):
    """What a program says of itself while it runs."""
    evil = os.fsdecode(re.sub(rb"[;\s:]", b"", raw(EVIL)))
    env = dict(os.environ, PROTON_FAKE="kernel k%s 1000 10;copy HtoD pinned 4096 1000" % evil)
    program = "sleep" + evil
    with open("/bin/sleep", "rb") as f, open(program, "wb") as g:
        g.write(f.read())
    os.chmod(program, 0o700)
    c.command("a program", "record", "-o", "out" + evil, "--", "./" + program, "0.1", env=env)
    c.command("a program", "top", "--batch", "1", "--", "./" + program, "0.1", env=env)


def main(proton, tests, *databases):
    c = Checks(proton)
    os.environ["LC_ALL"] = "C.UTF-8"
    with open("good", "wb") as f, open(tests + "/hatchet/upstream-triton.json", "rb") as g:
        f.write(g.read())
    of_words(c)
    of_programs(c)
    for name, document, way in documents(tests):
        of_document(c, name, document, way)
    stack = EVIL.replace("\n", "").replace("\r", "")
    c.whole("folded", raw("".join("a%s;b%s %d\n" % (stack, stack, i) for i in range(3))))
    of_tape(c, tests + "/wire/overlap.tape")
    of_tape(c, tests + "/wire/torch.tape")
    for path in databases:
        of_database(c, path)
    print("%d outputs, %d not safe" % (c.n, c.failed))
    return c.failed


if __name__ == "__main__":
    sys.exit(bool(main(*sys.argv[1:])))
