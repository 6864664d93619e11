# Courses of events that are recorded to try power cuts in them: an upgrade with --relink by the
# real upgrader, and the work of the real sample agent from its first line to its last, with
# rotations of the log, hand-overs and kills.
import json
import os
import select
import subprocess

from disk import Disk
from recorder import Recorder, strace

PATIENCE_LOOKS = 4000  # 20 s, at one look every 5 ms: longer than any machine needs


class Broken(Exception):
    """Raised if a recorded story did not go as it should, so that its states prove nothing."""


def wait_until(condition, what):
    for _ in range(PATIENCE_LOOKS):
        if condition():
            return
        select.select([], [], [], 0.005)
    raise Broken("waited in vain: " + what)


def content_of(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


# ---- the link

# An agent in shell. Unless it is version v2, it requests an upgrade to the program that its first
# argument names. Version v2 ends when it is committed, and then the upgrader ends, too. The script
# is long enough for a power cut to keep only a part of it.
AGENT = """#!/bin/sh
# release {name}
exec 8<&0 9>&1 </dev/null >&2
say() {{ printf '%s\\n' "$1" >&9; }}
hear() {{
  while read -r line <&8; do
    case $line in *'"type":"'$1'"'*) return 0 ;; esac
  done
  exit 0
}}
say '{{"type":"hello","protocol":1,"version":"{name}"}}'
say '{{"type":"ready"}}'
hear activate
if [ {name} != v2 ]; then
  say '{{"type":"upgrade","id":"u","executable":"'"$1"'"}}'
  hear stop
  say '{{"type":"stopped"}}'
  exit 0
fi
hear committed
# the end of release {name}
"""


def write(path, text, mode):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path, mode)


class LinkStory:
    """The story of a commit. A release is installed as the manual page says, and the upgrader
    commits it. Meanwhile every change to the files is recorded."""

    # For each story: the path of AGENT's link, the link's target, the path of the new release, and
    # a file that a killed upgrader has left (None if there is none).
    PLACES = {
        "beside": ("releases/current", "agent-v1", "releases/agent-v2", None),
        "elsewhere": ("bin/agent", "/releases/agent-v1", "releases/agent-v2", None),
        "left_over": ("releases/current", "agent-v1", "releases/agent-v2", ".current.upgrader"),
        "new_directory": ("releases/current", "agent-v1", "releases/v2/agent", None),
    }
    JUDGE = "judge_link"
    TEMPORARY = ".upgrader"

    def __init__(self, name, scratch, build, careless=None):
        self.link, target, self.new, left = self.PLACES[name]
        self.name = "link_" + name
        self.old = "releases/agent-v1"
        root = os.path.join(scratch, "root")
        for directory in ("bin", "releases"):
            os.makedirs(os.path.join(root, directory))
        write(os.path.join(root, self.old), AGENT.format(name="v1"), 0o755)
        full = root + target if target.startswith("/") else target
        os.symlink(full, os.path.join(root, self.link))
        if left:
            os.symlink("agent-v0", os.path.join(root, os.path.dirname(self.link), left))
        self.disk = Disk(root)
        self.record(scratch, root, build, careless or [])
        self.complete = {path: self.disk.now.nodes[self.disk.now.find(path)].content
                         for path in (self.old, self.new)}

    def record(self, scratch, root, build, careless):
        log = os.path.join(scratch, "log")
        source = os.path.join(scratch, "source")
        write(source, AGENT.format(name="v2"), 0o755)
        new = os.path.join(root, self.new)
        incoming = os.path.join(os.path.dirname(new), ".new")
        recorder = Recorder(self.disk)
        quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        steps = [["dd", "if=" + source, "of=" + incoming, "bs=256"], ["chmod", "755", incoming],
                 ["mv", incoming, new]]
        if not os.path.isdir(os.path.dirname(new)):
            steps.insert(0, ["mkdir", os.path.dirname(new)])
        for step in steps:
            if recorder.run(log, step, **quiet) != 0:
                raise Broken(" ".join(step))
        upgrader = [os.path.join(build, "upgrader"), "--relink", "--trial=0",
                    os.path.join(root, self.link), new]
        if recorder.run(log, careless + upgrader, timeout=60, **quiet) != 0:
            raise Broken("the upgrader did not end well")
        if not any(b'"committed"' in text for _, text in self.disk.marks):
            raise Broken("nothing was committed")

    def verdict(self, moment, tree):
        """Judges a state after a power cut by its files alone. Returns the release that AGENT's
        link names, and the violation in words (or None)."""
        new = tree.find(self.new)
        told = any(b'"type":"stop"' in text for text in self.disk.said(moment))
        if told and (new is None or tree.nodes[new].content != self.complete[self.new]):
            return "old", "the old agent was told to stop for a release that is not durable"
        number = tree.find(self.link)
        if number is None or tree.nodes[number].kind != "link":
            return "nothing", "there is no link"
        number = tree.find(self.link, follow=True)
        if number is None:
            return "nothing", "the link leads nowhere"
        node = tree.nodes[number]
        whole = [path for path, content in self.complete.items() if node.content == content]
        if node.kind != "file" or not whole or not node.mode & 0o100:
            return "part", "the link names no complete executable"
        committed = any(b'"committed"' in text for text in self.disk.said(moment))
        if committed and whole != [self.new]:
            return "old", "the link names the old one after `committed`"
        return ("new" if whole == [self.new] else "old"), None

    def question(self, place, _moment):
        """Returns the line for judge_link, which runs the real code on the state in the directory
        `place`.
        """
        return [os.path.join(place, path) for path in (self.link, self.old, self.new)]


# ---- the position

class PositionStory:
    """The story of a saved position: the sample agent follows a log that is rotated. It is replaced
    by another agent, killed, and started again."""

    JUDGE = "judge_position"
    TEMPORARY = ".tmp"

    def __init__(self, scratch, build, careless=None):
        self.name = "position"
        self.scratch, self.careless = scratch, careless or []
        self.agent = os.path.join(build, "sample-agent", "sample-agent")
        root = os.path.join(scratch, "root")
        for directory in ("state", "out"):
            os.makedirs(os.path.join(root, directory))
        os.makedirs(os.path.join(scratch, "input"))
        self.root, self.log = root, os.path.join(scratch, "input", "log")
        self.lines = 0
        # Pairs of a moment and a directory: a copy of the log files as they were up to that moment.
        self.sessions = []
        self.notes = []
        self.copies = 0
        self.disk = Disk(root)
        self.recorder = Recorder(self.disk)
        self.generation = 0
        self.tell_all()
        # A copy is made of hard links to the log files, so it also has lines that were appended
        # later.
        for _, copy in self.sessions:
            last = content_of(copy + "/log").split()[-1]
            write(copy + "/lines", "".join(f"line {n}\n" for n in range(1, int(last) + 1)), 0o644)

    # ---- the events of which the stories are made

    def append(self, count):
        text = ""
        for _ in range(count):
            self.lines += 1
            text += f"line {self.lines}\n"
        with open(self.log, "a", encoding="ascii") as log:
            log.write(text)

    def rotate(self):
        with open(os.path.join(self.scratch, "trace"), "rb") as trace:
            lines = trace.read().count(b"\n")
        copy = self.copy_input()
        self.notes.append((lines, lambda: self.sessions.append((self.disk.moment, copy))))
        os.rename(self.log, self.log + ".1")

    def copy_input(self):
        """Makes a directory with hard links to the agent's present input files. Returns its
        path."""
        self.copies += 1
        copy = os.path.join(self.scratch, f"input-{self.copies}")
        os.mkdir(copy)
        for name in os.listdir(os.path.dirname(self.log)):
            os.link(os.path.join(os.path.dirname(self.log), name), os.path.join(copy, name))
        return copy

    def position(self):
        return content_of(os.path.join(self.root, "state", "position"))

    def start(self, inject=None):
        command = [self.agent, "--input=" + self.log, "--output=" + self.root + "/out/copy",
                   "--state=" + self.root + "/state"]
        trace = strace(os.path.join(self.scratch, "trace"), self.careless + command, inject)
        self.process = subprocess.Popen(
            trace, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, "AGENT_PROTOCOL": "1"})
        self.generation += 1
        self.hear("hello")
        self.say(type="welcome", protocol=1, features=[], generation=self.generation,
                 role="first" if self.generation == 1 else "candidate")
        self.hear("ready")

    def say(self, **message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self, wanted):
        for line in self.process.stdout:
            message = json.loads(line)
            if message["type"] == wanted:
                return message
            if message["type"] == "unfit":
                raise Broken("the agent is unfit: " + message["reason"])
        raise Broken(f"the agent never said {wanted}")

    def copied(self):
        wait_until(lambda: b"next %d\n" % (self.lines + 1) in self.position(), "a saved position")

    def stop(self):
        self.say(type="stop", reason="shutdown", deadline_ms=60000)
        state = self.hear("stopped")["state"]
        self.end()
        return state

    def end(self, killed_at=None):
        """Waits for the agent's end. If the path `killed_at` is given, the agent must have been
        killed when it was about to sync that path."""
        if killed_at:
            wait_until(lambda: self.process.poll() is not None, "the kill")
            calls = content_of(os.path.join(self.scratch, "trace")).splitlines()
            last = [call for call in calls if not call.startswith((b"+++", b"---"))][-1]
            path = os.fsencode(os.path.join(self.root, killed_at))
            if not last.startswith(b"fsync(") or b"<" + path + b">" not in last:
                raise Broken("the kill came elsewhere: " + last.decode(errors="replace"))
        self.process.stdout.read()
        self.process.stdin.close()
        self.process.stdout.close()
        if (self.process.wait(60) != 0) != bool(killed_at):
            raise Broken("the agent did not end as it should")
        self.recorder.take(os.path.join(self.scratch, "trace"), self.notes)
        self.notes = []
        self.sessions.append((self.disk.moment, self.copy_input()))

    # ---- the story

    def tell_all(self):
        self.append(2)
        self.start()
        self.say(type="activate", clean=False)
        self.copied()
        self.append(2)
        self.copied()
        self.rotate()
        self.append(2)
        self.copied()
        state = self.stop()
        if self.careless:
            # An agent that never syncs could not be killed in the steps below, because each kill
            # strikes when the agent calls fsync().
            return

        # After a clean hand-over, the agent writes records and is killed before it syncs the
        # output.
        self.start("fsync:signal=KILL:when=3")
        self.say(type="activate", state=state, clean=True)
        self.say(type="committed", id="u", generation=2)
        self.append(2)
        self.end(killed_at="out/copy")

        # The next agent recovers from that. When the log is rotated, it renames the file of its
        # position, and is killed before it syncs the rename.
        self.start("fsync:signal=KILL:when=8")
        self.say(type="activate", clean=False)
        self.copied()
        self.rotate()
        self.append(2)
        self.end(killed_at="state")

        # Deletes the rotated log, which the agent has read to its end, and starts another agent.
        os.unlink(self.log + ".1")
        self.start()
        self.say(type="activate", clean=False)
        self.copied()
        self.append(1)
        self.stop()

    def verdict(self, moment, tree):
        """Judges a state after a power cut by its files alone. Returns how far the agent's saved
        position has come, and the violation in words (or None)."""
        number = tree.find("state/position")
        text = tree.nodes[number].content if number is not None else b""
        promised = [json.loads(said)["state"].encode() for said in self.disk.said(moment)
                    if b'"stopped"' in said]
        if not promised:
            return ("found" if text else "none"), None
        if next_of(text) < next_of(promised[-1]):
            return "lost", "the position is older than what was promised by `stopped`"
        return ("promised" if text == promised[-1] else "newer"), None

    def question(self, place, moment):
        copy = next(copy for end, copy in self.sessions if moment <= end)
        return [copy + "/log", copy + "/lines", place + "/out/copy", place + "/state"]


def next_of(text):
    """Returns the number of the record that the agent will write next, from the text of its
    position."""
    for line in text.split(b"\n"):
        if line.startswith(b"next "):
            return int(line[5:] or 0)
    return 0
