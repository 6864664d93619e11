"""Tests lines and messages against the limits of agent-protocol(7)."""

import os
import re
import unittest
from typing import Any

from agent_protocol import Activate, Agent, Stop, UpgradeFailed, Welcome, messages
from agent_protocol.events import Failure


class Encode(unittest.TestCase):
    def test_only_what_must_be_escaped_is_escaped_in_the_shortest_form(self) -> None:
        line = messages.encode("status", text='"\\\n\t\x01\x7fü/')
        expected = '{"type":"status","text":"\\"\\\\\\n\\t\\u0001\x7fü/"}\n'
        self.assertEqual(line.decode(), expected)

    def test_absent_members_are_left_out(self) -> None:
        self.assertEqual(messages.encode("stopped", state=None), b'{"type":"stopped"}\n')

    def test_state_has_a_limit_plain_and_one_escaped(self) -> None:
        messages.check_state("x" * 32_768)
        with self.assertRaisesRegex(ValueError, "32769 bytes"):
            messages.check_state("x" * 32_769)
        with self.assertRaisesRegex(ValueError, "when it is escaped"):
            messages.check_state("\x01" * 11_000)

    def test_features_have_limits_and_are_no_single_text(self) -> None:
        names = ["x" * 32] * 16
        self.assertEqual(messages.check_features(names), names)
        for wrong in (names + ["x"], ["x" * 33], [1], "readiness"):
            with self.assertRaises(ValueError):
                messages.check_features(wrong)  # type: ignore[arg-type]

    def test_what_cannot_be_sent_is_refused_and_never_cut_in_silence(self) -> None:
        for text in ("a\0b", "\ud800"):
            with self.assertRaises(ValueError):
                messages.check_state(text)
        with self.assertRaisesRegex(ValueError, "printable ASCII"):
            messages.check_id("ü")
        with self.assertRaises(ValueError):
            messages.check_id("")
        with self.assertRaises(ValueError):
            messages.milliseconds("trial", 90_000)

    def test_an_upgrade_may_ask_for_a_fallback_that_stands_by(self) -> None:
        lines = []

        class Writing(Agent):
            def __init__(self) -> None:
                pass

            def _say(self, word: str, at_last: bool = False, **members: Any) -> None:
                lines.append(messages.encode(word, **members))

        Writing().upgrade("u", "/agent", fallback="warm")
        expected = b'{"type":"upgrade","id":"u","executable":"/agent","fallback":"warm"}\n'
        self.assertEqual(lines, [expected])

    def test_texts_for_people_are_cut_between_two_characters(self) -> None:
        self.assertEqual(messages.fit("aüü", 4), "aü")


class Decode(unittest.TestCase):
    def test_a_message_with_members_that_are_not_known(self) -> None:
        line = b' {"new":[1,{"x":null}],"state":"\\u00e4","clean":true,"type":"activate"} '
        self.assertEqual(messages.decode(line), Activate(clean=True, state="ä"))

    def test_every_member_of_welcome(self) -> None:
        line = (
            b'{"type":"welcome","protocol":1,"features":[],"generation":3,"role":"fallback",'
            b'"failure":{"id":"u","stage":"trial","reason":"r","signal":9},"watchdog_ms":1500}'
        )
        told = messages.decode(line)
        assert isinstance(told, Welcome) and told.failure is not None
        self.assertEqual((told.role, told.failure.signal, told.watchdog), ("fallback", 9, 1.5))

    def test_a_standby_is_told_why_it_runs_when_it_is_activated(self) -> None:
        welcome = messages.decode(
            b'{"type":"welcome","protocol":1,"features":[],"generation":3,"role":"fallback"}'
        )
        assert isinstance(welcome, Welcome)
        self.assertIsNone(welcome.failure)
        told = messages.decode(
            b'{"type":"activate","clean":false,"failure":'
            b'{"id":"u","stage":"trial","reason":"r","exit_status":1,"version":"2"}}'
        )
        failure = Failure("u", "trial", "r", version="2", exit_status=1)
        self.assertEqual(told, Activate(clean=False, failure=failure))

    def test_an_agent_on_trial_is_told_how_long_and_what_passes_it(self) -> None:
        line = b'{"type":"activate","clean":true,"trial_ms":1500,"commit":"healthy"}'
        told = messages.decode(line)
        self.assertEqual(told, Activate(clean=True, trial=1.5, commit="healthy"))
        later = messages.decode(line.replace(b"healthy", b"later"))
        self.assertEqual(later, Activate(clean=True, trial=1.5, commit=None))

    def test_what_is_malformed_or_no_message_is_ignored(self) -> None:
        for line in (
            b"",
            b"[]",
            b"{",
            b'{"type":"new"}',
            b'{"type":"activate"}',  # the required member `clean` is missing
            b'{"type":"activate","clean":1}',
            b'{"type":"activate","clean":null}',
            b'{"type":"activate","clean":true,"clean":true}',
            b'{"type":"activate","type":"activate","clean":true}',
            b'{"type":"activate","clean":true,"state":"\\u0000"}',
            b'{"type":"activate","clean":true,"state":"\\ud800"}',
            b'{"type":"activate","clean":true,"state":"\xff"}',
            b'{"type":"activate","clean":true,"failure":null}',
            b'{"type":"activate","clean":true,"trial_ms":"1"}',
            b'{"type":"activate","clean":true,"commit":null}',
            b'{"type":"activate","clean":true,"failure":{"id":"u","stage":"trial"}}',
            b'{"type":"committed","id":"u","generation":1.0}',
            b'{"type":"committed","id":"u","generation":NaN}',
            b'{"type":"committed","id":"u","generation":true}',
            b'{"type":"welcome","protocol":1,"generation":1,"role":"boss"}',
            b"[" * 60_000,
        ):
            self.assertIsNone(messages.decode(line), line[:60])

    @unittest.skipUnless("AGENT_LINES" in os.environ, "a table of the project's own tests")
    def test_lines_are_judged_as_in_all_other_languages(self) -> None:
        with open(os.environ["AGENT_LINES"], encoding="ascii") as table:
            for number, judgement, digits in map(str.split, table):
                event = messages.decode(bytes.fromhex(digits.strip("-")))
                name = re.sub("(?<!^)(?=[A-Z])", "_", type(event).__name__).lower()
                judged = "ignored" if event is None else name
                with self.subTest(row=number):
                    self.assertEqual(judged, judgement)

    def test_a_stop_and_a_failure(self) -> None:
        stop = b'{"type":"stop","reason":"upgrade","deadline_ms":90000,"id":"u","generation":2}'
        self.assertEqual(messages.decode(stop), Stop("upgrade", 90.0, "u", 2))
        failed = messages.decode(
            b'{"type":"upgrade_failed","id":"u","stage":"spawn","reason":"r","errno":"ENOENT"}'
        )
        assert isinstance(failed, UpgradeFailed)
        self.assertEqual(failed.failure.errno, "ENOENT")


if __name__ == "__main__":
    unittest.main()
