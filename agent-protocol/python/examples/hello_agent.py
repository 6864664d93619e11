#!/usr/bin/python3
"""Serves a counter on a TCP port: each connection gets the next number, and no number is given away
twice.

usage: hello_agent.py PORT FILE, where FILE holds the last number that was given away. Upgrades,
crashes and power cuts repeat no number, since a number is on the disk before it is sent. A number
that was written, but not sent before a crash, is skipped.
"""

import os
import selectors
import socket
import sys

from agent_protocol import Activate, Agent, Stop, Welcome

VERSION = "1.0"


class Counter:
    """Holds the last number given away. A new number is on the disk before anybody gets it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def problem(self) -> str | None:
        """Checks whether this agent could do its work here. Changes nothing."""
        try:
            self.last()
        except (OSError, ValueError) as error:
            return f"cannot read {self.path}: {error}"
        if not os.access(os.path.dirname(os.path.abspath(self.path)), os.W_OK):
            return f"cannot write beside {self.path}"
        return None

    def last(self) -> int:
        try:
            with open(self.path, encoding="ascii") as file:
                return int(file.read())
        except FileNotFoundError:
            return 0

    def next(self) -> int:
        number = self.last() + 1
        with open(self.path + ".new", "w", encoding="ascii") as file:
            file.write(str(number))
            file.flush()
            os.fsync(file.fileno())
        os.rename(self.path + ".new", self.path)
        directory = os.open(os.path.dirname(os.path.abspath(self.path)), os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)
        return number


def listen(port: int) -> socket.socket:
    """Returns the socket that init has passed, which stays open through every upgrade, or a new
    one."""
    if os.environ.get("LISTEN_PID") == str(os.getpid()):
        return socket.socket(fileno=3)
    return socket.create_server(("127.0.0.1", port))


def serve(listener: socket.socket, counter: Counter) -> None:
    connection, _ = listener.accept()
    with connection:
        try:
            connection.sendall(f"{counter.next()}\n".encode())
        except OSError:
            pass  # the client has gone; its number is skipped


def main() -> int:
    port, counter = int(sys.argv[1]), Counter(sys.argv[2])
    with Agent(VERSION) as agent, selectors.DefaultSelector() as selector:
        agent.add_check("counter", counter.problem)
        agent.ready()
        selector.register(agent, selectors.EVENT_READ)
        listener = pause = None  # pause: the seconds between heartbeats
        while True:
            for key, _ in selector.select(pause):
                if key.fileobj is listener:
                    serve(listener, counter)
            if listener and pause:
                agent.heartbeat()
            while event := agent.next():
                if isinstance(event, Welcome):
                    pause = event.watchdog and event.watchdog / 3
                elif isinstance(event, Activate):
                    listener = listen(port)
                    selector.register(listener, selectors.EVENT_READ)
                elif isinstance(event, Stop):
                    if listener:
                        listener.close()
                    agent.stopped()
                    return 0


if __name__ == "__main__":
    sys.exit(main())
