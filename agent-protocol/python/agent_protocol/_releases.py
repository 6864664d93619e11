"""A directory of releases, as agent-releases(1) keeps it, by that program; and how programs are run
for an update: with their words as they are, never by a shell. Decides nothing."""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence

REASON_CHARACTERS_MAX = 600  # of a program's last lines: a person reads the error
ABSENT = 2  # agent-releases: there is no such directory or version


class UpdateError(Exception):
    """An update that could not be made: `deed` is what was tried, `reason` why it failed. `status`
    is the exit status of the program that failed, if one did."""

    def __init__(self, deed: str, reason: str, status: Optional[int] = None) -> None:
        super().__init__(f"cannot {deed}: {reason}")
        self.deed, self.reason, self.status = deed, reason, status


def last_words(text: str) -> str:
    """The last lines that a program has written, on one line, without what could command a
    terminal."""
    lines = [re.sub(r"[\x00-\x1f\x7f-\x9f]", " ", line).strip() for line in text.splitlines()]
    return "; ".join(line for line in lines if line)[-REASON_CHARACTERS_MAX:]


def run(deed: str, command: Sequence[str], environment: Optional[Mapping[str, str]] = None) -> str:
    """What the program writes to its standard output. Raises UpdateError if it fails."""
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
    """The JSON that a program has written, or its last line if there are several."""
    for part in (text, text.strip().rsplit("\n", 1)[-1]):
        try:
            return json.loads(part)
        except ValueError:
            continue
    raise UpdateError(deed, f"the answer is not JSON: {last_words(text)[:100]}")


def program_path(name: str, directory: Optional[str]) -> str:
    """One of our programs: in the directory that was named, beside this Python, as pip installs
    it, or in PATH."""
    if directory is not None:
        return os.path.join(directory, name)
    beside = os.path.join(os.path.dirname(sys.executable), name)
    return beside if os.path.exists(beside) else shutil.which(name) or name


@dataclass(frozen=True)
class OwnRelease:
    """The release that a program lies in."""

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
            return OwnRelease(name, release.name[len(name) + 2 :], above)
    return None


class Releases:
    def __init__(self, directory: str, programs: Optional[str]) -> None:
        self.directory = os.path.abspath(directory)
        self.program = program_path("agent-releases", programs)

    def _run(self, deed: str, *words: str) -> Any:
        return parsed(deed, run(deed, [self.program, "--json", f"--dir={self.directory}", *words]))

    def list(self) -> Any:
        """What `list` says, or None if the directory has not been made."""
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
        """Adds the release of a manifest, a path or a URL; returns what `show` says of it."""
        return self._run(f"add {manifest}", f"--name={name}", "add", manifest, trust)["release"]

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
        """Packs a project of pip; returns its manifest and sha256. All is made below `scratch`."""
        deed = f"pack {name} {version}"
        command = [self.program, "--json", "pack", "--wheels", f"--name={name}"]
        command += [f"--version={version}", f"--out={scratch}/out", *words]
        path = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", os.defpath)
        settings = {**environment, "TMPDIR": scratch, "PATH": path}
        return parsed(deed, run(deed, command, settings))

    def start(self, executable: str) -> None:
        """Makes the link that is run, in a directory whose first release this is."""
        try:
            os.symlink(
                os.path.relpath(executable, self.directory), os.path.join(self.directory, "current")
            )
        except FileExistsError:
            pass
        except OSError as error:
            raise UpdateError("make the link current", error.strerror or str(error)) from None
