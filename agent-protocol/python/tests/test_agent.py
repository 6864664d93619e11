"""Tests the class Agent with real pipes. Each agent is a process, and the test takes the part of
the upgrader."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from typing import Any

LIBRARY = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PATIENCE = 60.0
WELCOME = {"type": "welcome", "protocol": 1, "features": [], "generation": 1, "role": "first"}
ACTIVATE = {"type": "activate", "clean": False}


def played(program: str, *messages: dict[str, Any]) -> tuple[list[str], str]:
    """Runs the program under a fake upgrader, which has written these messages to the agent's
    input. Returns the types of the agent's messages, and the text that the agent has printed."""
    reader, writer = os.pipe()
    for message in messages:
        os.write(writer, json.dumps(message).encode() + b"\n")
    # Give the program a directory of its own. Python first looks there for modules, and a file such
    # as enum.py in /tmp would replace Python's module.
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(program)
        done = subprocess.run(
            [sys.executable, "-B", path],
            stdin=reader,
            capture_output=True,
            env={**os.environ, "AGENT_PROTOCOL": "1", "PYTHONPATH": LIBRARY},
            text=True,
            timeout=PATIENCE,
            check=False,
        )
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


class TestThreads(unittest.TestCase):
    def test_messages_of_several_threads_do_not_mix(self) -> None:
        program = """
import sys, threading
from agent_protocol import Activate, Agent
sys.setswitchinterval(1e-6)
agent = Agent("1.0")
agent.ready()
while not isinstance(agent.wait(), Activate):
    pass
def work():
    for _ in range(300):
        agent.heartbeat()
threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
while any(thread.is_alive() for thread in threads):
    agent.wait(0.001)
"""

        said, printed = played(program, WELCOME, ACTIVATE)

        self.assertEqual(said, ["hello", "ready"] + ["heartbeat"] * 1200)
        self.assertEqual(printed, "")


class TestFork(unittest.TestCase):
    def test_a_forked_process_sends_nothing_and_takes_no_message_of_its_parent(self) -> None:
        program = """
import os, sys
from agent_protocol import Agent, Refused
agent = Agent("1.0")
if os.fork() == 0:
    for call in agent.ready, agent.wait:
        try:
            call()
        except (Refused, ValueError) as error:
            print(error)
    sys.stdout.flush()
    os._exit(0)
os.wait()
print(type(agent.wait()).__name__)
"""

        said, printed = played(program, WELCOME)

        self.assertEqual(said, ["hello"])
        self.assertEqual(
            printed.splitlines(),
            [
                "cannot say ready: this process is a fork of the agent's process",
                "this process is a fork of the agent's process",
                "Welcome",
            ],
        )

    def test_without_an_upgrader_a_program_may_become_a_daemon(self) -> None:
        program = """
import os
del os.environ["AGENT_PROTOCOL"]
from agent_protocol import Agent
agent = Agent("1.0")
if os.fork() == 0:
    agent.ready()
    print(type(agent.wait()).__name__, file=os.fdopen(2, "w"))
else:
    os.wait()
"""

        self.assertEqual(played(program), ([], "Activate\n"))


class TestWait(unittest.TestCase):
    def test_a_wait_may_be_longer_than_the_longest_time_of_the_kernel(self) -> None:
        program = """
import os, signal
from agent_protocol import Agent
agent = Agent("1.0")
agent.ready()
signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGTERM))
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
for seconds in (float("inf"), 1e7, 1e7):
    print(type(agent.wait(seconds)).__name__)
"""

        said, printed = played(program, WELCOME, ACTIVATE)

        self.assertEqual(printed, "Welcome\nActivate\nStop\n")
        self.assertEqual(said, ["hello", "ready"])


class TestClose(unittest.TestCase):
    def test_a_closed_agent_touches_no_descriptor_that_has_its_number(self) -> None:
        program = """
import os
from agent_protocol import Activate, Agent, Refused
with Agent("1.0") as agent:
    agent.ready()
    while not isinstance(agent.wait(), Activate):
        pass
files = [os.memfd_create("file") for _ in range(8)]
for file in files:
    os.write(file, b"untouched")
    os.lseek(file, 0, os.SEEK_SET)
for call in agent.heartbeat, agent.stopped, agent.next, agent.wait:
    try:
        call()
    except (Refused, ValueError) as error:
        print(error)
agent.close()
print({os.pread(file, 100, 0) for file in files}, {os.lseek(file, 0, 1) for file in files})
"""

        said, printed = played(program, WELCOME, ACTIVATE)

        self.assertEqual(said, ["hello", "ready"])
        self.assertEqual(
            printed.splitlines(),
            [
                "cannot say heartbeat: the conversation has been closed",
                "cannot say stopped: the conversation has been closed",
                "the conversation has been closed",
                "the conversation has been closed",
                "{b'untouched'} {0}",
            ],
        )

    def test_close_wakes_the_threads_that_wait(self) -> None:
        program = """
import sys, threading
from agent_protocol import Activate, Agent
agent = Agent("1.0")
agent.ready()
while not isinstance(agent.wait(), Activate):
    pass
ends = []
def call():
    try:
        ends.append(agent.wait())
    except ValueError as error:
        ends.append(str(error))
def loop():
    ends.extend(agent)
    ends.append("the loop has ended")
def waits(thread):
    frame = sys._current_frames().get(thread.ident)
    return frame is not None and frame.f_code.co_name == "wait"
threads = [threading.Thread(target=work, daemon=True) for work in (call, call, loop)]
for thread in threads:
    thread.start()
while not all(waits(thread) for thread in threads):
    pass
agent.close()
for thread in threads:
    thread.join(15)
print(sorted(ends))
"""

        said, printed = played(program, WELCOME, ACTIVATE)

        self.assertEqual(said, ["hello", "ready"])
        closed = "the conversation has been closed"
        self.assertEqual(printed, f"{[closed, closed, 'the loop has ended']}\n")

    def test_a_worker_thread_may_close_and_sigterm_is_given_back(self) -> None:
        program = """
import os, signal, threading
from agent_protocol import Activate, Agent
signal.signal(signal.SIGTERM, lambda *_: print("the former handler"))
agent = Agent("1.0")
agent.ready()
while not isinstance(agent.wait(), Activate):
    pass
worker = threading.Thread(target=agent.close)
worker.start()
try:
    agent.wait(30)
except ValueError as error:
    print(error)
worker.join()
for _ in range(2):
    os.kill(os.getpid(), signal.SIGTERM)
"""

        said, printed = played(program, WELCOME, ACTIVATE)

        self.assertEqual(said, ["hello", "ready"])
        self.assertEqual(
            printed.splitlines(),
            ["the conversation has been closed"] + ["the former handler"] * 2,
        )


class TestAsyncAgent(unittest.TestCase):
    def test_close_wakes_the_tasks_that_wait(self) -> None:
        program = """
import asyncio
from agent_protocol import AsyncAgent
async def loop(agent):
    async for event in agent:
        print(type(event).__name__)
    print("the loop has ended")
async def main():
    async with AsyncAgent("1.0") as agent:
        task = asyncio.ensure_future(loop(agent))
        while not agent._waiting:
            await asyncio.sleep(0)
    await asyncio.wait_for(task, 30)
asyncio.run(main())
"""

        said, printed = played(program)

        self.assertEqual(printed, "the loop has ended\n")
        self.assertEqual(said, ["hello"])

    def test_two_tasks_may_wait_for_events(self) -> None:
        program = """
import asyncio, os, signal
from agent_protocol import Activate, AsyncAgent
async def main():
    async with AsyncAgent("1.0") as agent:
        agent.ready()
        while not isinstance(await agent.wait(), Activate):
            pass
        both = [asyncio.ensure_future(agent.wait()), asyncio.ensure_future(agent.wait(0.01))]
        print(await both[1])
        os.kill(os.getpid(), signal.SIGTERM)
        print(type(await asyncio.wait_for(both[0], 30)).__name__)
asyncio.run(main())
"""

        said, printed = played(program, WELCOME, ACTIVATE)

        self.assertEqual(printed, "None\nStop\n")
        self.assertEqual(said, ["hello", "ready"])


class TestMultiprocessing(unittest.TestCase):
    def test_a_worker_that_imports_the_program_again_is_no_second_agent(self) -> None:
        program = """
import multiprocessing
from agent_protocol import Agent
agent = Agent("1.0")
if __name__ == "__main__":
    worker = multiprocessing.get_context("spawn").Process(target=print)
    worker.start()
    worker.join()
    print("status", worker.exitcode)
"""

        said, printed = played(program, WELCOME)

        self.assertEqual(said, ["hello"])
        self.assertIn('put the call of Agent() behind `if __name__ == "__main__":`', printed)
        self.assertIn("status 1", printed)


class TestUpgrade(unittest.TestCase):
    def test_arguments_that_are_a_single_text_are_refused(self) -> None:
        program = """
from agent_protocol import Activate, Agent
agent = Agent("1.0")
agent.ready()
while not isinstance(agent.wait(), Activate):
    pass
try:
    agent.upgrade("u", "/agent", "--port=80")
except ValueError as error:
    print(error)
"""

        said, printed = played(program, WELCOME, ACTIVATE)

        self.assertEqual(said, ["hello", "ready"])
        self.assertEqual(printed, "args are a single text, and not a sequence of texts\n")


if __name__ == "__main__":
    unittest.main()
