# SPDX-License-Identifier: MIT
"""dap.py COMMAND ...: a client of debugpy's, which listens at the word _PORT_ of the command. Sets
breakpoints in shop.py, looks at stacks and variables, steps, evaluates, goes on; prints what it was told."""
import json, os, socket, subprocess, sys, time

DEADLINE_S = 120


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def line_of(text):
    with open("shop.py") as f:
        return next(n for n, line in enumerate(f, 1) if text in line)


class Client:
    def __init__(self, port):
        self.socket = connected(port)
        self.file = self.socket.makefile("rb")
        self.n_sent, self.events = 0, []

    def receive(self):
        n = 0
        while True:
            line = self.file.readline().strip()
            if not line:
                break
            n = int(line.split(b":")[1])
        return json.loads(self.file.read(n)) if n else None

    def send(self, command, **arguments):
        self.n_sent += 1
        data = json.dumps({"seq": self.n_sent, "type": "request", "command": command,
                           "arguments": arguments}).encode()
        self.socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        return self.n_sent

    def answer(self, seq):
        while True:
            message = self.receive()
            if not message:
                return {}
            if message["type"] == "event":
                self.events.append(message)
            elif message["type"] == "response" and message["request_seq"] == seq:
                if not message["success"]:
                    print("refused:", message["command"], message.get("message"))
                return message.get("body") or {}

    def ask(self, command, **arguments):
        return self.answer(self.send(command, **arguments))

    def event(self, *names):
        while True:
            for n, message in enumerate(self.events):
                if message["event"] in names:
                    return self.events.pop(n)
            message = self.receive()
            if not message:
                return {"event": "nothing", "body": {}}
            if message["type"] == "event":
                self.events.append(message)


def connected(port):
    end = time.monotonic() + DEADLINE_S
    while True:
        try:
            s = socket.create_connection(("127.0.0.1", port))
            s.settimeout(DEADLINE_S)
            return s
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


def show(client, thread):
    frames = client.ask("stackTrace", threadId=thread)["stackFrames"]
    print("  stack", [(f["name"], f["line"]) for f in frames if f["source"]["path"].endswith("shop.py")])
    for scope in client.ask("scopes", frameId=frames[0]["id"])["scopes"][:1]:
        found = client.ask("variables", variablesReference=scope["variablesReference"])["variables"]
        print("  locals", [(v["name"], v.get("type")) for v in found])
    return frames[0]["id"]


def session(client):
    client.ask("initialize", adapterID="python", pathFormat="path", linesStartAt1=True)
    attach = client.send("attach", justMyCode=True)
    client.event("initialized")
    lines = [line_of(t) for t in ("price *= 0.5", "return 0", "yield name.upper()", 'RuntimeError("lost")')]
    found = client.ask("setBreakpoints", source={"path": os.path.abspath("shop.py")},
                       breakpoints=[{"line": n} for n in lines])
    print([(b["verified"], b["line"]) for b in found["breakpoints"]])
    client.ask("setExceptionBreakpoints", filters=["raised"])
    client.ask("configurationDone")
    client.answer(attach)
    for n in range(100):
        stop = client.event("stopped", "terminated", "exited")
        if stop["event"] != "stopped":
            break
        body = stop["body"]
        print(body["reason"], body.get("text"))
        frame = show(client, body["threadId"])
        print("  evaluated", client.ask("evaluate", expression="sum(range(10))", frameId=frame).get("result"))
        client.ask("next" if n == 0 else "continue", threadId=body["threadId"])
    print("ends")


def main():
    port = free_port()
    command = [a.replace("_PORT_", str(port)) for a in sys.argv[1:]]
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        session(Client(port))
        out = child.communicate(timeout=DEADLINE_S)[0]
    finally:
        child.kill()
    print(out.decode())
    sys.exit(child.returncode)


main()
