#!/usr/bin/env python3
"""Runs upgrades under a small init that this script implements. At every system call of an upgrade,
kills agentify, its keeper, the daemon or the upgrader. At no moment may two daemons run, and in the
end exactly one must run. An upgrade is committed when a server has answered agentify's probe by
HTTP.

usage: kill.py [POINTS]   kills once in each of POINTS runs, at system calls that are evenly spread
over the upgrade; by default in a few runs. WORKERS=N makes N runs at a time.
POINT=NAME:NUMBER:VICTIM makes only the run that kills VICTIM at call NUMBER of the process NAME.
Ends with `N passed, N failed`, which count the runs."""

import ctypes
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from double import AGENTIFY, BUILD, marked, name_of, parent_of, runs
from probes import Server

PATIENCE = 60
# If no traced process stops or ends within this time, in seconds, the test looks at the files that
# the traced processes write.
QUIET = 0.003
# The number of runs in `make check`. Each run kills a process at a different system call, so each
# kind of victim is killed a few times.
FEW = 21
# The processes that are killed. If several processes have the same name, `first` is the process
# that was started first, and `last` the process that was started last.
VICTIMS = ["agentify first", "agentify last", "agentify-keeper first", "agentify-keeper last",
           "witness first", "witness last", "upgrader first"]
WITNESS = BUILD / "tests/together/agentify/witness"

# ---- the tracer: uses ptrace to follow a process and all its descendants, stops them at each of
# their system calls, and can kill a process at such a stop

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long

TRACEME, CONT, SETOPTIONS, SYSCALL = 0, 7, 0x4200, 24
TRACE_SYSGOOD, TRACE_FORK, TRACE_VFORK, TRACE_CLONE, TRACE_EXEC = 1, 2, 4, 8, 16
OPTIONS = TRACE_SYSGOOD | TRACE_FORK | TRACE_VFORK | TRACE_CLONE | TRACE_EXEC
ALL = 0x40000000  # the value of __WALL in waitpid()
SUBREAPER = 36


def ptrace(request, pid, data=0):
    return LIBC.ptrace(request, pid, None, data)


def become_tracer():
    """Makes this process the parent of all descendants whose parents have ended, and keeps SIGCHLD
    pending for look(). Must be called before a thread is started, since the thread would take the
    signal."""
    LIBC.prctl(SUBREAPER, 1, 0, 0, 0)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])


class Family:
    """Traces the processes that are started here, and all their descendants. At each system call,
    calls `step` with the pid and the name of the calling process. After `step` has returned true,
    the traced processes no longer stop at system calls, but only at signals."""

    def __init__(self, step):
        self.step = step
        self.free = False  # true when `step` has ended the tracing of system calls
        self.inside = {}  # for each process, whether it is in a system call
        self.alive = set()
        self.ended = {}
        self.comm = {}  # for each process that makes system calls, its open file /proc/PID/comm

    def start(self, argv, environment, output):
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
                os.dup2(output, 1)
                os.dup2(output, 2)
                if not self.free:
                    ptrace(TRACEME, 0)
                    os.kill(os.getpid(), signal.SIGSTOP)
                os.execve(argv[0], argv, environment)
            finally:
                os._exit(127)
        self.alive.add(pid)
        if not self.free:
            os.waitpid(pid, ALL)
            ptrace(SETOPTIONS, pid, OPTIONS)
            self.go_on(pid)
        return pid

    def go_on(self, pid, number=0):
        ptrace(CONT if self.free else SYSCALL, pid, number)

    def name_of_caller(self, pid):
        try:
            if pid not in self.comm:
                self.comm[pid] = os.open(f"/proc/{pid}/comm", os.O_RDONLY)
            return os.pread(self.comm[pid], 100, 0).decode(errors="replace").strip()
        except OSError:
            return ""

    def look(self):
        """Handles the next event of a traced process. If there is none yet, only waits for one, for
        a short time. Returns false if none has come in that time."""
        try:
            pid, status = os.waitpid(-1, ALL | os.WNOHANG)
        except ChildProcessError:
            pid = 0
        if pid == 0:
            return signal.sigtimedwait([signal.SIGCHLD], QUIET) is not None
        if not os.WIFSTOPPED(status):
            self.alive.discard(pid)
            self.ended[pid] = status
            if pid in self.comm:
                os.close(self.comm.pop(pid))
            return True
        self.alive.add(pid)
        number = os.WSTOPSIG(status)
        if number == signal.SIGTRAP | 0x80:
            entering = self.inside[pid] = not self.inside.get(pid, False)
            if entering and not self.free and self.step(pid, self.name_of_caller(pid)):
                self.free = True
            self.go_on(pid)
        elif status >> 16 or number == signal.SIGTRAP:
            # Records whether the process is in a system call. ptrace reports an exec before
            # execve() returns, so after the event for an exec the process is still in that call.
            # After all other events it is not in a system call.
            self.inside[pid] = status >> 16 == 4
            self.go_on(pid)
        elif number == signal.SIGSTOP and pid not in self.inside:
            self.inside[pid] = False  # a process that has just been forked
            ptrace(SETOPTIONS, pid, OPTIONS)
            self.go_on(pid)
        else:
            self.go_on(pid, number)
        return True


# ---- the runs of the test: each run has an upgrade, and at most one kill

server = None  # the HTTP server that agentify probes in every run; forked workers share it


def upgrader_command(directory):
    options = ["--lock=" + str(directory / "lock"), "--commit=healthy", "--stop-timeout=20s"]
    adapter = ["--adapter=" + str(AGENTIFY), "--adapter=--stop=TERM:5s", "--adapter=--settle=0",
               f"--adapter=--ready=http://127.0.0.1:{server.port}/"]
    return [str(BUILD / "upgrader"), *options, *adapter, str(directory / "agent")]


class Life:
    """One run: starts an upgrader with its daemon, makes an upgrade, and ends the upgrader. Kills
    at most one process on the way."""

    def __init__(self, point=None):
        self.point = point
        self.directory = Path(tempfile.mkdtemp(prefix="kill."))
        (self.directory / "agent").symlink_to(WITNESS)
        self.mark = "TEST_MARK=" + self.directory.name
        self.environment = {"PATH": os.environ["PATH"], "DIR": str(self.directory),
                            "TEST_MARK": self.directory.name}
        self.log_path = self.directory / "log"
        self.log = open(self.log_path, "ab")
        self.family = Family(self.step)
        self.steps = Counter()
        self.struck = None
        self.starts = 0
        self.upgrader = None

    # ---- the kill of a run: its moment and its victim

    def step(self, pid, name):
        self.steps[name] += 1
        if self.point is None or self.struck:
            return False
        where, number, victim = self.point
        if name != where or self.steps[name] != number:
            return False
        target = self.find(victim)
        if target is None:
            target = pid if name == victim.split()[0] else None
        if target is None:
            self.struck = "nobody"
            return True
        self.struck = f"{victim} {target}"
        os.kill(target, signal.SIGKILL)
        return True

    def find(self, victim):
        name, which = victim.split()
        found = sorted(pid for pid in self.family.alive if name_of(pid) == name)
        if name == "witness":  # leaves out the daemon's child, which has the same name
            found = [pid for pid in found if name_of(parent_of(pid)) != "witness"]
        if name == "agentify":
            found = [pid for pid in found if parent_of(pid) == self.upgrader]
        if not found:
            return None
        return found[0 if which == "first" else -1]

    # ---- the start and restart of the upgrader, as an init system does it

    def start(self):
        self.starts += 1
        command = upgrader_command(self.directory)
        self.upgrader = self.family.start(command, self.environment, self.log.fileno())

    def record(self):
        path = self.directory / "record"
        return path.read_text().split("\n")[:-1] if path.exists() else []

    def run_until(self, condition, what):
        end = time.monotonic() + PATIENCE
        looked = 0
        while time.monotonic() < end:
            happened = self.family.look()
            looked += happened
            if self.upgrader in self.family.ended and self.starts < 3 and not self.ending:
                self.start()
            if (not happened or looked % 50 == 0) and condition():
                return
        raise AssertionError(f"not in time: {what}")

    ending = False

    def daemon_runs(self):
        """Returns true if the newest daemon lives, and its upgrader reports that all is well."""
        record = self.record()
        return bool(record) and runs(int(record[-1].split()[1])) and (
            self.upgrader not in self.family.ended)

    def play(self):
        self.start()
        self.run_until(self.daemon_runs, "the first daemon")
        upgrader = self.upgrader
        os.kill(upgrader, signal.SIGUSR2)
        self.run_until(lambda: self.upgrade_is_over(upgrader), "the upgrade's end")
        self.run_until(self.daemon_runs, "one daemon again")
        self.ending = True
        last = self.upgrader
        try:
            os.kill(last, signal.SIGTERM)
        except ProcessLookupError:
            pass
        # From now on, a killed upgrader is not restarted. Waits until all processes have ended.
        self.run_until(lambda: last in self.family.ended, "the upgrader's end")
        self.run_until(lambda: not marked(self.mark), "the end of all processes")
        for line in self.record():
            assert line.startswith("alone"), "two daemons: " + str(self.record())

    def upgrade_is_over(self, upgrader):
        if self.upgrader != upgrader or upgrader in self.family.ended:
            return True
        text = self.log_path.read_text(errors="replace")
        # Each text is part of a log line that shows how the upgrader has reacted to SIGUSR2. While
        # an upgrader waits for its lock, it has no agent to upgrade. Then it only logs `is waited
        # for`, with the program that it will start.
        words = ("committed", "sigusr2-1 failed", "is refused", "is waited for: ")
        return any(word in text for word in words)

    def clean_up(self):
        for pid in marked(self.mark):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        end = time.monotonic() + 10
        while marked(self.mark) and time.monotonic() < end:
            self.family.look()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def live(point):
    """Makes one run. Returns three values: a description of the error, or None; the number of
    system calls of each process; and the process that was killed."""
    life = Life(point)
    try:
        life.play()
        return None, life.steps, life.struck
    except AssertionError as error:
        return f"{error}; record {life.record()}; log:\n{life.log_path.read_text()}", life.steps, (
            life.struck)
    finally:
        life.clean_up()


def live_through(point):
    """Calls live() in a worker process of its own: a process can trace and reap only its own
    descendants."""
    wrong, _, struck = live(point)
    return point, wrong, struck


def main():
    global server
    become_tracer()
    server = Server()
    if os.environ.get("POINT"):
        where, number, victim = os.environ["POINT"].split(":")
        print(live((where, int(number), victim)))
        return
    wrong, steps, _ = live(None)
    if wrong:
        print(f"not ok: without a strike: {wrong}\n0 passed, 1 failed")
        sys.exit(1)
    points = [(name, number, victim)
              for name in ("upgrader", "agentify", "agentify-keeper", "witness")
              for number in range(1, steps[name] + 1) for victim in VICTIMS]
    wanted = min(len(points), int(sys.argv[1]) if len(sys.argv) > 1 else FEW)
    chosen = [points[i * len(points) // wanted] for i in range(wanted)]
    workers = int(os.environ.get("WORKERS", os.cpu_count() or 1))
    passed = failed = nobody = 0
    with multiprocessing.Pool(workers, become_tracer) as pool:
        for point, wrong, struck in pool.imap_unordered(live_through, chosen):
            nobody += struck in (None, "nobody")
            passed += not wrong
            failed += bool(wrong)
            if wrong:
                print(f"not ok: {point}: {struck}: {wrong}", flush=True)
    print(f"report: agentify: {passed + failed - nobody} processes killed at {len(chosen)} points "
          f"of {dict(steps)}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
