"""Tests that an agent which has executed itself again knows that it has been an agent."""

import os
import subprocess
import sys
import unittest

AGENT = """
import errno, os, sys
from agent_protocol import Agent
try:
    agent = Agent("1.0")
except OSError as error:
    sys.exit(7 if error.errno == errno.ENOTCONN else 1)
os.execl(sys.executable, sys.executable, *sys.orig_argv[1:])
"""


def status() -> int:
    done = subprocess.run(
        [sys.executable, "-B", "-c", AGENT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "AGENT_PROTOCOL": "1"},
        timeout=60,
        check=False,
    )
    return done.returncode


class TestMark(unittest.TestCase):
    def test_an_agent_that_executed_itself_anew_has_no_conversation(self) -> None:
        self.assertEqual(status(), 7)

    def test_a_mark_of_another_process_is_nothing(self) -> None:
        os.environ["LIBAGENT_PROTOCOL_PROCESS"] = f"{os.getpid()} 1"
        self.addCleanup(os.environ.pop, "LIBAGENT_PROTOCOL_PROCESS")
        self.assertEqual(status(), 7)


if __name__ == "__main__":
    unittest.main()
