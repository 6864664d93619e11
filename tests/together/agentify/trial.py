#!/usr/bin/env python3
"""Tests daemons on trial under the real upgrader, with the options that users type. A daemon that
is not ready, or does not last, is rolled back. The log names a wrong option once, together with the
right option. Ends with `N passed, N failed`."""

import os
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
from double import AGENTIFY, BUILD, READY, Started, run_command, run_tests, tests_of


class Machine(Started):
    """An upgrader with agentify, and a link to a daemon, which may have several versions."""

    def __init__(self, stage, *options, adapter=("--ready=file:$DIR/ready",), daemon=READY):
        super().__init__(stage)
        self.link = stage.directory / "current"
        self.link.symlink_to(self.release("v1", daemon))
        words = ["--adapter=" + one.replace("$DIR", str(stage.directory)) for one in adapter]
        self.start(str(BUILD / "upgrader"), "--relink", *options, "--adapter=" + str(AGENTIFY),
                   *words, str(self.link))

    def release(self, name, text):
        (self.stage.directory / name).mkdir()
        return os.path.relpath(self.stage.script(name + "/run", text), self.stage.directory)

    def upgrade(self, name, text):
        release = self.release(name, text)
        self.link.unlink()
        self.link.symlink_to(release)
        self.process.send_signal(signal.SIGUSR2)


def test_a_daemon_that_is_never_ready_is_rolled_back(stage):
    """a daemon that never becomes ready is rolled back, even if the upgrader commits every agent
    that stays alive"""
    one = Machine(stage, "--trial=1s")
    one.wait_for("the daemon is ready")
    one.upgrade("v2", "exec tail -f /dev/null")
    one.wait_for("generation 3 (version v1) is active again")
    assert "the daemon is not ready: " in one.log() and "committed" not in one.log(), one.log()
    assert os.readlink(one.link) == "v1/run"
    one.wait_for("generation 3 (version v1) says that it works")
    one.stop()


def test_a_daemon_that_is_ready_and_dies_is_rolled_back(stage):
    """a daemon that becomes ready and then dies is rolled back: agentify says healthy only after
    the settle time, and the daemon dies before that"""
    one = Machine(stage, "--trial=1h", "--commit=healthy", adapter=("--settle=30m",))
    one.wait_for("the daemon is ready")
    one.upgrade("v2", "until [ -e $DIR/go ]; do timeout 0.02 tail -f /dev/null; done; exit 3")
    one.wait_for("generation 2 (version v2): the daemon is ready")
    (stage.directory / "go").touch()
    one.wait_for("generation 3 (version v1) is active again")
    assert "committed" not in one.log(), one.log()
    one.stop()


def test_a_daemon_that_lasts_is_committed(stage):
    """a daemon that stays ready for the settle time is committed; its version is the name of its
    release, since all releases use the same name for their program"""
    one = Machine(stage, "--trial=1s", "--commit=healthy")
    one.wait_for("the daemon is ready")
    one.upgrade("v2", READY)
    one.wait_for("upgrade sigusr2-1 is committed")
    assert "generation 2 (version v2)" in one.log(), one.log()
    assert os.readlink(one.link) == "v2/run"
    one.stop()


# Wrong command lines of the upgrader, each with the message that the log must have exactly once.
TYPED = [(["--adapter=" + str(AGENTIFY), "--ready=tcp:80", "/bin/true"],
          "no such option; one of the adapter's is given as --adapter=--ready=tcp:80"),
         (["--adapter=agentify --ready=tcp:80", "/bin/true"],
          "each word needs an --adapter of its own"),
         (["--adapter=" + str(AGENTIFY), "--adapter=--ready=tcp:80 --stop=QUIT", "/bin/true"],
          "each option needs an --adapter of its own"),
         (["--adapter=" + str(AGENTIFY), "--adapter=--ready=tcp:no.host.invalid:80", "/bin/true"],
          "no address is known of no.host.invalid"),
         (["--adapter=" + str(AGENTIFY), "--adapter=--help", "/bin/true"],
          "--health-action=silence|exit")]


def test_what_is_typed_wrongly_is_named_once(stage):
    """the message about a wrong option says what to type instead"""
    del stage
    for words, text in TYPED:
        done = run_command(str(BUILD / "upgrader"), *words, stdin=subprocess.DEVNULL)
        assert done.returncode == 125, (words, done)
        assert done.stderr.count(text) == 1, (words, done.stderr)
        assert "stray" not in done.stderr and done.stdout == "", (words, done)


def test_a_daemon_that_is_not_there_has_the_statuses_of_a_shell(stage):
    """without an upgrader, agentify exits with 126 or 127, as a shell does, if the daemon's program
    cannot be started"""
    (stage.directory / "file").write_text("text")
    for name, status in (("no-such-program", 127), ("/no/such", 127),
                         (str(stage.directory / "file"), 126)):
        assert run_command(str(AGENTIFY), name, stdin=subprocess.DEVNULL).returncode == status


if __name__ == "__main__":
    run_tests(tests_of(globals()))
