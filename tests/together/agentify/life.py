#!/usr/bin/env python3
"""Tests agentify from its start to its end, under a fake upgrader: the check, the start of the
daemon, and its end. stops.py tests its stop."""

import fcntl
import os
import shutil
import signal
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from double import (AGENTIFY, begins, name_of, run_command, run_tests, runs, stat_fields, tests_of,
                    wait_until)

# A daemon that writes its pid to a file and waits.
WAITS = "mkfifo $DIR/f$$; echo $$ >$DIR/pid; while :; do read line <>$DIR/f$$; done"

# A daemon that writes the name of each HUP and USR1 to a file. It blocks both signals and reads
# them with sigwait(), so it misses none. A shell with traps could miss a signal: if the signal
# arrived just before a `read` began, the shell would run the trap only after that `read`, which
# never returns here.
TAKES_SIGNALS = """
import os, signal
taken = {signal.SIGHUP, signal.SIGUSR1}
signal.pthread_sigmask(signal.SIG_BLOCK, taken)
directory = os.environ["DIR"]
with open(directory + "/pid", "w") as file:
    print(os.getpid(), file=file)
while True:  # until agentify stops this daemon
    name = signal.Signals(signal.sigwait(taken)).name.removeprefix("SIG")
    with open(directory + "/got", "a") as file:
        print(name, file=file)
"""


def waits(stage):
    return [stage.script("daemon", WAITS)]


def test_a_held_daemon_is_not_started(stage):
    """while held, agentify starts no daemon, and exits when its input ends"""
    one = stage.agentify(daemon=waits(stage))
    one.expect("ready")
    assert not (stage.directory / "pid").exists()
    one.close_input()
    assert one.wait() == 1
    wait_until(lambda: not one.family(), "its keeper has gone")
    assert not (stage.directory / "pid").exists()


def test_activated_it_starts_and_stopped_it_stops(stage):
    """agentify says hello, ready, healthy, stopped, then exits with status 0 and leaves no
    process"""
    one = stage.agentify("--version=1.2", daemon=waits(stage)).activate()
    assert one.messages[0] == {"type": "hello", "protocol": 1, "version": "1.2"} or (
        one.messages[0]["version"] == "1.2"
    )
    pid = int(stage.read("pid"))
    one.expect("healthy")
    assert os.getsid(pid) == pid
    one.stop()
    one.expect("stopped")
    assert not runs(pid)
    assert one.wait() == 0
    assert not one.family()


def test_a_good_check_is_run_before_ready(stage):
    """the check command gets the daemon's program and arguments, and agentify says ready after
    it"""
    check = 'echo "$AGENT_PROTOCOL_PROGRAM $0 $*" >$DIR/check'
    one = stage.agentify(f"--check={check}", daemon=[*waits(stage), "a b", "c"], argv0="name")
    one.expect("ready")
    assert stage.read("check") == f"{os.path.realpath(stage.directory)}/daemon name a b c"


def test_a_failed_check_is_unfit_with_its_last_lines(stage):
    """if the check fails, `unfit` has the last three lines of the check's output as its reason"""
    check = "echo first; echo second; echo >&2 'line 7: no such thing'; echo test failed; exit 3"
    one = stage.agentify(f"--check={check}", daemon=waits(stage))
    assert one.expect("unfit")["reason"] == "check: second; line 7: no such thing; test failed"
    assert one.wait() == 1
    assert "line 7" in one.log()
    silent = stage.agentify("--check=exit 3", daemon=waits(stage))
    assert silent.expect("unfit")["reason"] == "check: it exited with status 3"


def test_a_log_that_nobody_reads_keeps_nothing_up(stage):
    """if nobody reads the log, output of the check is lost, and the check goes on"""
    reads, writes = os.pipe()
    one = stage.agentify("--check=yes | head -c 300000", daemon=waits(stage), stderr=writes)
    one.activate()
    stage.read("pid")
    one.stop()
    one.expect("stopped")
    assert one.wait() == 0
    os.close(reads)
    os.close(writes)


def test_a_log_file_at_its_limit_is_not_the_end(stage):
    """if the log file has reached its size limit, output is lost, and nothing else fails"""
    limit = ["/usr/bin/prlimit", "--fsize=0"]
    one = stage.agentify(daemon=["/usr/bin/tail", "-f", "/dev/null"], prefix=limit).activate()
    one.expect("healthy")
    one.stop()
    one.expect("stopped")
    assert one.wait() == 0
    assert one.log() == ""


def test_a_check_that_does_not_end_is_killed(stage):
    """if the check does not end in time, agentify says unfit and leaves no process of the check"""
    one = stage.agentify("--check=echo slow; tail -f /dev/null", "--check-timeout=200ms",
                         daemon=waits(stage))
    assert one.expect("unfit")["reason"] == "check: it has not ended in time: slow"
    one.wait()
    wait_until(lambda: not one.family(), "the check has gone")


def test_a_check_goes_with_a_killed_agentify(stage):
    """if a candidate's agentify is killed, no process of its check is left"""
    one = stage.agentify("--check=echo $$ >$DIR/check; tail -f /dev/null", daemon=waits(stage))
    pid = int(stage.read("check"))
    one.kill()
    wait_until(lambda: not runs(pid) and not one.family(), "the check has gone")


def test_its_exit_is_the_daemons(stage):
    """agentify exits with the daemon's status, or dies of the signal that killed the daemon"""
    one = stage.agentify(daemon=["/bin/sh", "-c", "exit 7"]).activate()
    assert one.wait() == 7
    two = stage.agentify(daemon=["/bin/sh", "-c", "kill -SEGV $$"]).activate()
    assert two.wait() == -signal.SIGSEGV
    assert "was killed by SIGSEGV" in two.log()


def test_a_program_that_cannot_be_executed_is_unfit_on_trial(stage):
    """if the daemon's program cannot be executed, the kernel's error is the reason in `unfit`"""
    path = stage.directory / "broken"
    path.write_bytes(b"\x7fELF" + bytes(100))
    path.chmod(0o755)
    one = stage.agentify(daemon=[str(path)]).activate()
    assert "ENOEXEC" in one.expect("unfit")["reason"]
    assert one.wait() == 126


def test_a_killed_agentify_leaves_no_daemon(stage):
    """if agentify is killed, the keeper kills all processes of the daemon, even one in a session of
    its own"""
    daemon = [stage.script("daemon", "trap '' TERM; setsid tail -f /dev/null & " + WAITS)]
    one = stage.agentify(daemon=daemon).activate()
    stage.read("pid")
    one.kill()
    assert one.wait() == -signal.SIGKILL
    wait_until(lambda: not one.family(), "all have gone")


# A daemon whose main process is not a child of agentify's keeper, but a grandchild.
MAIN_BELOW = """
import os, signal, socket
main = os.fork()
if main == 0:
    signal.pause()
with open(os.environ["DIR"] + "/pid", "w") as file:
    print(main, file=file)
one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
one.sendto(b"READY=1\\nMAINPID=%d" % main, "\\0" + os.environ["NOTIFY_SOCKET"][1:])
signal.pause()
"""


def test_a_keeper_whose_daemon_cannot_be_killed_sleeps(stage):
    """if agentify is killed, the keeper tries again and again to kill the daemon's processes, and
    sleeps between the tries. This goes on if a process cannot be killed, such as one of root or one
    that waits for a disk, even after the daemon's main process has exited."""
    calls = stage.directory / "calls"
    trace = [shutil.which("strace"), "-D", "-qq", "-f", "-b", "execve", "-o", str(calls),
             "-e", "trace=poll,ppoll,ppoll_time64,pidfd_send_signal",
             "-e", "inject=pidfd_send_signal:error=EPERM"]
    daemon = [stage.script("daemon", MAIN_BELOW, sys.executable)]
    one = stage.agentify("--ready=notify", daemon=daemon, prefix=trace).activate()
    one.expect("healthy")
    main = int(stage.read("pid"))
    one.kill()
    assert one.wait() == -signal.SIGKILL
    wait_until(lambda: "INJECTED" in calls.read_text(), "the keeper tries to kill the daemon")
    os.kill(main, signal.SIGKILL)
    wait_until(lambda: not runs(main), "the daemon's main process has ended")

    def sleeps():
        return calls.read_text().count("= 0 (Timeout)")

    before = sleeps()
    wait_until(lambda: sleeps() > before + 2, "the keeper sleeps")


def test_a_killed_keeper_leaves_no_daemon(stage):
    """if the keeper is killed, agentify kills all processes of the daemon, and exits"""
    daemon = [stage.script("daemon", "trap '' TERM; setsid tail -f /dev/null & " + WAITS)]
    one = stage.agentify(daemon=daemon).activate()
    stage.read("pid")
    os.kill(one.keeper(), signal.SIGKILL)
    assert one.wait() == 1
    assert one.count("stopped") == 0
    assert not one.family()


def test_a_killed_keeper_leaves_no_daemon_on_a_slow_machine(stage):
    """if the keeper is killed on a slow machine, agentify still kills the daemon and notices that
    the daemon has ended. In this test, each search for the daemon's processes takes longer than the
    pause until the next search."""
    trace = [shutil.which("strace"), "-D", "-qq", "-o", "/dev/null",
             "-e", "trace=getdents64,pidfd_send_signal",
             "-e", "inject=getdents64:error=EIO:when=1",
             "-e", "inject=pidfd_send_signal:delay_exit=100000"]
    daemon = [stage.script("daemon", "trap '' TERM; " + WAITS)]
    one = stage.agentify(daemon=daemon, prefix=trace).activate()
    stage.read("pid")
    os.kill(one.keeper(), signal.SIGKILL)
    assert one.wait() == 1
    assert not [pid for pid in one.family() if name_of(pid) != "strace"]


def test_a_stopped_keeper_obeys_all_the_same(stage):
    """if SIGSTOP has stopped the keeper, agentify continues it, and the keeper stops the daemon"""
    one = stage.agentify(daemon=waits(stage)).activate()
    stage.read("pid")
    os.kill(one.keeper(), signal.SIGSTOP)
    one.stop()
    one.expect("stopped")
    assert one.wait() == 0
    assert not one.family()


def test_a_keeper_killed_while_held_is_unfit(stage):
    """if the keeper is killed before it has started the daemon, agentify says unfit"""
    one = stage.agentify(daemon=waits(stage))
    one.expect("ready")
    os.kill(one.keeper(), signal.SIGKILL)
    assert "killed" in one.expect("unfit")["reason"]
    assert one.wait() == 1


def test_a_second_daemon_waits_until_the_first_has_gone(stage):
    """a second daemon is started only when the first one has released its lock, even if the first
    agentify has been killed"""
    for lock in (True, False):
        daemon = waits(stage)
        one = stage.agentify(daemon=daemon, lock=lock).activate()
        first = int(stage.read("pid"))
        os.kill(one.keeper(), signal.SIGSTOP)
        keeper = one.keeper()
        one.kill()
        one.wait()
        (stage.directory / "pid").unlink()
        two = stage.agentify(daemon=daemon, lock=one.lock_file or False).activate()
        status = two.expect("status", text=begins("not ready: waits for the daemon before"))
        assert "its lock is held by process %d (" % keeper in status["text"], status
        assert runs(first) and not (stage.directory / "pid").exists()
        os.kill(keeper, signal.SIGCONT)
        second = int(stage.read("pid"))
        assert not runs(first) and runs(second)
        two.stop()
        two.expect("stopped")
        assert two.wait() == 0
        (stage.directory / "pid").unlink()


def test_a_daemon_that_outlives_both_keeps_a_second_one_away(stage):
    """a second daemon is not started while the first one lives, even if agentify and keeper are
    killed at the same instant and the daemon ignores the signal that the kernel then sends"""
    for lock in (True, False):
        daemon = [stage.script("daemon", "trap '' TERM; " + WAITS)]
        one = stage.agentify(daemon=daemon, lock=lock).activate()
        first = int(stage.read("pid"))
        for pid in (one.keeper(), one.pid):
            os.kill(pid, signal.SIGSTOP)
        for pid in (one.keeper(), one.pid):
            os.kill(pid, signal.SIGKILL)
        one.wait()
        (stage.directory / "pid").unlink()
        two = stage.agentify(daemon=daemon, lock=one.lock_file or False).activate()
        two.expect("status", text=begins("not ready: waits for the daemon before"))
        assert runs(first) and not (stage.directory / "pid").exists()
        os.kill(first, signal.SIGKILL)
        assert runs(int(stage.read("pid")))
        two.stop(deadline_ms=300)
        two.wait()
        (stage.directory / "pid").unlink()


def test_no_other_user_can_take_the_lock(stage):
    """if the upgrader has no lock, agentify locks a file that only its own user can open. An
    abstract socket name would be no safe lock: any process that knows the upgrader's pid and start
    time could take that name first."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
        stranger.bind("\0agentify/%d/%s" % (os.getpid(), stat_fields(os.getpid())[19]))
        one = stage.agentify(daemon=waits(stage)).activate()
        one.expect("healthy")
    place = stage.directory / "agentify"
    assert place.stat().st_mode & 0o777 == 0o700
    name = "%d.%s" % (os.getpid(), stat_fields(os.getpid())[19])
    assert os.listdir(place) == [name] and (place / name).stat().st_mode & 0o777 == 0o600


def test_a_directory_that_others_can_open_is_refused(stage):
    """if other users can open the directory of locks, agentify says unfit, and the reason names the
    directory"""
    (stage.directory / "agentify").mkdir(0o755)
    one = stage.agentify(daemon=waits(stage))
    reason = one.expect("unfit")["reason"]
    assert "--lock=FILE" in reason and str(stage.directory / "agentify") in reason, reason
    assert one.wait() == 1


def test_a_lock_that_cannot_be_made_is_unfit(stage):
    """if the keeper's lock cannot be made beside the upgrader's lock, agentify says unfit before it
    says ready, so that the upgrade fails before the old daemon is stopped"""
    (stage.directory / "taken.daemon").mkdir()
    for name, error in (("l" * 249, "ENAMETOOLONG"), ("taken", "EISDIR")):
        with open(stage.directory / name, "a+") as lock:
            one = stage.agentify(daemon=waits(stage), lock=lock)
            reason = one.expect("unfit")["reason"]
            assert "--lock" in reason and error in reason, reason
            assert one.count("ready") == 0
            assert one.wait() == 1


def test_locks_of_upgraders_that_have_gone_are_removed(stage):
    """agentify removes the lock files of upgraders that have ended, except those that a process
    still locks"""
    place = stage.directory / "agentify"
    place.mkdir(0o700)
    names = ["1.1", "%d.1" % os.getpid(), "1.2", "another"]
    for name in names:
        (place / name).touch()
    with open(place / "1.2") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        stage.agentify(daemon=waits(stage)).expect("ready")
        left = set(os.listdir(place))
    assert left == {"1.2", "another"}, left


def test_without_proc_nothing_is_started(stage):
    """without /proc, agentify says unfit, even if the upgrader has a lock: agentify could not find
    the daemon's processes to stop them"""
    for lock in (True, False):
        trace = [shutil.which("strace"), "-D", "-qq", "-o", "/dev/null", "-P", "/proc/self",
                 "-e", "trace=readlink,readlinkat", "-e", "inject=readlink,readlinkat:error=ENOENT"]
        one = stage.agentify(daemon=waits(stage), lock=lock, prefix=trace)
        assert "/proc is not mounted" in one.expect("unfit")["reason"]
        assert one.wait() == 1


def test_with_the_proc_of_another_pid_namespace_nothing_is_started(stage):
    """if /proc belongs to a different PID namespace, agentify starts nothing: it would not find the
    processes that the daemon leaves behind, and so not stop them"""
    del stage
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    ended = run_command("unshare", *user, "--pid", "--fork", "--kill-child", str(AGENTIFY), "--",
                        "sh", "-c", "sleep 60 & exit 0")
    assert ended.returncode == 1 and "shows another pid namespace" in ended.stderr, ended


def test_a_stop_while_it_waits_is_clean(stage):
    """a stop while agentify waits for a lock is clean, since no daemon has been started"""
    daemon = waits(stage)
    one = stage.agentify(daemon=daemon).activate()
    stage.read("pid")
    keeper = one.keeper()
    os.kill(keeper, signal.SIGSTOP)
    one.kill()
    one.wait()
    two = stage.agentify(daemon=daemon).activate()
    two.expect("status", text=begins("not ready: waits for the daemon before"))
    two.stop()
    two.expect("stopped")
    assert two.wait() == 0
    os.kill(keeper, signal.SIGCONT)
    wait_until(lambda: not one.family(), "the first has gone")


def test_the_daemons_output_stays_off_the_protocol(stage):
    """much output on both streams of the daemon is passed on, and the daemon's standard input is
    empty"""
    text = "cat; i=0; while [ $i -lt 2000 ]; do echo out$i; echo err$i >&2; i=$((i+1)); done; "
    one = stage.agentify(daemon=[stage.script("daemon", text + WAITS)]).activate()
    stage.read("pid")
    one.stop()
    one.expect("stopped")
    assert one.wait() == 0
    assert "out1999" in one.log() and "err1999" in one.log()


# Shell commands that record the descriptors and the environment of a check or a daemon. They record
# only descriptors below 10, because the shell keeps its own script open at descriptor 10 or higher.
LOOKS = ("ls -l /proc/$$/fd >$DIR/NAME.ls; "
         "sed -n 's/.* \\([0-9]\\) -> /\\1=/p' $DIR/NAME.ls >$DIR/NAME.fds; "
         "env >$DIR/NAME.env; echo done >$DIR/NAME\n")


def test_lock_and_sockets_reach_the_daemon(stage):
    """both the check and the daemon get the sockets, each with its own pid in LISTEN_PID. Other
    commands get no sockets, and no command gets a variable of the protocol."""
    passed = [socket.socket(), socket.socket()]
    for each in passed:
        each.bind(("127.0.0.1", 0))
        each.listen()
    check = LOOKS.replace("NAME", "check") + "echo $$ >$DIR/check.pid"
    daemon = [stage.script("daemon", LOOKS.replace("NAME", "daemon") + WAITS)]
    one = stage.agentify(f"--check={check}", "--ready=exec:" + LOOKS.replace("NAME", "probe"),
                         daemon=daemon, sockets=passed, lock=True).activate()
    one.expect("healthy")
    pid = stage.read("pid")
    for command, fds in (("check", {"3", "4"}), ("probe", set())):
        names = {line.split("=")[0] for line in stage.lines(command + ".fds")}
        assert names == {"0", "1", "2"} | fds, stage.lines(command + ".fds")
        env = stage.lines(command + ".env")
        listens = [x.split("=")[0] for x in env if x.startswith("LISTEN_")]
        assert len(listens) == len(fds), env
        assert not [x for x in env if x.startswith(("NOTIFY_", "LIBAGENT"))], env
        mine = [x.split("=")[0] for x in env if x.startswith("AGENT_PROTOCOL")]
        assert mine == ["AGENT_PROTOCOL_PROGRAM"], mine
    own = f"LISTEN_PID={stage.read('check.pid')}"
    assert own in stage.lines("check.env") and "LISTEN_FDS=2" in stage.lines("check.env")
    fds = dict(line.split("=", 1) for line in stage.lines("daemon.fds"))
    held = [number for number, name in fds.items() if name.endswith("/lock.daemon")]
    assert set(fds) == {"0", "1", "2", "3", "4", "5", *held} and len(held) == 1, fds
    assert fds["0"] == "/dev/null" and fds["3"].startswith("socket:")
    assert fds["5"] == str(stage.directory / "lock"), fds
    env = stage.lines("daemon.env")
    assert f"LISTEN_PID={pid}" in env and "LISTEN_FDS=2" in env
    assert not [x for x in env if "AGENT_PROTOCOL" in x or "NOTIFY" in x], env


def test_a_replaced_program_is_executed_by_its_descriptor(stage):
    """agentify runs the file that it has checked, even if its path now names another file"""
    path = stage.directory / "program"
    path.write_bytes(Path("/bin/sh").read_bytes())
    path.chmod(0o755)
    one = stage.agentify(daemon=[str(path), "-c", WAITS])
    one.expect("ready")
    path.unlink()
    path.write_text("#!/bin/sh\necho wrong >$DIR/pid\n")
    path.chmod(0o755)
    one.send(type="activate", clean=True)
    assert stage.read("pid") != "wrong"


def test_signals_are_passed_on(stage):
    """agentify passes HUP and USR1 on to the daemon"""
    one = stage.agentify(daemon=[stage.script("daemon", TAKES_SIGNALS, sys.executable)]).activate()
    stage.read("pid")
    one.expect("healthy")  # agentify knows the daemon's pid only after `healthy`
    one.kill(signal.SIGHUP)
    wait_until(lambda: stage.lines("got") == ["HUP"], "HUP")
    one.kill(signal.SIGUSR1)
    wait_until(lambda: stage.lines("got") == ["HUP", "USR1"], "USR1")


def test_a_signal_that_was_ignored_is_passed_on(stage):
    """agentify passes HUP on to the daemon even if HUP was ignored when agentify was started, as
    under nohup"""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        one = stage.agentify(daemon=[stage.script("daemon", TAKES_SIGNALS, sys.executable)])
    finally:
        signal.signal(signal.SIGHUP, before)
    one.activate()
    stage.read("pid")
    one.expect("healthy")
    one.kill(signal.SIGHUP)
    wait_until(lambda: stage.lines("got") == ["HUP"], "HUP")


def test_a_usage_error_is_unfit(stage):
    """if agentify gets a wrong option, it sends `unfit` with a reason that names the option"""
    one = stage.agentify("--ready=never", daemon=waits(stage))
    assert "--ready=never" in one.expect("unfit")["reason"]
    assert one.wait() == 2


def test_version_command(stage):
    """the version in `hello` is the last line that --version-command prints"""
    one = stage.agentify("--version-command=echo noise; echo 4.5", daemon=waits(stage))
    assert one.expect("hello")["version"] == "4.5"
    two = stage.agentify("--version-command=exit 1", daemon=waits(stage))
    assert "version" not in two.expect("hello")


def test_help_and_version(stage):
    """--help and --version print on standard output"""
    del stage
    assert run_command(str(AGENTIFY), "--help").stdout.startswith("Usage: agentify run ")
    assert run_command(str(AGENTIFY), "--version").stdout.startswith("agentify ")


def test_alone_with_few_descriptors(stage):
    """without an upgrader, if agentify has too few descriptors, it says what failed, and exits"""
    del stage
    ends = []
    for count in range(6, 32):
        alone = (str(AGENTIFY), "--check=true", "--", "true")
        ended = run_command("prlimit", f"--nofile={count}:{count}", *alone)
        assert ended.returncode == 0 or ended.stderr.startswith("agentify: "), (count, ended)
        ends.append(ended.returncode)
    assert ends[0] != 0 and ends[-1] == 0, ends


def test_alone_under_a_parent_that_ignores_the_ends_of_children(stage):
    """agentify ends as its daemon has ended, even if its parent ignores SIGCHLD"""
    del stage
    alone = (str(AGENTIFY), "--check=true", "--", "sh", "-c", "exit 7")
    assert run_command("env", "--ignore-signal=CHLD", *alone).returncode == 7


if __name__ == "__main__":
    run_tests(tests_of(globals()))
