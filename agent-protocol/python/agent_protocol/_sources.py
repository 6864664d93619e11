"""The sources of newer versions: an index of pip, a directory of published files, a URL."""

import json
import os
import platform
import re
import stat
import sys
from typing import Any, Optional, Protocol

from ._releases import Releases, UpdateError, parsed, run

MANIFEST_BYTES_MAX = 65_536  # the same limit as in agent-releases(1)
VERSION_CHARACTERS_MAX = 128  # the same limit as in agent-protocol(7)
VERSION = r"\d+\.\d+\.\d+([-+][\w.+-]+)?"
PROCESSORS = {"armv7l": "armhf", "i686": "i386"}
PIP = (
    *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"),
    *("--no-input", "--dry-run", "--ignore-installed", "--root-user-action=ignore"),
    *("--report", "-"),
)


def is_version(text: object) -> bool:
    if not isinstance(text, str) or len(text) > VERSION_CHARACTERS_MAX:
        return False
    return bool(re.fullmatch(VERSION, text, re.ASCII))


def order(version: str) -> tuple[list[int], bool]:
    """Returns a key that orders versions. Two pre-releases of one version count as equal, so that
    neither replaces the other."""
    core, _, rest = version.split("+")[0].partition("-")
    return [int(part) for part in core.split(".")], rest == ""


class Source(Protocol):
    def newest(self) -> Optional[str]:
        """Returns the newest version that the source offers, or None if only add() can find out
        which version that is."""

    def add(self, scratch: str) -> Any:
        """Adds the newest version to the directory of releases. Returns what `agent-releases show`
        prints about that version."""


class Index:
    """An index of Python packages, which pip reads. newest() and add() ask pip for the hashes of
    the release's package and of all packages that it needs, and write them to the requirements. So
    pip refuses a package with a different hash."""

    def __init__(
        self, releases: Releases, name: str, package: str, index: Optional[str], module: str
    ) -> None:
        self.releases, self.name, self.package = releases, name, package
        self.module = module
        # Pass the URL of the index in the environment. pip would store an option in the release,
        # where everybody could read it.
        self.environment = {} if index is None else {"PIP_INDEX_URL": index}
        self.pinned, self.version = "", ""

    def _resolved(self, deed: str, *words: str) -> list[Any]:
        command = [*PIP, "--only-binary=:all:", *words]
        found = parsed(deed, run(deed, command, self.environment)).get("install", [])
        return list(found)

    def newest(self) -> Optional[str]:
        deed = f"ask pip for the newest {self.package}"
        found = self._resolved(deed, "--no-deps", self.package)
        if len(found) != 1:
            raise UpdateError(deed, "it has named none")
        self.pinned = str(found[0]["metadata"]["version"])
        # The version of a Python package may have fewer than three numbers, as in 1.2. A release
        # needs three, so zeros are added.
        padded = self.pinned
        if re.fullmatch(r"\d+(\.\d+)?", padded):
            padded += ".0" * (2 - padded.count("."))
        if not is_version(padded):
            raise UpdateError(deed, f"its version, {self.pinned}, is none such as 1.2.3")
        self.version = padded
        return padded

    def add(self, scratch: str) -> Any:
        deed = f"fetch {self.package} {self.pinned}"
        project = os.path.join(scratch, "project")
        os.mkdir(project)
        with open(os.path.join(project, "requirements.txt"), "w", encoding="utf-8") as file:
            for each in self._resolved(deed, f"{self.package}=={self.pinned}"):
                name, number = each["metadata"]["name"], each["metadata"]["version"]
                archive = each["download_info"].get("archive_info", {})
                hashes = archive.get("hashes") or {}
                if "sha256" not in hashes:
                    raise UpdateError(deed, f"the index has no hash of {name}")
                file.write(f"{name}=={number} --hash=sha256:{hashes['sha256']}\n")
        words = [f"--entry={self.module}", project]
        packed = self.releases.pack(self.name, self.version, words, scratch, self.environment)
        return self.releases.add(packed["manifest"], self.name, f"--sha256={packed['sha256']}")


def _open_at_once(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)


def read_manifest(path: str) -> Optional[dict[str, Any]]:
    """Returns the manifest in a file, or None if the file is not a manifest. Nobody has checked the
    file yet. It may be a FIFO: without O_NONBLOCK, open() would then block until somebody opens the
    FIFO for writing. The file may also have very many nested brackets, for which json raises
    RecursionError."""
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            manifest = json.loads(file.read(MANIFEST_BYTES_MAX))
    except (OSError, ValueError, RecursionError):
        return None
    return manifest if isinstance(manifest, dict) and is_version(manifest.get("version")) else None


class Directory:
    """A directory of published files."""

    def __init__(self, releases: Releases, name: str, directory: str, keys: str) -> None:
        self.releases, self.name, self.directory = releases, name, directory
        self.trust = "--keys=" + os.path.abspath(keys)
        self.file = ""

    def newest(self) -> Optional[str]:
        deed = f"look for versions in {self.directory}"
        here = PROCESSORS.get(platform.machine(), platform.machine())
        try:
            names = sorted(os.listdir(self.directory))
        except OSError as error:
            raise UpdateError(deed, error.strerror or str(error)) from None
        found = []
        for name in (each for each in names if each.endswith(".json")):
            path = os.path.join(self.directory, name)
            manifest = read_manifest(path)
            if not manifest or manifest.get("name") != self.name:
                continue
            # A version may have two releases: one for all processors and one for this processor.
            # The release for this processor is preferred.
            if manifest.get("arch") in ("any", here) and order(manifest["version"])[1]:
                ranked = (order(manifest["version"]), manifest["arch"] == here)
                found.append((ranked, manifest["version"], path))
        if not found:
            raise UpdateError(deed, f"it has no release of {self.name} for {here}")
        _, version, self.file = max(found)
        return str(version)

    def add(self, scratch: str) -> Any:
        return self.releases.add(self.file, self.name, self.trust)


class Url:
    """A source that is one URL. For each newer version, the publisher replaces the manifest at this
    URL. Only agent-releases fetches the manifest, so newest() does not know the version."""

    def __init__(self, releases: Releases, name: str, url: str, keys: str) -> None:
        self.releases, self.name, self.url = releases, name, url
        self.trust = "--keys=" + os.path.abspath(keys)

    def newest(self) -> Optional[str]:
        return None

    def add(self, scratch: str) -> Any:
        return self.releases.add(self.url, self.name, self.trust)
