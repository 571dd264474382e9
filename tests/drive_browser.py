#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opens pictures in a browser, as a person would, and looks at what they do.
Usage: drive_browser.py CHROMIUM flame SVG SEARCH SHARE | drive_browser.py CHROMIUM screen SVG..."""
import fcntl
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

DEADLINE_S = 60


class Browser:
    """Chromium through its debugging pipe: JSON that ends in NUL, on descriptors 3 and 4."""

    def __init__(self, program, profile):
        pipes = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 10) for fd in os.pipe() + os.pipe()]
        to_it, self.write, self.read, from_it = pipes
        command = [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
                   "--disable-dev-shm-usage", "--disable-background-networking",
                   "--disable-component-update", "--remote-debugging-pipe",
                   f"--user-data-dir={profile}", "--window-size=1300,900", "about:blank"]
        self.child = subprocess.Popen(
            command, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: (os.dup2(to_it, 3), os.dup2(from_it, 4)))
        os.close(to_it)
        os.close(from_it)
        self.left, self.n, self.session = b"", 0, None
        self.errors, self.answer, self.end = [], None, time.monotonic() + DEADLINE_S

    def close(self):
        self.child.kill()
        self.child.wait()

    def message(self):
        while b"\0" not in self.left:
            if time.monotonic() > self.end:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.read, 1 << 20)
            if not data:
                raise EOFError("the browser ended")
            self.left += data
        text, self.left = self.left.split(b"\0", 1)
        return json.loads(text)

    def event(self, method, params):
        if method == "Runtime.exceptionThrown":
            self.errors.append(json.dumps(params["exceptionDetails"])[:400])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(params["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.send("Page.handleJavaScriptDialog",
                      {"accept": self.answer is not None, "promptText": self.answer or ""})

    def send(self, method, params=None):
        self.n += 1
        message = {"id": self.n, "method": method, "params": params or {}}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        return self.n

    def call(self, method, params=None):
        sent = self.send(method, params)
        while True:
            m = self.message()
            if m.get("id") == sent:
                if "error" in m:
                    raise RuntimeError(f"{method}: {m['error']['message']}")
                return m["result"]
            if "method" in m:
                self.event(m["method"], m.get("params", {}))

    def open(self, path):
        self.session = None
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in "Page", "Runtime", "Log":
            self.call(domain + ".enable")
        self.call("Page.navigate", {"url": pathlib.Path(path).resolve().as_uri()})
        while not self.run("document.readyState == 'complete' && location.protocol == 'file:'"):
            pass

    def run(self, script):
        r = self.call("Runtime.evaluate", {"expression": script, "returnByValue": True})
        if "exceptionDetails" in r:
            raise RuntimeError(f"{script[:80]}: {r['exceptionDetails']['exception']['description']}")
        return r["result"].get("value")

    def click(self, x, y):
        for kind in "mouseMoved", "mousePressed", "mouseReleased":
            self.call("Input.dispatchMouseEvent",
                      {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})

    def key(self, key):
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", "key": key, **text})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", "key": key})


# A box: what it is called, where it stands, and how far its label reaches.
BOXES = """[].map.call(document.querySelectorAll('g.b'), g => {
    const r = g.querySelector('rect'), t = g.querySelector('text');
    return {shown: g.style.display != 'none', name: g.getAttribute('data-n'),
            depth: +g.getAttribute('data-d'), x: +r.getAttribute('x'), w: +r.getAttribute('width'),
            y: +r.getAttribute('y'), label: t.textContent, hit: r.style.stroke != '',
            left: +t.getAttribute('x'), length: t.textContent ? t.getComputedTextLength() : 0}})"""


def check(what, is_so):
    print(("ok: " if is_so else "FAILED: ") + what)
    return 0 if is_so else 1


def inside(boxes):
    return [b for b in boxes if b["shown"] and b["length"] and b["left"] + b["length"] > b["x"] + b["w"] + 0.5]


def same(a, b):
    return all(x["shown"] == y["shown"] and abs(x["x"] - y["x"]) < 0.02 and abs(x["w"] - y["w"]) < 0.02
               for x, y in zip(a, b))


def flame(browser, path, word, share):
    browser.open(path)
    first = browser.run(BOXES)
    n_bad = check(f"{len(first)} boxes, labels end in their boxes {inside(first)[:2]}", not inside(first))
    n_bad += check("some labels are written out", any(b["label"] == b["name"] != "ROOT" for b in first))

    # A click on the widest box below the root that is not as wide as everything.
    box = max((b for b in first if b["depth"] and b["w"] < 1190), key=lambda b: b["w"])
    begin = time.monotonic()
    browser.run(f"window.scrollTo(0, {box['y']} - 300)")
    browser.click(box["x"] + box["w"] / 2, box["y"] + 8 - browser.run("window.scrollY"))
    zoomed = browser.run(BOXES)
    took = time.monotonic() - begin
    now = next(b for b, old in zip(zoomed, first) if old is box)
    n_bad += check(f"a click zooms: {box['w']:.0f} to {now['w']:.0f} px", abs(now["w"] - 1200) < 0.1)
    n_bad += check("boxes beside it go", not any(
        b["shown"] and old["depth"] >= box["depth"] and old["x"] >= box["x"] + box["w"] + 0.1
        for b, old in zip(zoomed, first)))
    n_bad += check("its callers stay", zoomed[0]["shown"] and zoomed[0]["w"] == 1200)
    n_bad += check(f"zoomed labels end in their boxes {inside(zoomed)[:2]}", not inside(zoomed))
    n_bad += check(f"in {took:.1f} s", took < 20)
    browser.run("window.scrollTo(0, 0)")
    where = browser.run("(r => [r.x + r.width / 2, r.y + r.height / 2])"
                        "(document.getElementById('all').getBoundingClientRect())")
    browser.click(*where)
    n_bad += check("show all", same(first, browser.run(BOXES)))

    # "/" asks for a text.
    browser.answer = word
    browser.key("/")
    found, note = browser.run(BOXES), browser.run("document.getElementById('note').textContent")
    hits = [b for b in found if b["hit"]]
    n_bad += check(f"{len(hits)} boxes with {word} are marked",
                   hits and all((word.lower() in b["name"].lower()) == b["hit"] for b in found))
    n_bad += check(f"the share: {note}", note == f"{len(hits)} found, {share} %")
    browser.key("Escape")
    n_bad += check("Escape ends the search", not any(b["hit"] for b in browser.run(BOXES)) and
                   browser.run("document.getElementById('note').textContent") == "")
    return n_bad + check(f"no errors {browser.errors}", not browser.errors)


def screen(browser, paths):
    n_bad = 0
    for path in paths:
        browser.open(path)
        over = browser.run("""(() => { const svg = document.documentElement.getBoundingClientRect();
            return [].filter.call(document.querySelectorAll('text'), t => {
                const r = t.getBoundingClientRect();
                return r.right > svg.right + 1 || r.bottom > svg.bottom + 1; }).length })()""")
        fonts = browser.run("getComputedStyle(document.querySelector('text')).fontFamily")
        n_bad += check(f"{os.path.basename(path)}: {over} texts reach out of the picture", over == 0)
        n_bad += check(f"a font of equal widths: {fonts}", "mono" in fonts)
    return n_bad + check(f"no errors {browser.errors}", not browser.errors)


with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
    it = Browser(sys.argv[1], profile)
    try:
        it.call("Browser.getVersion")
    except (EOFError, TimeoutError, BrokenPipeError) as e:
        it.close()
        print("skipped: no answer of", sys.argv[1], e)
        sys.exit(77)
    try:
        failed = flame(it, *sys.argv[3:6]) if sys.argv[2] == "flame" else screen(it, sys.argv[3:])
    finally:
        it.close()
sys.exit(1 if failed else 0)
