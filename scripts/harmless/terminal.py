# SPDX-License-Identifier: MIT
"""terminal.py FILE COMMAND ...: runs the command on a terminal and types the lines of FILE, each when its
prompt, the words before the tab, is there. Prints what is left of the screen's lines without colours."""
import os, pty, re, select, sys, time

DEADLINE_S = 120
SEQUENCE = re.compile(r"\x1b\[[0-9;?>=]*[a-zA-Z]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]|\x1b[=>]|\r")


class Terminal:
    def __init__(self, command):
        self.child, self.fd = pty.fork()
        if not self.child:
            os.execvp(command[0], command)
        self.text, self.at, self.end = "", 0, time.monotonic() + DEADLINE_S

    def read(self):
        """False at the end of the program, or when it takes too long."""
        if not select.select([self.fd], [], [], max(0, self.end - time.monotonic()))[0]:
            return False
        try:
            data = os.read(self.fd, 10000)
        except OSError:
            return False
        self.answer(data)
        self.text += SEQUENCE.sub("", data.decode(errors="replace"))
        return bool(data)

    def answer(self, data):
        """Where is the cursor? IPython asks."""
        for _ in range(data.count(b"\x1b[6n")):
            os.write(self.fd, b"\x1b[1;1R")

    def wait_for(self, prompt):
        while prompt not in self.text[self.at:]:
            if not self.read():
                return False
        self.at = self.text.index(prompt, self.at) + len(prompt)
        return True


def main():
    terminal = Terminal(sys.argv[2:])
    with open(sys.argv[1]) as keys:
        for line in keys:
            prompt, _, typed = line.rstrip("\n").partition("\t")
            if not terminal.wait_for(prompt):
                print("no prompt %r" % prompt)
                break
            os.write(terminal.fd, typed.encode().decode("unicode_escape").encode() + b"\r")
    while terminal.read():
        pass
    if time.monotonic() > terminal.end:
        os.kill(terminal.child, 9)
        print("no end")
    # Lines of results alone: how often a line is drawn anew while it is typed is a matter of time.
    for line in terminal.text.split("\n"):
        if line.startswith("= ") or "Error" in line:
            print(line.rstrip())
    sys.exit(os.WEXITSTATUS(os.waitpid(terminal.child, 0)[1]))


main()
