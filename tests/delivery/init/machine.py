# A test machine is not a virtual machine: an init system runs as process 1 of its own namespaces.
# An overlay gets all changes, so that the root directory below it stays unchanged. This file also
# has functions that wait for a condition, with a deadline and never for a fixed time.

import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
COMMAND_SECONDS_MAX = 60

# Capabilities that the test machine must not have, because their effects reach beyond its
# namespaces.
CAPABILITIES_TAKEN = "-sys_time,-sys_module,-sys_rawio,-syslog,-mac_admin,-mac_override,-wake_alarm"
SECONDS_MAX = 60  # the limit for any wait, even on a busy machine


class Failed(Exception):
    """Raised if a check has failed. The text says what the check waited for, or what it saw."""


class NotHere(Exception):
    """Raised if this machine lacks something that a check needs. The text says what is missing."""


def wait_until(what, condition, seconds=SECONDS_MAX):
    """Waits until condition() returns a true value, and returns that value. `what` describes the
    condition, for the error message. If `what` is a function, it is called only on a failure, so
    that the returned text describes the state at that moment."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise Failed("not within %d s: %s" % (seconds, what() if callable(what) else what))
        pause_between_looks()


def pause_between_looks():
    select.select([], [], [], 0.01)


def demand(fact, words):
    if not fact:
        raise Failed(words)


class Process:
    """One line of the test machine's process table, with the pids that are seen on that machine."""

    def __init__(self, directory):
        stat = (directory / "stat").read_text()
        fields = stat[stat.rindex(")") + 2:].split()
        self.pid = int(directory.name)
        self.state = fields[0]
        self.parent = int(fields[1])
        # The pid and the start time together identify a process.
        self.identity = (self.pid, int(fields[19]))
        self.words = (directory / "cmdline").read_text(errors="replace").split("\0")[:-1]
        self.user = directory.stat().st_uid

    @property
    def name(self):
        return os.path.basename(self.words[0]) if self.words else ""


def cgroup_mount():
    """Returns the path at which the unified hierarchy of cgroups is mounted."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text().splitlines():
        fields = line.split()
        if fields[fields.index("-") + 1] == "cgroup2":
            return pathlib.Path(fields[4])
    raise Failed("no cgroup2 file system is mounted")


class Machine:
    """A test machine. When the object is closed, or this program ends, the machine and all its
    processes end."""

    def __init__(self, root, scratch, init):
        self.scratch = pathlib.Path(scratch)
        self.stage = self.scratch / "stage"
        self.console = self.scratch / "console"
        self.complaints = self.scratch / "complaints"
        self.root_below = pathlib.Path(root)
        self.init = init
        self.pid = None
        self.disk = None
        self.holder = None
        self.terminals = ()
        self.cgroup = None
        self.stage.mkdir()

    def put(self, source, path, mode=0o644):
        """Puts a file, or text, onto the test machine before the machine is started."""
        place = self.stage / path.lstrip("/")
        self.make_directory(os.path.dirname(path))
        if isinstance(source, str):
            place.write_text(source)
        else:
            shutil.copyfile(source, place)
        place.chmod(mode)

    def make_directory(self, path):
        """Makes a directory on the test machine, with its parents, before the machine is started.
        Each of these directories gets the mode 755, even if it has another mode on the root."""
        here = self.stage
        for part in pathlib.PurePath(path.lstrip("/")).parts:
            here = here / part
            if not here.exists():
                here.mkdir(mode=0o755)

    def link(self, target, path):
        self.make_directory(os.path.dirname(path))
        (self.stage / path.lstrip("/")).symlink_to(target)

    def insert_disk(self):
        """Makes the test machine's disk: a file system in memory, in a mount namespace that
        outlives the machine."""
        place = self.stage.with_name(self.stage.name + ".disk")
        place.mkdir()
        self.disk = subprocess.Popen(
            ["setpriv", "--pdeathsig=KILL", "unshare", "--mount", "sh", "-c",
             'mount -t tmpfs -o mode=755 disk "$0" && echo mounted && exec cat',
             str(place.resolve())],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
        )
        demand(self.disk.stdout.readline() == "mounted\n", "no disk for the machine")

    def boot(self):
        """Starts the test machine. Files that were written to its disk before a power cut are still
        there."""
        if self.disk is None:
            self.insert_disk()
        self.pid = None
        self.terminals = ours, theirs = pty.openpty()
        threading.Thread(target=self.keep_console, args=(ours,), daemon=True).start()
        self.cgroup = cgroup_mount() / ("init-check-%d-%s" % (os.getpid(), self.scratch.name))
        self.cgroup.mkdir()
        self.holder = subprocess.Popen(
            ["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"', str(self.cgroup)]
            + ["nsenter", "--mount=/proc/%d/ns/mnt" % self.disk.pid, "--"]
            + ["setpriv", "--pdeathsig=KILL", "--bounding-set=" + CAPABILITIES_TAKEN]
            + ["unshare", "--pid", "--fork", "--kill-child=KILL", "--mount", "--uts", "--ipc"]
            + ["--net", "--cgroup", str(HERE / "enter"), str(self.root_below.resolve())]
            + [str(self.stage.resolve()), os.ttyname(theirs)] + self.init,
            stdin=subprocess.DEVNULL, stderr=self.complaints.open("w"), start_new_session=True,
        )
        wait_until("the machine has a process 1", self.find_first_process)
        wait_until("process 1 is init", self.has_become_init)

    def limit_memory(self, more):
        """Limits the test machine to `more` bytes more than it uses now; None removes the limit.
        Returns False if the machine has no memory controller. This happens if the host uses its
        memory controller in another hierarchy of cgroups, since the test does not change that."""
        if "memory" not in (self.cgroup / "cgroup.controllers").read_text().split():
            return False
        used = int((self.cgroup / "memory.current").read_text())
        (self.cgroup / "memory.max").write_text(str(used + more) if more else "max")
        swap = self.cgroup / "memory.swap.max"
        if swap.exists():
            swap.write_text("0" if more else "max")
        return True

    def memory_kills(self):
        """Returns how many processes of the test machine the kernel has killed because memory ran
        out."""
        events = (self.cgroup / "memory.events").read_text().split()
        return int(events[events.index("oom_kill") + 1])

    def keep_console(self, terminal):
        with self.console.open("ab") as kept:
            while True:  # until os.read() fails
                try:
                    kept.write(os.read(terminal, 65536))
                except OSError:  # no process uses the terminal now
                    return
                kept.flush()

    def find_first_process(self):
        demand(self.holder.poll() is None, "no namespaces: " + self.complaints.read_text())
        holder = self.holder.pid
        children = pathlib.Path("/proc/%d/task/%d/children" % (holder, holder)).read_text().split()
        self.pid = int(children[0]) if children else None
        return self.pid

    def has_become_init(self):
        demand(self.holder.poll() is None, "no machine: " + self.complaints.read_text())
        try:
            words = pathlib.Path("/proc/%d/cmdline" % self.pid).read_bytes().split(b"\0")
        except FileNotFoundError:  # process 1 has exited, so the next call fails
            return False
        return not any(word.endswith(b"/enter") for word in words) and words[0] not in (
            b"unshare", b"env")

    def path(self, path):
        """Returns the path on the host for a path on the test machine."""
        return pathlib.Path("/proc/%d/root" % self.pid) / path.lstrip("/")

    def run(self, *words, seconds=COMMAND_SECONDS_MAX):
        """Runs a command on the test machine. Returns its status and its output."""
        namespaces = ["--mount", "--pid", "--uts", "--ipc", "--net", "--cgroup"]
        try:
            done = subprocess.run(
                ["nsenter", "--target", str(self.pid), "--root", "--wdns=/"]
                + namespaces + ["--"] + list(words),
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, errors="replace", timeout=seconds, check=False,
                env={"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
            )
        except subprocess.TimeoutExpired as late:
            raise Failed("not within %d s: %s" % (seconds, " ".join(words))) from late
        return done.returncode, done.stdout

    def must(self, *words, **more):
        status, output = self.run(*words, **more)
        demand(status == 0, "%s: status %d: %s" % (" ".join(words), status, output.strip()))
        return output

    def processes(self):
        """Returns all processes of the test machine, except those that have ended and are not
        reaped yet."""
        found = []
        for directory in self.path("/proc").iterdir():
            if not directory.name.isdigit():
                continue
            try:
                found.append(Process(directory))
            except (FileNotFoundError, ProcessLookupError):
                continue
        return [process for process in found if process.state not in "ZX"]

    def signal(self, process, name):
        self.must("sh", "-c", "kill -%s %d" % (name, process.pid))

    def kill(self, process):
        self.signal(process, "KILL")

    def has_ended(self):
        return self.holder.poll() is not None

    def cut_power(self):
        """Ends the test machine as a power cut does: the kernel kills all its processes at once."""
        try:
            if self.pid and not self.has_ended():
                os.kill(self.pid, signal.SIGKILL)
            self.holder.wait(COMMAND_SECONDS_MAX)
        except ProcessLookupError:
            self.holder.wait(COMMAND_SECONDS_MAX)
        for terminal in reversed(self.terminals):
            os.close(terminal)
        for directory, _, _ in os.walk(self.cgroup, topdown=False):
            wait_until("%s is empty" % directory, lambda: remove_directory(directory))
        self.holder = None

    def end(self):
        if self.holder is not None:
            self.cut_power()
        if self.disk is not None:
            self.disk.stdin.close()
            self.disk.wait(COMMAND_SECONDS_MAX)
            self.disk.stdout.close()


def remove_directory(path):
    try:
        os.rmdir(path)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True
