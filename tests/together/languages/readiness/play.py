#!/usr/bin/python3
"""Tests the feature `readiness` of a library for agents: play.py UPGRADER NAME COMMAND [ARG ...]

COMMAND FIFO is an agent with this feature. When it becomes active, it extends its deadline by an
hour and shows a status. When somebody has written to FIFO, it says `healthy`. The upgrader must
tell init READY=1 after this `healthy`, and not before. Prints `ok` lines and at the end `N passed,
N failed`."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

LANGUAGES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [LANGUAGES, os.path.join(LANGUAGES, "..", "..", "support")]
sys.dont_write_bytecode = True
from cases import PATIENCE_S, wait  # noqa: E402
from results import Results  # noqa: E402

upgrader, name, *command = sys.argv[1:]
results = Results(name)
check = results.check


class Init:
    """The socket of a fake init, and all that the upgrader has told it."""

    def __init__(self, path):
        self.told = ""
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)

    def wait_for(self, pattern):
        """Waits until something that init has been told matches the pattern."""
        end = time.monotonic() + PATIENCE_S
        while not re.search(pattern, self.told):
            self.socket.settimeout(max(end - time.monotonic(), 0.001))
            try:
                self.told += self.socket.recv(65_536).decode() + "\n"
            except TimeoutError:
                raise TimeoutError(f"init is not told {pattern}: {self.told}") from None


def write_to(fifo):
    """Writes to the FIFO as soon as the agent has opened it."""
    def opened():
        try:
            return os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads yet
            return None
    number = wait("the agent to read its FIFO", opened)
    os.write(number, b"go\n")
    os.close(number)


def play(directory):
    fifo, log = directory + "/fifo", directory + "/log"
    os.mkfifo(fifo)
    init = Init(directory + "/notify")
    with open(log, "w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [upgrader, "--start-timeout=30s", "--", *command, fifo], stdin=subprocess.DEVNULL,
            stderr=errors, env={**os.environ, "NOTIFY_SOCKET": directory + "/notify"})
    try:
        # The agent's deadline was 30 seconds. Ten digits are at least 1,000 seconds, so the agent
        # has extended its deadline.
        init.wait_for(r"EXTEND_TIMEOUT_USEC=\d{10}")
        init.wait_for("STATUS=.*not healthy yet")
        check("an active agent that has not said healthy is not ready to init",
              "READY=1" not in init.told, init.told)
        write_to(fifo)
        init.wait_for("READY=1")
        check("init is told READY=1 when a first agent says healthy", True)
        process.send_signal(signal.SIGTERM)
        status = process.wait(PATIENCE_S)
        with open(log, encoding="utf-8") as lines:
            text = lines.read()
        check("the upgrader understands all that the agent says, and both stop cleanly",
              status == 0 and "not obeyed" not in text and "stray" not in text, (status, text))
    finally:
        process.kill()
        process.wait()
        # If the agent still reads the FIFO, it now sees the end of the file.
        os.close(os.open(fifo, os.O_RDWR))


with tempfile.TemporaryDirectory() as scratch:
    try:
        play(scratch)
    except Exception as error:  # any error counts as a failure of this test
        check("init hears from the upgrader", False, repr(error))
sys.exit(results.finish())
