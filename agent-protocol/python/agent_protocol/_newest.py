"""Finds the newest release, and fetches it if the directory of releases does not have it."""

import os
import re
import shutil
import tempfile
from typing import Any, Optional

from ._releases import UpdateError
from ._sources import Source, order

SCRATCH = "upgrader-update-"


def _refuse_prerelease(version: str) -> None:
    if not order(version)[1]:
        raise UpdateError(f"update to {version}", "it is a pre-release, and none is followed")


def newest_release(source: Source, listed: Any, running: Optional[str]) -> Any:
    """Returns the newest release, and fetches it first if the directory does not have it. Returns
    None if no release is newer than the running one."""
    version = source.newest()
    if version is not None:
        if running is not None and order(version) <= order(running):
            return None
        _refuse_prerelease(version)
        for each in listed["releases"] if listed else []:
            if order(each["version"]) == order(version):
                return each
    try:
        made = Scratch()
    except OSError as error:
        reason = error.strerror or str(error)
        raise UpdateError("make a directory for what is fetched", reason) from None
    with made as scratch:
        release = source.add(scratch)
    if running is not None and order(release["version"]) <= order(running):
        return None
    _refuse_prerelease(release["version"])
    return release


class Scratch(tempfile.TemporaryDirectory[str]):
    """A temporary directory for this update. The constructor removes the temporary directories of
    earlier updates whose processes are gone."""

    def __init__(self) -> None:
        place = tempfile.gettempdir()
        for name in os.listdir(place):
            owner = re.match(rf"{SCRATCH}(\d+)-", name)
            if not owner or os.path.exists(f"/proc/{owner[1]}"):
                continue
            path = os.path.join(place, name)
            try:
                is_ours = os.lstat(path).st_uid == os.getuid()
            except FileNotFoundError:
                continue  # another update has removed this directory meanwhile
            if is_ours:
                shutil.rmtree(path, ignore_errors=True)
        super().__init__(prefix=f"{SCRATCH}{os.getpid()}-")
