#!/usr/bin/env python3
"""Tests a daemon that follows a directory of releases, with the real upgrader, agentify and
agent-releases. Each added release must either run in the end, or be given up and never tried again.
No upgrade may be requested twice. Ends with `N passed, N failed`."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

sys.dont_write_bytecode = True
TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "agentify"))
sys.path.insert(0, str(TESTS / "releases"))
from double import AGENTIFY, BUILD, marked, wait_until
from world import case, has, main, same

# A script that acts as a daemon. The script records each of its starts. If `kind` is `unfit`, the
# check of its configuration (`-t`) fails. If `kind` is `dies`, the script exits soon after its
# start.
DAEMON = """#!/bin/sh
echo "{version} $*" >>"$STARTS"
case $1 in
  -t) test {kind} != unfit && exit; echo 'bad configuration'; exit 1 ;;
esac
test {kind} != dies || {{ exec tail -f /no/such/file; }}
echo >&7
exec tail -f /dev/null
"""


class Follower:
    """An upgrader whose daemon follows the releases of the test."""

    def __init__(self, world, *options, program=None):
        self.world = world
        self.starts_path = Path(world.path("starts"))
        self.starts_path.touch()
        mark = "%s-%d" % (os.path.basename(world.place), len(world.closers))
        self.mark = "TEST_MARK=" + mark
        words = [str(BUILD / "upgrader"), "--relink", "--commit=healthy", "--trial=30s",
                 "--adapter=" + str(AGENTIFY), '--adapter=--check="$AGENT_PROTOCOL_PROGRAM" -t',
                 "--adapter=--ready=fd:7", "--adapter=--settle=0",
                 "--adapter=--follow=" + world.releases]
        words += ["--adapter=" + option for option in options]
        environment = dict(os.environ, STARTS=str(self.starts_path), TEST_MARK=mark)
        self.process = subprocess.Popen(
            [*words, program or world.path("releases", "current")], env=environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=True)
        world.closers.append(self.close)
        self.lines = []
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in iter(self.process.stderr.readline, b""):
            self.lines.append(line.decode(errors="replace"))
            self.world.said += self.lines[-1]

    def close(self):
        self.process.kill()
        self.process.wait(60)
        wait_until(lambda: not marked(self.mark), "all have gone")

    def wait_for(self, text):
        return wait_until(lambda: next((line for line in list(self.lines) if text in line), None),
                          text)

    def wait_for_version(self, version):
        wait_until(lambda: self.current() == "agent-v" + version, version + " is committed")

    def current(self):
        return os.path.basename(os.path.realpath(self.world.path("releases", "current")))

    def starts(self, version):
        """Returns the arguments of each start of this version; a start for the check has `-t`."""
        lines = self.starts_path.read_text().splitlines()
        return [line.split(" ", 1)[1] for line in lines if line.startswith(version + " ")]

    def asked(self, version):
        return len({found[1] for line in list(self.lines)
                    for found in [re.search(r"upgrade (%s/\d+/\d+)" % re.escape(version), line)]
                    if found})

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        same(self.process.wait(60), 0)
        same(marked(self.mark), [])


def daemon(version, kind="good"):
    return DAEMON.format(version=version, kind=kind).encode()


def add(world, version, kind="good", **keywords):
    manifest = world.publish(version, daemon(version, kind), **keywords)
    world.succeeds("add", manifest)


def begin(world, *options, **keywords):
    """Adds a program as release 1.0.0 with `agent-releases adopt`, and starts the follower with
    it."""
    world.make_key()
    place = world.write("agent", daemon("1.0.0"), 0o755)
    world.succeeds("adopt", "--as=1.0.0", place)
    follower = Follower(world, *options, **keywords)
    follower.wait_for("the daemon is ready")
    return follower


@case("a release that is added is run, without --self-test", "J-06 Z-05")
def upgrades(world):
    follower = begin(world)

    add(world, "1.1.0")
    follower.wait_for_version("1.1.0")
    add(world, "1.2.0")
    follower.wait_for_version("1.2.0")

    same(follower.starts("1.1.0"), ["-t", ""])
    same(follower.starts("1.2.0"), ["-t", ""])
    world.succeeds("desire", "1.1.0")
    follower.wait_for_version("1.1.0")
    follower.stop()


@case("a release whose check fails costs nothing, and is not requested again", "Z-07")
def unfit(world):
    follower = begin(world)

    add(world, "1.1.0", "unfit")
    follower.wait_for("release 1.1.0 is not tried again")
    add(world, "1.2.0")
    follower.wait_for_version("1.2.0")

    # Version 1.0.0 was started once with `-t`, for its check, and once to work, and never again.
    same(follower.starts("1.0.0"), ["-t", ""])
    same(follower.starts("1.1.0"), ["-t"])
    same(follower.asked("1.1.0"), 1)
    follower.stop()


@case("a release that dies on trial falls back, and is tried again only when it is desired anew")
def dies(world):
    follower = begin(world)

    add(world, "1.1.0", "dies")
    follower.wait_for("release 1.1.0 is not tried again")
    wait_until(lambda: len(follower.starts("1.0.0")) == 4, "1.0.0 was checked and started again")
    same(follower.asked("1.1.0"), 1)
    world.succeeds("desire", "1.1.0")
    wait_until(lambda: follower.asked("1.1.0") == 2, "it is asked for once more")
    wait_until(lambda: len(follower.starts("1.0.0")) == 6, "1.0.0 is back")
    world.succeeds("desire", "--newest")
    add(world, "1.2.0")
    follower.wait_for_version("1.2.0")
    follower.stop()


@case("with keys, only signed releases are requested", "H-104 H-29")
def signed(world):
    follower = begin(world, "--follow-keys=" + world.keys)

    manifest = world.publish("1.1.0", daemon("1.1.0"), key=None)
    same(world.run("add", manifest, "--unsigned", keys=False), 0)
    follower.wait_for("1.1.0")
    add(world, "1.2.0")
    follower.wait_for_version("1.2.0")

    same(follower.starts("1.1.0"), [])
    follower.stop()


@case("a daemon that is not a release needs --version, which is believed")
def elsewhere(world):
    world.make_key()
    place = world.write("agent", daemon("1.0.0"), 0o755)
    os.symlink(place, world.path("link"))
    add(world, "1.0.0")

    follower = Follower(world, program=world.path("link"))
    follower.wait_for("is no release of " + world.releases + ", and no --version such as 1.2.3")
    assert follower.process.wait(60) != 0
    again = Follower(world, "--version=1.0.0", program=world.path("link"))
    again.wait_for("the daemon is ready")
    add(world, "1.1.0")
    wait_until(lambda: os.readlink(world.path("link")).endswith("agent-v1.1.0"), "1.1.0 committed")
    again.stop()


@case("a path that is not a directory of releases is refused before anything is started")
def no_directory(world):
    place = world.write("agent", daemon("1.0.0"), 0o755)
    os.symlink(place, world.path("link"))

    follower = Follower(world, program=world.path("link"))

    has(follower.wait_for("agentify: --follow: "), world.releases)
    assert follower.process.wait(60) != 0
    same(follower.starts("1.0.0"), [])


main()
