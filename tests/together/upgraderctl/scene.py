# The fixture of upgraderctl's tests: real or fake upgraders with control directories in one base
# directory, and upgraderctl, in pipes and at a terminal.

import fcntl
import multiprocessing
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "support"))
import double  # noqa: E402
from cases import case, run_cases  # noqa: E402

CTL = str(pathlib.Path(os.environ.get("BUILD", "build"), "upgraderctl").absolute())
DEADLINE = 60  # the limit of one wait, in seconds; only a process that hangs needs more


class Failed(Exception):
    pass


def test(function):
    """Declares a test. The function's name is the name of the test."""
    return case(function.__name__.replace("_", " "))(function)


def run_tests():
    run_cases(Scene)


def need(condition, *facts):
    if not condition:
        raise Failed(" ".join(str(fact) for fact in facts))


def read_until(reader, what):
    read = b""
    ends = time.monotonic() + DEADLINE
    while what not in read:
        ready, _, _ = select.select([reader], [], [], DEADLINE)
        got = os.read(reader, 65536) if ready else b""
        need(got and time.monotonic() < ends, "not said:", what, read)
        read += got


def live(orders, answers, directory, now, cwd):
    """Runs a fake upgrader, in the process that was forked for it. `orders` and `answers` are the
    descriptors from which it reads its orders and to which it writes its answers."""
    os.dup2(orders, 0)
    os.dup2(answers, 1)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir(cwd or ".")
    double.Double(directory, now).serve()


class Double:
    """A fake upgrader in a process of its own. The process is forked, since the start of another
    interpreter would take more processor time than most tests."""

    def __init__(self, directory, now=None, cwd=None):
        taken, orders = os.pipe()
        answers, given = os.pipe()
        self.process = multiprocessing.get_context("fork").Process(
            target=live, args=(taken, given, str(directory), now, cwd))
        self.process.start()
        os.close(taken)
        os.close(given)
        self.orders = open(orders, "w", encoding="utf-8")
        self.answers = open(answers, encoding="utf-8")
        self.answers.readline()

    def tell(self, *orders):
        said = ""
        for order in orders:
            self.orders.write(order + "\n")
            self.orders.flush()
            need(select.select([self.answers], [], [], DEADLINE)[0],
                 "the double does not answer:", order)
            said = self.answers.readline()
            need(said, "the double has ended at:", order)
        return said

    def sent(self):
        return int(self.tell("sent").split()[0])

    def signal(self, number):
        os.kill(self.process.pid, number)
        if number == signal.SIGSTOP:
            os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def end(self):
        self.process.kill()
        self.process.join()
        self.orders.close()
        self.answers.close()


class Scene:
    """A base directory with the control directories of upgraders, and an upgraderctl that looks
    there."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.base = pathlib.Path(self.temporary.name)
        self.environment = dict(os.environ, UPGRADERCTL_BASE=str(self.base), TERM="dumb")
        self.started = []

    def double(self, name="app", now=None, cwd=None):
        double = Double(self.base / name, now, cwd)
        self.started.append(double.end)
        return double

    def program_for_others(self):
        """Returns a copy of upgraderctl that every user may execute. The build directory may be in
        a home directory that only its owner can enter."""
        place = tempfile.TemporaryDirectory()
        self.started.append(place.cleanup)
        os.chmod(place.name, 0o755)
        return shutil.copy(CTL, place.name)

    def begin(self, *words, ignore=(), **more):
        """Starts upgraderctl, which ignores the signals in `ignore` from its start."""
        def before_execution():
            for number in ignore:
                signal.signal(number, signal.SIG_IGN)

        program = self.program_for_others() if "user" in more else CTL
        asking = Asking(subprocess.Popen(
            [program, *words], env=self.environment, stdin=subprocess.DEVNULL,
            stdout=more.get("stdout", subprocess.PIPE), stderr=subprocess.PIPE,
            user=more.get("user"), cwd=more.get("cwd"), preexec_fn=before_execution))
        self.started.append(asking.kill)
        return asking

    def logs(self):
        return ""

    def close(self):
        for end in reversed(self.started):
            end()
        self.temporary.cleanup()


class Asking:
    """A running upgraderctl, and its output so far."""

    def __init__(self, process):
        self.process = process
        self.streams = {stream.fileno(): b"" for stream in (process.stdout, process.stderr)
                        if stream}
        self.open = set(self.streams)

    def read(self):
        for stream in select.select(self.open, [], [], DEADLINE)[0]:
            got = os.read(stream, 65536)
            self.streams[stream] += got
            if not got:
                self.open.remove(stream)

    @property
    def out(self):
        return self.text(self.process.stdout)

    @property
    def err(self):
        return self.text(self.process.stderr)

    def text(self, stream):
        return self.streams[stream.fileno()].decode() if stream else ""

    def wait_for(self, condition, what):
        """Reads the output until the condition holds. If upgraderctl ends before that, or too much
        time passes, fails and names `what`."""
        ends = time.monotonic() + DEADLINE
        while not condition():
            need(self.open and time.monotonic() < ends, "waited in vain for", what, "\n", self.out,
                 self.err)
            if select.select(self.open, [], [], 0.005)[0]:
                self.read()

    def until(self, text):
        ends = time.monotonic() + DEADLINE
        while text not in self.out + self.err:
            need(self.open and time.monotonic() < ends, "not said:", text, "\n", self.out, self.err)
            self.read()

    def end_status(self):
        ends = time.monotonic() + DEADLINE
        while self.open:
            need(time.monotonic() < ends, "does not end:", self.out, self.err)
            self.read()
        return self.process.wait(DEADLINE)

    def ends_with(self, status, *texts):
        ended = self.end_status()
        for text in texts:
            need(text in self.out + self.err, "not said:", text, "\n", self.out, self.err)
        need(ended == status, "status", ended, "and not", status, "\n", self.out, self.err)
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.process.stderr):
            if stream:
                stream.close()


def ask(scene, *words, **more):
    return scene.begin(*words, **more)


class Screen:
    """A running upgraderctl at a terminal of its own: its output, and the lines that the terminal
    shows."""

    def __init__(self, scene, *words, columns=80, rows=24):
        environment = dict(scene.environment, TERM="xterm")
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(CTL, [CTL, *words], environment)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.written = ""
        self.status = None
        scene.started.append(self.end)

    def read(self):
        if select.select([self.terminal], [], [], 0.05)[0]:
            try:
                got = os.read(self.terminal, 65536)
            except OSError:
                return False
            self.written += got.decode()
            return bool(got)
        return True

    def is_painted(self):
        """Returns whether the whole page of `status --watch` has been read. The page may come in
        pieces, so that at first only its first lines are there."""
        begun = max(self.written.rfind("A\r"), self.written.rfind("\x1b[K"))
        return begun < 0 or begun < self.written.rfind("\x1b[J")

    def until(self, text):
        ends = time.monotonic() + DEADLINE
        while not (self.is_painted() and any(text in line for line in self.lines())):
            need(self.read() and time.monotonic() < ends, "not on the screen:", text, self.lines())

    def close(self):
        ends = time.monotonic() + DEADLINE
        while self.read():
            need(time.monotonic() < ends, "the screen stays open:", self.lines())
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status

    def end(self):
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self.terminal)

    def lines(self):
        """Returns the lines that the terminal shows. Understands only the control sequences that
        upgraderctl uses: one line up, the start of the line, and clear to the end of the line or
        page."""
        lines, row, column = [""], 0, 0
        for part in re.findall(r"\x1b\[[0-9]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", self.written):
            if part == "\n":
                row += 1
                lines += [""] * (row + 1 - len(lines))
            elif part == "\r":
                column = 0
            elif part.startswith("\x1b["):
                if part.endswith("A"):
                    row = max(row - int(part[2:-1]), 0)
                elif part.endswith("K"):
                    lines[row] = lines[row][:column]
                elif part.endswith("J"):
                    lines[row] = lines[row][:column]
                    del lines[row + 1:]
                else:
                    raise Failed("unknown to the terminal: %r" % part)
            else:
                lines[row] = lines[row][:column] + part + lines[row][column + len(part):]
                column += len(part)
        return lines
