# The surroundings of notify-watchdog in its tests: a FIFO in the place of the watchdog device, a
# socket in the place of init's notification socket, and a program that does what the test orders.
import os
import select
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "support"))
from cases import PATIENCE_S, wait  # noqa: E402

BUILD = Path(os.environ.get("BUILD", "build")).absolute()

# A program that reads orders from standard input: `say TEXT`, `pass TEXT` (with a descriptor),
# `exit N`, `kill SIGNAL`, `show NAME`. It exits when its input ends.
PROGRAM = r"""
import os, signal, socket, sys
def say(text, descriptors=()):
    name = os.environ["NOTIFY_SOCKET"]
    one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.connect("\0" + name[1:] if name[0] == "@" else name)
    socket.send_fds(one, [text.encode().decode("unicode_escape").encode()], descriptors)
def tell(text):
    os.write(1, (text + "\n").encode())
for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM, signal.SIGRTMIN + 3):
    signal.signal(number, lambda number, frame: tell("signal %d" % number))
def give_up(number, frame):
    sys.stderr.write("the program was given no order and no end for 300 s\n")
    os._exit(1)
signal.signal(signal.SIGALRM, give_up)
signal.alarm(300)
tell("begun %d" % os.getpid())
for line in iter(sys.stdin.readline, ""):
    signal.alarm(300)
    order, _, rest = line.strip().partition(" ")
    if order == "say":
        say(rest)
    elif order == "pass":
        reader, writer = os.pipe()
        say(rest, [writer])
        os.close(writer)
        tell("end of pipe: %r" % os.read(reader, 1))
    elif order == "show":
        tell(os.environ.get(rest, "none"))
    elif order == "exit":
        os._exit(int(rest))
    elif order == "kill":
        os.kill(os.getpid(), int(rest))
"""


class Bed:
    """One notify-watchdog. `close()` ends it and removes its files."""

    def __init__(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="notify-watchdog.")
        self.directory = Path(self.scratch.name)
        self.device = self.directory / "device"
        os.mkfifo(self.device)
        self.food = os.open(self.device, os.O_RDONLY | os.O_NONBLOCK)
        self.log = self.directory / "log"
        self.log.touch()
        self.process = None
        self.init = self.received = None
        self.said = b""

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE_S)
        if self.process:
            self.process.stdin.close()
            self.process.stdout.close()
        self.scratch.cleanup()

    def logs(self):
        return self.log.read_text()

    def make_init(self):
        """Makes a fake init's notification socket. Returns the environment variable that names the
        socket."""
        self.init = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.init.bind(str(self.directory / "init"))
        self.init.setblocking(False)
        return {"NOTIFY_SOCKET": str(self.directory / "init")}

    def start(self, *options, program=None, environment=None, device=None):
        script = self.directory / "program.py"
        script.write_text(PROGRAM)
        inherited = {name: value for name, value in os.environ.items()
                     if name not in ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID")}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [BUILD / "notify-watchdog", "--device=%s" % (device or self.device), *options, "--",
                 *(program or [sys.executable, str(script)])],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                env={**inherited, **(environment or {})}, bufsize=0)
        if program is None:
            return int(self.answer().split()[1])
        return None

    def order(self, text):
        self.process.stdin.write((text + "\n").encode())

    def answer(self):
        """Returns the next line of the program's output."""
        def line():
            if b"\n" not in self.said and \
                    select.select([self.process.stdout], [], [], 0)[0]:
                self.said += os.read(self.process.stdout.fileno(), 4096)
            return b"\n" in self.said
        wait("a line of the program", line)
        first, _, self.said = self.said.partition(b"\n")
        return first.decode()

    def eaten(self):
        """Returns the bytes that notify-watchdog has written to the device since the last call."""
        if not select.select([self.food], [], [], 0)[0]:
            return ""
        return os.read(self.food, 65536).decode()  # a FIFO holds at most 65,536 bytes

    def is_fed(self):
        wait("the device to be fed", lambda: self.eaten())

    def heard(self):
        """Returns the next notification that init receives."""
        wait("a notification", lambda: select.select([self.init], [], [], 0)[0])
        return self.init.recv(65536).decode()

    def heard_with_descriptors(self):
        if not select.select([self.init], [], [], 0)[0]:
            return False
        text, descriptors, _, _ = socket.recv_fds(self.init, 65536, 16)
        self.received = (text, descriptors)
        return True

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self):
        return self.process.wait(PATIENCE_S)

    def wait_for_log(self, text):
        wait("the log line: " + text, lambda: text in self.logs())
