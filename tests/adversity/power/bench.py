# The bench tests one file system. It makes the file system on a disk, runs a virtual machine that
# works on it, builds the states in which a power cut may leave the disk, and lets a second virtual
# machine judge these states.
import os
import shutil
import subprocess
from pathlib import Path

import log
import verdict
from machine import Kernel, guest_files, run_machine, scratch_directory

HERE = Path(__file__).resolve().parent
BUILD = os.environ.get("BUILD", "build")
MIB = 1 << 20
PATIENCE_S = int(os.environ.get("PATIENCE", "3600"))
STATES_AT_ONCE = 100
BOOT_EACH = 50  # one of this many states is judged by a virtual machine booted for it alone

# For each file system: the size of its disk in MiB, the command that makes it, its mount options,
# and its kernel modules.
SYSTEMS = {
    "ext4": (48, ["mkfs.ext4", "-q", "-F", "-J", "size=4"], "commit=1", ["ext4"]),
    "ext4-writeback": (48, ["mkfs.ext4", "-q", "-F", "-J", "size=4"],
                       "commit=1,data=writeback", ["ext4"]),
    "f2fs": (64, ["mkfs.f2fs", "-q", "-f"], "defaults", ["crc32_generic", "f2fs"]),
    "overlay": (48, ["mkfs.ext4", "-q", "-F", "-J", "size=4"], "commit=1",
                ["ext4", "squashfs", "overlay"]),
    # ext4 without a journal promises nothing after a power cut. So e2fsck repairs each state first,
    # and violations are only reported.
    "ext4-nojournal": (48, ["mkfs.ext4", "-q", "-F", "-O", "^has_journal"], "defaults", ["ext4"]),
    "btrfs": (128, ["mkfs.btrfs", "-q", "-f"], "commit=1", ["btrfs"]),
    "xfs": (320, ["mkfs.xfs", "-q", "-f"], "defaults", ["xfs"]),
}


class Publisher:
    """A publisher of releases for agent-releases. In the virtual machine, agent-releases adds the
    releases, makes each the desired one, and removes older ones."""

    PROGRAM = Path(BUILD) / "agent-releases"
    # The static agent-releases that `make static-tools` builds. The virtual machine that judges the
    # disk uses this program if it exists: without libraries to load, the program starts much faster
    # there.
    STATIC = Path(BUILD) / "static/tools/amd64/bin/agent-releases"

    def __init__(self, scratch):
        self.place = scratch / "published"
        shutil.rmtree(self.place, ignore_errors=True)
        self.place.mkdir()
        self.run("key", "make", "--no-password", "--public=%s" % (self.place / "key.pub"),
                 self.place / "key")

    def run(self, *words):
        subprocess.run([self.PROGRAM, *words], check=True, stdout=subprocess.DEVNULL)

    def files(self):
        """Returns the files that each virtual machine needs."""
        return {"bin/agent-releases": self.PROGRAM, "keys/key.pub": self.place / "key.pub"}

    def published(self, count):
        """Publishes the releases 1.0.1 to 1.0.COUNT. Returns their files."""
        for number in range(1, count + 1):
            version = "1.0.%d" % number
            program = self.place / "program"
            program.write_text("#!/bin/sh\n" + "".join(
                "# Release %s, row %d: its file has several pages.\n" % (version, row)
                for row in range(200)))
            program.chmod(0o755)
            self.run("pack", "--name=web", "--version=" + version, "--sign=%s" % (
                self.place / "key"), "--out=%s" % self.place, program)
        return {"published/" + path.name: path for path in self.place.glob("web-*")}


class Bench:
    """A file system that was made once, and the virtual machines that work on it."""

    bad_disk = "a disk that obeys only every third flush"
    flushes = "flushes"
    delays_writes = True  # the kernel may write data to the disk long after the program wrote it

    def __init__(self, name, system=None):
        self.name = name
        size, make, self.options, self.modules = system or SYSTEMS[name]
        self.type = name.partition("-")[0]
        self.bytes = size * MIB
        self.scratch = scratch_directory(BUILD, name)
        self.kernel = Kernel(os.environ.get("KERNEL", self.scratch.parent / "kernel"))
        self.publisher = Publisher(self.scratch)
        self.others = self.publisher.files()
        self.config = {}
        self.booted = 0  # the number of states for which a virtual machine was booted
        self.base = self.scratch / "base"
        self.make_base(make)
        if self.type == "overlay":
            self.others["lower.squashfs"] = self.lower()
        self.checked = name == "ext4-nojournal"
        if self.checked:
            self.others["bin/e2fsck"] = "/sbin/e2fsck"

    def make_base(self, make):
        """Makes the file `base`, which has the content of the disk before the first virtual machine
        starts."""
        with open(self.base, "wb") as base:
            base.truncate(self.bytes)
        subprocess.run([*make, self.base], check=True, stdout=subprocess.DEVNULL)

    def lower(self):
        """Makes the squashfs that is the read-only part of the overlay, with the first release.
        Returns its path."""
        releases = self.scratch / "lower" / "releases"
        shutil.rmtree(releases.parent, ignore_errors=True)
        releases.mkdir(parents=True)
        make = "eval \"$(sed -n '/^agent_of()/,/^}/p' '%s')\"; agent_of 0-good" % (
            HERE / "common.sh")
        agent = releases / "0-good"
        agent.write_bytes(subprocess.run(["/bin/busybox", "sh", "-c", make], check=True,
                                         stdout=subprocess.PIPE).stdout)
        agent.chmod(0o755)
        (releases.parent / "current").symlink_to("releases/0-good")
        image = self.scratch / "lower.squashfs"
        subprocess.run(["mksquashfs", releases.parent, image, "-noappend", "-quiet",
                        "-all-root"], check=True, stdout=subprocess.DEVNULL)
        return image

    def files(self, script, upgrader, more=None, others=None):
        config = {"FS": self.type, "OPTIONS": self.options, "SECTOR": self.bytes // log.SECTOR,
                  "BYTES": self.bytes, "TRIAL": "200ms", "CARELESS_ENVIRONMENT": "",
                  "CHECKED": "yes" if self.checked else "no", "WHOLE": "no", **self.config,
                  **(more or {})}
        programs = {"common.sh": HERE / "common.sh", "bin/upgrader": upgrader, **self.others,
                    **(others or {})}
        return guest_files(self.kernel, HERE / script, programs, self.modules, config)

    def work(self, upgrader, upgrades, careless=""):
        """Runs the virtual machine that makes upgrades. Returns the log of the writes to its
        disk."""
        others = {"bin/mark": Path(BUILD) / "tests/adversity/power/mark",
                  **self.publisher.published(upgrades)}
        measures = not careless and os.environ.get("WEAR", "1") != "0"
        more = {"UPGRADES": upgrades, "WEAR": "1" if measures else "0"}
        if careless:
            others["careless.so"] = Path(BUILD) / "tests/adversity/crash/careless.so"
            more["CARELESS_ENVIRONMENT"] = "LD_PRELOAD=/careless.so CARELESS=" + careless
        files = self.files("worker.sh", upgrader, more, others)
        told, entries = self.record(files)
        print("report: %s: %d writes and %d %s, and %d notes: %s" % (
            self.name, sum(1 for entry in entries if entry.data),
            sum(1 for entry in entries if entry.flushes), self.flushes, len(self.notes(entries)),
            verdict.summary(told)))
        if measures:
            self.report_wear(entries)
        return entries

    def record(self, files):
        """Runs the virtual machine that makes upgrades. Returns the lines that it has printed, and
        the log of the writes to its disk."""
        disk = self.scratch / "disk"
        subprocess.run(["cp", "--sparse=always", self.base, disk], check=True)
        with open(disk, "r+b") as end:
            end.truncate(self.bytes + MIB)
        recorded = self.scratch / "log"
        recorded.write_bytes(b"")
        told = run_machine(self.kernel, self.scratch, files, [
            "driver=file,filename=%s,node-name=data,cache.no-flush=on" % disk,
            "driver=file,filename=%s,node-name=log,cache.no-flush=on" % recorded,
            "driver=blklogwrites,file=data,log=log,log-sector-size=512,node-name=disk"], PATIENCE_S)
        return told, log.read_log(recorded)

    def report_wear(self, entries):
        notes = self.notes(entries)
        for begin, end, words in (
                ("begin", "committed", "a committed upgrade"),
                ("synced", "lasts", "with noatime, an upgrade to a release that was synced"),
                ("stops", "restarted", "a stop and a start")):
            print("report: %s: %s, in the median: %d writes, %.1f KiB, %d %s" % (
                self.name, words, *verdict.wear(entries, notes, begin, end), self.flushes))
        print("report: %s: a start in a crash loop of one a second, in the mean: %.1f KiB, "
              "%.1f %s" % (self.name, *verdict.wear_each(
                  entries, notes, "loop begins", "loop ends", 60), self.flushes))

    def notes(self, entries):
        """Returns each note that the virtual machine has written, as (number of its entry in the
        log, text)."""
        return [(at, entry.data.split(b"\0")[0].decode()) for at, entry in enumerate(entries)
                if entry.data and entry.offset >= self.bytes]

    def judge(self, entries, cuts, upgrader, chance, obeys=lambda number: True, boots=False):
        """Builds the states in which `cuts` power cuts would leave the disk, and has a virtual
        machine judge them. If `boots` is true, one of BOOT_EACH states is also judged by a virtual
        machine that is booted for it alone. Returns the violations, in words."""
        found = []
        for done in range(0, cuts, STATES_AT_ONCE):
            positions = self.positions(
                entries, min(STATES_AT_ONCE, cuts - done), chance, obeys)
            found += self.judge_at(entries, positions, upgrader, chance, obeys, first=done,
                                   boots=boots)
            if cuts > STATES_AT_ONCE:  # judging takes an hour: print the progress
                print("report: %s: %d of %d states are judged, %d violations so far" % (
                    self.name, done + len(positions), cuts, len(found)), flush=True)
        return found

    def judge_prefixes(self, entries, upgrader):
        """Judges the disk after each write of one committed upgrade. The disk then has that write,
        and all writes before it. Returns the number of writes, and the violations."""
        notes = self.notes(entries)
        spans = [(one, other) for (one, word), (other, next_word) in zip(notes, notes[1:])
                 if word.startswith("begin") and next_word.startswith("committed")]
        first, last = spans[len(spans) // 2]
        positions = range(first + 1, last + 2)
        return len(positions), self.judge_at(entries, positions, upgrader, None, how="all")

    def judge_at(self, entries, positions, upgrader, chance, obeys=lambda number: True, how=None,
                 first=0, boots=False):
        notes = self.notes(entries)
        base = self.base.read_bytes()
        states = self.scratch / "states"
        words = []
        with open(states, "wb") as file:
            for number, cut in enumerate(positions):
                disk, kept = self.state(base, entries, cut, chance, obeys, how)
                words.append("cut at %d, %s" % (cut, kept))
                if boots and (first + number) % BOOT_EACH == 0:
                    self.alone(number).write_bytes(disk)
                for at in range(0, self.bytes, 65536):
                    part = disk[at:at + 65536]
                    if part.count(0) != len(part):
                        file.seek(number * self.bytes + at)
                        file.write(part)
            file.truncate(len(positions) * self.bytes)
        known = [([text for at, text in notes if at < cut], word)
                 for cut, word in zip(positions, words)]
        found = verdict.violations(
            self.run_judge(upgrader, states, {"STATES": len(positions)}), known, first)
        for number, (notes_before, word) in enumerate(known):
            if boots and (first + number) % BOOT_EACH == 0:
                found += self.boot(number, upgrader, first, (notes_before, word + ", booted"))
        return found

    def alone(self, number):
        """Returns the path of the disk that has only the state with this number. This disk is
        copied before the judging, because the judging changes the disk with all states."""
        return self.scratch / ("alone-%d" % number)

    def boot(self, number, upgrader, first, known):
        """Boots a virtual machine whose disk is this one state, and has the machine judge it.
        Returns the violations, in words."""
        self.booted += 1
        told = self.run_judge(upgrader, self.alone(number), {"STATES": 1, "WHOLE": "yes"})
        self.alone(number).unlink()
        return verdict.violations(told, [known], first + number)

    def state(self, base, entries, cut, chance, obeys, how):
        """Returns the disk as a power cut after `cut` entries of the log may leave it, and a
        description of how it was made."""
        return log.state(base, entries, cut, chance, obeys, self.bytes, how)

    def run_judge(self, upgrader, disk, config):
        """Runs the virtual machine that judges the states on `disk`, a file of this host. Returns
        the lines that the machine has printed."""
        static = {"bin/agent-releases": self.publisher.STATIC}
        return self.run(self.files("judge.sh", upgrader, config,
                                   static if self.publisher.STATIC.exists() else None), disk)

    def run(self, files, disk):
        return run_machine(self.kernel, self.scratch, files, [
            "driver=file,filename=%s,node-name=disk,cache.no-flush=on" % disk], PATIENCE_S)

    def span(self, entries):
        """Returns the positions in the log of the disk at which the power may be cut: those between
        the notes `begun` and `over`."""
        begin, end = (next(at for at, text in self.notes(entries) if text == word)
                      for word in ("begun", "over"))
        return list(range(begin + 1, end + 1))

    def positions(self, entries, cuts, chance, obeys):
        """Returns random positions in the log of the disk at which the power is cut. Three of every
        four are positions at which some writes have not been flushed."""
        places = self.span(entries)
        loose = [at for at in places if log.unflushed(entries, at, obeys)[1]] or places
        return [chance.choice(loose if number % 4 else places) for number in range(cuts)]
