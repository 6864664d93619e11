#!/usr/bin/env python3
"""Runs agentify doctor on small daemons: checks what the doctor prints about each daemon, and makes
an upgrade with the options that the doctor has printed. Ends with `N passed, N failed`.
doctor_daemons.py tests the doctor with real daemons."""

import shlex
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
from double import (AGENTIFY, PATIENCE, free_port, run_command, run_tests, tests_of,
                    wait_until)
from run import AS_USER, Run

PYTHON = sys.executable

# A server in Python. Its arguments say how it can be stopped, and whether it accepts a socket
# passed by init. The server exits when agentify's keeper has exited. The keeper is the parent of
# the server's first process, and becomes the parent of all later processes.
SERVER = """import os, select, signal, socket, sys
port, *ways = sys.argv[1:]
parents = (os.getpid(), os.getppid())
if "ignores" in ways:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "takes" in ways and os.environ.get("LISTEN_PID") == str(os.getpid()):
    one = socket.socket(fileno=3)
else:
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind(("127.0.0.1", int(port)))
    one.listen()
if "children" in ways:
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while os.getppid() in parents:
            select.select([], [], [], 0.1)
        os._exit(0)
if "forks" in ways and (os.fork() or os.setsid() and os.fork()):
    os._exit(0)
while os.getppid() in parents:
    if select.select([one], [], [], 0.1)[0]:
        taken, _ = one.accept()
        taken.close()
"""

NODE = """const parent = process.ppid;
setInterval(() => { if (process.ppid !== parent) process.exit(); }, 100);
require("http").createServer((_, answer) => answer.end("x"))
  .listen(Number(process.argv[2]), "127.0.0.1");
"""


def environment_of(stage):
    return {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "TMPDIR": str(stage.directory), "DIR": str(stage.directory),
            "XDG_RUNTIME_DIR": str(stage.directory)}


def examined(stage, *daemon):
    done = run_command(*AS_USER, str(AGENTIFY), "doctor", "--", *daemon, env=environment_of(stage),
                       timeout=120)
    assert not list(stage.directory.glob("agentify-doctor.*")), "its directory is left"
    return done


def good(stage, *daemon):
    """Runs the doctor on a daemon, then runs the daemon with the printed options and upgrades it.
    Returns the doctor's text and these options."""
    done = examined(stage, *daemon)
    assert done.returncode == 0 and done.stderr == "", done
    assert done.stdout.startswith("This runs "), done
    words = shlex.split(done.stdout.strip().splitlines()[-1])
    assert words[:2] == ["agentify", "run"], words
    one = Run(stage, "--name=patient", "--settle=200ms", *words[2:], user=AS_USER)
    one.wait_for("the daemon is ready")
    asked = one.ctl("patient", "upgrade")
    assert asked.returncode == 0, (words, asked, one.log())
    one.stop()
    return done.stdout, words[2:words.index("--")]


def server(stage, *ways):
    return (PYTHON, str(stage.directory / "server.py"), str(free_port()), *ways)


def write_server(stage):
    (stage.directory / "server.py").write_text(SERVER)


def test_a_python_server(stage):
    """the doctor names the port of a Python server, and the signal that stops it"""
    write_server(stage)
    daemon = server(stage)
    said, options = good(stage, *daemon)
    assert "It stays in the foreground." in said and "LISTEN_FDS" in said, said
    assert "does not take sockets" in said, said
    assert options == [f"--ready=tcp:127.0.0.1:{daemon[2]}", "--stop=TERM"], options


def test_a_server_that_takes_sockets(stage):
    """the doctor finds that a server accepts passed sockets, by a connection that waits in such a
    socket"""
    write_server(stage)
    said, _ = good(stage, *server(stage, "takes"))
    assert "It takes sockets that init passes" in said, said


def test_a_daemon_that_ignores_sigterm(stage):
    """if a daemon ignores SIGTERM, the doctor finds another signal that ends it"""
    write_server(stage)
    said, options = good(stage, *server(stage, "ignores"))
    assert "SIGTERM does not end it within 10 s. SIGINT ends it" in said, said
    assert options[-1] == "--stop=INT", options


# Binds a socket at a temporary path, and then renames the socket, as haproxy does. The kernel's
# table of sockets still shows the temporary path.
RENAMES = """import os, signal, socket
one = socket.socket(socket.AF_UNIX)
path = os.environ["DIR"] + "/socket"
one.bind(path + ".1234.tmp")
one.listen()
os.rename(path + ".1234.tmp", path)
signal.pause()
"""


def test_a_socket_that_was_renamed(stage):
    """the doctor does not propose to probe a socket at a path that no longer exists"""
    (stage.directory / "renames.py").write_text(RENAMES)
    said, options = good(stage, PYTHON, str(stage.directory / "renames.py"))
    assert ".tmp" not in said and options[0] == "--ready=after:3s", said


def test_a_daemon_that_forks_twice(stage):
    """the doctor says that a daemon which forks goes on as another process"""
    write_server(stage)
    said, _ = good(stage, *server(stage, "forks"))
    assert "It goes into the background" in said, said


def test_children_that_stay_behind(stage):
    """the doctor counts the child processes that a stopped daemon leaves behind"""
    write_server(stage)
    said, _ = good(stage, *server(stage, "children"))
    assert "1 process that stays behind has to be killed" in said, said


def test_a_shell_loop(stage):
    """the doctor says that a shell loop opens no port or socket"""
    script = stage.script("loop", "while :; do tail -f /dev/null & wait; done")
    said, options = good(stage, script)
    assert "It listens on no port" in said and options[0] == "--ready=after:3s", said


def test_a_node_server(stage):
    """the doctor examines a server in node, if node is installed"""
    if shutil.which("node") is None:
        print("skipped: node is not installed")
        return
    (stage.directory / "server.js").write_text(NODE)
    port = free_port()
    _, options = good(stage, shutil.which("node"), str(stage.directory / "server.js"), str(port))
    assert options[0] == f"--ready=tcp:127.0.0.1:{port}", options


def accepts_connections(daemon):
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", int(daemon[2]))) == 0


def test_an_interrupted_doctor_ends_the_daemon(stage):
    """if the doctor is interrupted, or nobody reads its output, it ends the daemon before it
    exits"""
    write_server(stage)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        # The daemon ignores SIGTERM, except in the run with SIGPIPE. So `agentify doctor` needs
        # some time to end the daemon, and still runs when the test sends the signal `number` to the
        # doctor.
        daemon = server(stage, *(["ignores"] if number != signal.SIGPIPE else []))
        doctor = subprocess.Popen([*AS_USER, str(AGENTIFY), "doctor", "--", *daemon],
                                  env=environment_of(stage), text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_until(lambda one=daemon: accepts_connections(one), "the daemon works")
        if number == signal.SIGPIPE:
            doctor.stdout.close()
            said = doctor.stderr.read()
        else:
            doctor.send_signal(number)
            said = doctor.communicate(timeout=PATIENCE)[1]
        assert doctor.wait(PATIENCE) == 1, (number, said)
        wanted = "cannot write standard output" if number == signal.SIGPIPE else "interrupted"
        assert said.startswith("agentify: doctor: " + wanted), (number, said)
        wait_until(lambda one=daemon: not accepts_connections(one), "the daemon has ended")
        assert not list(stage.directory.glob("agentify-doctor.*")), number


def test_findings_that_cannot_be_written(stage):
    """the doctor fails if its findings cannot be written"""
    script = stage.script("loop", "while :; do tail -f /dev/null & wait; done")
    for words in (["--help"], ["--", script]):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([*AS_USER, str(AGENTIFY), "doctor", *words], stdout=full,
                                  env=environment_of(stage), stderr=subprocess.PIPE, text=True,
                                  check=False, timeout=PATIENCE)
        assert done.returncode == 1 and "cannot write standard output" in done.stderr, done


def test_a_daemon_that_does_not_run(stage):
    """the doctor shows the last line of a daemon that does not run"""
    done = examined(stage, stage.script("broken", "echo >&2 no such disk; exit 3"))
    assert done.returncode == 1 and "no such disk" in done.stderr, done


def test_a_port_that_is_in_use(stage):
    """if another daemon uses the port, the doctor names the port, and leaves the other daemon
    alone"""
    write_server(stage)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = examined(stage, PYTHON, str(stage.directory / "server.py"), port)
    assert done.returncode == 1 and "in use" in done.stderr, done


def test_a_daemon_that_runs_already_is_not_run_again(stage):
    """the doctor refuses a daemon that runs already: it finds an upgrader's daemon by the lock, and
    other daemons by their program"""
    daemon = stage.directory / "daemon"
    shutil.copy("/usr/bin/tail", daemon)
    one = Run(stage, "--", str(daemon), "-f", "/dev/null")
    one.wait_for("the daemon is ready")
    runtime = {"XDG_RUNTIME_DIR": str(one.runtime), "PATH": "/usr/bin"}
    done = run_command(*AS_USER, str(AGENTIFY), "doctor", "--", str(daemon), env=runtime)
    assert done.returncode == 1 and "is held: an upgrader runs daemon" in done.stderr, done
    done = run_command(str(AGENTIFY), "doctor", "--name=x", "--", str(daemon),
                       env=runtime)
    assert done.returncode == 1 and "already; stop its service first" in done.stderr, done
    one.stop()


def test_a_name_that_was_given_is_in_the_command(stage):
    """the doctor prints a command with the same --name that it was given; a daemon whose file name
    has a blank cannot be run without --name"""
    daemon = stage.directory / "a daemon"
    daemon.write_text("#!/bin/sh\nexec sleep 86400\n")
    daemon.chmod(0o755)
    done = run_command(*AS_USER, str(AGENTIFY), "doctor", "--name=sleeper", "--", str(daemon),
                       env=environment_of(stage), timeout=120)
    words = shlex.split(done.stdout.strip().splitlines()[-1])
    assert words[:3] == ["agentify", "run", "--name=sleeper"], done
    printed = run_command(*AS_USER, str(AGENTIFY), "run", "--print", *words[2:],
                          env=environment_of(stage))
    assert printed.returncode == 0 and "/sleeper/lock" in printed.stdout, printed


def test_a_path_may_be_relative(stage):
    """the doctor runs a daemon by a relative path, and prints the absolute one"""
    stage.script("waits", "exec sleep 1000")
    done = run_command(*AS_USER, str(AGENTIFY), "doctor", "--", "./waits", cwd=stage.directory,
                       env={"PATH": "/usr/bin:/bin", "TMPDIR": str(stage.directory),
                            "XDG_RUNTIME_DIR": str(stage.directory)}, timeout=120)
    assert done.returncode == 0, done
    assert done.stdout.endswith(f" -- {stage.directory}/waits\n"), done


def test_what_is_typed_wrongly_is_named(stage):
    """the doctor refuses wrong options, and runs no daemon"""
    del stage
    for words, text in ((["--ready=tcp:80", "--", "x"], "no such option"), ([], "is missing"),
                        (["--name=", "--", "x"], "needs =NAME"),
                        (["--", "no-such-daemon"], "not in PATH")):
        done = run_command(str(AGENTIFY), "doctor", *words)
        assert done.returncode == 2 and text in done.stderr and done.stdout == "", (words, done)


def test_a_missing_upgrader_is_named(stage):
    """the doctor names the missing upgrader, and does not blame the daemon"""
    alone = shutil.copy(AGENTIFY, stage.directory / "agentify")
    done = run_command(str(alone), "doctor", "--", stage.script("daemon", "exit 0"))
    expected = f"agentify: doctor: cannot execute {stage.directory}/upgrader: No such file"
    assert done.returncode == 1 and done.stderr.startswith(expected), done


if __name__ == "__main__":
    run_tests(tests_of(globals()))
