#!/usr/bin/env python3
"""Upgrades nginx while many clients send requests at once, so that at every moment a client waits
to be accepted. Measures how many requests are lost if init passes nginx a socket although each
nginx worker makes its own (`reuseport`). Also checks that an upgrade whose check fails loses no
request.

usage: crowd.py   TABLE=FILE writes the results into FILE, between the second pair of marker lines.
Ends with `N passed, N failed`."""

import os
import sys
from contextlib import ExitStack
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from daemons import Machine, answers, check_fails, write_table
from double import wait_until
from services import Client, Nginx, NginxReuseport

CLIENTS = 16
UPGRADES = 8


def good(machine, number):
    machine.upgrade(f"v{2 - number % 2}", "committed")


def refused(machine, _):
    check_fails(machine)


# For each test: its name, the class of the daemon, whether init passes the daemon's socket, the
# function that upgrades, and whether every request must be answered.
PLAYS = [("good, sockets passed", Nginx, True, good, True),
         ("good, sockets passed, reuseport", NginxReuseport, True, good, False),
         ("check fails, reuseport", NginxReuseport, False, refused, True)]


def play(kind, sockets, upgrade):
    """Upgrades while clients send requests. Returns how many requests were answered, and how many
    were not."""
    # The time limit of each trial is a minute, but a trial ends as soon as agentify says `healthy`.
    machine = Machine(kind, sockets, trial="60s")
    try:
        machine.point_at("v1")
        machine.start()
        answers(machine)
        with ExitStack() as stack:
            crowd = [stack.enter_context(Client(machine.service.ask)) for _ in range(CLIENTS)]

            def all_answered():
                before = [client.answered for client in crowd]
                wait_until(lambda: all(client.answered > one + 1
                                       for client, one in zip(crowd, before)), "answers to all")

            for number in range(1, UPGRADES + 1):
                all_answered()
                upgrade(machine, number)
            all_answered()
        machine.stop()
        return sum(client.answered for client in crowd), sum(client.lost for client in crowd)
    finally:
        machine.clean_up()


def main():
    rows = ['.Bl -column "good, sockets passed, reuseport" "answered"',
            ".It upgrades of nginx Ta answered Ta lost"]
    passed, failed = 0, 0
    for name, kind, sockets, upgrade, nothing_lost in PLAYS:
        try:
            answered, lost = play(kind, sockets, upgrade)
            assert not lost or not nothing_lost, f"{lost} lost"
            rows.append(f".It {name} Ta {answered} Ta {lost}")
            passed += 1
            print(f"ok {name}: {answered} answered, {lost} lost", flush=True)
        except AssertionError as error:
            failed += 1
            print(f"not ok {name}: {error}", flush=True)
    if os.environ.get("TABLE") and not failed:
        write_table(os.environ["TABLE"], "\n".join(rows + [".El"]) + "\n", number=1)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
