# This file has the deeds, which are the commands that the tests interrupt. Each deed changes a
# directory of releases. An interrupted command must leave the directory either unchanged, or as the
# complete command would leave it. When the command is repeated, it must succeed as if it had not
# been interrupted.
import io
import json
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

from world import PROGRAM, Double, World, calls_in, same, sha256, strace

MEMORY = "/dev/shm"
if not os.access(MEMORY, os.W_OK):
    MEMORY = None
PLAIN = b"#!/bin/sh\nexit 0\n"
# A copy of the directory of releases with which most deeds begin. The first deed that needs the
# copy makes it.
BEGINNING = tempfile.TemporaryDirectory(prefix="releases-beginning-", dir=MEMORY)


def small_tar():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content, mode in [("bin/agent", PLAIN, 0o755), ("conf", b"x" * 300, 0o644)]:
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), mode
            tar.addfile(info, io.BytesIO(content))
        info = tarfile.TarInfo("bin/link")
        info.type, info.linkname = tarfile.SYMTYPE, "../conf"
        tar.addfile(info)
    return out.getvalue()


def entry(version, ending="failed"):
    """Returns a line of the ledger as text."""
    return json.dumps({"when": "2026-01-01T00:00:00Z", "version": version, "ending": ending,
                       "stage": "trial", "reason": "x", "id": "u1", "sha256": "0" * 64}) + "\n"


# For some of the tested commands, the content of the ledger (the record of tried releases) before
# the command. In `forget_torn`, a crash has cut off the end of the ledger's last line. In
# `forget_many`, the ledger is so long that the command must make it shorter.
ENTRIES = {"fail": entry("1.0.0", "trying"),
           "forget_torn": entry("1.0.0") + entry("0.9.0")[:70],
           "forget_many": "".join(entry("%d.0.0" % (number % 7 + 1)) for number in range(1000))}


class Stage(World):
    """The fixture of a test. One directory, the root, contains the directory of releases and the
    program that is adopted from outside of it. The root is in memory if possible: the tests sync
    thousands of directories, which would take long on a disk."""

    def __init__(self, deed):
        super().__init__(MEMORY)
        self.root = self.make("root")
        self.releases = self.path("root/releases")
        self.manifests = {"2.0.0": self.publish("2.0.0", PLAIN + b"# 2\n" * 50),
                          "3.0.0": self.publish_tar("3.0.0", small_tar())}
        if deed != "add_first":
            self.begin()
        if deed == "prune":
            self.begin_to_prune()
        if deed in ENTRIES:
            self.write("root/releases/ledger.jsonl", ENTRIES[deed])
        if deed == "add_http":
            double = Double(self.pub)
            self.closers.append(double.close)
            self.manifests["by http"] = double.url("agent-2.0.0-any.json")
        self.arguments = {
            "add_first": ["add", self.manifests["2.0.0"]],
            "add_file": ["add", self.manifests["2.0.0"]],
            "add_tar": ["add", self.manifests["3.0.0"]],
            "add_http": ["add", self.manifests.get("by http")],
            "remove": ["remove", "0.9.0"],
            "prune": ["prune", "--keep=1"],
            "desire": ["desire", "1.0.0"],
            "newest": ["desire", "--newest"],
            "forget": ["forget", "1.0.0"],
            "forget_torn": ["forget", "1.0.0"],
            "forget_many": ["forget", "1.0.0"],
            "try": ["try", "--running=0.9.0"],
            "fail": ["fail", "u1", "--stage=trial", "--reason=it died"],
            "adopt": ["adopt", self.path("root/installed"), "--as=1.5.0"],
        }[deed]

    def begin(self):
        beginning = os.path.join(BEGINNING.name, "releases")
        if not os.path.exists(beginning):
            for number in ["0.9.0", "1.0.0"]:
                self.succeeds("add", self.publish(number, PLAIN + b"#" + number.encode() + b"\n"))
            self.succeeds("desire", "1.0.0")
            shutil.copytree(self.releases, beginning)
        else:
            shutil.copytree(beginning, self.releases)
        self.write("root/releases/ledger.jsonl", entry("1.0.0"))
        self.write("root/installed", PLAIN + b"# installed\n", 0o755)

    def begin_to_prune(self):
        """Makes the directory for the test of `prune`: release 0.9.0, which may be removed, and one
        release for each reason to keep a release."""
        for number in ["0.5.0", "0.6.0", "0.7.0"]:
            manifest = self.publish(number, PLAIN + b"#" + number.encode() + b"\n")
            self.succeeds("add", "--older", manifest)
        os.symlink("agent-v0.5.0", self.release("current"))
        os.symlink("agent-v0.6.0", self.release("previous"))
        self.write("root/releases/ledger.jsonl", entry("1.0.0") + entry("0.7.0", "trying"))

    def order(self, root=None):
        """Returns the command line of the tested command, with paths below this root or below a
        copy of it."""
        root = root or self.root
        arguments = [argument.replace(self.root, root) for argument in self.arguments]
        return [PROGRAM, "--dir=" + root + "/releases", "--name=agent", "--keys=" + self.keys,
                *arguments]


DEEDS = ["add_first", "add_file", "add_tar", "remove", "prune", "desire", "newest", "forget",
         "forget_torn", "forget_many", "try", "fail", "adopt"]
DEEDS_WITH_NETWORK = [*DEEDS, "add_http"]
# System calls whose count differs from run to run, because they depend on the network or on other
# processes.
UNSTEADY = {"poll", "recvfrom", "sendto", "futex", "readlinkat"}


class Wrong(Exception):
    pass


def ask(stage, root, *arguments):
    keys = [] if arguments[0] == "list" else ["--keys=" + stage.keys]
    done = subprocess.run([PROGRAM, "--dir=" + root + "/releases", "--name=agent", *keys,
                           *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def facts(stage, root):
    """Returns what a user of the directory learns from the commands `list` and `verify`: the
    versions, the desired version, and the endings in the ledger."""
    status, out, error = ask(stage, root, "list", "--json")
    if status == 2 and not os.path.exists(root + "/releases"):
        return {"versions": [], "desired": None, "endings": []}
    if status != 0:
        raise Wrong("list: " + error)
    versions = [release["version"] for release in json.loads(out)["releases"]]
    status, out, error = ask(stage, root, "verify", "--all", "--json")
    # Release 1.5.0 was adopted without a signature, so `verify` does not report it as sound.
    adopted = "1.5.0" in versions
    said = [json.loads(line) for line in out.splitlines()]
    sound = [fact["version"] for fact in said if fact["sound"] or fact["version"] == "1.5.0"]
    if sound != versions or status != (3 if adopted else 0):
        raise Wrong("verify: " + out + error)
    found = {"versions": versions}
    if adopted:
        with open(root + "/releases/agent-v1.5.0", "rb") as file:
            if file.read() != PLAIN + b"# installed\n":
                raise Wrong("what was adopted has other bytes")
    wish = root + "/releases/desired"
    found["desired"] = open(wish).read() if os.path.exists(wish) else None
    found["endings"] = endings(root + "/releases/ledger.jsonl")
    installed = root + "/installed"
    if os.path.lexists(installed):
        with open(installed, "rb") as file:
            found["installed"] = sha256(file.read())
        found["link"] = os.path.islink(installed)
    return found


def endings(path):
    """Returns the endings in the whole lines of the ledger."""
    if not os.path.exists(path):
        return []
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")[:-1]
    try:
        return [json.loads(line)["ending"] for line in lines]
    except ValueError as error:
        raise Wrong("the ledger has a line that is none: %r" % lines) from error


def leavings(root):
    staging = root + "/releases/.staging"
    return sorted(os.listdir(staging)) if os.path.isdir(staging) else []


# Returns whether an interrupted command may leave the directory in the state `found`. This must be
# the state before the command, or the state after the command. Only `adopt` may leave a third
# state: it makes the release first and the link last, so there may be a release without the link.
def may_be(deed, found, before, after):
    if found in (before, after):
        return True
    return deed == "adopt" and found == {**before, "versions": after["versions"]}


class Judge:
    """Judges the directories that an interrupted command has left. Runs the command again in each
    of them. A directory that is the same, byte for byte, as an earlier one is not judged again."""

    def __init__(self, deed, stage, before, after):
        """`before` and `after` are the roots of two directories, one as it was before the command,
        and one as the complete command has left it."""
        self.deed, self.stage = deed, stage
        self.known = {}  # for each content of the directory, what facts() has returned
        self.before, self.after = self.facts(before), self.facts(after)
        self.judged_well = set()
        self.ended_well = set()

    def facts(self, root):
        """Returns facts() of a directory. Asks the program only once about equal directories."""
        left = content(root)
        if left not in self.known:
            self.known[left] = facts(self.stage, root)
        return self.known[left]

    def look_at(self, root):
        """Raises Wrong if the directories below `root` are in a state that the interrupted command
        must not leave, or if the same command fails when it is run again."""
        left = content(root)
        if left not in self.judged_well:
            self.look_at_new(root)
            self.judged_well.add(left)

    def look_at_new(self, root):
        found = self.facts(root)
        if not may_be(self.deed, found, self.before, self.after):
            raise Wrong("neither as before nor as after: %s" % found)
        done = subprocess.run(self.stage.order(root), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        # `remove` and `adopt` end with this exit status if their work is already done. So the
        # repeated command may end with it, too, if the interrupted command had completed its work.
        again_is_refused = {"remove": 2, "adopt": 3}.get(self.deed)
        if done.returncode != 0 and not (
                found == self.after and done.returncode == again_is_refused):
            raise Wrong("the next call: " + done.stderr.decode())
        expected = [self.after]
        # If the interrupted `try` had completed its work, the repeated `try` is allowed to add one
        # more entry `trying` to the ledger.
        if self.deed == "try" and found == self.after:
            expected.append({**self.after, "endings": [*self.after["endings"], "trying"]})
        left = (content(root), len(expected))
        if left not in self.ended_well:
            self.look_at_end(root, expected)
            self.ended_well.add(left)

    def look_at_end(self, root, expected):
        """Checks the directory after the interrupted command was run again, and after one more
        command that writes to the directory. `expected` lists the facts that are allowed after the
        first of the two."""
        found = self.facts(root)
        if not self.deed.startswith("forget") and found not in expected:
            raise Wrong("the next call has not ended as the first should have")
        subprocess.run([PROGRAM, "--dir=" + root + "/releases", "--name=agent", "desire",
                        found["versions"][-1]], stdout=subprocess.DEVNULL, check=True)
        if leavings(root):
            raise Wrong("left behind: %s" % leavings(root))
        names = os.listdir(root + "/releases")
        for name in names:
            release = name.removesuffix(".minisig").removesuffix(".json").removesuffix(".files")
            if name.startswith("agent-v") and release not in names:
                raise Wrong("an orphan is left: " + name)


def content(root):
    """Returns the whole content of the directory as a value: equal directories have equal
    values."""
    found = []
    for path in sorted(pathlib.Path(root).rglob("*")):
        if path.is_symlink():
            words = os.readlink(path).replace(root, "")
        else:
            words = path.read_bytes() if path.is_file() else None
        found.append((str(path.relative_to(root)), path.lstat().st_mode, words))
    return tuple(found)


def copy(source, to):
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(source, to, symlinks=True)
    for name in ["installed", "releases/current"]:
        path = to + "/" + name
        if os.path.islink(path) and os.readlink(path).startswith(source):
            target = os.readlink(path).replace(source, to)
            os.unlink(path)
            os.symlink(target, path)


def traced(log, calls, inject, *command):
    """Returns the command line that runs the command under strace, which logs the system calls
    `calls`. Unless `inject` is None, strace tampers with one of them."""
    options = ["-e", "inject=" + inject] if inject else []
    return strace(log, calls, *options, *command)


def calls_of(stage, root, calls):
    """Runs the tested command, which must succeed. Yields its system calls that are in `calls`: the
    name, how many calls of that name there were by then, and the line of strace. Begins with the
    first call that names the directory, since nothing can have changed before. Leaves out calls on
    /proc/PID/exe, by which the program looks at other processes: their number differs from run to
    run."""
    log = stage.path("trace")
    same(subprocess.run(traced(log, calls, None, *stage.order(root)), stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL, check=False).returncode, 0)
    counts, begun = {}, False
    for name, line in calls_in(log):
        counts[name] = counts.get(name, 0) + 1
        begun = begun or root in line
        if begun and "/exe" not in line:
            yield name, counts[name], line
