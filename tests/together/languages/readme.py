#!/usr/bin/python3
"""Types the commands of docs/agents.md, "Copy a hello-agent", as printed on that page. Only the
port and the file names are replaced by a free port and unused names. The hello-agent gives away
numbers, is upgraded, and must continue with the next number. PATH must begin with the directory of
the upgrader.
usage: readme.py [DIRECTORY]
DIRECTORY has the library for Python; by default it is the directory that the page names."""

import os
import pathlib
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
DEADLINE = 60


def commands(port, link, file):
    page = (ROOT / "docs/agents.md").read_text()
    text = page.split("## Copy a hello-agent\n")[1].split("\n## ")[0]
    typed = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    assert len(typed) == 5 and "/tmp/hello" in typed[1] and "7000" in typed[2], typed
    if len(sys.argv) > 1:
        typed[0] = "cd " + shlex.quote(sys.argv[1])
    return [line.replace("7000", port).replace("/tmp/count", file).replace("/tmp/hello", link)
            for line in typed]


class Shell:
    """A shell into which commands are typed, and its output."""

    def __init__(self):
        self.said, self.news = [], threading.Condition()
        self.process = subprocess.Popen(["/bin/bash"], cwd=ROOT, stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        start_new_session=True)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            with self.news:
                self.said.append(line.rstrip("\n"))
                self.news.notify()

    def type(self, line, *expected):
        """Types the line. Waits until the output after it has a line with each of the expected
        texts."""
        with self.news:
            before = len(self.said)
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            for words in expected:
                come = self.news.wait_for(
                    lambda: any(words in one for one in self.said[before:]), DEADLINE)
                assert come, f"{line}: no {words}: {self.said}"

    def end(self):
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def numbers(shell):
    return [line for line in shell.said if line.isdigit()]


def ask_for(number, shell, ask):
    """Requests numbers until `number` has come. An agent that has just become active may not listen
    yet, so some requests may be refused."""
    end = time.monotonic() + DEADLINE
    while number not in numbers(shell):
        assert time.monotonic() < end, f"no {number}: {shell.said}"
        shell.type(ask + "\necho asked", "asked")


def play(shell, directory, link, start, ask, upgrade):
    shell.type(directory)
    shell.type(link)
    shell.type(start, "generation 1 (version 1.0) is active")
    ask_for("1", shell, ask)
    ask_for("2", shell, ask)
    shell.type(upgrade, "generation 2 (version 1.0) is active")
    ask_for("3", shell, ask)
    shell.type("kill $!; wait $!; echo status $?", "status 0")
    assert numbers(shell) == ["1", "2", "3"], shell.said


def main():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    with tempfile.TemporaryDirectory() as scratch:
        shell = Shell()
        try:
            play(shell, *commands(port, scratch + "/hello", scratch + "/count"))
        except AssertionError as error:
            print(f"not ok: {error}\n0 passed, 1 failed")
            return 1
        finally:
            shell.end()
    print("ok a hello-agent counts as its page says\n1 passed, 0 failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
