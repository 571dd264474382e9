# SPDX-License-Identifier: MIT
"""A browser to look at what proton writes, driven with Python's own library."""
import fcntl
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

DEADLINE_S = 600


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
        self.go(pathlib.Path(path).resolve().as_uri())

    def go(self, url):
        self.session = None
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        for domain in "Page", "Runtime", "Log":
            self.call(domain + ".enable")
        self.call("Page.navigate", {"url": url})
        self.wait("document.readyState == 'complete' && location.href != 'about:blank'")

    def wait(self, script):
        while not self.run(script):
            time.sleep(0.05)

    def run(self, script):
        """The value of an expression, or of what it promises."""
        r = self.call("Runtime.evaluate",
                      {"expression": script, "returnByValue": True, "awaitPromise": True})
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


def drive(program, look):
    """Exits with 0 if look(browser) finds nothing wrong, with 77 if there is no browser to look with."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            browser.call("Browser.getVersion")
        except (EOFError, TimeoutError, BrokenPipeError) as error:
            browser.close()
            print("skipped: no answer of", program, error)
            sys.exit(77)
        try:
            n_bad = look(browser)
        finally:
            browser.close()
    sys.exit(1 if n_bad else 0)


def check(what, is_so):
    print(("ok: " if is_so else "FAILED: ") + what)
    return 0 if is_so else 1
