#!/usr/bin/env python3
"""Types the commands of docs/daemons.md exactly as they are printed, in a network, a /srv and a
/run of their own. Then checks that the result makes a good upgrade, refuses a version that fails
its check, and goes back to the old version when a daemon dies. Ends with `N passed, N failed`."""

import os
import shlex
import shutil
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from double import BUILD, wait_until
from services import http_get

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/daemons.md"

# The exit statuses of upgraderctl for three endings of an upgrade.
COMMITTED, KEPT, FELL_BACK = 0, 4, 5

# For each bad release: its name, the command that makes the release bad, and a part of the
# upgrader's log line.
BAD = [("refused", "echo no_such_directive >>nginx.conf", "stays active"),
       ("dying", """printf '#!/bin/sh\\ntest "$1" = -t || exit 3\\n' >run""", "is active again")]


def commands(heading):
    """Returns the commands below the heading, as one list for each block. On the page, each command
    is a line that begins with `$`."""
    blocks = [[]]
    section = PAGE.read_text().split("## " + heading)[1]
    for line in section.split("\n## ")[0].splitlines():
        if line.startswith("    $ "):
            blocks[-1].append(line[6:])
        elif line.startswith("        "):
            blocks[-1][-1] += "\n" + line
        elif line and blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def count(block):
    """Returns how many commands a person types. Commands that `&&` joins are counted one by one."""
    words = shlex.split("\n".join(block).replace("\\\n", " ").replace("\n", " && "))
    return sum(not before or before == "&&" for before in ["", *words[:-1]]) - sum(
        before == after == "&&" for before, after in zip(words, words[1:]))


def answers():
    try:
        http_get(80)
        return True
    except OSError:
        return False


# A script that is started instead of a daemon's program. It succeeds if it is run to check a
# configuration, and dies if it is run to serve.
DYING = """#!/bin/sh
case "$*" in *-t* | *-c*) exit 0 ;; esac
exit 3
"""


class Typed:
    """A bash into which commands are typed. Commands that run in the background continue while
    others are typed."""

    def __init__(self):
        environment = dict(os.environ, PATH=f"{BUILD}:/usr/sbin:/usr/bin:/sbin:/bin")
        self.shell = subprocess.Popen(["/bin/bash"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, env=environment)

    def type(self, command):
        """Types a command that does not run in the background. Returns its exit status."""
        self.shell.stdin.write(command + "\necho $? ended\n")
        self.shell.stdin.flush()
        for line in self.shell.stdout:
            if line.endswith(" ended\n"):
                return int(line.split()[0])
        raise AssertionError("the shell has ended at: " + command)

    def close(self):
        self.shell.stdin.close()
        assert self.shell.wait(60) == 0


def play_upgrades(typed, name):
    """Makes a good upgrade, one that the check refuses, and one that dies and falls back; then
    stops the daemon."""
    program = shutil.which(name, path="/usr/sbin:/usr/bin")
    wait_until(answers, name + " answers", 60)
    assert typed.type(f"upgraderctl {name} upgrade") == COMMITTED
    for text, status in (("#!/bin/sh\nexit 3\n", KEPT), (DYING, FELL_BACK)):
        bad = Path("/run/bad")
        bad.write_text(text)
        bad.chmod(0o755)
        subprocess.run(["mount", "--bind", bad, program], check=True)
        assert typed.type(f"upgraderctl {name} upgrade") == status, (name, text)
        wait_until(answers, f"{name} answers after a bad version", 60)
        subprocess.run(["umount", program], check=True)
    assert typed.type(f"upgraderctl {name} shutdown") == 0
    typed.close()


# A configuration of haproxy, which listens on the port that docs/daemons.md names. Debian's own
# configuration has no `frontend`, so it listens on no port.
HAPROXY = """defaults
  mode http
  timeout client 5s
  timeout server 5s
  timeout connect 5s
frontend one
  bind 127.0.0.1:80
  http-request return status 200
"""


def runs(program):
    """Returns whether a process runs whose command line begins with this path."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes().split(b"\0")[0] == program.encode():
                return True
        except OSError:
            pass
    return False


def play_haproxy():
    """Types the commands of docs/daemons.md that upgrade Debian's haproxy, and counts them. The
    counts must be those that the page gives."""
    after, before = commands("haproxy, counted")
    found = [count(after), count(before)]
    print(f"report: commands from haproxy's package to an upgrade: {found[1]} by hand, {found[0]}")
    assert found == [4, 12], found
    Path("/run/haproxy.cfg").write_text(HAPROXY)
    subprocess.run(["mount", "--bind", "/run/haproxy.cfg", "/etc/haproxy/haproxy.cfg"], check=True)
    for block in (after, before):
        typed = Typed()
        # The tests run on machines on which haproxy is already installed and no init system runs.
        # So shell functions replace apt-get and systemctl.
        typed.type("apt-get() { command -v haproxy; }; systemctl() { :; }")
        for command in block[:-1]:
            assert typed.type(command) == 0, command
        wait_until(answers, "haproxy answers", 60)
        if block is after:
            play_upgrades(typed, "haproxy")
            continue
        typed.type(block[-1])
        wait_until(lambda: runs("/srv/haproxy/v2/haproxy"), "v2 runs", 60)
        wait_until(answers, "haproxy answers again", 60)
        typed.type("kill $!; wait $!")
        typed.close()


def play():
    typed, = commands("Configuration and program as one release")
    assert len(typed) == 5, typed
    environment = dict(os.environ, PATH=f"{BUILD}:/usr/sbin:/usr/bin:/sbin:/bin")
    shell = subprocess.Popen(["/bin/bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, env=environment)
    said = []

    def read():
        for line in iter(shell.stdout.readline, b""):
            said.append(line.decode(errors="replace"))

    threading.Thread(target=read, daemon=True).start()

    def type_in(command):
        shell.stdin.write(command.encode() + b"\n")
        shell.stdin.flush()

    for command in typed[:4]:
        type_in(command)
    wait_until(answers, "nginx answers", 60)
    type_in(typed[4])
    link = Path("/srv/nginx/current")
    wait_until(lambda: any("committed" in line for line in list(said)),
               "the upgrade is committed", 60)
    wait_until(answers, "nginx answers again", 60)
    assert os.readlink(link) == "v2/run"
    for version, deed, outcome in BAD:
        before = len(said)
        type_in(f"cp -r /srv/nginx/v1 /srv/nginx/{version} && cd /srv/nginx/{version} && {deed} && "
                f"ln -sfn {version}/run /srv/nginx/current && kill -USR2 $!")
        wait_until(lambda: any(outcome in line for line in said[before:]), f"{version}: {outcome}",
                   60)
        wait_until(answers, f"nginx answers after {version}", 60)
        wait_until(lambda: os.readlink(link) == "v2/run", f"the link is put back after {version}")
    type_in("kill $!; wait; exit")
    assert shell.wait(60) == 0


def main():
    if os.environ.get("APART") != "1":
        if os.geteuid() != 0:
            print("not ok: needs root\n0 passed, 1 failed")
            sys.exit(1)
        words = ["unshare", "--mount", "--net", "--", sys.executable, __file__]
        sys.exit(subprocess.run(words, env=dict(os.environ, APART="1"), check=False).returncode)
    for command in ("ip link set lo up", "mount -t tmpfs none /srv", "mount -t tmpfs none /run"):
        subprocess.run(command.split(), check=True)
    try:
        play_haproxy()
        play()
    except AssertionError as error:
        print(f"not ok: {error}\n0 passed, 1 failed")
        sys.exit(1)
    print("ok the commands upgrade nginx and haproxy; bad versions fall back\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
