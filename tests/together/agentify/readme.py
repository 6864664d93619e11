#!/usr/bin/env python3
"""Types the commands of docs/daemons.md that make a release, exactly as on the page, in a
network, a /srv and a /run of their own. Then checks that the result refuses a configuration that
`-t` refuses, and goes back to the old version when a daemon dies. Ends with `N passed, N
failed`."""

import os
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from double import BUILD, wait_until
from services import http_get

PAGE = Path(__file__).resolve().parents[3] / "docs/daemons.md"

# For each bad release: its name, the command that breaks it, and the upgrader's words.
BAD = [("refused", "echo no_such_directive >>nginx.conf", "stays active"),
       ("dying", """printf '#!/bin/sh\\ntest "$1" = -t || exit 3\\n' >run""", "is active again")]


def commands():
    found = []
    section = PAGE.read_text().split("## Configuration and program as one release")[1]
    for line in section.split("\n## ")[0].splitlines():
        if line.startswith("    $ "):
            found.append(line[6:])
        elif line.startswith("        "):
            found[-1] += "\n" + line
    return found


def answers():
    try:
        http_get(80)
        return True
    except OSError:
        return False


def play_run():
    """Types the one command of the page, and upgrades and stops its upgrader by the name that it
    gets by default."""
    line = next(line for line in PAGE.read_text().splitlines() if "$ agentify run " in line)
    environment = dict(os.environ, PATH=f"{BUILD}:/usr/sbin:/usr/bin:/sbin:/bin")
    with subprocess.Popen(["/bin/sh", "-c", "exec " + line[6:]], env=environment) as upgrader:
        wait_until(answers, "nginx answers", 60)
        for words in (["upgrade"], ["shutdown"]):
            subprocess.run([str(BUILD / "upgraderctl"), "nginx", *words], check=True)
        assert upgrader.wait(60) == 0


def play():
    typed = commands()
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
        play_run()
        play()
    except AssertionError as error:
        print(f"not ok: {error}\n0 passed, 1 failed")
        sys.exit(1)
    print("ok the commands upgrade nginx, and bad releases fall back\n1 passed, 0 failed")


if __name__ == "__main__":
    main()
