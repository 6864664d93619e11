"""Tests the decisions of update(): the order of versions, and the errors that it reports if a
program fails."""

import json
import os
import signal
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any

from agent_protocol import Accepted, Committed, Stop, update
from agent_protocol._releases import Releases, UpdateError, last_words, release_of, run
from agent_protocol._sources import Directory, is_version, order

from .test_request import PATIENCE, FakeAgent, begun

# A fake agent-releases. Its n-th call of a command, such as `try`, prints the file try.n, or else
# the file try. If there is a file try.n.fault, the call fails with that file's content as the
# error.
PROGRAM = """#!/bin/sh
cd "${0%/*}"
for word; do case $word in --*) ;; *) break ;; esac; done
echo "$word" >>calls
file=$word.$(grep -c "^$word$" calls)
if [ -f "$file.fault" ]; then cat "$file.fault" >&2; exit 6; fi
cat "$file" 2>>faults || cat "$word"
"""


class Update(unittest.TestCase):
    def test_versions_are_ordered(self) -> None:
        rising = ["1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0-0", "2.0.0"]
        self.assertEqual(sorted(reversed(rising), key=order), rising)
        self.assertEqual(order("1.0.0+a"), order("1.0.0+b"))

    def test_a_text_that_is_not_a_version_is_not_taken_for_one(self) -> None:
        for text in ["1.0", "", "v1.0.0", "1.0.0 ", "1.0.0/..", "1.0.0-", "1.0." + "1" * 125, None]:
            self.assertFalse(is_version(text), text)
        for text in ["1.0.0", "10.20.30-rc.1", "1.0.0+build"]:
            self.assertTrue(is_version(text), text)

    def test_last_words_are_one_line_that_commands_no_terminal(self) -> None:
        self.assertEqual(last_words("one\n\n\x1b[2Jgone\n"), "one; [2Jgone")
        self.assertEqual(len(last_words("x" * 10_000)), 600)

    def test_a_program_that_fails_is_told_in_words(self) -> None:
        with self.assertRaises(UpdateError) as caught:
            run("try", ["sh", "-c", "echo no disk >&2; exit 5"])
        self.assertEqual(str(caught.exception), "cannot try: no disk")
        self.assertEqual(caught.exception.status, 5)
        with self.assertRaisesRegex(UpdateError, "there is no program /none"):
            run("try", ["/none"])

    def test_a_failure_is_never_taken_for_a_success(self) -> None:
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        try:
            with self.assertRaisesRegex(UpdateError, "cannot try: this process ignores SIGCHLD"):
                run("try", ["sh", "-c", "exit 5"])
        finally:
            signal.signal(signal.SIGCHLD, before)

    def test_a_program_knows_the_release_that_it_lies_in(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            place = Path(os.path.realpath(name))
            release = place / "web-v1.2.3" / "site-packages"
            release.mkdir(parents=True)
            (release / "web.py").touch()
            self.assertIsNone(release_of(str(release / "web.py")))
            (place / ".name").write_text("web\n")
            own = release_of(str(release / "web.py"))
            assert own is not None
            self.assertEqual((own.name, own.version, own.directory), ("web", "1.2.3", place))

    def test_what_is_no_manifest_in_a_directory_of_published_files_is_passed_over(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            good = {"name": "web", "version": "1.2.3", "arch": "any"}
            (place / "good.json").write_text(json.dumps(good))
            (place / "deep.json").write_text("[" * 60_000)
            (place / "long.json").write_text(json.dumps({**good, "version": "1.0." + "9" * 5_000}))
            (place / "directory.json").mkdir()
            os.mkfifo(place / "fifo.json")
            source = Directory(Releases(name, None), "web", name, "/keys")
            self.assertEqual(begun(source.newest).get(timeout=PATIENCE), "1.2.3")

    def test_the_reason_of_a_failure_may_have_any_character(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            program = Path(name) / "agent-releases"
            program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" >"${0%/*}/words"\n')
            program.chmod(0o755)
            Releases(name, name).fail("u", "start", "a\0b\n\ud800", None)
            words = (Path(name) / "words").read_text().splitlines()
            self.assertIn("--reason=a b ?", words)


class UpdateOfAnAgent(unittest.TestCase):
    """Tests update() for an agent, with answers of agent-releases that the test has written."""

    def setUp(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.place = Path(self.directory.name)
        self.answer("agent-releases", PROGRAM)
        (self.place / "agent-releases").chmod(0o755)
        self.answer("web.pub", "")
        self.keys = self.place

    def answer(self, name: str, text: str) -> None:
        (self.place / name).write_text(text)

    def answer_list(self, newest_is_desired: str = "true") -> None:
        releases = '[{"version": "1.0.0", "current": true}]'
        members = f'"newest_is_desired": {newest_is_desired}, "releases": {releases}'
        self.answer("list", f'{{"name": "web", {members}}}')

    def answer_add(self, version: str) -> None:
        self.answer("add", f'{{"release": {{"version": "{version}"}}}}')

    def answer_try(self, name: str, left_out: str = "") -> None:
        release = '{"version": "1.2.0", "executable": "/web"}'
        more = f', "left_out": "{left_out}"' if left_out else ""
        self.answer(name, f'{{"running": "1.0.0", "id": "u", "release": {release}{more}}}')

    def begin(self, agent: Any) -> Any:
        def called() -> Any:
            try:
                return update(
                    agent=agent,
                    url="https://example.org/web.json",
                    keys=str(self.keys),
                    releases=str(self.place),
                    programs=str(self.place),
                )
            except UpdateError as error:
                return str(error)

        return begun(called)

    def replaced(self) -> Any:
        """Returns the result of update() after the upgrader has accepted the request."""
        agent = FakeAgent()
        ended = self.begin(agent)
        self.assertTrue(agent.roused.wait(PATIENCE))
        agent._upgrading.perform_calls()
        agent.hear(Accepted("u", 2))
        agent.hear(Stop("upgrade", 1.0, "u", 2))
        result = ended.get(timeout=PATIENCE)
        self.assertEqual((result.outcome, result.newest), ("stopping", "1.2.0"))
        return result

    def refused(self) -> Any:
        """Returns the result of an update that ends without a request for an upgrade."""
        return self.begin(FakeAgent()).get(timeout=PATIENCE)

    def test_keys_that_are_no_directory_of_keys_are_refused_before_the_search(self) -> None:
        self.keys = self.place / "keys"
        wrong = f"cannot update: keys: [Errno 2] No such file or directory: '{self.keys}'"
        self.assertEqual(self.refused(), wrong)
        self.keys.mkdir()
        wrong = f"cannot update: keys: {self.keys} has no public key, a file *.pub"
        self.assertEqual(self.refused(), wrong)
        self.assertFalse((self.place / "calls").exists())

    def test_the_releases_are_read_when_an_upgrade_may_be_requested_and_not_before(self) -> None:
        trial = FakeAgent("candidate")
        ended = self.begin(trial)
        deadline = time.monotonic() + PATIENCE
        while not trial._upgrading._watchers:
            self.assertLess(time.monotonic(), deadline)
        self.assertFalse((self.place / "calls").exists())
        self.answer_list("false")
        self.answer("try", '{"running": "1.0.0"}')
        trial.hear(Committed("u", 1))
        self.assertEqual(ended.get(timeout=PATIENCE).outcome, "held")
        self.assertEqual((self.place / "calls").read_text(), "list\ntry\n")

    def test_the_fault_of_the_first_attempt_is_a_warning_if_a_later_one_succeeds(self) -> None:
        self.answer_list()
        self.answer_add("1.2.0")
        self.answer("try.1.fault", "release 1.1.0 is damaged\n")
        self.answer_try("try.2", "release 1.1.1 is damaged")
        expected = "release 1.1.1 is damaged; cannot try what is newer than 1.0.0: release 1.1.0 "
        self.assertEqual(self.replaced().warning, expected + "is damaged")

    def test_the_fault_of_the_first_attempt_is_raised_if_there_is_no_later_one(self) -> None:
        fault = "cannot try what is newer than 1.0.0: no"
        self.answer_list()
        self.answer("try.1.fault", "no\n")
        self.answer_add("1.0.0")
        self.assertEqual(self.refused(), fault)
        self.answer("calls", "")
        self.answer("try.2.fault", "no\n")
        self.answer_add("1.2.0")
        self.assertEqual(self.refused(), fault)
        self.answer("calls", "")
        self.answer("add.1.fault", "no network\n")
        expected = "cannot add https://example.org/web.json: no network; before that: " + fault
        self.assertEqual(self.refused(), expected)
        self.answer("calls", "")
        self.answer_list("false")
        self.assertEqual(self.refused(), fault)

    def test_a_newest_release_that_is_not_to_be_tried_was_tried_has_failed_or_is_held(self) -> None:
        self.answer_list()
        self.answer_add("1.2.0")
        self.answer("try", '{"running": "1.0.0"}')
        for last, outcome, reason in [
            ("", "held", None),
            (', "last": {"ending": "forgotten"}', "held", None),
            (', "last": {"ending": "failed", "tried_again": true}', "held", None),
            (', "last": {"ending": "trying"}', "failed", "it was tried, and has no ending"),
            (', "last": {"ending": "failed", "reason": "it died"}', "failed", "it died"),
        ]:
            self.answer("show", '{"version": "1.2.0"' + last + "}")
            ended = self.refused()
            self.assertEqual((ended.outcome, ended.reason), (outcome, reason), last)
