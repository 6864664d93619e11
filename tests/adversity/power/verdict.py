# The rules for the state of a disk after a power cut. The verdict compares two things: the notes
# that the first virtual machine wrote into the disk's log before the cut, and the lines that the
# second machine has printed about the disk. This file works on texts only, and starts no virtual
# machine.

import re
import statistics

# The names that may be on the disk besides the releases. The names in PREPARED are temporary: the
# power may be cut after a link was created and before it was renamed. The next commit replaces such
# a link, so these links do not accumulate (tests/adversity/crash tests that). Any other temporary
# name of the upgrader is an error.
KNOWN = {".", "./current", "./previous", "./previous.attempts", "./lock", "./releases", "./junk"}
PREPARED = {"./.current.upgrader", "./.previous.upgrader"}
# The names that may be in the directory of agent-releases beside the releases.
STORE = {".", "./desired", "./ledger.jsonl", "./.staging", "./.lock", "./.name"}


def summary(told):
    counts = {}
    for line in told:
        word = line.split(" ")[0]
        if word in ("begin", "committed", "fell_back", "kept", "killed", "restarted"):
            counts[word] = counts.get(word, 0) + 1
    return ", ".join("%d %s" % (number, word) for word, number in sorted(counts.items()))


def wear(entries, notes, begin, end):
    """Returns three medians: the number of writes, the KiB written, and the number of flushes. Each
    median is over all pairs of consecutive notes of which the first begins with `begin`, and the
    second with `end`. Writes of other programs between these notes are counted, too."""
    spans = [entries[one + 1:other] for (one, word), (other, next_word) in zip(notes, notes[1:])
             if word.startswith(begin) and next_word.startswith(end)]
    if not spans:
        return (0, 0, 0)
    return (statistics.median(sum(1 for entry in span if entry.data) for span in spans),
            statistics.median(sum(len(entry.data) for entry in span) / 1024 for span in spans),
            statistics.median(sum(1 for entry in span if entry.flushes) for span in spans))


def wear_each(entries, notes, begin, end, count):
    """Divides the KiB written and the number of flushes between the notes `begin` and `end` by the
    number `count` of starts between them. Returns both quotients, or (0, 0) if a note is missing.
    A write that the kernel makes only after the note `end` is not counted."""
    places = {word: at for at, word in notes}
    if begin not in places or end not in places:
        return (0, 0)
    span = entries[places[begin] + 1:places[end]]
    return (sum(len(entry.data) for entry in span) / 1024 / count,
            sum(1 for entry in span if entry.flushes) / count)


class Expected:
    """The states of the disk that are allowed by the notes before a power cut."""

    def __init__(self, notes):
        self.link = set()      # the versions that AGENT's link may name
        self.committed = set()  # the versions that may have been committed so far
        self.kept = set()     # the releases that agent-releases must still have
        self.desired = {""}   # the releases that may be the desired one of agent-releases
        for note in notes:
            word, _, version = note.partition(" ")
            if word in ("first", "committed"):
                self.link = {version}
                self.committed.add(version)
            elif word == "begin" and version.endswith("-good"):
                # The power may have been cut after the commit, but before the note about the commit
                # was written. So the new version is allowed, too.
                self.link.add(version)
                self.committed.add(version)
            elif word in ("kept", "fell_back"):
                self.link.discard(version)
                self.committed.discard(version)
            elif word == "added":
                self.kept.add(version)
                self.desired.add(version)
            elif word == "desired":
                self.kept = {version}
                self.desired = {version}


def violations_of_store(expected, facts):
    """Returns the violations in the directory of agent-releases, in words. Until the first `add`
    has ended, the directory may lack the name of its releases, and without this name
    `verify` and `prune` refuse to work. So a state from before that moment has no violations."""
    if not expected.kept:
        return []
    found = []
    for command, fact in (("verify", "verified"), ("prune", "pruned")):
        status, _, said = facts.get(fact, "no status").partition(" ")
        if status != "0":
            found.append("store: %s: %s" % (command, said))
    names = facts.get("kept", "").split()
    found += ["store: the release %s is gone" % version
              for version in sorted(expected.kept) if "web-v" + version not in names]
    if facts.get("desired", "") not in expected.desired:
        found.append("store: %s is desired, allowed: %s" % (
            facts.get("desired") or "nothing", " ".join(sorted(expected.desired))))
    found += ["store: %s is left" % name for name in facts.get("left", "").split()
              if name not in STORE and not re.fullmatch(r"\./web-v[0-9.]+(\.json(\.minisig)?)?",
                                                        name)]
    return found


def violations_of(expected, seen):
    """Returns the violations in one state of the disk, in words. `seen` has the lines that the
    second virtual machine has printed about this state."""
    facts = {}
    for line in seen:
        word, _, rest = line.partition(" ")
        facts.setdefault(word, rest)
    found = []
    if "not" in facts:
        return ["it cannot be mounted: " + facts["not"]]
    for link, allowed in (("current", expected.link), ("previous", expected.committed)):
        version, _, how = facts.get(link, "is not there").partition(" ")
        if link == "previous" and how == "not there":
            continue  # no upgrade has been committed, so the link does not exist yet
        if version not in allowed:
            found.append("%s names %s %s, allowed: %s" % (
                link, version, how, " ".join(sorted(allowed))))
        elif how != "whole":
            found.append("%s names %s, which is %s" % (link, version, how))
    if "active" not in facts:
        found.append("no agent is active after four starts: " + facts.get("log", "no log"))
    for version in facts.get("started", "").split():
        if version not in expected.committed:
            found.append("%s was started, and has never been committed" % version)
    for name in facts.get("files", "").split():
        if name not in KNOWN | PREPARED and not name.startswith("./releases/"):
            found.append("%s is left" % name)
    return found + violations_of_store(expected, facts)


def violations(told, states, first=0):
    """Returns the violations in all states of the disk. `states` has two things for each state: the
    notes before its power cut, and a description of how it was made. `first` is the number of the
    first state in the texts."""
    seen = {}
    for line in told:
        if line.startswith("state "):
            current = seen.setdefault(int(line.split()[1]), [])
        elif seen:
            current.append(line)
    found = []
    for number, (notes, words) in enumerate(states):
        if number not in seen:
            found.append("state %d: was not judged" % (first + number))
            continue
        for violation in violations_of(Expected(notes), seen[number]):
            found.append("state %d: %s (%s)" % (first + number, violation, words))
    return found
