"""Tests the decisions of an agent's session, without any process."""

import unittest

from agent_protocol import (
    Accepted,
    Activate,
    CandidateLost,
    CandidateReady,
    Committed,
    Refused,
    Stop,
    UpgradeFailed,
    Welcome,
)
from agent_protocol.events import Failure
from agent_protocol.session import Deliver, ExitAtOnce, Send, SendStopped, Session


def held(role: str = "first", features: tuple[str, ...] = ()) -> Session:
    session = Session(alone=False)
    session.say("hello")
    session.hear(Welcome(1, role, features=features))
    session.say("ready")
    return session


def active(role: str = "first", features: tuple[str, ...] = ()) -> Session:
    session = held(role, features)
    session.hear(Activate(True))
    return session


class Story(unittest.TestCase):
    def test_a_held_agent_exits_at_once_at_the_end_of_input_and_at_sigterm(self) -> None:
        self.assertEqual(held().input_ended(), [ExitAtOnce(1)])
        self.assertEqual(held().terminated(), [ExitAtOnce(143)])

    def test_an_active_agent_is_told_to_stop_once_whoever_asks(self) -> None:
        session = active()
        self.assertEqual(session.terminated(), [Deliver(Stop("signal"))])
        self.assertEqual(session.hear(Stop("shutdown")), [])
        self.assertEqual(session.input_ended(), [])

    def test_a_stop_that_crosses_our_own_stopped_is_answered_with_it(self) -> None:
        session = active()
        session.terminated()
        self.assertEqual(session.say("stopped"), [])
        self.assertEqual(session.hear(Stop("upgrade", 1.0, "u", 2)), [SendStopped()])

    def test_a_stop_for_an_upgrade_that_was_cancelled_is_void(self) -> None:
        session = active()
        session.say("upgrade", "u")
        session.hear(Accepted("u", 2))
        session.say("cancel", "u")
        self.assertEqual(session.hear(Stop("upgrade", 1.0, "u", 2)), [])
        self.assertEqual(session.life, "active")

    def test_work_can_be_taken_back_when_the_candidate_is_lost(self) -> None:
        session = active()
        session.hear(Stop("upgrade", 1.0, "u", 2))
        lost = CandidateLost("u", "it died")
        self.assertEqual(session.hear(lost), [Deliver(lost)])
        self.assertEqual(session.say("cancel", "u"), [Send()])
        failed = UpgradeFailed(Failure("u", "start", "it died"))
        self.assertEqual(session.hear(failed), [Deliver(failed)])
        self.assertEqual(session.say("upgrade", "next"), [Send()])

    def test_the_gate_is_opened_once(self) -> None:
        session = active()
        session.say("upgrade", "u")
        session.hear(Accepted("u", 2))
        with self.assertRaisesRegex(Refused, "its candidate is not ready"):
            session.say("confirm", "u")
        session.hear(CandidateReady("u", 2))
        session.say("confirm", "u")
        with self.assertRaisesRegex(Refused, "it has been confirmed"):
            session.say("confirm", "u")

    def test_only_a_candidate_is_on_trial(self) -> None:
        session = active("candidate")
        self.assertEqual(session.say("healthy"), [Send()])
        with self.assertRaisesRegex(Refused, "on trial"):
            session.say("upgrade", "u")
        session.hear(Committed("v", 2))
        with self.assertRaisesRegex(Refused, "not on trial"):
            session.say("healthy")
        with self.assertRaisesRegex(Refused, "not on trial"):
            active("fallback").say("unfit")

    def test_a_fallback_at_boot_is_on_trial(self) -> None:
        session = Session(alone=False)
        session.say("hello")
        failure = Failure("boot", "start", "it died")
        session.hear(Welcome(2, "fallback", failure=failure))
        session.say("ready")
        session.hear(Activate(False, trial=1.0, commit="healthy"))
        with self.assertRaisesRegex(Refused, "on trial"):
            session.say("upgrade", "u")
        self.assertEqual(session.say("healthy"), [Send()])
        committed = Committed("boot", 2)
        self.assertEqual(session.hear(committed), [Deliver(committed)])

    def test_with_readiness_healthy_is_said_in_every_role_and_extend_until_then(self) -> None:
        for role in ("first", "candidate", "fallback"):
            session = held(role, ("other", "readiness"))
            for word in ("healthy", "extend"):
                with self.assertRaisesRegex(Refused, f"{word}: this agent has said ready"):
                    session.say(word)
            session.hear(Activate())
            self.assertEqual(session.say("extend"), [Send()])
            self.assertEqual(session.say("healthy"), [Send()])
            with self.assertRaisesRegex(Refused, "cannot say extend: this agent is active"):
                session.say("extend")
            session.hear(Committed("v", 2))
            self.assertEqual(session.say("healthy"), [Send()])
            session.hear(Stop("shutdown", 1.0))
            self.assertEqual(session.say("extend"), [Send()])

    def test_a_feature_that_the_upgrader_does_not_have_allows_nothing(self) -> None:
        for features in ((), ("other",)):
            session = active("first", features)
            for word in ("healthy", "extend"):
                with self.assertRaises(Refused):
                    session.say(word)

    def test_an_agent_that_has_said_unfit_is_not_healthy_whatever_its_features(self) -> None:
        session = active("candidate", ("readiness",))
        session.say("unfit")
        with self.assertRaisesRegex(Refused, "this agent has said unfit"):
            session.say("healthy")

    def test_what_may_not_be_said_changes_nothing(self) -> None:
        session = held()
        before = dict(session.__dict__)
        for word in ("ready", "stopped", "healthy", "heartbeat", "extend", "upgrade", "cancel"):
            with self.assertRaises(Refused):
                session.say(word, "u")
        self.assertEqual(session.__dict__, before)

    def test_messages_that_do_not_fit_are_told_to_nobody(self) -> None:
        session = held()
        for event in (Stop("upgrade"), Accepted("u", 2), Committed("u", 1), CandidateLost("u", "")):
            self.assertEqual(session.hear(event), [])
        session.hear(Activate())
        self.assertEqual(session.hear(Activate()), [])
        self.assertEqual(session.hear(Welcome(1, "first")), [])


class Alone(unittest.TestCase):
    def test_the_same_story_without_an_upgrader(self) -> None:
        session = Session(alone=True)
        self.assertEqual(session.say("hello"), [])
        self.assertEqual(session.say("ready"), [Deliver(Activate())])
        for word in ("heartbeat", "healthy", "status", "extend", "cancel"):
            self.assertEqual(session.say(word, "u"), [])
        with self.assertRaisesRegex(Refused, "there is no upgrader"):
            session.say("upgrade", "u")
        self.assertEqual(session.input_ended(), [])
        self.assertEqual(session.terminated(), [Deliver(Stop("signal"))])
        self.assertEqual(session.say("stopped"), [])


if __name__ == "__main__":
    unittest.main()
