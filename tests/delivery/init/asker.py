#!/usr/bin/python3
"""Sends requests to a daemon without a pause until its input ends: asker.py nginx|postgresql PORT

Prints `asks` when the daemon has given the first answers. At the end of its input, waits for a few
more answers. Then prints the longest time between two answers, in milliseconds, and the number of
lost requests."""

import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "together" / "agentify"))
from double import wait_until
from services import Client, Nginx, Postgres


def main():
    kind = {"nginx": Nginx, "postgresql": Postgres}[sys.argv[1]]
    with Client(kind(None, int(sys.argv[2])).ask) as client:
        wait_until(lambda: client.answered > 3, "answers", 60)
        print("asks", flush=True)
        sys.stdin.read()
        before = client.answered
        wait_until(lambda: client.answered > before + 3, "answers afterwards", 60)
    print(round(client.gap * 1000), client.lost)


if __name__ == "__main__":
    main()
