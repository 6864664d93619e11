# Stories for the check of power cuts, about the way back to the previous version: upgrades with
# --previous and --attempts, and a boot into a version that has gone bad.
import os
import re
import signal
import subprocess

from disk import Disk
from recorder import Recorder
from stories import AGENT, Broken, LinkStory, write

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
    """Returns the numbers of the records in the file of --attempts, without records whose checksum
    is wrong."""
    turns = []
    for at in range(0, len(content), RECORD_BYTES):
        found = RECORD.fullmatch(content[at:at + RECORD_BYTES].partition(b"\0")[0])
        if found and int(found[2]) == check_of(found[1]):
            turns.append(int(found[1].split()[-1]))
    return turns


class WayBackStory(LinkStory):
    """The story of a commit with --previous. First the link of --previous must name the old
    version, and then AGENT's link the new one."""

    # For each story: the path of AGENT's link and its target; the path of the link of --previous
    # and its target, or None if there is no such link; the target of AGENT's link at the end; and
    # how the first upgrader dies before the end, or None if it does not.
    PLACES = {
        "first": ("bin/agent", "/releases/agent-v1", "ways/previous", None,
                  "releases/agent-v2", None),
        "later": ("releases/current", "agent-v1", "ways/previous", "../releases/agent-v0",
                  "releases/agent-v2", None),
        "beside": ("releases/current", "agent-v1", "releases/previous", "agent-v0",
                   "releases/agent-v2", None),
        # These stories kill the first upgrader. A kill loses no written bytes, even if they were
        # not synced; only a power cut does. So power cuts are tried only when the second upgrader
        # has committed, or is about to commit.
        "killed": ("releases/current", "agent-v1", "ways/previous", "../releases/agent-v0",
                   "releases/agent-v2", "death"),
        # The file of --attempts has three records before the story begins. A new start overwrites
        # the oldest record, so a power cut may spoil only that record.
        "recounted": ("releases/current", "agent-v1", "ways/previous", "../releases/agent-v0",
                      "releases/agent-v2", None),
        # The story `killed` without --attempts. With --attempts, each of the first starts syncs the
        # directory that has both the file of --attempts and the link of --previous. Without
        # --attempts, only the commit syncs this directory.
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
        # The last record in the file of --attempts may lack its last bytes, which only say how the
        # last start ended. The record of the start itself must be there.
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
