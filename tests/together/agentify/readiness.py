#!/usr/bin/env python3
"""Tests when agentify considers a daemon ready or sick: every kind of --ready and --health, and
the messages of a daemon on its NOTIFY_SOCKET."""

import os
import select
import shutil
import signal
import socket
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from double import begins, descendants, free_port, run_tests, runs, tests_of, wait_until

PYTHON = sys.executable
WAITS = "mkfifo $DIR/f$$; echo $$ >$DIR/pid; while :; do read line <>$DIR/f$$; done"
# A daemon that becomes ready when the test makes the file `go`.
WHEN_TOLD = "echo $$ >$DIR/pid; until [ -e $DIR/go ]; do timeout 0.02 tail -f /dev/null; done; "

# A server for the tests. It exits when its parent, agentify's keeper, has exited.
SERVER = """
import os, select, socket, sys
keeper = os.getppid()
kind, where, answer = sys.argv[1:4]
directory = os.environ["DIR"]
open(directory + "/pid", "w").write("%d\\n" % os.getpid())
while os.getppid() == keeper and not os.path.exists(directory + "/go"):
    select.select([], [], [], 0.01)
if kind == "unix":
    server = socket.socket(socket.AF_UNIX)
    server.bind(where)
else:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", int(where)))
server.listen(16)
while os.getppid() == keeper:
    if not select.select([server], [], [], 0.1)[0]:
        continue
    connection, _ = server.accept()
    if answer:
        if os.path.exists(directory + "/answer"):
            answer = open(directory + "/answer").read()
        connection.recv(1000)
        connection.send(answer.encode())
    connection.close()
"""

NOTIFIES = """
import os, select, socket, sys
keeper = os.getppid()
directory = os.environ["DIR"]
def say(text):
    name = os.environ["NOTIFY_SOCKET"]
    one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    one.sendto(text.encode(), "\\0" + name[1:] if name[0] == "@" else name)
open(directory + "/pid", "w").write("%d\\n" % os.getpid())
open(directory + "/notify", "w").write(os.environ["NOTIFY_SOCKET"] + "\\n")
open(directory + "/watchdog", "w").write(os.environ.get("WATCHDOG_USEC", "none") + "\\n")
said = 0
while os.getppid() == keeper:
    path = directory + "/say%d" % said
    if os.path.exists(path):
        say(open(path).read())
        said += 1
    select.select([], [], [], 0.01)
"""


def python(stage, text, *args):
    path = stage.directory / "daemon.py"
    path.write_text(text)
    return [PYTHON, str(path), *args]


def make(stage, name, text=""):
    temporary = stage.directory / (name + ".new")
    temporary.write_text(text)
    temporary.rename(stage.directory / name)


def not_yet(stage, one):
    """Checks that the daemon runs, and that agentify does not say `healthy` for a while."""
    stage.read("pid")
    end = time.monotonic() + 0.3
    while time.monotonic() < end:
        if select.select([one.from_agent], [], [], 0.05)[0]:
            one.read()
    assert one.count("healthy") == 0, one.said()


def becomes_ready(stage, ready, daemon, do=None):
    one = stage.agentify(f"--ready={ready}", daemon=daemon).activate()
    not_yet(stage, one)
    (do or (lambda: make(stage, "go")))()
    one.expect("healthy")
    one.stop()
    one.expect("stopped")
    assert one.wait() == 0
    assert not one.family()


def test_tcp(stage):
    """--ready=tcp: the daemon is ready when it accepts a connection"""
    port = free_port()
    becomes_ready(stage, f"tcp:{port}", python(stage, SERVER, "tcp", str(port), ""))


def test_tcp_by_name(stage):
    """--ready=tcp: the host may be a name"""
    port = free_port()
    daemon = python(stage, SERVER, "tcp", str(port), "")
    becomes_ready(stage, f"tcp:localhost:{port}", daemon)


# An /etc/hosts that gives two addresses, in this order, to the name `two`, and one address to the
# name `one`.
HOSTS = "::1 two\n127.0.0.1 two\n127.0.0.2 one\n"


def test_every_address_of_a_name_is_asked(stage):
    """if a name has several addresses, one that answers is enough, and the status says what each
    has answered"""
    (stage.directory / "hosts").write_text(HOSTS)
    hosts = ["/usr/bin/unshare", "--mount", "--map-root-user", "/bin/sh", "-c",
             'mount --bind "$0" /etc/hosts && exec "$@"', str(stage.directory / "hosts")]
    for kind, answer in (("tcp:two:%d", ""), ("http://two:%d/", "HTTP/1.1 204 Well\r\n\r\n")):
        port = free_port()
        for name in ("go", "pid"):
            (stage.directory / name).unlink(missing_ok=True)
        daemon = python(stage, SERVER, "tcp", str(port), answer)
        one = stage.agentify("--ready=" + kind % port, daemon=daemon, prefix=hosts).activate()
        found = one.expect("status", text=begins("not ready: ::1: "))["text"]
        assert "; 127.0.0.1: connection refused (--ready=" in found, found
        make(stage, "go")
        one.expect("healthy")
        one.stop()
        assert one.wait() == 0


def test_the_last_answer_is_told_while_it_waits(stage):
    """while the daemon is not ready, agentify's status has the last answer of the probe, for every
    kind of probe"""
    daemon = [stage.script("daemon", WAITS)]
    port = free_port()
    for ready, words in (("exec:pg_isredy -q", f"exit status 127: {daemon[0]}: 1: pg_isredy"),
                         (f"tcp:{port}", "connection refused"),
                         ("exec:exit 3", "it exited with status 3"),
                         ("file:/no/such", "/no/such: ")):
        one = stage.agentify("--ready=" + ready, daemon=daemon).activate()
        found = one.expect("status", text=begins("not ready: " + words))["text"]
        assert found.endswith("(--ready=" + ready + ")"), found
        one.stop("rollback")
        assert one.wait() == 0


def test_on_trial_what_is_never_ready_is_unfit(stage):
    """if the daemon is never ready on trial, agentify says unfit with the last answer of the
    probe, and does so before the trial ends; this holds for both kinds of commit, `survive` and
    `healthy`"""
    daemon = [stage.script("daemon", WAITS)]
    for commit in ("survive", "healthy"):
        one = stage.agentify("--ready=exec:echo not now; exit 1", daemon=daemon)
        one.activate(trial_ms=300, commit=commit)
        assert one.expect("unfit")["reason"].startswith("the daemon is not ready: not now (--ready")
        one.stop("rollback")
        one.expect("stopped")
        assert one.wait() == 0
        assert one.count("healthy") == 0


def test_on_trial_the_daemon_has_to_last(stage):
    """on trial, agentify says healthy when the daemon has been ready for the settle time, which is
    at most half the trial; this holds for both kinds of commit, `survive` and `healthy`"""
    daemon = [stage.script("daemon", WHEN_TOLD + "exit 3")]
    one = stage.agentify("--settle=1h", daemon=daemon)
    one.activate(trial_ms=3600000, commit="healthy").expect("status")
    make(stage, "go")
    assert one.wait() == 3
    assert one.count("healthy") == 0
    for commit in ("survive", "healthy"):
        two = stage.agentify("--settle=1h", daemon=[stage.script("daemon", WAITS)])
        two.activate(trial_ms=400, commit=commit).expect("healthy")
        two.stop()
        assert two.wait() == 0


def test_unix(stage):
    """--ready=unix: the daemon is ready when it accepts a connection"""
    path = str(stage.directory / "socket")
    becomes_ready(stage, f"unix:{path}", python(stage, SERVER, "unix", path, ""))


def test_http(stage):
    """--ready=http: the daemon is ready when it answers with a good status, such as 204, and not
    while it answers with 503"""
    port = free_port()
    daemon = python(stage, SERVER, "tcp", str(port), "HTTP/1.1 503 Not Yet\r\n\r\n")
    make(stage, "go")
    becomes_ready(stage, f"http://127.0.0.1:{port}/health?x", daemon,
                  lambda: make(stage, "answer", "HTTP/1.1 204 No Content\r\n\r\n"))


def test_exec(stage):
    """--ready=exec: the daemon is ready when the command exits with status 0"""
    becomes_ready(stage, "exec:test -e $DIR/go", [stage.script("daemon", WAITS)])


def test_file(stage):
    """--ready=file: the daemon is ready when it has made the file; an older file does not count"""
    make(stage, "ready", "old")
    daemon = [stage.script("daemon", WHEN_TOLD + "echo new >$DIR/ready; " + WAITS)]
    becomes_ready(stage, f"file:{stage.directory}/ready", daemon)


def test_fd(stage):
    """--ready=fd: the daemon is ready when it writes a newline, even if agentify has used that
    descriptor's number itself"""
    for number in (3, 7):
        text = WHEN_TOLD + f"printf no >&{number}; echo yes >&{number}; exec {number}>&-; " + WAITS
        for file in ("go", "pid"):
            (stage.directory / file).unlink(missing_ok=True)
        becomes_ready(stage, f"fd:{number}", [stage.script("daemon", text)])


def test_a_word_that_comes_before_the_news_of_the_start(stage):
    """--ready=fd: a newline counts even if the daemon writes it before agentify knows of the
    daemon's start"""
    daemon = [stage.script("daemon", "echo >&7; " + WAITS)]
    for _ in range(20):
        one = stage.agentify("--ready=fd:7", daemon=daemon).activate()
        one.expect("healthy")
        one.stop()
        assert one.wait() == 0


def test_fd_closed_without_a_newline(stage):
    """--ready=fd: if the daemon closes the descriptor without a newline, it never becomes ready,
    and agentify does not spin"""
    daemon = [stage.script("daemon", "exec 5>&-; " + WAITS)]
    one = stage.agentify("--ready=fd:5", daemon=daemon).activate()
    not_yet(stage, one)


def test_fd_takes_the_number_of_no_other_descriptor(stage):
    """--ready=fd: whichever number is named, the daemon inherits its lock, and a daemon that cannot
    be executed ends agentify with status 126"""
    busy = stage.directory / "busy"
    shutil.copy("/bin/sleep", busy)
    daemon = [stage.script("daemon", WAITS)]
    # The kernel executes no file that is open for writing.
    with open(busy, "r+b"), open(stage.directory / "lock", "a+") as lock:
        for number in range(4, 17):
            one = stage.agentify(f"--ready=fd:{number}", daemon=daemon, lock=lock).activate()
            files = Path(f"/proc/{stage.read('pid')}/fd")
            assert str(stage.directory / "lock.daemon") in map(os.readlink, files.iterdir()), number
            one.stop()
            one.wait()
            (stage.directory / "pid").unlink()
            two = stage.agentify(f"--ready=fd:{number}", daemon=[str(busy), "9"]).activate()
            assert two.wait() == 126, number


def test_fd_that_is_taken(stage):
    """--ready=fd: agentify refuses the number of a socket that init passes"""
    with socket.socket() as passed:
        passed.bind(("127.0.0.1", 0))
        daemon = [stage.script("daemon", WAITS)]
        one = stage.agentify("--ready=fd:3", daemon=daemon, sockets=[passed])
        assert "--ready=fd:3" in one.expect("unfit")["reason"]


def test_after(stage):
    """--ready=after: the daemon is ready when it has lived for that time"""
    daemon = [stage.script("daemon", WAITS)]
    one = stage.agentify("--ready=after:100ms", daemon=daemon).activate()
    one.expect("healthy")
    assert runs(int(stage.read("pid")))
    one.stop()
    assert one.wait() == 0
    two = stage.agentify("--ready=after:1h", daemon=["/bin/true"]).activate()
    assert two.wait() == 0
    assert two.count("healthy") == 0


def test_vouch_no(stage):
    """with --vouch=no, agentify does not say healthy"""
    daemon = [stage.script("daemon", WAITS)]
    one = stage.agentify("--vouch=no", daemon=daemon).activate()
    one.expect("status", text=begins("the daemon is ready after "))
    one.stop()
    one.expect("stopped")
    assert one.count("healthy") == 0


def test_readiness_of_a_first_agent(stage):
    """if the upgrader supports the feature readiness, a first agent says healthy when the daemon is
    ready; while the daemon asks for more time, the agent sends `extend`"""
    settings = {"role": "first", "features": ["readiness"]}
    for options in ([], ["--vouch=no"]):
        one = notifier(stage, *options, **settings).activate()
        assert one.expect("hello")["features"] == ["readiness"]
        make(stage, "say0", "EXTEND_TIMEOUT_USEC=5000000")
        assert one.expect("extend")["ms"] == 5000
        not_yet(stage, one)
        make(stage, "say1", "READY=1")
        one.expect("healthy")
        one.stop("shutdown")
        assert one.wait() == 0
        for name in ("say0", "say1", "pid"):
            (stage.directory / name).unlink()


def notifier(stage, *options, **settings):
    return stage.agentify("--ready=notify", *options, daemon=python(stage, NOTIFIES), **settings)


def test_notify(stage):
    """--ready=notify: READY=1 makes the daemon ready, and STATUS= is passed on"""
    one = notifier(stage).activate()
    make(stage, "say0", "STATUS=warming up")
    one.expect("status", text="warming up")
    not_yet(stage, one)
    make(stage, "say1", "READY=1\nSTATUS=serving")
    one.expect("healthy")
    assert stage.read("watchdog") == "none"


def test_notify_of_a_stranger(stage):
    """--ready=notify: messages of processes that do not descend from the daemon are ignored"""
    one = notifier(stage).activate()
    name = stage.read("notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stranger:
        stranger.sendto(b"READY=1", "\0" + name[1:])
        for _ in range(300):
            stranger.sendto(b"READY=1", "\0" + name[1:])
    wait_until(lambda: "is none of the daemon's" in one.log(), "the log")
    make(stage, "say0", "STATUS=behind them all")
    one.expect("status", text="behind them all")
    assert one.log().count("is none of the daemon's") < 100, one.log()
    not_yet(stage, one)


def test_notify_of_a_child(stage):
    """--ready=notify: a child of the daemon may send messages, and BARRIER=1 is answered"""
    text = """
import array, os, socket, sys
r, w = os.pipe()
name = os.environ["NOTIFY_SOCKET"]
one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
one.sendto(b"READY=1", "\\0" + name[1:])
one.sendmsg([b"BARRIER=1"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [w]))], 0,
            "\\0" + name[1:])
os.close(w)
os.read(r, 1)
"""
    (stage.directory / "child.py").write_text(text)
    daemon = [stage.script("daemon", f"{PYTHON} $DIR/child.py; " + WAITS)]
    one = stage.agentify("--ready=notify", daemon=daemon).activate()
    one.expect("healthy")
    stage.read("pid")


def test_notify_watchdog(stage):
    """before the daemon's first WATCHDOG=1, agentify sends heartbeats by itself; from then on, it
    sends one heartbeat for each WATCHDOG=1. After WATCHDOG=trigger it says unfit."""
    one = notifier(stage, watchdog_ms=300).activate()
    assert stage.read("watchdog") == "300000"
    one.expect("heartbeat")
    one.expect("heartbeat")
    make(stage, "say0", "WATCHDOG=1\nSTATUS=beats")
    one.expect("status", text="beats")
    before = one.count("heartbeat")
    not_yet(stage, one)
    assert one.count("heartbeat") <= before + 1
    make(stage, "say1", "WATCHDOG=trigger")
    assert "trigger" in one.expect("unfit")["reason"]


def test_notify_main_process(stage):
    """--ready=notify: MAINPID makes another process the main one, if it descends from the daemon"""
    script = stage.script("second.sh", "echo $$ >$DIR/second; exec tail -f /dev/null")
    text = f"import subprocess\nsubprocess.Popen([{script!r}])\n" + NOTIFIES
    one = stage.agentify("--ready=notify", daemon=python(stage, text)).activate()
    first, second = int(stage.read("pid")), int(stage.read("second"))
    make(stage, "say0", f"MAINPID={os.getpid()}\nSTATUS=strange")
    one.expect("status", text="strange")
    make(stage, "say1", f"MAINPID={second}\nSTATUS=second\nREADY=1")
    one.expect("healthy")
    # The process `second` is now the daemon's main process. SIGHUP ends it, since it does not
    # handle SIGHUP.
    one.kill(signal.SIGHUP)
    one.wait()
    assert not runs(first) and not runs(second)
    assert not one.family()


def test_notify_main_process_that_has_ended(stage):
    """--ready=notify: MAINPID of a process that has ended changes nothing, even if the daemon has
    not reaped this process"""
    text = """
import os
ended = os.fork()
if ended == 0:
    os._exit(0)
os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)
open(os.environ["DIR"] + "/ended", "w").write("%d\\n" % ended)
""" + NOTIFIES
    one = stage.agentify("--ready=notify", daemon=python(stage, text)).activate()
    main, ended = int(stage.read("pid")), int(stage.read("ended"))
    make(stage, "say0", f"MAINPID={ended}\nREADY=1")
    one.expect("healthy")
    make(stage, "say1", "STATUS=still there")
    one.expect("status", text="still there")
    assert runs(main)
    one.stop()
    one.expect("stopped")
    assert one.wait() == 0


def test_notify_main_process_without_a_pause(stage):
    """--ready=notify: a daemon that names main processes faster than the keeper (the daemon's
    parent process) can look for them in /proc waits for the keeper, and is not killed"""
    text = """
import os, select, socket
main = os.getpid()
place = os.pipe()
for depth in range(100):
    if os.fork():
        if os.getpid() != main:
            select.select([], [], [])
        break
else:
    os.write(place[1], b"%d" % os.getpid())
    select.select([], [], [])
deepest = int(os.read(place[0], 20))
open(os.environ["DIR"] + "/deepest", "w").write("%d\\n" % deepest)
one = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
one.connect(os.environ["NOTIFY_SOCKET"].replace("@", "\\0", 1))
for _ in range(2000):
    one.send(b"MAINPID=%d" % main)
    one.send(b"MAINPID=%d" % deepest)
one.send(b"READY=1")
select.select([], [], [])
"""
    one = stage.agentify("--ready=notify", "--settle=0", daemon=python(stage, text)).activate()
    one.expect("healthy")
    deepest = int(stage.read("deepest"))
    one.kill(signal.SIGHUP)
    one.wait()
    assert not runs(deepest)
    assert "the process that keeps the daemon has been killed" not in one.log(), one.log()
    assert not one.family()


def test_a_daemon_that_forks(stage):
    """if a daemon forks twice, agentify sends signals to the last process, and takes the end of
    that process as the daemon's end"""
    text = """
import os, select, signal, sys
keeper = os.getppid()
directory = os.environ["DIR"]
if os.fork():
    select.select([], [], [], 0.1)
    os._exit(0)
os.setsid()
middle = os.getpid()
if os.fork():
    select.select([], [], [], 0.1)
    os._exit(0)
for fd in range(0, 256):
    try:
        os.close(fd)
    except OSError:
        pass
def end(*_):
    os._exit(5)
signal.signal(signal.SIGTERM, end)
open(directory + "/pid", "w").write("%d\\n" % os.getpid())
while os.getppid() in (keeper, middle):
    select.select([], [], [], 0.1)
"""
    one = stage.agentify("--ready=after:500ms", daemon=python(stage, text)).activate()
    pid = int(stage.read("pid"))
    one.expect("healthy")
    one.stop()
    one.expect("stopped")
    assert not runs(pid)
    assert one.wait() == 0
    two = stage.agentify(daemon=python(stage, text)).activate()
    wait_until(lambda: stage.read("pid") != str(pid), "the second")
    pid = int(stage.read("pid"))
    wait_until(lambda: f"goes on as process {pid}" in two.log(), "it is the main process")
    os.kill(pid, signal.SIGTERM)
    assert two.wait() == 5
    assert not two.family()


def test_health_on_trial_and_after(stage):
    """if the daemon becomes sick on trial, agentify says unfit; later, it sends no heartbeats until
    the daemon is well again"""
    make(stage, "well")
    options = ["--vouch=no", "--health=exec:test -e $DIR/well", "--health-interval=50ms",
               "--health-failures=2"]
    daemon = [stage.script("daemon", WAITS)]
    one = stage.agentify(*options, daemon=daemon).activate()
    stage.read("pid")
    (stage.directory / "well").unlink()
    assert "sick" in one.expect("unfit")["reason"]
    one.stop("rollback")
    one.expect("stopped")
    assert one.wait() == 0
    make(stage, "well")
    two = stage.agentify(*options, daemon=daemon, watchdog_ms=150).activate()
    two.send(type="committed", id="u1", generation=2)
    two.expect("heartbeat")
    (stage.directory / "well").unlink()
    wait_until(lambda: "is sick" in two.log(), "it is sick")
    two.expect("heartbeat")
    make(stage, "well")
    wait_until(lambda: "healthy again" in two.log(), "it is well")
    beats = two.count("heartbeat")
    wait_until(lambda: two.read() or two.count("heartbeat") > beats + 3, "heartbeats")
    assert two.count("unfit") == 0


def test_health_exit(stage):
    """--health-action=exit: agentify stops a sick daemon, and exits with status 1"""
    make(stage, "well")
    daemon = [stage.script("daemon", "trap 'echo bye >$DIR/bye; exit 0' TERM; " + WAITS)]
    one = stage.agentify("--health=file:" + str(stage.directory / "well"),
                         "--health-interval=50ms", "--health-failures=2", "--health-action=exit",
                         daemon=daemon, role="first").activate()
    stage.read("pid")
    (stage.directory / "well").unlink()
    assert one.wait() == 1
    assert stage.read("bye") == "bye"
    assert not one.family() and one.count("stopped") == 0


def test_a_host_that_nobody_knows_is_unfit(stage):
    """if the host of a probe has no address, agentify says unfit, and starts no daemon"""
    daemon = [stage.script("daemon", WAITS)]
    one = stage.agentify("--ready=tcp:no-such-host.invalid:80", daemon=daemon)
    assert "no address is known" in one.expect("unfit")["reason"]
    assert one.wait() == 1


def test_a_hanging_probe_is_given_up_with_the_stop(stage):
    """a stop ends a probe that hangs, and leaves no process of its command"""
    daemon = [stage.script("daemon", WAITS)]
    one = stage.agentify("--ready=exec:echo $$ >$DIR/probe; tail -f /dev/null", daemon=daemon)
    one.activate()
    pid = int(stage.read("probe"))
    assert pid in descendants(one.pid)
    one.stop()
    one.expect("stopped")
    assert one.wait() == 0
    wait_until(lambda: not one.family(), "the probe has gone")


if __name__ == "__main__":
    run_tests(tests_of(globals()))
