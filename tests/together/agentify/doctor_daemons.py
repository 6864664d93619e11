#!/usr/bin/env python3
"""Runs agentify doctor on real daemons from Debian, each with a port and a directory of its own:
checks what the doctor prints about each daemon, and makes an upgrade with the options that the
doctor has printed. Needs root, for daemons that change their user. Ends with `N passed, N
failed`."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).parent))
import doctor
from double import free_port, run_tests, tests_of
from services import postgres_directory

doctor.AS_USER = []  # the tests run as root, who needs no XDG_RUNTIME_DIR


def tried(stage, daemon, listens, stop, check="", ready=None):
    """Runs the doctor on a copy of a daemon, and checks what the doctor prints."""
    if shutil.which(daemon[0]) is None:
        raise AssertionError(daemon[0] + " is not installed")
    # `agentify doctor` refuses a program that already runs, and other tests may run the same
    # daemons at the same time. So this test runs a copy of the daemon's program.
    program = stage.directory / Path(daemon[0]).name
    if not program.exists():
        shutil.copy(shutil.which(daemon[0]), program)
    said, options = doctor.good(stage, str(program), *daemon[1:])
    print(f"report: agentify doctor: {program.name}: {' '.join(options)}")
    assert f"It listens on {listens}." in said, said
    assert options[-2] == "--ready=" + (ready or listens.replace(" ", ":")), options
    assert options[-1] == "--stop=" + stop, options
    assert (check in options[0]) if check else len(options) == 2, options


def write(stage, name, text):
    path = stage.directory / name
    path.write_text(text)
    return str(path)


def test_nginx(stage):
    """nginx: the doctor chooses the signal QUIT, after which nginx finishes its requests"""
    port = free_port()
    conf = write(stage, "nginx.conf", f"""pid {stage.directory}/pid; error_log stderr;
events {{ }} http {{ access_log off; server {{ listen 127.0.0.1:{port}; }} }}""")
    tried(stage, ["nginx", "-c", conf, "-g", "daemon off;"], f"tcp 127.0.0.1:{port}",
          "QUIT:60s,TERM:10s", "-t")


def test_redis(stage):
    """redis: the doctor takes the open TCP port as the sign that redis is ready"""
    port = free_port()
    tried(stage, ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
                  "--dir", str(stage.directory)], f"tcp 127.0.0.1:{port}", "TERM")


def test_postgresql(stage):
    """PostgreSQL: the doctor chooses the signal INT, after which PostgreSQL does not wait for
    clients"""
    programs = Path(postgres_directory())
    data = stage.directory / "data"
    stage.directory.chmod(0o755)
    as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    data.mkdir()
    shutil.chown(data, "postgres", "postgres")
    subprocess.run([*as_user, programs / "initdb", "-D", data], check=True, cwd=data,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    port = free_port()
    wrapper = stage.script("postgres", f"exec setpriv --reuid=postgres --regid=postgres "
                           f"--init-groups {programs}/postgres \"$@\"")
    tried(stage, [wrapper, "-D", str(data), "-p", str(port), "-h", "127.0.0.1", "-k", str(data)],
          f"tcp 127.0.0.1:{port}", "INT:80s", "-C port", ready="notify")


def test_haproxy(stage):
    """haproxy: the doctor examines a daemon that stays in the foreground"""
    port = free_port()
    conf = write(stage, "haproxy.cfg", f"""defaults
  mode http
  timeout client 5s
  timeout server 5s
  timeout connect 5s
frontend one
  bind 127.0.0.1:{port}
  http-request return status 200
""")
    tried(stage, ["haproxy", "-db", "-f", conf], f"tcp 127.0.0.1:{port}", "TERM", "-c")


def test_memcached(stage):
    """memcached: the doctor examines a daemon that changes its user"""
    port = free_port()
    tried(stage, ["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", str(port)],
          f"tcp 127.0.0.1:{port}", "TERM")


def test_mosquitto(stage):
    """mosquitto: Debian's mosquitto sends READY=1, so the doctor chooses --ready=notify"""
    port = free_port()
    conf = write(stage, "mosquitto.conf", f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    tried(stage, ["mosquitto", "-c", conf], f"tcp 127.0.0.1:{port}", "TERM", ready="notify")


def test_dnsmasq(stage):
    """dnsmasq: the doctor takes the open TCP port, and not the UDP port, as the sign that dnsmasq
    is ready"""
    port = free_port()
    tried(stage, ["dnsmasq", "-k", f"--port={port}", "--listen-address=127.0.0.1",
                  "--bind-interfaces", "--no-resolv", "--conf-file=/dev/null",
                  f"--pid-file={stage.directory}/pid"], f"tcp 127.0.0.1:{port}", "TERM",
          "--test")


def test_lighttpd(stage):
    """lighttpd: the doctor examines a daemon that stays in the foreground"""
    port = free_port()
    conf = write(stage, "lighttpd.conf", f"""server.document-root = "{stage.directory}"
server.bind = "127.0.0.1"
server.port = {port}
""")
    tried(stage, ["lighttpd", "-D", "-f", conf], f"tcp 127.0.0.1:{port}", "TERM", "-tt")


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("not ok: needs root\n0 passed, 1 failed")
        sys.exit(1)
    # Runs this program again in a mount namespace that has its own /run, so that the tests do not
    # touch the machine's /run.
    if os.environ.get("APART") != "1":
        WORDS = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh",
                 sys.executable, __file__, *sys.argv[1:]]
        sys.exit(subprocess.run(WORDS, env=dict(os.environ, APART="1"), check=False).returncode)
    run_tests(tests_of(globals()))
