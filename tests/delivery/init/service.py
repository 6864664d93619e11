# The service on a test machine, under any init system: the sample agent under the upgrader. A
# thread continually adds lines to the log that the agent copies. The checks look at the service
# from outside.

import json
import os
import pathlib
import shutil
import subprocess
import threading

from machine import Failed, demand, wait_until

USER = "sample-agent"
AGENT = "/usr/local/bin/sample-agent"
UPGRADER = "/usr/local/bin/upgrader"
RELEASES = "/opt/sample-agent/releases"
STATE = "/var/lib/sample-agent"
LINK = STATE + "/current"
INPUT = "/var/log/app.log"
OUTPUT = STATE + "/copy"
EVENTS = STATE + "/events"
PREVIOUS = STATE + "/previous"
STATUS = "/run/upgrader/sample-agent/status.json"
STARTS = STATE + "/starts"
# The paths of two releases. They are not in the directory in which the agent looks for newer
# versions, so the agent does not request an upgrade to them.
BROKEN = "/opt/sample-agent/broken"
UNTRIED = "/opt/sample-agent/untried"


class Service:
    def __init__(self, machine, build):
        self.machine = machine
        self.build = pathlib.Path(build)
        self.lines = 0
        self.writing = threading.Lock()
        self.over = threading.Event()
        self.writer = None

    def variant(self, name):
        return self.build / "sample-agent" / "variants" / name

    def install(self, first, setup):
        """Installs the files that `make install` installs. Must be called before the test machine
        is started. When the machine starts, it runs `setup`, the commands in the service file's
        comments, which make all other files."""
        machine = self.machine
        machine.put(self.build / "upgrader", UPGRADER, 0o755)
        machine.put(self.variant(first), AGENT, 0o755)
        for page in pathlib.Path("man").iterdir():
            machine.put(page, "/usr/local/share/man/man%s/%s" % (page.suffix[1:], page.name))
        machine.put(setup, "/setup")

    @staticmethod
    def release(variant):
        return "%s/agent-v%s" % (RELEASES, variant.split("-")[0])

    # ---- the lines of the log that the agent copies

    def write_line(self):
        """Adds one line to the log that the agent copies. Waits while judge() checks the output.
        Returns the number of lines so far."""
        with self.writing:
            with self.machine.path(INPUT).open("a") as log:
                self.lines += 1
                log.write("line %d\n" % self.lines)
            return self.lines

    def write_lines(self):
        while not self.over.wait(0.01):  # ends when stop_writing() is called
            try:
                self.write_line()
            except OSError:  # the machine has ended
                return

    def start_writing(self):
        self.over.clear()
        self.writer = threading.Thread(target=self.write_lines, daemon=True)
        self.writer.start()

    def stop_writing(self):
        self.over.set()
        if self.writer:
            self.writer.join()

    def records(self):
        return self.read(OUTPUT).splitlines()

    def events(self):
        """Returns the events that all agents have recorded so far, each without its time."""
        return [line.split(" ", 1)[1] for line in self.read(EVENTS).splitlines()]

    def read(self, path):
        try:
            return self.machine.path(path).read_text()
        except FileNotFoundError:
            return ""

    def status(self, *names):
        """Returns a member of status.json. `names` are the names of the members that lead to it,
        such as ("active", "version")."""
        found = json.loads(self.read(STATUS) or "{}")
        for name in names:
            found = found.get(name, {})
        return found

    # ---- functions for the check of an agent that cannot start

    def break_agent(self):
        """Points AGENT's link to a program that only adds a line to a file, and then exits."""
        self.add_program(BROKEN, "#!/bin/sh\necho started >>%s\nexit 1\n" % STARTS)
        self.link_to(BROKEN)

    def starts(self):
        """Returns how often the broken program was started."""
        return len(self.read(STARTS).splitlines())

    # ---- the processes of the service

    def upgraders(self):
        return [p for p in self.machine.processes() if p.name == "upgrader"]

    def agents(self):
        """Returns the processes of agents. Leaves out self-tests of releases, which an agent
        runs."""
        return [
            p for p in self.machine.processes()
            if p.words and "--input=" + INPUT in p.words and p.name != "upgrader"
            and p.words[0].startswith((LINK, RELEASES)) and "--self-test" not in p.words
        ]

    def left(self):
        user = self.user()
        return [p for p in self.machine.processes() if p.user == user or p.name == "upgrader"]

    def user(self):
        """Returns the id of the user as which the service runs on the test machine."""
        for line in self.read("/etc/passwd").splitlines():
            if line.startswith(USER + ":"):
                return int(line.split(":")[2])
        raise Failed("there is no user " + USER)

    def main(self):
        """Returns the upgrader's identity (pid and start time) if there is exactly one upgrader,
        with exactly one agent; otherwise None."""
        upgraders, agents = self.upgraders(), self.agents()
        if len(upgraders) != 1 or len(agents) != 1 or agents[0].parent != upgraders[0].pid:
            return None
        return upgraders[0].identity

    # ---- waiting for conditions

    def wait_for_main(self):
        wait_until(lambda: "one upgrader with one agent; upgraders %s, agents %s" % (
            [p.pid for p in self.upgraders()], [p.pid for p in self.agents()]), self.main)

    def wait_for_one_agent(self, version=None):
        """Writes a line to the log, and waits until there is exactly one agent and that line has
        been copied."""
        self.wait_for_main()
        line = " line %d" % self.write_line()
        record = wait_until(
            "a line written now is copied",
            lambda: next((r for r in reversed(self.records()) if r.endswith(line)), None))
        self.wait_for_main()
        if version:
            demand(record.split()[1] == version,
                   "version %s works, and not %s" % (record.split()[1], version))

    def wait_for_event(self, text, already=0):
        """Waits until the agents have recorded more than `already` events with this text."""
        wait_until("event: " + text, lambda: self.count_events(text) > already)

    def count_events(self, text):
        return sum(text in event for event in self.events())

    def add_release(self, variant):
        """Adds a release as an installation does: copies it under another name, and renames it when
        it is complete."""
        place = self.machine.path(self.release(variant))
        shutil.copyfile(self.variant(variant), place.with_name(".new"))
        place.with_name(".new").chmod(0o755)
        place.with_name(".new").rename(place)

    def add_script(self, version, text):
        self.add_program(self.release(version), text)

    def add_program(self, path, text):
        place = self.machine.path(path)
        place.with_name(".new").write_text(text)
        place.with_name(".new").chmod(0o755)
        place.with_name(".new").rename(place)

    def relink(self, variant, link=LINK):
        self.link_to(self.release(variant), link)

    def link_to(self, program, link=LINK):
        place = self.machine.path(link)
        fresh = place.with_name(".new-link")
        os.symlink(program, fresh)
        fresh.rename(place)

    def linked(self):
        return os.readlink(self.machine.path(LINK))

    def judge(self, keep):
        """Checks the output: every line must have been copied once, in order, by an agent that was
        active, and no two agents may have been active at once."""
        with self.writing:
            if self.lines:
                last = " line %d" % self.lines
                wait_until("the last line is copied", lambda: self.records()[-1:] and any(
                    r.endswith(last) for r in self.records()[-3:]))
            self.judge_files(keep)

    def judge_files(self, keep):
        keep.mkdir(exist_ok=True)
        copies = [keep / os.path.basename(path) for path in (INPUT, OUTPUT, EVENTS)]
        for path, copy in zip((INPUT, OUTPUT, EVENTS), copies):
            shutil.copyfile(self.machine.path(path), copy)
        judged = subprocess.run(
            [str(self.build / "tests" / "demo" / "check_lines")] + [str(c) for c in copies],
            stdout=subprocess.PIPE, text=True, check=False)
        if judged.returncode != 0:
            raise Failed(" / ".join(judged.stdout.splitlines()))
