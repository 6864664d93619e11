#!/usr/bin/env python3
"""Upgrades nginx again and again, with its socket passed, while a client sends requests without a
pause. Every third upgrade is bad, in each of three ways in turn. Prints the number of lost requests
for each kind of upgrade, and checks that the numbers of processes and of open descriptors do not
grow.

usage: endurance.py [UPGRADES]   Ends with `N passed, N failed`, which count the upgrades."""

import os
import sys
import threading
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from daemons import Machine, answers, kill_next, marked
from double import wait_until
from services import Client, Nginx

BAD = ["broken", "dies", "killed"]


def kind_of(number):
    return "good" if number % 3 else BAD[number // 3 % len(BAD)]


def upgrade(machine, kind, number):
    if kind == "good":
        machine.upgrade(f"v{number % 2 + 1}", "committed")
    elif kind == "broken":
        machine.upgrade("broken", "failed at", "refused")
    elif kind == "dies":
        machine.upgrade("dies", "is active again")
    else:
        before = machine.main_process()[1]
        threading.Thread(target=kill_next, args=(machine, before), daemon=True).start()
        machine.upgrade("never", "is active again")


def descriptors(machine):
    return len(os.listdir(f"/proc/{machine.process.pid}/fd"))


def main():
    upgrades = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    machine = Machine(Nginx, sockets=True)
    lost, gaps, passed = Counter(), Counter(), 0
    try:
        machine.point_at("v1")
        machine.start()
        answers(machine)
        open_at_first, processes = descriptors(machine), len(marked(machine.mark))
        for number in range(1, upgrades + 1):
            kind = kind_of(number)
            with Client(machine.service.ask) as client:
                wait_until(lambda: client.answered > 1, "answers")
                upgrade(machine, kind, number)
                before = client.answered
                wait_until(lambda: client.answered > before + 1, "answers afterwards")
            lost[kind] += client.lost
            gaps[kind] = max(gaps[kind], round(client.gap * 1000))
            assert kind != "broken" or client.lost == 0, f"{number}: {client.last_error}"
            passed += 1
        wait_until(lambda: len(marked(machine.mark)) == processes, "as many processes as before")
        assert descriptors(machine) == open_at_first
        machine.stop()
    except AssertionError as error:
        print("\n".join(machine.lines[-12:]))
        print(f"not ok: after {passed} upgrades: {error}\n{passed} passed, 1 failed")
        sys.exit(1)
    finally:
        machine.clean_up()
    for kind in ["good", *BAD]:
        print(f"report: agentify: {kind}: {lost[kind]} requests lost, {gaps[kind]} ms at most")
    print(f"{passed} passed, 0 failed")


if __name__ == "__main__":
    main()
