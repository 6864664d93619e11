"""Reads and changes a directory of releases by running agent-releases(1), and runs the other
programs that an update needs. A program gets its arguments unchanged, since no shell is started for
it. This module decides nothing."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

# If a program fails, the error shows the end of its output: at most this many characters.
REASON_CHARACTERS_MAX = 600
ABSENT = 2  # the exit status of agent-releases if there is no such directory or version


class UpdateError(Exception):
    """An update failed. `deed` names the step that failed, and `reason` says why. `status` is the
    exit status of the program that was run for this step, if that program failed."""

    def __init__(self, deed: str, reason: str, status: Optional[int] = None) -> None:
        super().__init__(f"cannot {deed}: {reason}")
        self.deed, self.reason, self.status = deed, reason, status


def printable(text: str) -> str:
    """Returns the text with a blank for each control character. Control characters could command a
    terminal, and an argument of a program cannot contain a NUL. A lone surrogate, which JSON allows
    and UTF-8 does not, becomes a question mark."""
    text = re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", text)
    return text.encode("utf-8", "replace").decode()


def last_words(text: str) -> str:
    """Returns the last lines of a program's output as one line."""
    lines = [printable(line).strip() for line in text.splitlines()]
    return "; ".join(line for line in lines if line)[-REASON_CHARACTERS_MAX:]


def run(deed: str, command: Sequence[str], environment: Optional[Mapping[str, str]] = None) -> str:
    """Runs a program, and returns its standard output. Raises UpdateError if the program fails."""
    # If SIGCHLD is ignored, the kernel reaps the program, and its exit status is lost. subprocess
    # would then take every failure for a success.
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        raise UpdateError(deed, "this process ignores SIGCHLD, and so learns of no program's end")
    try:
        done = subprocess.run(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **(environment or {})},
            check=False,
        )
    except FileNotFoundError:
        raise UpdateError(deed, f"there is no program {command[0]}") from None
    except OSError as error:
        raise UpdateError(deed, f"{command[0]}: {error.strerror}") from None
    if done.returncode == 0:
        return done.stdout.decode(errors="replace")
    said = last_words(done.stderr.decode(errors="replace"))
    end = f"{command[0]} exited with status {done.returncode}"
    if done.returncode < 0:
        end = f"{command[0]} was killed by signal {-done.returncode}"
    raise UpdateError(deed, said or end, done.returncode)


def parsed(deed: str, text: str) -> Any:
    """Parses the JSON that a program has written. If the whole text is not JSON, parses its last
    line."""
    for part in (text, text.strip().rsplit("\n", 1)[-1]):
        try:
            return json.loads(part)
        except ValueError:
            continue
    raise UpdateError(deed, f"the answer is not JSON: {last_words(text)[:100]}")


def program_path(name: str, directory: Optional[str]) -> str:
    """Returns the path of one of the upgrader's own programs. Three places are tried: `directory`,
    if it was given; the directory of this Python's executable, where pip installs programs; and
    PATH. The first program that exists is returned."""
    if directory is not None:
        return os.path.join(directory, name)
    beside = os.path.join(os.path.dirname(sys.executable), name)
    return beside if os.path.exists(beside) else shutil.which(name) or name


@dataclass(frozen=True)
class OwnRelease:
    """The release that contains the files of a program."""

    name: str
    version: str
    directory: Path


def release_of(program: str) -> Optional[OwnRelease]:
    here = Path(program).resolve()
    for release, above in zip([here, *here.parents], here.parents):
        try:
            name = (above / ".name").read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            continue
        if name and release.name.startswith(name + "-v"):
            return OwnRelease(name, release.name.removeprefix(name + "-v"), above)
    return None


class Releases:
    def __init__(self, directory: str, programs: Optional[str]) -> None:
        self.directory = os.path.abspath(directory)
        self.program = program_path("agent-releases", programs)

    def _run(self, deed: str, *words: str) -> Any:
        return parsed(deed, run(deed, [self.program, "--json", f"--dir={self.directory}", *words]))

    def list(self) -> Any:
        """Returns the parsed output of `agent-releases list`, or None if the directory has not been
        made yet."""
        try:
            return self._run(f"read the releases in {self.directory}", "list")
        except UpdateError as error:
            made = os.path.exists(os.path.join(self.directory, ".name"))
            if error.status == ABSENT and not made:
                return None
            raise

    def show(self, version: str) -> Any:
        return self._run(f"read release {version}", "show", version)

    def add(self, manifest: str, name: str, trust: str) -> Any:
        """Adds the release that a manifest (a path or a URL) describes. Returns what
        `agent-releases show` prints about this release."""
        return self._run(f"add {manifest}", f"--name={name}", "add", manifest, trust)["release"]

    def attempt(self, running: str, keys: Optional[str]) -> Any:
        """Chooses the release that should replace the running version, verifies that release, and
        records that an upgrade to it begins. Returns the upgrade's id and the release, or None if
        no release should replace the running version."""
        words = [] if keys is None else ["--keys=" + os.path.abspath(keys)]
        deed = f"try what is newer than {running}"
        told = self._run(deed, "try", f"--running={running}", *words)
        return told if "id" in told else None

    def fail(self, id: str, stage: str, reason: str, errno: Optional[str]) -> None:
        """Records how the upgrade `id` failed. Does nothing if no call of attempt() has begun this
        upgrade."""
        words = [f"--stage={stage}", f"--reason={printable(reason)}"]
        words += [] if errno is None else [f"--errno={errno}"]
        command = [self.program, f"--dir={self.directory}", "fail", *words, "--", id]
        try:
            run(f"record how upgrade {id} failed", command)
        except UpdateError as error:
            if error.status != ABSENT:
                raise

    def prune(self, keep: int) -> None:
        self._run(f"remove old releases in {self.directory}", "prune", f"--keep={keep}")

    def pack(
        self,
        name: str,
        version: str,
        words: Sequence[str],
        scratch: str,
        environment: Mapping[str, str],
    ) -> Any:
        """Packs a project of pip into a release. Returns the path of the release's manifest, and
        the sha256 of the release's file. All files are made below `scratch`."""
        deed = f"pack {name} {version}"
        command = [self.program, "--json", "pack", "--wheels", f"--name={name}"]
        command += [f"--version={version}", f"--out={scratch}/out", *words]
        path = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", os.defpath)
        settings = {**environment, "TMPDIR": scratch, "PATH": path}
        return parsed(deed, run(deed, command, settings))

    def start(self, executable: str) -> None:
        """Makes the link `current`, which names the program to run. Called when the directory has
        its first release. If the link exists already, does nothing."""
        try:
            os.symlink(
                os.path.relpath(executable, self.directory), os.path.join(self.directory, "current")
            )
        except FileExistsError:
            pass
        except OSError as error:
            raise UpdateError("make the link current", error.strerror or str(error)) from None
