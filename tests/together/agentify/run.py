#!/usr/bin/env python3
"""Tests `agentify run`, as a user and as root: this one command starts a daemon under an upgrader,
and a bad upgrade of the daemon falls back. Also tests which command lines `agentify run` refuses.
Ends with `N passed, N failed`."""

import os
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
from double import (AGENTIFY, BUILD, PATIENCE, READY, Started, for_sanitizers, run_command,
                    run_tests, tests_of)

# Runs a command as an ordinary user, even if root runs the tests. The command has its own /run,
# because upgraderctl also looks in /run, where the machine's other upgraders may have their
# directories.
AS_USER = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount", "sh", "-c",
           'mount -t tmpfs none /run && exec unshare --user --map-user=1000 "$@"', "sh"]
# Runs a command as root, with its own /run.
AS_ROOT = ["unshare", *([] if os.geteuid() == 0 else ["--map-root-user"]), "--mount", "--pid",
           "--fork", "--kill-child", "--mount-proc",
           "sh", "-c", 'mount -t tmpfs none /run && "$@"', "sh"]


class Run(Started):
    """One `agentify run`, with XDG_RUNTIME_DIR in the directory of the test."""

    def __init__(self, stage, *words, user=AS_USER):
        super().__init__(stage)
        self.runtime = stage.directory / "runtime"
        self.runtime.mkdir(exist_ok=True)
        self.user = user
        self.environment["XDG_RUNTIME_DIR"] = str(self.runtime)
        self.start(*user, str(AGENTIFY), "run", *words)

    def ctl(self, *words):
        return run_command(*self.user, str(BUILD / "upgraderctl"), *words, env=self.environment)


def refused(*words, environment=None):
    done = run_command(*AS_USER, str(AGENTIFY), "run", *words, stdin=subprocess.DEVNULL,
                       env={"PATH": os.environ["PATH"], **for_sanitizers(), **(environment or {})})
    assert done.stdout == "" and done.stderr.startswith(("agentify: ", "upgrader: ")), done
    return done


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_one_command_runs_a_daemon_and_upgrades_it(stage):
    """the program is replaced as a package manager replaces programs, and upgraderctl finds the
    daemon without a name"""
    daemon = stage.directory / "daemon"
    shutil.copy("/usr/bin/tail", daemon)
    one = Run(stage, "--settle=0", "--version=1", "--", str(daemon), "-f", "/dev/null")
    one.wait_for("the daemon is ready")
    directory = one.runtime / "upgrader/daemon"
    assert mode_of(directory) == 0o700 and mode_of(directory.parent) == 0o755
    assert (directory / "lock").exists()
    assert one.ctl("list").stdout.count("daemon") == 1
    shutil.copy("/usr/bin/tail", stage.directory / "fresh")
    (stage.directory / "fresh").rename(daemon)
    done = one.ctl("upgrade")
    assert done.returncode == 0, (done, one.log())
    one.stop()


def test_a_bad_version_falls_back(stage):
    """`agentify run` upgrades with --commit=healthy, so a version that is never ready falls back"""
    daemon = Path(stage.script("daemon", READY))
    link = stage.directory / "link"
    link.symlink_to(daemon)
    one = Run(stage, "--name=thing", f"--ready=file:{stage.directory}/ready", "--settle=0",
              "--upgrader=--relink", "--upgrader=--trial=1s", "--", str(link))
    one.wait_for("the daemon is ready")
    link.unlink()
    link.symlink_to(stage.script("bad", "echo no disk; exec tail -f /dev/null"))
    done = one.ctl("thing", "upgrade")
    assert done.returncode == 5, (done, one.log())
    assert "its last line: no disk" in done.stdout + done.stderr, done
    assert (one.runtime / "upgrader/thing/last-words").read_text().endswith("no disk\n")
    assert os.readlink(link) == str(daemon)
    one.stop()


def test_a_second_one_waits_for_the_lock(stage):
    """a second `agentify run` of the same name waits for the lock and fails, so no daemon runs
    twice"""
    daemon = stage.script("daemon", READY)
    one = Run(stage, "--", daemon)
    one.wait_for("the daemon is ready")
    two = Run(stage, "--upgrader=--lock-timeout=100ms", "--", daemon)
    assert two.process.wait(PATIENCE) != 0
    assert "/daemon/lock" in two.log(), two.log()
    one.stop()


def test_root_has_its_directory_in_run(stage):
    """--name sets the daemon's name; root's control directory is below /run/upgrader"""
    words = ["--name=web", "--ready=started", "--settle=0", "--upgrader=--trial=1s", "--",
             stage.script("daemon", READY)]
    # The upgrader runs under this shell script. The script prints the modes of the upgrader's
    # directories, and requests a shutdown. It also ends if the upgrader exits too early.
    script = ('"$0" run "$@" & until "$CTL" web status >/dev/null 2>&1; do kill -0 $! || exit 1; '
              'done; stat -c "%a %n" /run/upgrader /run/upgrader/web; "$CTL" web shutdown; wait $!')
    environment = {"PATH": os.environ["PATH"], "DIR": str(stage.directory),
                   "CTL": str(BUILD / "upgraderctl"), **for_sanitizers()}
    done = run_command(*AS_ROOT, "sh", "-c", script, str(AGENTIFY), *words, env=environment,
                       stdin=subprocess.DEVNULL)
    assert "755 /run/upgrader\n700 /run/upgrader/web\n" in done.stdout, done


def test_the_command_line_is_shown(stage):
    """--print prints the command line of the upgrader, and starts and makes nothing"""
    environment = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(stage.directory),
                   **for_sanitizers()}
    done = run_command(*AS_USER, str(AGENTIFY), "run", "--print", "--check=x -t", "--", "daemon",
                       "it's", env=environment)
    directory = stage.directory / "upgrader/daemon"
    assert shlex.split(done.stdout) == [
        str(BUILD / "upgrader"), "--commit=healthy", f"--lock={directory}/lock",
        f"--control={directory}", f"--adapter={AGENTIFY}",
        f"--adapter=--last-words={directory}/last-words", "--adapter=--check=x -t", "--",
        "daemon", "it's"], done
    assert not (stage.directory / "upgrader").exists()


def test_releases_are_run_and_followed(stage):
    """with --releases, the daemon's name is read from the directory of releases, and the words
    after `--` are arguments"""
    releases = stage.directory / "releases"
    releases.mkdir()
    (releases / ".name").write_text("thing\n")
    environment = {"PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(stage.directory),
                   **for_sanitizers()}
    done = run_command(*AS_USER, str(AGENTIFY), "run", "--print", f"--releases={releases}",
                       "--upgrader=--attempts=5", "--", "-v", env=environment)
    words = shlex.split(done.stdout)
    assert f"--control={stage.directory}/upgrader/thing" in words, done
    for wanted in ("--relink", f"--previous={releases}/previous", "--attempts=5",
                   f"--adapter=--follow={releases}"):
        assert words.count(wanted) == 1, (wanted, words)
    assert "--attempts=3" not in words
    assert words[-3:] == ["--", f"{releases}/current", "-v"], words


def test_a_name_that_a_file_holds_cannot_command_a_terminal(stage):
    """if the directory of releases has a wrong name in its file .name, the name is shown with its
    control characters escaped"""
    releases = stage.directory / "releases"
    releases.mkdir()
    (releases / ".name").write_bytes(b"a\x1b[2J\xc2\x9b\xe2\x80\xae")
    done = refused("--print", f"--releases={releases}")
    assert done.returncode == 2, done
    assert r'"a\x1b[2J\u{9b}\u{202e}" cannot be the NAME' in done.stderr, done


def test_a_directory_without_a_link_to_run_is_named(stage):
    """if the directory of releases has no link `current`, the message has the command that makes
    one, and that command works"""
    releases = stage.directory / "releases"
    one = Run(stage, f"--releases={releases}", "--name=thing")
    assert one.process.wait(PATIENCE) == 127, one.log()
    assert "current does not exist" in one.log() and "has added a release" in one.log(), one.log()
    program = stage.script("thing", "exec sleep 1000")
    command = f"ln -s thing-v1.0.0 {releases}/current"
    # `agentify run --releases` never chooses a pre-release as the first release to run.
    for version, hint in [("2.0.0-rc.1", "has only pre-releases"), ("1.0.0", command)]:
        manifest = stage.directory / f"pub/thing-{version}-any.json"
        for words in (["pack", "--name=thing", f"--version={version}", f"--out={manifest.parent}",
                       program],
                      [f"--dir={releases}", "--name=thing", "add", "--unsigned", "--older",
                       str(manifest)]):
            done = run_command(*AS_USER, str(AGENTIFY.with_name("agent-releases")), *words)
            assert done.returncode == 0, done
        one = Run(stage, f"--releases={releases}", "--name=thing")
        assert one.process.wait(PATIENCE) == 127, one.log()
        assert hint in one.log(), one.log()
    assert run_command(*AS_USER, "sh", "-c", command).returncode == 0
    one = Run(stage, f"--releases={releases}", "--name=thing")
    one.wait_for("the daemon is process")
    one.stop()


# Wrong options of `agentify run`, and the message for each.
WRONG = [([], "DAEMON is missing"),
         (["--ready=tcp", "--", "d"], "--ready=tcp: "),
         (["--no-such", "--", "d"], "--no-such: no such option"),
         (["--upgrader=--no-such", "--", "d"], "error: --no-such: no such option"),
         (["--upgrader=trial", "--", "d"], "such as --upgrader=--trial=1m"),
         (["--upgrader=--adapter=x", "--", "d"], "the adapter is agentify"),
         (["--upgrader=--trial=1s", "--upgrader=--trial=2s", "--", "d"], "=2s: is given twice"),
         (["--name=a", "--name=b", "--", "d"], "--name=b: is given twice"),
         (["--name=../x", "--", "d"], "a NAME has 1 to 64 letters"),
         (["--name=", "--", "d"], "--name=: needs =NAME"),
         (["--", "/srv/.hidden"], 'cannot be the NAME; give --name=NAME'),
         (["--releases=/r", "--follow=/s", "--", "d"], "is given twice"),
         (["--releases=", "--", "d"], "--releases=: needs =DIR")]


def test_what_is_typed_wrongly_is_named(stage):
    """wrong options are refused before any directory is made"""
    for words, text in WRONG:
        done = refused(*words, environment={"XDG_RUNTIME_DIR": str(stage.directory)})
        assert done.returncode == 2 and text in done.stderr, (words, done)
    assert not (stage.directory / "upgrader").exists()


def test_a_directory_that_others_can_write_is_refused(stage):
    """a control directory that others can write is refused, and so is a user without
    XDG_RUNTIME_DIR"""
    done = refused("--", "d")
    assert done.returncode == 1 and "is not set; set it to the absolute" in done.stderr, done
    done = refused("--", "d", environment={"XDG_RUNTIME_DIR": "run/user"})
    assert done.returncode == 1, done
    assert "and XDG_RUNTIME_DIR=run/user is not an absolute path; " in done.stderr, done
    base = stage.directory / "upgrader"
    base.mkdir()
    base.chmod(0o777)
    done = refused("--", "d", environment={"XDG_RUNTIME_DIR": str(stage.directory)})
    assert done.returncode == 1 and "can be written by other users" in done.stderr, done
    base.rmdir()
    base.write_text("")
    done = refused("--", "d", environment={"XDG_RUNTIME_DIR": str(stage.directory)})
    assert done.returncode == 1 and "is not a directory" in done.stderr, done


if __name__ == "__main__":
    run_tests(tests_of(globals()))
