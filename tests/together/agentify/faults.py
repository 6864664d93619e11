#!/usr/bin/env python3
"""Makes system calls of agentify and its keeper fail, one call in each run. In a run, agentify
checks the daemon's configuration, starts the daemon, probes it by HTTP and stops it. After each
failure, agentify must report the failure, end, and leave no process of the daemon. It may send
`stopped` only if the daemon has really stopped, and must then exit with status 0. There must never
be two daemons at the same time. A run that does not reach the failing call does not count.

usage: faults.py [CALL ...]    EVERY=1: makes each call fail, instead of one call in 29. Ends with
`N passed, N failed`. All calls of one kind are one check: how many calls of a kind agentify makes
differs between runs."""

import os
import re
import shutil
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
from double import BUILD, PATIENCE, Ended, Stage, runs, wait_until
from probes import Server

WITNESS = BUILD / "tests/together/agentify/witness"
STEP = 1 if os.environ.get("EVERY") == "1" else 29

# For each system call, the error with which the call fails in this test. The errors are those that
# a real kernel may return, for example because memory or descriptors are exhausted. Pipes and
# eventfds never fail with EIO, because libuv would abort then.
ERRORS = {
    "openat": "EMFILE", "read": "EINTR", "write": "EAGAIN", "pipe2": "EMFILE", "clone": "EAGAIN",
    "epoll_create1": "EMFILE", "epoll_ctl": "ENOMEM", "epoll_wait": "EINTR", "socket": "EMFILE",
    "socketpair": "EMFILE", "bind": "EADDRINUSE", "fcntl": "EBADF", "dup2": "EMFILE",
    "dup3": "EMFILE", "flock": "ENOLCK", "prctl": "EINVAL", "setsid": "EPERM",
    "signalfd4": "EMFILE", "eventfd2": "EMFILE", "sendto": "ENOBUFS", "sendmsg": "ENOBUFS",
    "recvfrom": "ECONNRESET", "recvmsg": "ECONNRESET", "setsockopt": "ENOPROTOOPT",
    "kill": "EPERM", "waitid": "EINTR", "wait4": "EINTR", "getdents64": "EIO",
    "newfstatat": "EACCES", "readlink": "EACCES", "execve": "EACCES", "execveat": "EACCES",
    "connect": "ECONNREFUSED", "getsockopt": "ENOBUFS", "getsockname": "ENOBUFS",
    "getpeername": "ENOTCONN", "poll": "EINTR", "ppoll": "EINTR", "pidfd_open": "EMFILE",
    "timerfd_create": "EMFILE",
}


# Matches strace's line about an injected EAGAIN for a write to an eventfd. A real EAGAIN means that
# the eventfd is already readable and will wake its reader. libuv relies on that. After an injected
# EAGAIN, nothing wakes the reader, so the test ignores a run with this line.
FULL_EVENT = re.compile(r'write\(\d+, "\\1(\\0){7}", 8\) += -1 EAGAIN .*\(INJECTED\)')

# Matches strace's line about an injected error for the write of one byte with which libuv unlocks
# its list of signals. If this write fails, libuv aborts. On a real machine it never fails, because
# libuv's own pipe always has room for the byte. So the test ignores a run with this line.
LIBUV_LOCK = re.compile(r'write\(\d+, "\*", 1\).*INJECTED')


def tracer(log, inject=None):
    """Returns the strace command that traces agentify and its keeper: all system calls that may
    fail, or only the one that does. By `-b execve` strace detaches from a process that calls
    execve(), so the daemon and the commands of agentify are not traced."""
    calls = inject.split(":")[0] if inject else ",".join(ERRORS)
    words = [shutil.which("strace"), "-qq", "-f", "-b", "execve", "-o", str(log),
             "-e", "trace=" + calls]
    return words + (["-e", "inject=" + inject] if inject else [])


class Life:
    """Runs one agentify from its start to its stop: held, checked, active, healthy, stopped."""

    def __init__(self, stage, server, prefix):
        self.stage = stage
        self.one = stage.agentify(
            "--check=true", f"--ready=http://127.0.0.1:{server.port}/", "--stop=TERM:5s",
            daemon=[str(WITNESS)], prefix=prefix)

    def daemons(self):
        return [int(line.split()[1]) for line in self.stage.lines("record")]

    def wait_for(self, *kinds):
        """Waits until agentify has sent one of these messages, or has ended. Returns the message's
        type, or "end", or "nothing" if neither has happened within the time limit."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = next((m["type"] for m in self.one.messages if m["type"] in kinds), None)
            if found:
                return found
            try:
                self.one.read(1)
            except Ended:
                return "end"
            except AssertionError:
                continue
        return "nothing"

    def play(self):
        heard = self.wait_for("ready", "unfit")
        if heard == "nothing":
            return "it says neither ready nor unfit, and does not end"
        if heard == "ready":
            self.one.send(type="activate", clean=True)
            if self.wait_for("healthy", "unfit") == "nothing":
                return "it says neither healthy nor unfit"
            self.one.stop(reason="rollback", deadline_ms=10000)
        if self.wait_for("stopped") == "nothing":
            return "it does not end"
        stopped = self.one.count("stopped") > 0
        if stopped and any(runs(pid) for pid in self.daemons()):
            return "stopped is said, and the daemon runs"
        return self.judge_end(stopped)

    def judge_end(self, stopped):
        status = self.one.wait()
        try:
            wait_until(lambda: not self.one.family(), "all have gone", 10)
        except AssertionError:
            return "processes are left: %s" % self.one.family()
        if any(not line.startswith("alone") for line in self.stage.lines("record")):
            return "there were two daemons"
        if stopped and status != 0:
            return "stopped is said, and the status is %d" % status
        told = self.one.count("unfit") or self.one.log() or status != 0
        if not stopped and not told:
            return "it ends without a word, with status 0"
        return ""


def live(inject=None):
    """Runs one agentify whose calls are traced, and one of which fails. Returns a description of
    the error, if any, and the output of strace."""
    with Stage() as stage, Server() as server:
        log = stage.directory / "trace"
        life = Life(stage, server, tracer(log, inject))
        wrong = life.play()
        if wrong:
            wrong += "; said %s; log: %s" % (life.one.said(), life.one.log())
        return wrong, log.read_text(errors="replace")


def count_calls():
    """Runs one agentify without a failing call. Returns, for each kind of system call, how often
    the process that makes it most often makes it."""
    wrong, trace = live()
    assert not wrong, "without a fault: " + wrong
    counts = {}
    for line in trace.splitlines():
        words = line.split(None, 1)
        name = words[1].split("(")[0] if len(words) > 1 else ""
        if name in ERRORS:
            counts[name, words[0]] = counts.get((name, words[0]), 0) + 1
    most = {}
    for (name, _), count in counts.items():
        most[name] = max(most.get(name, 0), count)
    return most


def points():
    """Returns the calls that may fail: for each system call that a process makes, the numbers of
    the chosen calls, and the numbers of all calls."""
    most = count_calls()
    # Chooses the calls that will fail: of each system call, every STEP-th call, and at least one.
    # The number of the first chosen call differs between the system calls.
    found = {}
    for kind, name in enumerate(sorted(most)):
        first = 1 + kind % min(STEP, most[name])
        found[name] = (range(first, most[name] + 1, STEP), range(1, most[name] + 1))
    return found


def strike(name, number):
    """Makes one call fail. Returns None if the run does not count, otherwise what was wrong."""
    inject = "%s:error=%s:when=%d" % (name, ERRORS[name], number)
    wrong, trace = live(inject)
    if "(INJECTED)" not in trace:
        return None  # agentify has not reached the failing call in this run
    if LIBUV_LOCK.search(trace) or FULL_EVENT.search(trace):
        return None
    struck = next(line for line in trace.splitlines() if "(INJECTED)" in line)
    return wrong and "%s: %s: %s" % (inject, struck, wrong)


def strike_kind(name, chosen, calls):
    """Makes the chosen calls of one kind fail. If none of these runs counts, makes other calls of
    this kind fail, until one run counts. Returns how many runs have counted, and what was wrong."""
    told = []
    for number in [*chosen, *(number for number in calls if number not in chosen)]:
        if told and number not in chosen:
            break
        wrong = strike(name, number)
        if wrong is not None:
            told.append(wrong)
    return len(told), "\n  ".join(wrong for wrong in told if wrong)


def is_in_every_run(name):
    """Returns whether each of five more runs makes a call of this kind. On a busy machine agentify
    and its keeper make some calls that they do not make otherwise, such as pidfd_open() for a
    process of the daemon that has not ended yet."""
    return all(name in count_calls() for _ in range(5))


def main():
    passed = failed = 0

    def note(name, wrong):
        nonlocal passed, failed
        passed += not wrong
        failed += bool(wrong)
        if wrong:
            print("not ok %s: %s" % (name, wrong), flush=True)

    fired = {}
    for name, (chosen, calls) in points().items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        fired[name], wrong = strike_kind(name, chosen, calls)
        if not fired[name] and is_in_every_run(name):
            wrong = "no call of this kind could be made to fail"
        note(name, wrong)
    print("report: agentify: %d calls of %d kinds have failed" % (sum(fired.values()), len(fired)))
    note("many kinds of calls have failed", "" if len(fired) > 20 or sys.argv[1:] else str(fired))
    note("a probe's connection has failed",
         "" if fired.get("connect") or sys.argv[1:] else str(fired))
    # Checks the test itself: in this run, agentify's calls of kill() have no effect. So a process
    # of the daemon is left at the end, and the test must notice this process.
    wrong, _ = live("kill:retval=0:when=1+")
    note("canary: signals that reach nobody", "" if wrong else "not seen")
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
