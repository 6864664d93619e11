"""Tests the class Agent with real pipes. Each agent is a process, and the test takes the part of
the upgrader."""

import json
import os
import subprocess
import sys
import unittest
from typing import Any

PATIENCE = 60.0
WELCOME = {"type": "welcome", "protocol": 1, "features": [], "generation": 1, "role": "first"}


def played(program: str, *messages: dict[str, Any]) -> tuple[list[str], str]:
    """Runs the program under a fake upgrader, which has written these messages to the agent's
    input. Returns the types of the agent's messages, and the text that the agent has printed."""
    reader, writer = os.pipe()
    try:
        for message in messages:
            os.write(writer, json.dumps(message).encode() + b"\n")
        done = subprocess.run(
            [sys.executable, "-B", "-c", program],
            stdin=reader,
            capture_output=True,
            env={**os.environ, "AGENT_PROTOCOL": "1"},
            text=True,
            timeout=PATIENCE,
            check=False,
        )
    finally:
        os.close(reader)
        os.close(writer)
    return [json.loads(line)["type"] for line in done.stdout.splitlines()], done.stderr


class TestReady(unittest.TestCase):
    def test_a_second_ready_runs_the_checks_again_if_a_check_has_raised(self) -> None:
        program = """
from agent_protocol import Agent, Refused
def check():
    raise OSError("no database")
agent = Agent("1.0")
agent.add_check("database", check)
for attempt in range(2):
    try:
        agent.ready()
    except OSError as error:
        print(error)
"""

        said, printed = played(program, WELCOME)

        self.assertEqual(said, ["hello"])
        self.assertEqual(printed, "no database\nno database\n")


if __name__ == "__main__":
    unittest.main()
