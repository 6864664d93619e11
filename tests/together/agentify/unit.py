#!/usr/bin/env python3
"""Tests agentify unit: its output for each init system is well formed, keeps every word of a
command line as it was typed, and agrees with the service files of the sample agent, which `make
check-init` tests under real init systems. Ends with `N passed, N failed`."""

import functools
import itertools
import os
import re
import shlex
import shutil
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
from double import AGENTIFY, run_command, run_tests, tests_of, wait_until

INITS = ("systemd", "openrc", "runit", "s6", "busybox", "sysvinit", "finit", "procd", "dinit")
SAMPLES = Path("sample-agent/init")
REFUSED, FELL_BACK = 3, 5  # exit statuses of upgraderctl
# Words of a command line that wrong quoting would change.
WORDS = ["--check=\"$AGENT_PROTOCOL_PROGRAM\" -t 'x' `y` \\z %n", "--stop=QUIT:60s,TERM:10s"]
ARGS = ("-g", "daemon off;", "it's", "50%", "$HOME", "a\\b", "", ";", "\"", "#", "*")


@functools.cache
def printed(init, *words, daemon="/usr/sbin/thing", args=()):
    done = run_command(str(AGENTIFY), "unit", f"--init={init}", *words, "--", daemon, *args)
    assert done.returncode == 0 and done.stderr == "", done
    return done.stdout


def shell(script, *words):
    done = run_command("/bin/sh", "-c", script, *words)
    assert done.returncode == 0, done
    return done.stdout.split("\n")[:-1]


def systemd_words(line):
    """Splits a line by the rules of systemd.service(5) for quotes, specifiers and variables."""
    words = []
    for whole, quoted in re.findall(r'((?:"((?:[^"\\]|\\.)*)")|[^\s]+)', line):
        word = whole if not whole.startswith('"') else re.sub(r"\\(.)", r"\1", quoted)
        word = ";" if whole == "\\;" else word
        assert not re.search(r"(?<!\$)\$(?:\$\$)*(?!\$)", word), word
        words.append(word.replace("$$", "$").replace("%%", "%"))
    return words


def command_of(init, text, stage):
    """Returns the words of the command that the init system would execute."""
    joined = text.replace("\\\n", " ")
    show = stage.script("show", 'for word; do printf "%s\\n" "$word"; done')
    if init == "systemd":
        return systemd_words(re.search(r"^ExecStart=(.*)$", joined, re.MULTILINE)[1])
    if init == "dinit":
        line = re.search(r"^command = (.*)$", joined, re.MULTILINE)[1]
        return [word.replace("$$", "$") for word in shlex.split(line)]
    if init == "openrc":
        assigned = re.search(r"^command_args=.*?[^\\]\"$", text, re.MULTILINE | re.DOTALL)[0]
        return [str(AGENTIFY), *shell(f'{assigned}\neval "set -- $command_args"\n"$0" "$@"', show)]
    if init == "procd":
        line = re.search(r"^ *procd_set_param command (.*)$", joined, re.MULTILINE)[1]
        return shell(f'"$0" {line}', show)
    line = re.search(r"^exec ((?!.*>).*agentify run.*)$", joined, re.MULTILINE)[1]
    return shell(f'"$0" {line}', show)


def test_every_word_is_kept(stage):
    """the printed file quotes each word of the command line so that the init system reads it
    unchanged; control characters are refused"""
    for init in INITS:
        text = printed(init, "--name=thing", *WORDS, args=ARGS)
        words = command_of(init, text, stage)
        assert words[0] == str(AGENTIFY) and words[1:3] == ["run", "--name=thing"], (init, words)
        assert [word for word in words if word in WORDS] == WORDS, (init, words)
        assert words[words.index("--"):] == ["--", "/usr/sbin/thing", *ARGS], (init, words)
    for words in (["--check=a\nb", "--", "/x"], ["--", "/x", "a\nb"]):
        done = run_command(str(AGENTIFY), "unit", "--init=runit", *words)
        assert done.returncode == 2 and "control character" in done.stderr, done


def test_scripts_are_scripts(stage):
    """the printed scripts are valid for a shell, and for shellcheck if that is installed"""
    for init in INITS:
        text = printed(init, "--user=nobody", "--prepare=mkdir -p /run/x")
        if not text.startswith("#!"):
            continue
        path = stage.directory / init
        path.write_text(text)
        assert run_command("/bin/sh", "-n", str(path)).returncode == 0, init
        if shutil.which("shellcheck"):
            # Leaves out shellcheck's warnings SC2034 and SC2154. They are about variables that only
            # the script or only the init system uses, which is normal in the files for OpenRC and
            # procd.
            done = run_command("shellcheck", "--shell=dash", "--exclude=SC2034,SC2154", str(path))
            assert done.returncode == 0, (init, done.stdout)


def test_a_script_is_upgraded_by_a_link(stage):
    """the comments of every file say how to upgrade a program; for a script, whose file must not be
    replaced, they say that a link has to name the new version"""
    script = stage.script("thing", "exec sleep 9\n")
    for init in INITS:
        by_rename, by_link = (re.sub(r"\n# ", " ", printed(init, daemon=daemon))
                              for daemon in ("/bin/cat", script))
        assert "To upgrade by hand, replace /bin/cat by a rename, as" in by_rename, by_rename
        assert f"To upgrade by hand, let {script}, which must be a link, name the file of the " \
            "new version, and run `upgraderctl thing upgrade`" in by_link, by_link
        assert f"replace {script} by" not in by_link, by_link
        assert "Do not replace the file of a script: the upgrader would refuse" in by_link, by_link


def test_systemd_takes_it(stage):
    """the printed unit is valid for systemd-analyze, if that is installed, and conflicts with the
    distribution's own service"""
    text = printed("systemd", "--replaces=other", "--health=tcp:80", daemon="/bin/cat", args=ARGS)
    assert "\nConflicts=other.service\n" in text and "\nWatchdogSec=30\n" in text, text
    assert "WatchdogSec" not in printed("systemd", "--health=tcp:80", "--health-action=exit")
    path = stage.directory / "thing-agent.service"
    path.write_text(text)
    if shutil.which("systemd-analyze"):
        done = run_command("systemd-analyze", "verify", "--man=no", str(path))
        assert "thing-agent" not in done.stderr, done


def test_the_commands_of_the_comments_work(stage):
    """the commands in the file's comments make a hook of apt, the same one for each init system"""
    hook = stage.directory / "apt/apt.conf.d/90thing-agent"
    os.makedirs(hook.parent)
    for init in INITS:
        lines = printed(init).splitlines()
        at = next(i for i, line in enumerate(lines) if "apt has replaced the program" in line)
        commands = "\n".join(line[4:] for line in itertools.takewhile(
            lambda line: line.startswith("#   "), lines[at + 1:]))
        commands = commands.replace("/etc/", str(stage.directory) + "/")
        done = run_command("/bin/sh", "-euc", commands)
        assert done.returncode == 0, (commands, done)
        assert "/upgraderctl thing upgrade" in hook.read_text(), init
        if shutil.which("apt-config"):
            environment = {**os.environ, "APT_CONFIG": str(hook), "LC_ALL": "C"}
            done = run_command("apt-config", "shell", "HOOK", "DPkg::Post-Invoke::",
                               env=environment)
            assert done.returncode == 0, done
        hook.unlink()


def test_apt_reads_the_hook_whatever_the_name_is(stage):
    """the name of apt's hook has only characters that apt takes, so that apt does not ignore it"""
    for name in ("php-fpm8.2", "a+b", "a@b", "a_b-c"):
        hook = re.search(r"/etc/apt/apt.conf.d/(\S+)", printed("runit", "--name=" + name))[1]
        assert re.fullmatch(r"[A-Za-z0-9_-]+", hook), hook


def test_systemd_gets_no_colon(stage):
    """a NAME with a colon is refused for systemd, which would make another directory"""
    done = run_command(str(AGENTIFY), "unit", "--init=systemd", "--name=a:b", "--", "/bin/cat")
    assert done.returncode == 2 and "because of the colon" in done.stderr, done
    assert "/run/upgrader/a:b" in printed("runit", "--name=a:b")


def test_the_way_back_removes_what_was_installed(stage):
    """the page's commands remove the service, apt's hook, and the path unit of earlier versions"""
    page = Path("docs/daemons.md").read_text()
    section = page[page.index("To return to the distribution's own"):page.index("## A script")]
    commands = "\n".join(re.findall(r"^    \$ (.*)$", section, re.MULTILINE))
    installed = [stage.directory / name for name in (
        "systemd/system/nginx-agent.service", "systemd/system/nginx-agent-replaced.path",
        "systemd/system/nginx-agent-replaced.service", "apt/apt.conf.d/90nginx-agent")]
    for path in installed:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    stage.script("systemctl", 'echo "$@" >>"${0%/*}/asked"')
    shell(f"PATH={stage.directory}:$PATH\n" + commands.replace("/etc/", f"{stage.directory}/"))
    assert [path.name for path in installed if path.exists()] == [], commands
    for unit in ("nginx-agent", "nginx-agent-replaced.path"):
        assert "disable --now " + unit in stage.lines("asked"), commands


class Hook:
    """The command that apt calls, with paths below the directory of the test."""

    def __init__(self, stage):
        self.stage = stage
        self.lock, self.daemon = stage.directory / "lock", stage.directory / "daemon"
        command = re.search(r'Post-Invoke \{ "(.*)"; \};', printed("runit"))[1]
        ctl = stage.script("upgraderctl",
                           'echo "$2" >>$DIR/calls; [ "$2" = upgrade ] || exit 7\n'
                           'echo asked >>$DIR/asked; read -r status <$DIR/answer; exit $status')
        self.answer(0)
        command = re.sub(r"\S*/upgraderctl", ctl, command)
        command = command.replace("/run/upgrader/thing", str(stage.directory))
        self.command = command.replace("/usr/sbin/thing", str(self.daemon))

    def answer(self, status):
        """Sets the exit status with which upgraderctl ends a request."""
        (self.stage.directory / "answer").write_text(f"{status}\n")

    def called(self):
        """Calls the command. Returns how many upgrades it has requested since the test began."""
        environment = {"PATH": os.environ["PATH"], "DIR": str(self.stage.directory)}
        assert run_command("/bin/sh", "-c", self.command, env=environment).returncode == 0
        return len(self.stage.lines("asked"))


def test_a_package_manager_asks_once_for_each_replacement(stage):
    """the hook of the package manager requests one upgrade each time the daemon's program is
    replaced"""
    hook = Hook(stage)
    assert hook.called() == 0 and not hook.lock.exists()
    hook.daemon.write_text("")
    hook.lock.write_text("")
    # The tested hook requests an upgrade if the daemon's program is newer than the upgrader's lock
    # file. When an upgrader starts, it makes its lock file newer than the program. The test
    # imitates such a start by a modification time far in the future.
    os.utime(hook.lock, (2**31, 2**31))
    for expected, mtime in ((0, None), (1, 0), (1, None)):
        if mtime is not None:
            # the daemon's program is newer, as after its replacement
            os.utime(hook.lock, (mtime, mtime))
        assert hook.called() == expected, hook.command
        if mtime is not None:
            os.utime(hook.lock, (2**31, 2**31))  # the lock file is newer than the daemon again


def test_a_package_manager_asks_again_if_its_request_was_refused(stage):
    """the hook waits for an upgrade that is under way before it requests its own; if the request is
    refused nevertheless, the next call of the hook requests the upgrade again; an upgrade that has
    failed is not requested again"""
    hook = Hook(stage)
    hook.daemon.write_text("")
    hook.lock.write_text("")
    os.utime(hook.lock, (0, 0))
    for expected, status in ((1, REFUSED), (2, REFUSED), (3, FELL_BACK), (3, FELL_BACK)):
        hook.answer(status)
        assert hook.called() == expected, hook.command
    assert stage.lines("calls") == ["wait", "upgrade"] * 3, hook.command


def test_the_upgraders_own_lock_and_directory_are_used(stage):
    """with --lock and --control among the upgrader's options, apt's hook and busybox's `stop` look
    at that lock, and every command of upgraderctl names that directory"""
    del stage
    lock, control = "--upgrader=--lock=/srv/a lock", "--upgrader=--control=/srv/a b"
    for init in INITS:
        text = printed(init, lock, control)
        hook = re.search(r'Post-Invoke \{ "(.*)"; \};', text)[1]
        assert hook.count("'/srv/a lock'") == 4 and "/run/upgrader" not in hook, (init, hook)
        assert hook.count("/upgraderctl --dir='/srv/a b' ") == 2, (init, hook)
        words = text.replace("\n# ", " ")
        assert "`upgraderctl --dir='/srv/a b' upgrade`" in words, (init, words)
        assert "upgraderctl thing" not in words, (init, words)
    assert "\n  lock='/srv/a lock'\n" in printed("busybox", lock)
    assert "\n  lock=/run/upgrader/thing/lock\n" in printed("busybox", control)


def test_a_package_manager_asks_when_a_link_or_its_target_is_replaced(stage):
    """if the daemon is a symbolic link, a new link and a new target both lead to an upgrade"""
    hook = Hook(stage)
    target = stage.directory / "target"

    def make_link():
        hook.daemon.unlink(missing_ok=True)
        hook.daemon.symlink_to(target)

    def replace_after(older, replace, path):
        """Gives the lock file the time of the file `older`. Then calls `replace`, which writes the
        file `path`, until `path` is newer: two quick writes may get the same time."""
        hook.lock.write_text("")
        time = os.lstat(older).st_ctime_ns
        os.utime(hook.lock, ns=(time, time))
        wait_until(lambda: replace() or os.lstat(path).st_ctime_ns > time, f"a newer {path}")

    target.write_text("")
    replace_after(target, make_link, hook.daemon)
    assert hook.called() == 1, hook.command
    replace_after(hook.daemon, lambda: target.write_bytes(b"") or None, target)
    assert hook.called() == 2, hook.command


def test_a_package_manager_follows_no_link_of_the_daemons_user(stage):
    """root's hook makes no file through a link that the daemon's user has put in place of the lock
    file"""
    hook = Hook(stage)
    made = stage.directory / "made"
    hook.lock.symlink_to(made)
    os.utime(hook.lock, (0, 0), follow_symlinks=False)
    hook.daemon.write_text("")
    assert hook.called() == 1, hook.command
    assert not made.exists()


def settings(text, pattern):
    return set(re.findall(pattern, text, re.MULTILINE))


def test_it_agrees_with_the_sample_agents_files(stage):
    """the printed file agrees with the sample agent's service file about when init starts, stops
    and kills"""
    del stage
    # For each init system, a pattern that selects lines of the service file that agentify prints.
    # Each selected line must also be in the sample agent's service file.
    load = {
        "systemd": r"^(?:Type|ExecReload|Restart|RestartSec|KillMode|TimeoutStopSec|TimeoutStartSec"
                   r"|OOMPolicy|RuntimeDirectoryPreserve|StartLimitIntervalSec|WantedBy)=.*$",
        "openrc": r"^(?:supervisor|respawn_delay|respawn_max|retry|extra_started_commands)=.*$"
                  r"|^  supervise-daemon .*$",
        "runit": r"^exec 2>&1$",
        "s6": r"^exec 2>&1$",
        # In the service file for busybox, a loop tries again and again to take a lock. The pattern
        # finds the loop's last command, which is the pause between two tries.
        "busybox": r"(?:;|^) *([^;\n]+?)(?:;|\n) *done\b",
        "sysvinit": r"^\[ -z .* sleep 14$|^touch .*$",
        "finit": r"kill:60 restart:255 log",
        "procd": r"^  procd_set_param (?:respawn|term_timeout|stderr) .*$|^USE_PROCD=1$",
        "dinit": r"^(?:type|restart|restart-delay|restart-limit-count|stop-timeout|start-timeout"
                 r"|ready-notification) = .*$"}
    for init in INITS:
        sample = "\n".join(path.read_text() for path in sorted((SAMPLES / init).iterdir()))
        wanted = settings(printed(init, "--health=tcp:80"), load[init])
        assert wanted, init
        missing = [line for line in wanted if line not in sample]
        assert not missing, (init, missing)


def test_what_was_not_run_says_so(stage):
    """the first line says that the file was not tried if it is for procd or dinit, and only then"""
    del stage
    for init in INITS:
        first = [line for line in printed(init).splitlines() if not line.startswith("#!")][0]
        assert ("not run" in first) == (init in ("procd", "dinit")), (init, first)


def test_releases_need_no_watching(stage):
    """with --releases, the file says that a rollback works even after a restart; without
    --releases, it says that a restarted upgrader does not know the old program"""
    del stage
    for init in INITS:
        done = run_command(str(AGENTIFY), "unit", f"--init={init}", "--releases=/srv/thing", "--",
                           "-v")
        assert done.returncode == 0 and "--releases=/srv/thing" in done.stdout, done
        assert "apt" not in done.stdout
        words = " ".join(done.stdout.split("\n# "))
        assert "even if this service has been restarted meanwhile" in words, done.stdout
        plain = printed(init)
        words = " ".join(plain.split("\n# "))
        assert "an upgrader that has been restarted does not know the old program" in words, plain


def test_the_command_that_adds_a_release_is_the_users(stage):
    """the printed command runs agent-releases as the owner of the directory, with the keys of
    --follow-keys"""
    del stage
    adds = "agent-releases --dir=/srv/thing --keys=%s add MANIFEST`. This"
    for init in INITS:
        for words, wanted in [
                ([], "`" + adds % "KEYS"),
                (["--user=nobody", "--follow-keys=/etc/keys"],
                 "`runuser -u nobody -- " + adds % "/etc/keys")]:
            done = run_command(str(AGENTIFY), "unit", f"--init={init}", "--releases=/srv/thing",
                               *words, "--", "-v")
            assert wanted in " ".join(done.stdout.split("\n# ")), (init, wanted, done)


def test_times_follow_the_upgraders(stage):
    """the time limits in the unit follow from those of the upgrader"""
    del stage
    text = printed("systemd", "--upgrader=--stop-timeout=2m", "--upgrader=--start-timeout=0")
    assert "TimeoutStopSec=150\n" in text and "TimeoutStartSec=infinity\n" in text, text
    help_text = run_command(str(AGENTIFY.parent / "upgrader"), "--help").stdout
    for default in ("(5m)", "(90s)", "(10s)"):
        assert default in help_text, default


WRONG = [(["--", "/x"], "--init=INIT is missing"),
         (["--init=upstart", "--", "/x"], "needs =systemd or =openrc"),
         (["--init=runit", "--user=a b", "--", "/x"], "needs a name"),
         (["--init=runit", "--prepare=", "--", "/x"], "needs =COMMAND"),
         (["--init=runit", "--", "no-such-daemon"], "not in PATH"),
         (["--init=runit", "--", "./x"], "begins with a slash"),
         (["--init=runit", "--releases=x"], "--releases=x: has to begin with a slash"),
         (["--init=runit", "--releases=/srv/x", "--follow-keys=keys"],
          "--follow-keys=keys: has to begin with a slash"),
         (["--init=runit", "--upgrader=--no-such", "--", "/x"], "--no-such: no such option"),
         (["--init=runit", "--upgrader=--lock=l", "--", "/x"],
          "--lock=l: has to begin with a slash"),
         (["--init=runit", "--upgrader=--control=c", "--", "/x"],
          "--control=c: has to begin with a slash"),
         (["--init=runit", "--print", "--", "/x"], "--print: no such option")]


def test_what_is_typed_wrongly_is_named(stage):
    """wrong options are refused, and nothing is printed"""
    del stage
    for words, text in WRONG:
        done = run_command(str(AGENTIFY), "unit", *words)
        assert done.returncode == 2 and text in done.stderr and done.stdout == "", (words, done)


def test_output_that_cannot_be_written(stage):
    """agentify fails and names the error if standard output cannot be written"""
    del stage
    for words in (["--help"], ["--version"], ["unit", "--help"], ["run", "--print", "--", "/x"],
                  ["unit", "--init=runit", "--", "/x"]):
        done = run_command("/bin/sh", "-c", 'exec "$0" "$@" >/dev/full', str(AGENTIFY), *words)
        wanted = "agentify: cannot write standard output: No space left on device\n"
        assert done.returncode == 1 and done.stderr == wanted, (words, done)


if __name__ == "__main__":
    run_tests(tests_of(globals()))
