#!/usr/bin/env python3
"""Runs real daemons under upgrader and agentify, while a client sends requests without a pause.
Makes a good upgrade and four bad upgrades. Kills processes: afterwards exactly one daemon must run,
and at no time two. Stops the daemon: none of its processes may be left. Also measures how long the
daemon's own stop and start take.

usage: daemons.py [NAME ...]   a part of a name is enough. TABLE=FILE: the results go into FILE,
between the lines that mark the place. Ends with `N passed, N failed`."""

import fcntl
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from double import (AGENTIFY, BUILD, descendants, free_port, marked, name_of, parent_of,
                    wait_until)
from services import SERVICES, Chronyd, Client, PythonServer

UPGRADER = os.environ.get("UPGRADER", str(BUILD / "upgrader"))
# The time limit for the trial of each version. A working daemon is ready long before this limit,
# even on a busy machine. A test with a daemon that never becomes ready lasts this long.
TRIAL = "10s"


def upgrader_has(option):
    return option in subprocess.run([UPGRADER, "--help"], capture_output=True, text=True,
                                    timeout=60, check=False).stdout


class Machine:
    """An upgrader that runs one daemon under agentify, and the upgrader's log."""

    def __init__(self, kind, sockets=False, trial=TRIAL):
        self.trial = trial
        self.directory = Path(tempfile.mkdtemp(prefix="daemons."))
        self.directory.chmod(0o755)
        self.service = kind(self.directory, free_port())
        self.mark = "TEST_MARK=" + self.directory.name
        self.environment = dict(os.environ, TEST_MARK=self.directory.name)
        self.service.prepare()
        self.lines = []
        self.tail = []  # the last lines of the log, including the daemon's lines
        self.passed = None
        if sockets:
            self.passed = socket.create_server(("127.0.0.1", self.service.port), backlog=128)

    def point_at(self, version):
        run = self.directory / version / "run"
        if not run.exists():
            self.service.write(version)
        link = self.directory / "new"
        link.symlink_to(f"{version}/run")
        link.rename(self.directory / "current")

    def command(self):
        words = [UPGRADER, "--lock=" + str(self.directory / "lock"), "--relink",
                 "--trial=" + self.trial]
        if upgrader_has("--commit="):
            words.append("--commit=healthy")
        words += ["--adapter=" + str(AGENTIFY)]
        words += ["--adapter=" + option for option in self.service.options]
        return words + ["--", str(self.directory / "current")]

    def start(self):
        """Starts the upgrader, for the first time or again. Forgets the lines of an earlier
        upgrader's log."""
        self.lines = []
        words, environment = self.command(), dict(self.environment)
        if self.passed:
            words = ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *words]
            environment["LISTEN_FDS"] = "1"

        def keep_socket():
            os.dup2(self.passed.fileno(), 3)

        output = open(self.directory / "log", "ab")
        log = open(output.name, "rb")
        log.seek(0, os.SEEK_END)
        self.process = subprocess.Popen(
            words, env=environment, stdin=subprocess.DEVNULL,
            stderr=output if self.service.floods else subprocess.PIPE,
            stdout=subprocess.DEVNULL, pass_fds=(3,) if self.passed else (),
            preexec_fn=keep_socket if self.passed else None, start_new_session=True)
        output.close()
        reader = threading.Thread(target=self.read, daemon=True, args=(
            self.process, log if self.service.floods else self.process.stderr, self.lines))
        reader.start()
        self.wait_for_line("the daemon is ready")

    def read(self, process, log, lines):
        rest = b""
        while True:  # ends at the end of the log
            line = rest + log.readline()
            # The line is not complete: the upgrader has closed its log, or the log is a file and
            # the rest of the line has not been written yet.
            if not line.endswith(b"\n"):
                if not self.service.floods or process.poll() is not None:
                    return
                rest = line
                select.select([], [], [], 0.02)
                continue
            rest = b""
            # The daemon may have written half a line just before a message of the upgrader or
            # agentify. Then one line has both texts. So the search below finds a message anywhere
            # in a line.
            self.tail = [*self.tail[-30:], line[:300]]
            ours = re.search(rb"(upgrader|agentify): .*", line)
            if ours:
                lines.append(ours[0].decode(errors="replace"))

    def wait_for_line(self, *texts):
        def found():
            return next((line for line in list(self.lines) if any(t in line for t in texts)), None)
        return wait_until(lambda: found() or self.process.poll() is not None and "ended", texts, 60)

    def upgrade(self, version, *outcomes):
        """Requests an upgrade by SIGUSR2. Waits for a line of the log that contains one of the
        texts in `outcomes`, and returns the line."""
        self.point_at(version)
        before = len(self.lines)
        self.process.send_signal(signal.SIGUSR2)

        def over():
            nonlocal before
            new = self.lines[before:]
            # If the upgrader answers `busy`, repeats the request: the upgrader has not yet reaped
            # the candidate of the previous upgrade.
            if any("busy" in line for line in new):
                before = len(self.lines)
                self.point_at(version)
                self.process.send_signal(signal.SIGUSR2)
                return None
            return next((line for line in new if any(o in line for o in outcomes)), None)

        try:
            return wait_until(over, f"{version}: {outcomes}", 60)
        except AssertionError as error:
            raise AssertionError(f"{error}; {self.lines[before:]}") from error

    def main_process(self):
        starts = [line for line in self.lines if "the daemon is process" in line]
        return int(re.search(r"process (\d+)", starts[-1])[1]), len(starts)

    def victims(self):
        """Returns the pids of the serving daemon, its keeper, its agentify and the upgrader, by
        name. Waits until the log names the serving daemon: if there has been much output, this test
        may still have to read the end of the log."""
        def found():
            daemon = self.main_process()[0]
            if self.service.forks:
                daemon = int((self.directory / "pid").read_text())
            keeper = next((pid for pid in marked(self.mark) if name_of(pid) == "agentify-keeper"
                           and daemon in descendants(pid)), None)
            return keeper and {"daemon": daemon, "keeper": keeper, "agentify": parent_of(keeper),
                               "upgrader": self.process.pid}
        return wait_until(found, "who stands around the daemon", 60)

    def alone(self):
        """Checks the daemons' own records: no daemon may have found, at its start, that an earlier
        daemon still ran."""
        starts = (self.directory / "starts").read_text().split()
        assert starts and set(starts) == {"alone"}, starts

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        left = marked(self.mark)
        assert not left, f"left behind: {left}"
        assert status == 0, f"status {status}: {self.lines[-8:]}"

    def clean_up(self):
        if getattr(self, "process", None) and self.process.poll() is None:
            self.process.kill()
            self.process.wait(60)
        for pid in marked(self.mark):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if self.passed:
            self.passed.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def answers(machine):
    def asked():
        try:
            machine.service.ask()
            return True
        except OSError:
            return False
    wait_until(asked, "an answer", 60)


def good(machine):
    machine.upgrade("v2", "committed")


def check_fails(machine):
    line = machine.upgrade("broken", "failed at", "refused")
    assert "check" in line, line


def falls_back(machine, version):
    """Upgrades to a bad version, which must fall back. The reason must be the failure of the new
    daemon, and not a slow stop of the old one."""
    before = len(machine.lines)
    machine.upgrade(version, "is active again")
    lines = machine.lines[before:]
    assert any("failed on trial" in line for line in lines), lines


def never_ready(machine):
    if not upgrader_has("--commit="):
        return
    falls_back(machine, "never")


def dies_on_trial(machine):
    falls_back(machine, "dies")


def killed_on_trial(machine):
    # main_process() looks for the current daemon in the log lines that this test has read so far.
    # So the test first calls victims(), which waits until these lines name the current daemon.
    machine.victims()
    _, before = machine.main_process()
    threading.Thread(target=kill_next, args=(machine, before), daemon=True).start()
    falls_back(machine, "never2")


def kill_next(machine, before):
    wait_until(lambda: machine.main_process()[1] > before, "the candidate's daemon")
    os.kill(machine.main_process()[0], signal.SIGKILL)


def kill_each(machine):
    """Kills each process in turn. Each time the upgrader must end, too, and is then started again,
    as init does."""
    for name in VICTIMS:
        os.kill(machine.victims()[name], signal.SIGKILL)
        machine.process.wait(60)
        machine.start()
        answers(machine)
        machine.alone()
    keepers = [pid for pid in marked(machine.mark) if name_of(pid) == "agentify-keeper"
               and descendants(pid)]
    assert len(keepers) == 1, keepers


def a_second_is_seen(machine):
    """Canary: starts a daemon beside the serving one. The script of the new daemon must record that
    the first daemon still runs."""
    run = str(machine.directory / "v1" / "run")
    subprocess.run([run], env=machine.environment, stdin=subprocess.DEVNULL, check=False,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)
    words = (machine.directory / "starts").read_text().split()
    assert words[-1] == "two", f"canary: a second daemon is not seen: {words}"


VICTIMS = ["daemon", "keeper", "agentify", "upgrader"]
# The daemons of a canary, which checks that these tests notice two daemons that run at the same
# time. PythonServer's script notices a second daemon by a lock, and Chronyd's script by a pid file.
CANARIES = [PythonServer, Chronyd]
STORIES = [good, check_fails, never_ready, dies_on_trial, killed_on_trial]


def stop_and_start(machine):
    """Stops and starts the daemon as `systemctl restart` does, without upgrader and agentify."""
    service = machine.service
    signal_name = next(o for o in service.options if o.startswith("--stop="))[7:].split(":")[0]
    number = getattr(signal, "SIG" + signal_name)
    run = str(machine.directory / "v1" / "run")

    def begin():
        begun = subprocess.Popen([run], env=machine.environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True)
        if service.forks:
            begun.wait(60)
        return begun

    def end(started):
        pid = started.pid
        # If the started process has exited already, the daemon has put itself into the background,
        # and its pid is in its pid file.
        if started.poll() is not None:
            pid = int((machine.directory / "pid").read_text())
        os.kill(pid, number)
        try:
            wait_until(lambda: started.poll() is not None and pid not in marked(machine.mark),
                       "its end", 1 if "KILL" in str(service.options) else 60)
        except AssertionError:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: started.poll() is not None, "its end")
        for left in marked(machine.mark):
            try:
                os.kill(left, signal.SIGKILL)
            except ProcessLookupError:
                pass

    started = begin()
    answers(machine)
    with Client(service.ask) as client:
        wait_until(lambda: client.answered > 3, "answers")
        end(started)
        started = begin()
        answers(machine)
        before = client.answered
        wait_until(lambda: client.answered > before + 3, "answers afterwards")
    end(started)
    wait_until(lambda: not marked(machine.mark), "its end")
    return client


def play(kind, sockets):
    """Runs all tests with one daemon. Returns each test's client, which has the measurements, by
    the test's name. The client `own` belongs to a stop and a start of the daemon without an
    upgrader."""
    machine = Machine(kind, sockets)
    figures = {}
    try:
        machine.point_at("v1")
        if not sockets:
            figures["own"] = stop_and_start(machine)
            (machine.directory / "starts").unlink()
        machine.start()
        answers(machine)
        for story in STORIES:
            with Client(machine.service.ask) as client:
                wait_until(lambda: client.answered > 3, "answers")
                story(machine)
                answers(machine)
                before = client.answered
                wait_until(lambda: client.answered > before + 3, "answers afterwards")
            figures[story.__name__] = client
            if story is check_fails:
                assert client.lost == 0, f"{client.lost} lost: {client.last_error}"
        kill_each(machine)
        if kind in CANARIES:
            a_second_is_seen(machine)
        machine.stop()
    except Exception:
        print(b"".join(machine.tail).decode(errors="replace"))
        raise
    finally:
        machine.clean_up()
    return figures


def milliseconds(client):
    return f"{client.gap * 1000:.0f}" if client else "-"


def table(results):
    """Returns the results as a table in mdoc, the markup of manual pages."""
    widths = ' "0000" "00 (00)" "00 (0)" "0000 (0000)" "00 (00)"'
    rows = ['.Bl -column "a program that closes every"' + widths]
    rows.append(".It daemon Ta own Ta good Ta check Ta never Ta dies Ta killed")
    for (name, sockets), figures in results.items():
        cells = [milliseconds(figures.get("own"))]
        cells += [f"{milliseconds(figures[s.__name__])} ({figures[s.__name__].lost})"
                  for s in STORIES]
        rows.append(f".It {name}{', sockets passed' if sockets else ''} Ta " + " Ta ".join(cells))
    return "\n".join(rows + [".El"]) + "\n"


def write_table(path, text, number=0):
    """Writes the table into the file `path`, between a pair of marker lines: `number`, counted from
    0, selects the pair. Locks the file, since several programs may write tables into it at the same
    time."""
    begin = '.\\" Written by make check-daemons and make check-agents.\n'
    end = '.\\" As far as here.\n'
    with open(path, "r+", encoding="utf-8") as page:
        fcntl.flock(page, fcntl.LOCK_EX)
        parts = page.read().split(begin)
        parts[number + 1] = text + end + parts[number + 1].split(end, 1)[1]
        page.seek(0)
        page.write(begin.join(parts))
        page.truncate()


def main():
    wanted = sys.argv[1:]
    results, passed, failed = {}, 0, 0
    for kind in SERVICES:
        if wanted and not any(word.lower() in kind.name.lower() for word in wanted):
            continue
        for sockets in (False, True) if kind.passes_sockets else (False,):
            name = kind.name + (", sockets passed" if sockets else "")
            try:
                results[kind.name, sockets] = figures = play(kind, sockets)
                passed += len(figures) + len(VICTIMS) + 1
                print(f"ok {name}: " + ", ".join(
                    f"{story} {milliseconds(c)} ms, {c.lost} lost" for story, c in figures.items()),
                    flush=True)
            except Exception as error:
                failed += 1
                print(f"not ok {name}: {type(error).__name__}: {error}", flush=True)
    if os.environ.get("TABLE") and not failed and not wanted:
        write_table(os.environ["TABLE"], table(results))
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
