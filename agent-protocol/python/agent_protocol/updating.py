"""Lets a daemon update itself: looks for a newer version, adds it to the directory of releases,
waits until the upgrader has replaced the daemon by that version, and reports how the upgrade ended.
See README.md, "A daemon that updates itself" and "An agent that updates itself".

The ledger of agent-releases(1) says whether a version has failed. For an agent, _request.py
requests the upgrade. For a daemon, agentify, which watches the directory of releases, requests the
upgrade.
"""

import os
import re
import sys
import threading
import time
from dataclasses import dataclass, replace
from typing import Any, Optional

from ._newest import newest_release
from ._releases import Releases, UpdateError, release_of
from ._request import AnyAgent, may_request, record_failures, request, upgrading_of
from ._sources import Directory, Index, Source, Url, is_version
from ._upgrading import Upgrading

# how many seconds pass between two reads of agent-releases' ledger of tried versions
BETWEEN_LOOKS = 0.25
LONGEST_UPGRADE = 3600.0

# Held during an update: two updates at once would fetch the same version twice.
_busy = threading.Lock()


@dataclass(frozen=True)
class Update:
    """The result of update().

    outcome   `current`: there is no newer version. `installed`: the directory had no release, and
              now has its first release. `committed`: the newer version has passed its trial; only a
              caller that the upgrade does not replace gets this result. `failed`: the upgrade to
              the newer version failed, now or at an earlier try. The version is tried again only if
              it did not cause the failure, for example after a failure at the stage `request` or
              `cancel`. `held`: an operator has chosen a version, so nothing was done. `stopping`:
              the agent has been told to stop. If `newest` is set, an upgrade to that version was
              requested before, and usually that version replaces the agent now.
    version   the version that runs, or None if none does
    newest    with `failed` and `stopping`: the version that was tried
    stage     with `failed`: the stage at which the upgrade failed, as in agent-protocol(7)
    reason    with `failed`: why the upgrade failed
    warning   a failure that did not end the update: why old releases could not be removed, why
              a damaged release was left out, or why the failure could not be recorded
    """

    outcome: str
    version: Optional[str] = None
    newest: Optional[str] = None
    stage: Optional[str] = None
    reason: Optional[str] = None
    warning: Optional[str] = None


def update(
    *,
    agent: Optional[AnyAgent] = None,
    registry: Optional[str] = None,
    directory: Optional[str] = None,
    url: Optional[str] = None,
    keys: Optional[str] = None,
    keep: Optional[int] = None,
    releases: Optional[str] = None,
    package: Optional[str] = None,
    module: Optional[str] = None,
    programs: Optional[str] = None,
    wait: float = 120.0,
) -> Update:
    """Looks for a newer version, and replaces the daemon or the agent by it. Blocks until the
    upgrade has ended, so a program calls update() in a thread of its own. A daemon that is replaced
    is stopped before its update() returns. An agent still gets its events while update() runs. For
    an agent, update() first waits until the agent is active and its own trial is over.

    agent       the agent that is to be replaced: update() requests the agent's upgrade. Without
                `agent`, the program is a daemon, and `agentify run --releases` requests the upgrade
    registry    the URL of pip's index. Without `registry`, `directory` and `url`, the index in
                pip's settings is used
    directory   a directory of published files; needs `keys`
    url         the URL of a manifest, which the publisher replaces for each newer version; needs
                `keys`
    keys        a directory of public keys; the manifest must be signed with one of these keys
    keep        how many of the newest releases are kept; without `keep` none is removed
    releases    the directory of releases; by default the directory that contains this program
    package     the package's name on the index; by default the name of the releases
    module      the module that is run; by default `package` with underscores
    programs    the directory that contains the program agent-releases; by default the directory of
                this Python's executable, or else PATH
    wait        without `agent`: how many seconds an upgrade may take to begin

    Raises UpdateError if the update fails. No release is then half-written. A release that was
    added stays, and the next call of update() continues with that release. A second call before the
    first has ended raises UpdateError.
    """
    if not _busy.acquire(blocking=False):
        raise UpdateError("update", "another update of this process has not ended")
    try:
        _check(registry, directory, url, keys, keep)
        upgrading = None if agent is None else upgrading_of(agent)
        own = release_of(sys.argv[0]) if sys.argv and sys.argv[0] else None
        if releases is None and own is None:
            reason = "this program lies in no directory of releases: name one by `releases`"
            raise UpdateError("update", reason)
        place = Releases(releases or str(own.directory if own else ""), programs)
        running = None
        if own is not None and os.path.realpath(place.directory) == str(own.directory):
            running = own.version
        elif upgrading is not None:
            running = _version_of(upgrading)
        # Read the releases only after may_request(), which may wait for a long time: an operator
        # may change the releases meanwhile.
        if upgrading is not None and not may_request(upgrading):
            return Update("stopping", running)
        listed = place.list()
        name = listed["name"] if listed else (package or (own.name if own else ""))
        if not name:
            raise UpdateError("update", "say the name of the program by `package`")
        package = package or name
        source: Source = Index(
            place, name, package, registry, module or re.sub(r"[-.]+", "_", package)
        )
        if directory is not None and keys is not None:
            source = Directory(place, name, directory, keys)
        if url is not None and keys is not None:
            source = Url(place, name, url, keys)
        warning = _prune(place, listed, keep)
        if agent is not None and upgrading is not None and running is not None:
            ended = _Replacement(agent, upgrading, place, running, keys).update(listed, source)
        else:
            ended = _update(place, listed, running or _current(listed), source, wait)
        return _with_warning(ended, warning)
    finally:
        _busy.release()


def _check(
    registry: Optional[str],
    directory: Optional[str],
    url: Optional[str],
    keys: Optional[str],
    keep: Optional[int],
) -> None:
    if sum(each is not None for each in (registry, directory, url)) > 1:
        raise UpdateError("update", "registry, directory and url exclude each other")
    published = directory is not None or url is not None
    if published and keys is None:
        raise UpdateError("update", "directory and url need keys, a directory of keys")
    if not published and keys is not None:
        raise UpdateError("update", "keys belong to directory and url")
    if keys is not None:
        _check_keys(keys)
    if keep is not None and keep < 1:
        raise UpdateError("update", "keep is a number of releases, at least 1")


def _check_keys(directory: str) -> None:
    """Without this check, a wrong path would be noticed only when a newer version is published."""
    try:
        names = os.listdir(directory)
    except OSError as error:
        raise UpdateError("update", f"keys: {error}") from error
    if not any(name.endswith(".pub") for name in names):
        raise UpdateError("update", f"keys: {directory} has no public key, a file *.pub")


def _current(listed: Any) -> Optional[str]:
    found = [each["version"] for each in listed["releases"] if each["current"]] if listed else []
    return str(found[0]) if found else None


def _version_of(upgrading: Upgrading) -> str:
    """Returns the version that the agent has told the upgrader. Used for an agent that does not run
    from the directory of releases."""
    if upgrading.version is not None and is_version(upgrading.version):
        return upgrading.version
    reason = "this agent does not run from the directory of releases, and its own version is none "
    raise UpdateError("update", reason + "such as 1.2.3")


def _prune(place: Releases, listed: Any, keep: Optional[int]) -> Optional[str]:
    """Removes old releases. Returns the reason if that failed, or None. Must be called before the
    upgrade, since this process no longer runs after a successful upgrade."""
    if keep is None or not listed or len(listed["releases"]) <= keep:
        return None
    try:
        place.prune(keep)
    except UpdateError as error:
        return str(error)
    return None


def _with_warning(ended: Update, text: Optional[str]) -> Update:
    if text is None:
        return ended
    return replace(ended, warning=f"{ended.warning}; {text}" if ended.warning else text)


def _update(
    place: Releases, listed: Any, running: Optional[str], source: Source, wait: float
) -> Update:
    if listed and not listed["newest_is_desired"]:
        return Update("held", running)
    release = newest_release(source, listed, running)
    if release is None:
        return Update("current", running)
    last = release.get("last", {})
    if last.get("ending") == "failed" and not last.get("tried_again"):
        return _failed(release, running)
    if running is None:
        place.start(release["executable"])
        return Update("installed", release["version"])
    before = [each for each in listed["releases"] if each["version"] == release["version"]]
    earlier = before[0].get("last") if before else None
    return _ending(place, release, earlier, running, wait)


def _failed(release: Any, running: Optional[str]) -> Update:
    last = release["last"]
    return Update("failed", running, release["version"], last.get("stage"), last.get("reason"))


@dataclass(frozen=True)
class _Replacement:
    """Updates an agent that may request an upgrade now. Requests the upgrade over the agent's own
    connection."""

    agent: AnyAgent
    upgrading: Upgrading
    place: Releases
    running: str
    keys: Optional[str]

    def update(self, listed: Any, source: Source) -> Update:
        if not listed:
            return self._replace_by_newest(listed, source)
        record_failures(self.upgrading, self.place)
        # Call attempt() first, since it also records that the running version is committed. If it
        # fails, for example because a release is damaged, continue: a newer version may still be
        # fetched.
        due, fault = None, None
        try:
            due = self.place.attempt(self.running, self.keys)
        except UpdateError as error:
            fault = error
        if due:
            return self._replace(due)
        if not listed["newest_is_desired"]:
            if fault is not None:
                raise fault
            return Update("held", self.running)
        if fault is None:
            return self._replace_by_newest(listed, source)
        try:
            ended = self._replace_by_newest(listed, source)
        except UpdateError as error:
            if str(error) == str(fault):
                raise fault from None
            reason = f"{error.reason}; before that: {fault}"
            raise UpdateError(error.deed, reason, error.status) from None
        if ended.outcome == "current":
            raise fault
        return _with_warning(ended, str(fault))

    def _replace_by_newest(self, listed: Any, source: Source) -> Update:
        release = newest_release(source, listed, self.running)
        if release is None:
            return Update("current", self.running)
        if not may_request(self.upgrading):
            return Update("stopping", self.running)
        due = self.place.attempt(self.running, self.keys)
        return self._replace(due) if due else self._past_failure(release)

    def _replace(self, due: Any) -> Update:
        """Requests the upgrade, and returns how it ended. Records a failure in the ledger (the
        record of tried versions)."""
        newest = due["release"]["version"]
        failure = request(self.agent, due["id"], due["release"]["executable"])
        ended = Update("stopping", self.running, newest)
        if failure is not None:
            ended = Update("failed", self.running, newest, failure.stage, failure.reason)
        ended = _with_warning(ended, due.get("left_out"))
        if failure is None:
            return ended
        try:
            record_failures(self.upgrading, self.place)
        except UpdateError as error:
            return _with_warning(ended, str(error))
        return ended

    def _past_failure(self, release: Any) -> Update:
        """Returns the result if the newest version must not be tried: it was tried before, or an
        operator has meanwhile chosen a different version."""
        now = self.place.show(release["version"])
        last = now.get("last", {})
        if last.get("ending") == "failed" and not last.get("tried_again"):
            return _failed(now, self.running)
        if last.get("ending") != "trying":
            return Update("held", self.running)
        return Update(
            "failed", self.running, now["version"], reason="it was tried, and has no ending"
        )


def _ending(
    place: Releases,
    release: Any,
    earlier: Any,
    running: str,
    wait: float,
) -> Update:
    """Waits until the ledger (the record of tried versions) says how the upgrade to this release
    has ended. `earlier` is the last entry that the ledger had for this release when update() was
    called. That entry belongs to an earlier upgrade, and does not count."""
    begun = time.monotonic()
    tried = False
    while True:
        now = place.show(release["version"])
        last = now.get("last")
        ending = last["ending"] if last and last != earlier else None
        if ending == "committed":
            return Update("committed", now["version"])
        if ending == "failed":
            return _failed(now, running)
        tried = tried or ending == "trying"
        if time.monotonic() - begun > (LONGEST_UPGRADE if tried else wait):
            reason = "it was tried, and has no ending"
            if not tried and not (last and last["ending"] == "trying"):
                reason = f"it lies in {place.directory}, and nothing has asked for it: agentify "
                reason += "run with --releases does, and so does update() of an `agent`"
            raise UpdateError(f"update to {release['version']}", reason)
        time.sleep(BETWEEN_LOOKS)
