#!/usr/bin/python3
"""Cuts the power of a counter agent in any language: power_cut.py NAME COMMAND [ARG ...]

COMMAND PORT FILE is an agent like the hello-agents. The test records the agent's system calls on
files while the agent gives away numbers of one digit and of two digits. Then the test builds every
state in which a power cut at any moment may leave the files. In each state, the number in the file
must be at least the greatest number that was given away before. An agent that is started on this
state must give away a greater number. Prints `ok` lines and at the end `N passed, N failed`."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(TESTS, "adversity", "crash"), os.path.join(TESTS, "support")]
from cases import PATIENCE_S, wait  # noqa: E402
from disk import Disk, materialise  # noqa: E402
from ports import free_port  # noqa: E402
from recorder import CALLS, Call, Recorder  # noqa: E402
from results import Results  # noqa: E402

NUMBERS = 11
STATES_MAX = 6000  # the maximum number of disk states for each moment of the power cut
SYNCS = ("fsync", "fdatasync", "sync", "syncfs")

name, *command = sys.argv[1:]
results = Results(name)
check = results.check


class Family(Recorder):
    """Reads the traced system calls of an agent with several threads or processes: each line begins
    with a pid. If `careless` is true, ignores the syncs: the canary checks that this is noticed."""

    def __init__(self, disk, careless=False):
        super().__init__(disk)
        self.careless = careless
        self.ends = {}  # for each path, the offset after the last write
        self.at_once = set()  # paths that were opened with O_SYNC or O_DSYNC: each write is a sync

    def take(self, log, notes=()):
        begun = {}
        with open(log, encoding="latin-1") as lines:
            for line in lines:
                if not line.endswith("\n"):
                    break  # an incomplete line: the test killed strace together with the agent
                pid, text = line.rstrip("\n").split(None, 1)
                resumed = re.match(r"<\.\.\. \w+ resumed>(.*)$", text)
                if resumed:
                    text = begun.pop(pid) + resumed[1]
                if text.endswith("<unfinished ...>"):
                    begun[pid] = text.removesuffix("<unfinished ...>").rstrip()
                elif not text.startswith(("---", "+++")) and " = ? " not in text:
                    call = Call(text)
                    if call.result is not None and call.result >= 0:
                        self.take_call(call)

    def take_call(self, call):
        if call.name in ("sendto", "sendmsg"):
            self.disk.say(call.arguments[1].text[:call.result])
        elif not (self.careless and call.name in SYNCS):
            super().take_call(call)

    def on_open(self, call):
        super().on_open(call)
        path = call.path(1 if call.name == "openat" else 0)
        self.ends[path] = 0
        self.at_once.discard(path)
        if call.flag("O_SYNC") or call.flag("O_DSYNC"):
            self.at_once.add(path)

    def on_write(self, call):
        path, text = call.arguments[0].path, call.arguments[1].text[:call.result]
        if path.startswith("socket:"):
            self.disk.say(text)
        elif self.disk.holds(path):
            at = call.number(3) if call.name == "pwrite64" else self.ends[path]
            self.ends[path] = at + len(text)
            self.disk.write(path, at, text)
            if path in self.at_once and not self.careless:
                self.disk.sync(path)


def ask(port):
    """Returns one number of the counter, or 0 if nobody answers."""
    try:
        with socket.create_connection(("127.0.0.1", int(port)), timeout=PATIENCE_S) as connection:
            text = connection.makefile().read()
            return int(text) if text.endswith("\n") else 0
    except OSError:
        return 0


def begin(file, before=()):
    port = str(free_port())
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith("AGENT_PROTOCOL")}
    return port, subprocess.Popen([*before, *command, port, file], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, env=environment,
                                  start_new_session=True)


def end(process, number=signal.SIGKILL):
    os.killpg(process.pid, number)
    process.wait(PATIENCE_S)


def record(place, log):
    calls = "trace=" + CALLS + ",sendto,sendmsg"
    port, process = begin(place + "/count", ["strace", "-f", "-y", "-s", "100000", "-o", log,
                                             "-e", calls])
    try:
        got = [wait("an answer", lambda: ask(port)) for _ in range(NUMBERS)]
        check("it counts from one", got == list(range(1, NUMBERS + 1)), got)
    finally:
        end(process)


def given_away(disk, moment):
    """Returns the greatest number that the agent had given away before this moment, or 0."""
    return max((int(text) for text in disk.said(moment) if text.strip().isdigit()), default=0)


def kept(tree):
    """Returns the number that the agent's file holds in this state of the disk, or None if the file
    holds no number."""
    number = tree.find("count")
    text = b"0" if number is None else tree.nodes[number].content.strip()
    return int(text) if text.isdigit() else None


def judge(disk):
    """Judges every state in which a power cut may leave the files. Returns what is wrong with the
    first bad state, or an empty text. Also returns, for each different state, the greatest number
    that had been given away before the power cut."""
    pictures = {}
    for moment in range(disk.moment + 1):
        given = given_away(disk, moment)
        for _, tree in disk.states(moment, STATES_MAX):
            number = kept(tree)
            if number is None or number < given:
                return f"{given} has been given away, and {number} is left", pictures
            picture = tree.picture()
            pictures[picture] = max(given, pictures.get(picture, 0))
    return "", pictures


def start_on(picture, given, place):
    """Starts the agent with its files in the given state, and requests a number. Returns what is
    wrong with the number, or an empty text."""
    materialise(picture, place)
    port, process = begin(place + "/count")
    try:
        number = wait("an answer", lambda: ask(port) or process.poll() is not None and -1)
        return "" if number > given else f"after {given} it gives {number}, from {picture}"
    finally:
        end(process)
        shutil.rmtree(place)


def main():
    with tempfile.TemporaryDirectory() as scratch:
        place, log = scratch + "/place", scratch + "/log"
        os.mkdir(place)
        disk = Disk(place)
        careless = Disk(place)
        record(place, log)
        Family(disk).take(log)
        given = given_away(disk, disk.moment + 1)
        check("what it gave away is in the record", given == NUMBERS, given)
        wrong, pictures = judge(disk)
        check("no power cut leaves less than what was given away", not wrong, wrong)
        answers = [start_on(picture, given, scratch + f"/state{at}")
                   for at, (picture, given) in enumerate(pictures.items())]
        check("started on what is left, it gives away a greater number", not any(answers),
              next(filter(None, answers), ""))
        Family(careless, careless=True).take(log)
        careless.moment = next(at for at, _ in careless.marks if given_away(careless, at + 1) == 2)
        check("canary: without its syncs a number would be given away twice", judge(careless)[0])
        print(f"report: {name}: {len(pictures)} states that a power cut may leave of the counter")
    return results.finish()


if __name__ == "__main__":
    sys.exit(main())
