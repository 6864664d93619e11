"""What update() decides by itself: the order of versions, and what it says of programs that
fail."""

import os
import tempfile
import unittest
from pathlib import Path

from agent_protocol._releases import UpdateError, last_words, release_of, run
from agent_protocol._sources import is_version, order


class Update(unittest.TestCase):
    def test_versions_are_ordered(self) -> None:
        rising = ["1.0.0-rc.1", "1.0.0", "1.0.1", "1.2.0", "1.10.0", "2.0.0-0", "2.0.0"]
        self.assertEqual(sorted(reversed(rising), key=order), rising)
        self.assertEqual(order("1.0.0+a"), order("1.0.0+b"))

    def test_a_text_that_is_not_a_version_is_not_taken_for_one(self) -> None:
        for text in ["1.0", "", "v1.0.0", "1.0.0 ", "1.0.0/..", "1.0.0-", None]:
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
