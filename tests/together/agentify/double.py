"""A fake upgrader: speaks the upgrader's side of the agent protocol to one agentify. Written from
the page agent-protocol(7), and shares no code with the tested programs."""

import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "support"))
sys.dont_write_bytecode = True
from ports import free_port  # noqa: E402,F401

BUILD = Path(os.environ.get("BUILD", "build")).resolve()
AGENTIFY = BUILD / "agentify"
# The time limit of every wait, in seconds. It is long enough for a loaded machine, and a test that
# waits longer has failed.
PATIENCE = int(os.environ.get("PATIENCE", 30))


def for_sanitizers():
    """Returns the environment variables of the sanitizers, for programs that get no other
    variables."""
    return {name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}


def wait_until(condition, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not in time: {what}")
        select.select([], [], [], 0.005)
    return found


def about(pid, name):
    """Returns the bytes of the file /proc/PID/NAME, or no bytes if there is no such process."""
    try:
        with open(f"/proc/{pid}/{name}", "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""


def stat_fields(pid):
    """Returns the fields of /proc/PID/stat from the third on, such as the state and the parent of
    the process."""
    text = about(pid, "stat").decode(errors="replace")
    return text[text.rindex(")") + 2 :].split() if text else None


def runs(pid):
    fields = stat_fields(pid)
    return fields is not None and fields[0] not in "ZX"


def parent_of(pid):
    fields = stat_fields(pid)
    return int(fields[1]) if fields else 0


def name_of(pid):
    """Returns the name of a process, or an empty text if there is none."""
    return about(pid, "comm").decode(errors="replace").strip()


def children(pid):
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            fields = stat_fields(entry)
            if fields and int(fields[1]) == pid and fields[0] not in "ZX":
                found.append(int(entry))
    return found


def descendants(pid):
    found = []
    for child in children(pid):
        found += [child] + descendants(child)
    return found


def marked(mark):
    """Returns the processes whose environment contains `mark`. A test gives its mark to all
    processes that it starts, and they give it to their children."""
    wanted = mark.encode()
    return [int(entry) for entry in os.listdir("/proc")
            if entry.isdigit() and wanted in about(entry, "environ") and runs(entry)]


def matches(found, wanted):
    return wanted(found) if callable(wanted) else found == wanted


def begins(text):
    """Returns a condition for Double.expect(): a message's member must begin with `text`."""
    return lambda found: found is not None and found.startswith(text)


class Ended(Exception):
    """Raised when agentify has closed its output."""


class Double:
    """One agentify, and the fake upgrader that runs it."""

    def __init__(self, directory, options, daemon, lock=False, sockets=(), env=None, argv0=None,
                 program_fd=True, role="candidate", features=(), prefix=(), stderr=None,
                 **welcome):
        self.directory = Path(directory)
        self.role = role
        self.features = list(features)
        self.welcome = welcome
        self.messages = []
        self.buffer = b""
        program = os.path.realpath(daemon[0])
        self.mark = f"TEST_MARK={self.directory.name}"
        environment = {
            "PATH": os.environ["PATH"],
            "TEST_MARK": self.directory.name,
            "DIR": str(self.directory),
            "AGENT_PROTOCOL": "1",
            "XDG_RUNTIME_DIR": str(self.directory),
            "AGENT_PROTOCOL_PROGRAM": program,
            **for_sanitizers(),
        }
        environment.update(env or {})
        number = 3
        places = []
        for one in sockets:
            places.append((one.fileno(), number))
            number += 1
        if sockets:
            environment["LISTEN_FDS"] = str(len(sockets))
            environment["LISTEN_PID"] = "0"
        self.lock_file = None
        if lock:
            # One object of this class plays the upgrader for one agent. A test with two agents
            # under one upgrader makes two objects. An upgrader has only one lock, so the test
            # passes the first object's lock file to the second object as `lock`.
            self.lock_file = lock if lock is not True else open(self.directory / "lock", "a+")
            fcntl.flock(self.lock_file, fcntl.LOCK_EX)
            environment["AGENT_PROTOCOL_LOCK_FD"] = str(number)
            places.append((self.lock_file.fileno(), number))
            number += 1
        self.program_file = None
        with open(program, "rb") as file:
            script = file.read(2) == b"#!"
        if not script and program_fd:
            self.program_file = open(program, "rb")
            environment["AGENT_PROTOCOL_PROGRAM_FD"] = str(number)
            places.append((self.program_file.fileno(), number))
            number += 1
        self.log_path = self.directory / f"log{len(list(self.directory.glob('log*')))}"
        self.log_file = open(self.log_path, "ab")
        self.stderr = self.log_file.fileno() if stderr is None else stderr
        to_agent, self.to_agent = os.pipe()
        self.from_agent, from_agent = os.pipe()
        argv = [*prefix, str(AGENTIFY), *options, "--", argv0 or daemon[0], *daemon[1:]]
        self.pid = os.fork()
        if self.pid == 0:
            self._become(argv, environment, to_agent, from_agent, places)
        os.close(to_agent)
        os.close(from_agent)
        self.status = None

    def _become(self, argv, environment, to_agent, from_agent, places):
        try:
            os.setsid()
            # The dup2() calls below write to descriptors below 100. First copies all needed
            # descriptors to numbers from 100 on, so that no dup2() closes one of them.
            high = [(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100), to) for fd, to in places]
            pipes = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100) for fd in (to_agent, from_agent)]
            os.dup2(pipes[0], 0)
            os.dup2(pipes[1], 1)
            os.dup2(self.stderr, 2)
            for fd, to in high:
                os.dup2(fd, to)
            os.closerange(3 + len(places), 100)
            if "LISTEN_PID" in environment:
                environment["LISTEN_PID"] = str(os.getpid())
            # Python ignores these signals, and agentify would inherit that. So sets them to the
            # default.
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            os.execve(argv[0], argv, environment)
        finally:
            os._exit(127)

    # ---- the conversation with agentify

    def send(self, **message):
        try:
            os.write(self.to_agent, (json.dumps(message) + "\n").encode())
        except BrokenPipeError:
            pass  # agentify has ended; wait() reports how

    def read(self, patience=PATIENCE):
        """Waits for output of agentify, and reads it. Answers `hello` by `welcome`."""
        if not select.select([self.from_agent], [], [], patience)[0]:
            raise AssertionError("agentify says nothing; it has said: " + self.said())
        data = os.read(self.from_agent, 65536)
        if not data:
            raise Ended
        self.buffer += data
        while b"\n" in self.buffer:  # ends when no complete line is left
            line, self.buffer = self.buffer.split(b"\n", 1)
            message = json.loads(line)  # a line that is not JSON ends the test by an exception
            assert isinstance(message, dict) and "type" in message, line
            self.messages.append(message)
            if message["type"] == "hello":
                wanted = [f for f in self.features if f in message.get("features", [])]
                self.send(type="welcome", protocol=1, features=wanted, generation=2,
                          role=self.role, **self.welcome)

    def expect(self, kind, **members):
        """Waits for the next message of this type, and returns it. Other messages are kept for
        later calls."""
        end = time.monotonic() + PATIENCE
        while not (message := self.find_unseen(kind, members)):
            if time.monotonic() > end:
                raise AssertionError(f"no {kind} in time; it has said: {self.said()}")
            try:
                self.read(max(0.1, end - time.monotonic()))
            except Ended as ended:
                raise AssertionError(f"no {kind}, but its end; it has said: {self.said()}; log: "
                                     f"{self.log()}") from ended
        message["seen"] = True
        return message

    def find_unseen(self, kind, members):
        for message in self.messages:
            if message["type"] == kind and not message.get("seen") and all(
                matches(message.get(name), value) for name, value in members.items()
            ):
                return message
        return None

    def said(self):
        return str([m["type"] for m in self.messages])

    def count(self, kind):
        return sum(1 for m in self.messages if m["type"] == kind)

    def activate(self, **members):
        self.expect("ready")
        self.send(type="activate", clean=True, **members)
        return self

    def stop(self, reason="upgrade", deadline_ms=60000):
        members = {"id": "u1", "generation": 3} if reason == "upgrade" else {}
        self.send(type="stop", reason=reason, deadline_ms=deadline_ms, **members)
        return self

    def close_input(self):
        os.close(self.to_agent)
        self.to_agent = -1

    # ---- how agentify has ended

    def wait(self):
        """Returns agentify's exit status. If a signal has killed agentify, returns the signal's
        number with a minus sign."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:  # ends earlier when agentify has closed its output
            try:
                self.read(max(0.1, end - time.monotonic()))
            except Ended:
                break
        else:
            raise AssertionError("agentify does not end; it has said: " + self.said())
        if self.status is None:
            wait_until(self.has_been_reaped, "its process has ended")
        return self.status

    def has_been_reaped(self):
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return False
        self.status = os.waitstatus_to_exitcode(status)
        return True

    def kill(self, number=signal.SIGKILL):
        os.kill(self.pid, number)

    def log(self):
        return self.log_path.read_text(errors="replace")

    def keeper(self):
        """Waits until agentify's keeper, the parent of the daemon, has set its own name, and
        returns its pid. Children of agentify that run only a command, such as a check, have a
        different name."""
        return wait_until(self.find_keeper, "the keeper runs")

    def find_keeper(self):
        return next((p for p in children(self.pid) if name_of(p) == "agentify-keeper"), None)

    def family(self):
        return marked(self.mark)

    def clean_up(self):
        for pid in [self.pid] if self.status is None else []:
            try:
                os.kill(pid, signal.SIGKILL)
                wait_until(self.has_been_reaped, "its process has ended")
            except (ProcessLookupError, ChildProcessError):
                pass
        for pid in self.family():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        for fd in (self.to_agent, self.from_agent):
            if fd >= 0:
                os.close(fd)
        for file in (self.lock_file, self.program_file, self.log_file):
            if file:
                file.close()


# A daemon that atomically writes the file `ready` with its pid, and then waits.
READY = "echo $$ >$DIR/ready.tmp; mv $DIR/ready.tmp $DIR/ready; exec tail -f /dev/null"


class Started:
    """A program of the test that starts a daemon, in a session of its own, with its log."""

    def __init__(self, stage):
        self.stage = stage
        self.mark = "TEST_MARK=" + stage.directory.name
        self.log_path = stage.directory / "log"
        self.environment = {
            "PATH": os.environ["PATH"], "DIR": str(stage.directory),
            "TEST_MARK": stage.directory.name, "XDG_RUNTIME_DIR": str(stage.directory),
            **for_sanitizers()}

    def start(self, *words):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        self.stage.doubles.append(self)

    def log(self):
        return self.log_path.read_text(errors="replace")

    def wait_for(self, text):
        wait_until(lambda: text in self.log() or self.process.poll() is not None, text)
        assert text in self.log(), self.log()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(PATIENCE) == 0, self.log()
        assert marked(self.mark) == [], self.log()

    def clean_up(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(PATIENCE)
        wait_until(lambda: not marked(self.mark), "all have gone")


class Stage:
    """The directory of one test, and the programs that run in it."""

    def __init__(self):
        self.directory = Path(tempfile.mkdtemp(prefix="agentify."))
        self.doubles = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.doubles:
            one.clean_up()
        shutil.rmtree(self.directory, ignore_errors=True)

    def agentify(self, *options, daemon, **settings):
        settle = [] if any(o.startswith("--settle=") for o in options) else ["--settle=0"]
        one = Double(self.directory, [*settle, *options], daemon, **settings)
        self.doubles.append(one)
        return one

    def script(self, name, text, interpreter="/bin/sh"):
        path = self.directory / name
        path.write_text(f"#!{interpreter}\n{text}")
        path.chmod(0o755)
        return str(path)

    def read(self, name, patience=PATIENCE):
        path = self.directory / name
        wait_until(lambda: path.exists() and path.read_text().endswith("\n"), name, patience)
        return path.read_text().strip()

    def lines(self, name):
        path = self.directory / name
        return path.read_text().splitlines() if path.exists() else []


def run_tests(tests):
    """Runs each test, prints the names of those that failed, and at the end
    `N passed, N failed`."""
    import traceback

    only = sys.argv[1:]
    passed = failed = 0
    for test in tests:
        if only and test.__name__ not in only:
            continue
        try:
            with Stage() as stage:
                test(stage)
            passed += 1
        except Exception:  # an error in a test does not stop the remaining tests
            failed += 1
            print(f"not ok: {test.__name__}: {test.__doc__}")
            traceback.print_exc(file=sys.stdout)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


def tests_of(module):
    return [value for name, value in list(module.items()) if name.startswith("test_")]


def run_command(*words, **settings):
    settings.setdefault("timeout", PATIENCE)
    return subprocess.run(words, check=False, capture_output=True, text=True, **settings)
