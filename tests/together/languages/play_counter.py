#!/usr/bin/python3
"""Tests a counter agent in any language: play_counter.py UPGRADER NAME COMMAND [ARG ...]

COMMAND PORT FILE is an agent like the hello-agents: it gives the next number to each connection. It
must never give away a number twice. Only a crash may lose a number, and only one. The agent may
send no message that the upgrader does not understand. While it is held, it must do nothing. It must
also give away numbers if it is started without an upgrader. Prints `ok` lines and at the end `N
passed, N failed`."""

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
sys.dont_write_bytecode = True
from cases import PATIENCE_S, wait  # noqa: E402
from ports import free_port  # noqa: E402
from results import Results  # noqa: E402

upgrader, name, *command = sys.argv[1:]
results = Results(name)
check = results.check


def ask(port):
    """Returns one number of the counter, or None if nobody answers."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
            text = connection.makefile().read()
            return int(text) if text.endswith("\n") else None
    except OSError:
        return None


class Customer(threading.Thread):
    """Asks for numbers without a pause, and keeps those that it gets."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.port, self.numbers, self.enough = port, [], threading.Event()

    def run(self):
        while not self.enough.is_set():  # ends when the test sets `enough`
            number = ask(self.port)
            if number is not None:
                self.numbers.append(number)

    def gets_more(self, what):
        before = len(self.numbers)
        wait(what, lambda: len(self.numbers) >= before + 5)


class Service:
    """The agent under the upgrader, and the lines of the upgrader's log."""

    def __init__(self, port, file):
        self.lines = []
        self.process = subprocess.Popen(
            [upgrader, "--trial=100ms", "--", *command, str(port), file],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        self.lines.extend(self.process.stderr)

    def said(self, text):
        return sum(text in line for line in self.lines)

    def upgrade(self):
        before = self.said("is committed")
        self.process.send_signal(signal.SIGUSR2)
        wait("the commit of an upgrade", lambda: self.said("is committed") > before)

    def agent(self):
        """Returns the process of the agent that was started last."""
        return [int(line.split("started as process ")[1].split(",")[0])
                for line in self.lines if "started as process" in line][-1]

    def end(self, number):
        self.process.send_signal(number)
        status = self.process.wait(PATIENCE_S)
        self.reader.join(PATIENCE_S)
        return status


def play_upgrades(directory):
    port, file = free_port(), os.path.join(directory, "count")
    service = Service(port, file)
    customer = Customer(port)
    customer.start()
    customer.gets_more("the first agent to serve")
    for _ in range(3):
        service.upgrade()
        customer.gets_more("the new agent to serve")
    log = list(service.lines)
    os.kill(service.agent(), signal.SIGKILL)
    check("a crash of the agent ends the upgrader with its status",
          service.process.wait(PATIENCE_S) == 128 + signal.SIGKILL, service.lines[-1:])
    service = Service(port, file)
    customer.gets_more("the service to be back after a crash")
    status = service.end(signal.SIGTERM)
    customer.enough.set()
    customer.join(PATIENCE_S)
    check("it stops cleanly with the upgrader", status == 0, f"status {status}")
    numbers = customer.numbers
    check("no number is given away twice, through three upgrades and a crash",
          all(one < two for one, two in zip(numbers, numbers[1:])), numbers)
    missing = numbers[-1] - numbers[0] + 1 - len(numbers)
    check("none is lost but the one that the crash may have cut off", missing <= 1, missing)
    noise = [line for line in log + service.lines
             if "stray output" in line or "not obeyed" in line or "without having" in line]
    check("the upgrader understands all that it says", not noise, noise)


@contextlib.contextmanager
def held_agent(port, file):
    """Starts the agent without an upgrader: the test itself writes to the agent's input and reads
    its output."""
    process = subprocess.Popen([*command, str(port), file], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
                               env={**os.environ, "AGENT_PROTOCOL": "1"})
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def say(process, **message):
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def hear(process):
    if not select.select([process.stdout], [], [], PATIENCE_S)[0]:
        raise TimeoutError("the agent says nothing")
    return json.loads(process.stdout.readline() or b"null")


def play_held(directory):
    port, file = free_port(), os.path.join(directory, "untouched")
    for what, number, status in (("the end of input", None, 1), ("SIGTERM", signal.SIGTERM, 143)):
        with held_agent(port, file) as process:
            hello = hear(process)
            check(f"it says hello first ({what})", (hello or {}).get("type") == "hello", hello)
            say(process, type="welcome", protocol=1, features=[], generation=2, role="candidate")
            ready = hear(process)
            check(f"it says ready when it is held ({what})", ready == {"type": "ready"}, ready)
            check(f"held, it serves nobody and touches nothing ({what})",
                  ask(port) is None and not os.path.exists(file))
            if number is None:
                process.stdin.close()
            else:
                process.send_signal(number)
            got = process.wait(PATIENCE_S)
            got = 128 - got if got < 0 else got
            check(f"held, {what} ends it at once", got == status, f"status {got}")


def play_heartbeats(directory):
    """Checks that an agent sends heartbeats if they are requested, but not before it is active, and
    that such an agent stops as usual."""
    port, file = free_port(), os.path.join(directory, "beats")
    with held_agent(port, file) as process:
        hear(process)
        say(process, type="welcome", protocol=1, features=[], generation=1, role="first",
            watchdog_ms=600)
        ready = hear(process)
        say(process, type="activate", clean=False)
        beats = [hear(process) for _ in range(4)]
        check("heartbeats come where they are wanted, and not before activate",
              ready == {"type": "ready"} and beats == [{"type": "heartbeat"}] * 4, (ready, beats))
        say(process, type="stop", reason="shutdown", deadline_ms=9000)
        said = (hear(process) for _ in range(100))
        last = next((one for one in said if one != {"type": "heartbeat"}), "a hundred heartbeats")
        check("it stops between heartbeats", last == {"type": "stopped"}
              and process.wait(PATIENCE_S) == 0, last)


def play_odd_words(directory):
    """Checks that some lines change nothing: lines that are not messages, messages of unknown
    types, and an `error` by which the upgrader refuses the agent's `ready`."""
    port, file = free_port(), os.path.join(directory, "odd")
    with held_agent(port, file) as process:
        hear(process)
        process.stdin.write(b'\xff\n[]\n{"type":"new"}\n{"type":"activate"}\n')
        process.stdin.write(b"x" * 70_000 + b"\n")
        say(process, type="welcome", protocol=1, features=[], generation=1, role="first", new=[1])
        hear(process)
        say(process, type="error", about="ready", reason="crossed")
        say(process, type="activate", clean=False, state="é\n\"\\\u2028😀", new={"a": None})
        wait("the active agent to serve", lambda: ask(port) is not None)
        check("stray, unknown and malformed lines change nothing", process.poll() is None)
        process.stdin.close()
        status = process.wait(PATIENCE_S)
        check("active, the end of input makes it stop cleanly", status == 0, f"status {status}")


def play_alone(directory):
    port, file = free_port(), os.path.join(directory, "alone")
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith("AGENT_PROTOCOL")}
    process = subprocess.Popen([*command, str(port), file], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, env=environment)
    try:
        wait("the agent to serve without an upgrader", lambda: ask(port) is not None)
        # A client that keeps its connection open must not delay the stop.
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as idle:
            idle.recv(100)
            process.send_signal(signal.SIGTERM)
            status, output = process.wait(PATIENCE_S), process.stdout.read()
        check("without an upgrader it serves, and SIGTERM stops it cleanly",
              status == 0 and output == b"", f"status {status}, output {output}")
    finally:
        process.kill()
        process.wait()


for play in (play_upgrades, play_held, play_heartbeats, play_odd_words, play_alone):
    with tempfile.TemporaryDirectory() as scratch:
        try:
            play(scratch)
        except Exception as error:  # any error counts as a failure of this test
            check(play.__name__, False, repr(error))
sys.exit(results.finish())
