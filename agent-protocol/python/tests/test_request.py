"""Tests how a second thread requests the upgrade of an agent, and what ends that thread's wait. The
agent is a fake."""

import os
import threading
import unittest
from dataclasses import replace
from queue import SimpleQueue
from typing import Any, Optional

from agent_protocol import (
    Accepted,
    Activate,
    Committed,
    Error,
    Failure,
    Refused,
    Stop,
    UpdateError,
    UpgradeFailed,
    Welcome,
)
from agent_protocol._request import may_request, record_failures, request, upgrading_of
from agent_protocol._upgrading import Upgrading
from agent_protocol.channel import Channel
from agent_protocol.session import Deliver, Session

FAILURE = Failure("u", "start", "it died")
PATIENCE = 60.0


class FakeAgent:
    """A fake agent, which is active; with the role `candidate` it is also on trial. The test's own
    thread serves as the agent's thread."""

    alone = False

    def __init__(self, role: str = "first") -> None:
        self.session = Session(alone=False)
        self.reads = True  # whether the upgrader reads the pipe from this agent
        self.roused = threading.Event()
        self._upgrading = Upgrading(self.session, "1.0.0", self.roused.set)
        self.session.say("hello")
        self.hear(Welcome(1, role))
        self.session.say("ready")
        self.hear(Activate(True))

    def hear(self, event: Any) -> None:
        for action in self.session.hear(event):
            if isinstance(action, Deliver):
                self._upgrading.tell(action.event)

    def upgrade(self, id: str, executable: str) -> None:
        self.session.say("upgrade", id)

    def _sending(self) -> Any:
        return lambda: self.reads


class Place:
    """A fake directory of releases, whose disk may be full."""

    def __init__(self, full: bool = False) -> None:
        self.full = full
        self.recorded: list[str] = []

    def fail(self, id: str, stage: str, reason: str, errno: Optional[str]) -> None:
        if self.full:
            raise UpdateError("record", "no space")
        self.recorded.append(id)


def begun(function: Any, *arguments: Any) -> "SimpleQueue[Any]":
    """Calls the function in a new thread. Returns a queue that gets the function's result."""
    result: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=lambda: result.put(function(*arguments)), daemon=True).start()
    return result


def requested(agent: Any) -> "SimpleQueue[Any]":
    """Calls request() in another thread, and returns when the agent has sent the request. Returns a
    queue that gets the result of request()."""
    result = begun(request, agent, "u", "/agent")
    assert agent.roused.wait(PATIENCE)
    agent._upgrading.perform_calls()
    return result


class Request(unittest.TestCase):
    def test_the_failure_of_the_requested_upgrade_ends_the_wait_and_others_do_not(self) -> None:
        agent = FakeAgent()
        ended = requested(agent)
        agent.hear(Accepted("u", 2))
        agent.hear(UpgradeFailed(replace(FAILURE, id="v")))
        agent.hear(UpgradeFailed(FAILURE))
        self.assertEqual(ended.get(timeout=PATIENCE), FAILURE)
        self.assertEqual(list(agent._upgrading.failures), [FAILURE])

    def test_a_stop_ends_the_wait_without_a_failure_and_so_does_the_end_of_the_agent(self) -> None:
        stopped = FakeAgent()
        ended = requested(stopped)
        stopped.hear(Stop("upgrade", 1.0, "u", 2))
        self.assertIsNone(ended.get(timeout=PATIENCE))
        closed = FakeAgent()
        ended = requested(closed)
        closed._upgrading.close()
        self.assertIsNone(ended.get(timeout=PATIENCE))

    def test_a_request_that_is_refused_has_failed_at_stage_request(self) -> None:
        trial = FakeAgent("candidate")
        reason = "cannot say upgrade u: this agent is on trial"
        self.assertEqual(requested(trial).get(timeout=PATIENCE), Failure("u", "request", reason))
        agent = FakeAgent()
        ended = requested(agent)
        agent.hear(Error("malformed", "upgrade"))
        self.assertEqual(ended.get(timeout=PATIENCE), Failure("u", "request", "malformed"))

    def test_a_request_that_the_agent_has_not_made_before_its_stop_is_withdrawn(self) -> None:
        expected = Failure("u", "request", "this agent has been told to stop")
        agent = FakeAgent()
        ended = begun(request, agent, "u", "/agent")
        self.assertTrue(agent.roused.wait(PATIENCE))
        agent.hear(Stop("shutdown"))
        self.assertEqual(ended.get(timeout=PATIENCE), expected)
        agent._upgrading.perform_calls()
        self.assertIsNone(agent.session.request)
        later = begun(request, agent, "u", "/agent")
        self.assertEqual(later.get(timeout=PATIENCE), expected)

    def test_a_request_that_the_agent_refuses_after_its_stop_has_failed_and_only_once(self) -> None:
        agent = FakeAgent()
        ended = begun(request, agent, "u", "/agent")
        self.assertTrue(agent.roused.wait(PATIENCE))
        # The agent is told to stop before its thread has sent the request. Two threads then race:
        # one withdraws the request, the other tries to send it and is refused. late() lets the
        # refusal come first.
        withdrawn = agent._upgrading.withdraw
        began = threading.Event()

        def late(call: Any) -> bool:
            began.wait(PATIENCE)
            return withdrawn(call)

        setattr(agent._upgrading, "withdraw", late)
        agent.hear(Stop("shutdown"))
        agent._upgrading.perform_calls()
        began.set()
        expected = Failure("u", "request", "cannot say upgrade u: this agent has been told to stop")
        self.assertEqual(ended.get(timeout=PATIENCE), expected)
        self.assertEqual(list(agent._upgrading.failures), [expected])

    def test_a_request_that_the_upgrader_did_not_read_before_the_stop_has_failed(self) -> None:
        agent = FakeAgent()
        ended = requested(agent)
        agent.reads = False
        agent.hear(Stop("shutdown"))
        expected = Failure("u", "request", "this agent has been told to stop")
        self.assertEqual(ended.get(timeout=PATIENCE), expected)

    def test_an_agent_on_trial_may_request_when_that_is_over_and_not_after_a_stop(self) -> None:
        trial = FakeAgent("candidate")
        may = begun(may_request, trial._upgrading)
        trial.hear(Committed("u", 1))
        self.assertTrue(may.get(timeout=PATIENCE))
        stopped = FakeAgent("candidate")
        may = begun(may_request, stopped._upgrading)
        stopped.hear(Stop("rollback"))
        self.assertFalse(may.get(timeout=PATIENCE))

    def test_failures_are_recorded_once_and_one_that_could_not_be_is_kept(self) -> None:
        upgrading = FakeAgent()._upgrading
        upgrading.tell(Welcome(1, "fallback", failure=FAILURE))
        upgrading.tell(UpgradeFailed(replace(FAILURE, id="v")))
        full: Any = Place(full=True)
        with self.assertRaisesRegex(UpdateError, "no space"):
            record_failures(upgrading, full)
        place: Any = Place()
        record_failures(upgrading, place)
        record_failures(upgrading, place)
        self.assertEqual(place.recorded, ["u", "v"])
        for number in range(40):
            upgrading.tell(UpgradeFailed(replace(FAILURE, id=str(number))))
        self.assertEqual(len(upgrading.failures), 16)

    def test_an_update_without_an_upgrader_or_in_the_main_thread_is_refused(self) -> None:
        agent: Any = FakeAgent()
        with self.assertRaisesRegex(UpdateError, "call update\\(\\) in another one"):
            upgrading_of(agent)
        agent.alone = True
        with self.assertRaisesRegex(UpdateError, "this agent runs without an upgrader"):
            upgrading_of(agent)

    def test_an_agent_knows_whether_it_may_request_an_upgrade_now_later_or_never(self) -> None:
        self.assertEqual(Session(alone=True).when_upgrade(), "never")
        session = FakeAgent("candidate").session
        self.assertEqual(session.when_upgrade(), "later")
        session.hear(Committed("u", 1))
        self.assertEqual(session.when_upgrade(), "now")
        session.say("upgrade", "v")
        self.assertEqual(session.when_upgrade(), "later")
        with self.assertRaises(Refused):
            session.say("upgrade", "w")
        session.hear(Stop("shutdown"))
        self.assertEqual(session.when_upgrade(), "never")


class Sending(unittest.TestCase):
    def test_a_line_is_sent_when_the_pipe_has_taken_all_of_it(self) -> None:
        theirs, output = os.pipe()
        input, ours = os.pipe()
        self.addCleanup(os.close, ours)
        channel = Channel(input, output)
        self.addCleanup(channel.close)
        line = b"x" * 60_000
        channel.queue(line)
        channel.exchange()
        first = channel.sending()
        channel.queue(line)
        channel.exchange()
        second = channel.sending()
        self.assertEqual((first(), second()), (True, False))
        os.read(theirs, len(line))
        channel.exchange()
        self.assertTrue(second())
        channel.queue(line)
        third = channel.sending()
        os.close(theirs)
        channel.exchange()
        self.assertEqual((second(), third()), (True, False))
