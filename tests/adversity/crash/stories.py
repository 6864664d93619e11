# The stories: courses of events that are recorded, so that a power cut can be tried at every
# moment. In most stories, the real upgrader makes an upgrade, with options such as --relink,
# --previous and --attempts. In one story, the upgrader starts at a boot, and AGENT's program fails.
# In the last story, the real sample agent copies a log; meanwhile the log is rotated, and the agent
# is replaced and killed.
import json
import os
import re
import select
import signal
import subprocess

from disk import Disk
from recorder import Recorder, strace

CHECKS_MAX = 1000  # one check every 20 ms, for 20 s: longer than any machine needs


class Broken(Exception):
    """Raised if a recorded story did not go as it should, so that its states prove nothing."""


def wait_until(condition, what):
    for _ in range(CHECKS_MAX):
        if condition():
            return
        select.select([], [], [], 0.02)
    raise Broken("waited in vain: " + what)


def content_of(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


# ---- upgrades, which change AGENT's link

# An agent as a shell script. Version v2 exits when it is committed, and then the upgrader exits,
# too. Any other version requests an upgrade to the program that the script's first argument names.
# The script is long enough that a power cut may keep only a part of the file.
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

    # For each story:
    # * the path of AGENT's link, and its target at the beginning
    # * the path of the new release
    # * the name of a file that a killed upgrader has left, or None
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
        """Returns the line with which judge_link is asked to judge the state in the directory
        `place`.
        """
        return [os.path.join(place, path) for path in (self.link, self.old, self.new)]


# ---- the link to the previous version: upgrades with --previous and --attempts, and a boot at
# which the version that AGENT's link names fails

RECORD_BYTES = 8192
RECORD = re.compile(rb"(\d+ /[^\n]*\n[^\n]*\n\d+ )(\d+)\n")


def check_of(text):
    """Returns the checksum of a record in the file of --attempts: FNV-1a with 32 bits."""
    total = 2166136261
    for byte in text:
        total = (total ^ byte) * 16777619 & 0xFFFFFFFF
    return total


def record_of(turn, path):
    text = f"1 {path}\n\n{turn} ".encode()
    return text + f"{check_of(text)}\n".encode()


def turns_of(content):
    """Returns the numbers that the records of the file of --attempts contain. Skips records whose
    checksum is wrong."""
    turns = []
    for at in range(0, len(content), RECORD_BYTES):
        found = RECORD.fullmatch(content[at:at + RECORD_BYTES].partition(b"\0")[0])
        if found and int(found[2]) == check_of(found[1]):
            turns.append(int(found[1].split()[-1]))
    return turns


class WayBackStory(LinkStory):
    """The story of a commit with --previous. First the link of --previous must name the old
    version, and then AGENT's link the new one."""

    # For each story (a course of events that is recorded):
    # * the path of AGENT's link, and its target at the beginning
    # * the path of the link of --previous, and its target at the beginning; the target is None if
    #   there is no such link yet
    # * the target of AGENT's link at the end
    # * "death" if the first upgrader is killed before it commits, otherwise None
    PLACES = {
        "first": ("bin/agent", "/releases/agent-v1", "ways/previous", None,
                  "releases/agent-v2", None),
        "later": ("releases/current", "agent-v1", "ways/previous", "../releases/agent-v0",
                  "releases/agent-v2", None),
        "beside": ("releases/current", "agent-v1", "releases/previous", "agent-v0",
                   "releases/agent-v2", None),
        # In a story with "death", a signal kills the first upgrader, and a second one continues. A
        # change that the first upgrader has made but not synced survives this kill, but a power cut
        # may still lose it. So the second upgrader must sync this change before it commits.
        "killed": ("releases/current", "agent-v1", "ways/previous", "../releases/agent-v0",
                   "releases/agent-v2", "death"),
        # The file of --attempts has three records before the story begins. A new start overwrites
        # the oldest record, so a power cut may spoil only that record.
        "recounted": ("releases/current", "agent-v1", "ways/previous", "../releases/agent-v0",
                      "releases/agent-v2", None),
        # The same events as in `killed`, but without --attempts. With --attempts, the start of an
        # agent syncs the directory of the file of --attempts, which is also the directory of the
        # link of --previous. Without --attempts, only the commit can sync this directory: the story
        # shows whether the commit does.
        "killed_uncounted": ("releases/current", "agent-v1", "ways/previous",
                             "../releases/agent-v0", "releases/agent-v2", "death"),
        # The story of a boot: the version that AGENT's link names fails at once, so the version
        # that the link of --previous names is started and committed.
        "boot": ("releases/current", "agent-bad", "ways/previous", "../releases/agent-v2",
                 "releases/agent-v2", None),
    }

    def __init__(self, name, scratch, build, careless=None):
        self.link, target, self.previous, before, self.new, death = self.PLACES[name]
        self.name = "back_" + name
        root = os.path.join(scratch, "root")
        for directory in ("bin", "releases", "ways"):
            os.makedirs(os.path.join(root, directory))
        for version in ("v0", "v1", "v2"):
            path = os.path.join(root, "releases/agent-" + version)
            write(path, AGENT.format(name=version), 0o755)
        write(os.path.join(root, "releases/agent-bad"), "#!/bin/sh\nexit 3\n", 0o755)
        os.symlink(root + target if target.startswith("/") else target,
                   os.path.join(root, self.link))
        if before:
            os.symlink(before, os.path.join(root, self.previous))
        self.turn = 0
        if name == "recounted":
            records = [record_of(turn, "/releases/agent-v0") for turn in (1, 2, 3)]
            text = b"".join(record.ljust(RECORD_BYTES, b"\0") for record in records)
            write(os.path.join(root, self.previous + ".attempts"), text.decode(), 0o644)
            self.turn = 3
        self.disk = Disk(root)
        self.old = self.named(self.disk.now, self.link)
        self.before = self.named(self.disk.now, self.previous)
        self.counted = not name.endswith("uncounted")
        upgrader = [os.path.join(build, "upgrader"), "--relink", "--trial=0",
                    "--previous=" + os.path.join(root, self.previous),
                    "--attempts=" + ("3" if self.counted else "0"),
                    os.path.join(root, self.link), os.path.join(root, self.new)]
        self.tell(scratch, upgrader, careless or [], death)

    def tell(self, scratch, upgrader, careless, death):
        recorder, log = Recorder(self.disk), os.path.join(scratch, "log")
        quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": 60}
        if death:
            library = os.path.join(os.path.dirname(upgrader[0]), "tests", "adversity", "crash",
                                   "careless.so")
            dying = ["env", "LD_PRELOAD=" + library, "CARELESS=" + death]
            if recorder.run(log, dying + upgrader, **quiet) != -signal.SIGKILL:
                raise Broken("the upgrader was not killed")
            if self.named(self.disk.now, self.previous) != self.old:
                raise Broken("the upgrader was not killed behind the first of its two moves")
        if recorder.run(log, careless + upgrader, **quiet) != 0:
            raise Broken("the upgrader did not end well")
        if not self.has_said(self.disk.moment, b'"committed"'):
            raise Broken("nothing was committed")

    def has_said(self, moment, text):
        return any(text in said for said in self.disk.said(moment))

    @staticmethod
    def named(tree, link):
        """Returns the path of the file that a link names, or None if there is no such file."""
        number = tree.find(link, follow=True)
        names = tree.nodes[tree.find("releases")].content
        return next(("releases/" + name for name, node in names.items() if node == number), None)

    def verdict(self, moment, tree):
        """Judges a state after a power cut by its files alone. Returns the release that AGENT's
        link names, and the violation in words (or None)."""
        agent, previous = self.named(tree, self.link), self.named(tree, self.previous)
        kind = "new" if agent == self.new else "old"
        if agent not in (self.old, self.new):
            return "nothing", "AGENT's link names " + str(agent)
        booted = self.before == self.new
        if previous not in (self.before, self.before if booted else self.old):
            return kind, "the link of --previous names " + str(previous)
        if kind == "new" and previous != (self.new if booted else self.old):
            return kind, "AGENT's link names the new one, and that of --previous not the old one"
        committed = self.has_said(moment, b'"committed"')
        if committed and kind == "old":
            return kind, "AGENT's link names the old one after `committed`"
        # The start of an agent must be recorded in the file of --attempts before the agent gets its
        # first message, `welcome`. The bytes that later record how this start has ended may be
        # lost.
        if not committed and self.has_said(moment, b'"welcome"') and not self.counts(tree):
            return kind, "an agent was started, and that this start was counted is not durable"
        if self.turn and len(self.turns(tree)) < 2:
            return kind, "more than one record of the file of --attempts is lost"
        return kind, None

    def counts(self, tree):
        if not self.counted:
            return True
        return any(turn > self.turn for turn in self.turns(tree))

    def turns(self, tree):
        number = tree.find(self.previous + ".attempts")
        return turns_of(tree.nodes[number].content) if number is not None else []

    def question(self, place, _moment):
        paths = dict.fromkeys((self.link, self.old, self.new, "releases/agent-v1"))
        return ["previous=" + os.path.join(place, self.previous),
                *(os.path.join(place, path) for path in paths)]


# ---- the sample agent, which saves how far it has copied a log

class PositionStory:
    """The story of a saved position: the sample agent follows a log that is rotated. The agent is
    replaced by a new agent, killed, and started again."""

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
        # Pairs of a moment, and a directory with a copy of the log files from that moment. Each
        # state of the disk is judged with the first copy that is not older than the state.
        self.sessions = []
        self.notes = []
        self.copies = 0
        self.disk = Disk(root)
        self.recorder = Recorder(self.disk)
        self.generation = 0
        self.tell_all()
        # A copy consists of hard links to the log files, so it also has lines that were appended
        # after the copy was made.
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
        """Makes a directory with hard links to the agent's current input files. Returns its
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
        """Waits until the agent exits. If the path `killed_at` is given, the agent must have been
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

    # ---- the course of the events

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
            # Ends the story here if the agent is made careless, which means that it never syncs. In
            # the steps below, the agent is killed when it calls fsync(), and a careless agent never
            # calls it.
            return

        # After a clean hand-over, the agent writes records and is killed before it syncs the
        # output.
        self.start("fsync:signal=KILL:when=3")
        self.say(type="activate", state=state, clean=True)
        self.say(type="committed", id="u", generation=2)
        self.append(2)
        self.end(killed_at="out/copy")

        # The previous agent was killed before it had synced its output. The agent that is started
        # here recovers from that. When the log is rotated, this agent renames the file of its
        # position, and is killed before it syncs the rename.
        self.start("fsync:signal=KILL:when=8")
        self.say(type="activate", clean=False)
        self.copied()
        self.rotate()
        self.append(2)
        self.end(killed_at="state")

        # Deletes the rotated log, which the agent has read to its end, and starts the next agent.
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
    """`text` is the content of the file in which the agent has saved its position. Returns the
    number of the record that the agent will write next."""
    for line in text.split(b"\n"):
        if line.startswith(b"next "):
            return int(line[5:] or 0)
    return 0
