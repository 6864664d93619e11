"""Turns messages into lines, and lines into events. Checks the limits of agent-protocol(7), and
keeps no state. A text or a number that cannot be sent raises ValueError. No text is cut, except by
fit(). A received line that agents must ignore by agent-protocol(7) becomes None."""

import json
import re
from typing import Any, Callable, Optional, Sequence

from . import events

LINE_BYTES_MAX = 65_536
VERSION_BYTES_MAX = 128
FEATURES_MAX = 16
FEATURE_BYTES_MAX = 32
REASON_BYTES_MAX = 1_024
STATUS_BYTES_MAX = 256
STATE_BYTES_MAX = 32_768
STATE_ESCAPED_BYTES_MAX = 65_000
EXECUTABLE_BYTES_MAX = 4_095
ARGS_MAX = 1_024
ID_BYTES_MAX = 64
ABOUT_BYTES_MAX = 64
NESTING_MAX = 32
PROTOCOL_MAX = 2_147_483_647
INTEGER_MAX = 9_007_199_254_740_991  # the largest integer that every reader of JSON reads exactly
DAY_MS = 86_400_000
PROTOCOL = 1


def dump(value: Any) -> str:
    """Returns JSON in its shortest form: only the quote, the backslash and control characters are
    escaped."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def check_text(name: str, text: str, bytes_max: int, bytes_min: int = 0) -> str:
    """Returns `text` if it can be sent as it is, and raises ValueError otherwise."""
    if not isinstance(text, str):
        raise ValueError(f"{name} is not a text")
    if "\0" in text:
        raise ValueError(f"{name} holds U+0000")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ValueError(f"{name} holds a lone surrogate") from None
    if not bytes_min <= size <= bytes_max:
        raise ValueError(f"{name} has {size} bytes: {bytes_min} to {bytes_max} can be sent")
    return text


def check_id(text: str) -> str:
    """Returns `text` if it can be the id of an upgrade, which is 1 to 64 bytes of printable ASCII.
    Raises ValueError otherwise."""
    check_text("id", text, ID_BYTES_MAX, 1)
    if not all(" " <= character <= "~" for character in text):
        raise ValueError("id has bytes that are not printable ASCII")
    return text


def check_features(names: Sequence[str]) -> list[str]:
    """Returns the names of an agent's features as a list, if `hello` can have them. Raises
    ValueError otherwise."""
    if isinstance(names, str):
        raise ValueError("features are a single text, and not a sequence of texts")
    if len(names) > FEATURES_MAX:
        raise ValueError(f"features are {len(names)}: {FEATURES_MAX} can be sent")
    return [check_text("a feature", name, FEATURE_BYTES_MAX) for name in names]


def check_state(text: str) -> str:
    """Checks the state that `stopped` passes to the next agent, against both limits in
    agent-protocol(7)."""
    check_text("state", text, STATE_BYTES_MAX)
    escaped = len(dump(text).encode()) - 2
    if escaped > STATE_ESCAPED_BYTES_MAX:
        raise ValueError(
            f"state has {escaped} bytes when it is escaped: {STATE_ESCAPED_BYTES_MAX} can be sent"
        )
    return text


def fit(text: str, bytes_max: int) -> str:
    """Cuts a text for people to at most `bytes_max` bytes, and never inside a character."""
    clean = text.encode("utf-8", "replace").replace(b"\0", b"?")
    return clean[:bytes_max].decode("utf-8", "ignore")


def milliseconds(name: str, seconds: float, least: int = 0) -> int:
    """Converts seconds to the whole milliseconds of a message."""
    value = round(seconds * 1000)
    if not least <= value <= DAY_MS:
        raise ValueError(f"{name} is {seconds} s: {least} ms to 24 h can be sent")
    return value


def encode(type_name: str, **members: Any) -> bytes:
    """Returns the line of a message. Members that are None are left out."""
    message = {"type": type_name}
    message.update((name, value) for name, value in members.items() if value is not None)
    line = dump(message).encode() + b"\n"
    if len(line) > LINE_BYTES_MAX:
        raise ValueError(f"the message has {len(line)} bytes: {LINE_BYTES_MAX} can be sent")
    return line


# ---- messages from the upgrader


class Malformed(Exception):
    """A line that agents must ignore by agent-protocol(7)."""


class Members(dict[str, Any]):
    """The members of a JSON object, and the names that occurred more than once in the object."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.doubled = {name for name, _ in pairs} if len(self) != len(pairs) else set()
        if self.doubled:
            names = [name for name, _ in pairs]
            self.doubled = {name for name in names if names.count(name) > 1}


def take(members: Members, name: str, kind: type, required: bool = True) -> Any:
    """Returns the member of this name, which must have exactly this type. Returns None if the
    member is absent and not required."""
    if name in members.doubled:
        raise Malformed(name)
    if name not in members:
        if required:
            raise Malformed(name)
        return None
    value = members[name]
    if type(value) is not kind:
        raise Malformed(name)
    return value


def take_text(members: Members, name: str, bytes_max: int, required: bool = True) -> Any:
    value = take(members, name, str, required)
    return None if value is None else check_text(name, value, bytes_max)


def take_id(members: Members, required: bool = True) -> Any:
    value = take(members, "id", str, required)
    return None if value is None else check_id(value)


def take_integer(
    members: Members,
    name: str,
    required: bool = True,
    least: int = 1,
    most: int = INTEGER_MAX,
) -> Any:
    value = take(members, name, int, required)
    if value is not None and not least <= value <= most:
        raise Malformed(name)
    return value


def take_failure(members: Members) -> events.Failure:
    """Reads a failure: the members of `upgrade_failed`, or of the object `failure` in other
    messages. The stage may be one that only a later upgrader knows."""
    return events.Failure(
        id=take_id(members),
        stage=take_text(members, "stage", LINE_BYTES_MAX),
        reason=take_text(members, "reason", REASON_BYTES_MAX),
        version=take_text(members, "version", VERSION_BYTES_MAX, False),
        errno=take_text(members, "errno", LINE_BYTES_MAX, False),
        exit_status=take_integer(members, "exit_status", False, -INTEGER_MAX),
        signal=take_integer(members, "signal", False, -INTEGER_MAX),
    )


def take_past_failure(members: Members) -> Optional[events.Failure]:
    """Reads the member `failure`, which tells a fallback which upgrade has failed. The member is in
    `welcome`, or in `activate` if the upgrade failed after the `welcome`."""
    failure = take(members, "failure", Members, False)
    return None if failure is None else take_failure(failure)


def take_seconds(members: Members, name: str, required: bool = False) -> Optional[float]:
    """Converts milliseconds of a message to seconds."""
    value = take_integer(members, name, required)
    return None if value is None else value / 1000


def take_welcome(members: Members) -> events.Welcome:
    role = take(members, "role", str)
    if role not in ("first", "candidate", "fallback"):
        raise Malformed("role")
    return events.Welcome(
        generation=take_integer(members, "generation"),
        role=role,
        protocol=take_integer(members, "protocol", most=PROTOCOL_MAX),
        features=tuple(check_features(take(members, "features", list))),
        previous_version=take_text(members, "previous_version", VERSION_BYTES_MAX, False),
        failure=take_past_failure(members),
        watchdog=take_seconds(members, "watchdog_ms"),
    )


def take_activate(members: Members) -> events.Activate:
    commit = take_text(members, "commit", LINE_BYTES_MAX, False)
    if commit not in ("survive", "healthy"):
        commit = None  # absent, or a condition that only a later upgrader knows
    state = take(members, "state", str, False)
    return events.Activate(
        clean=take(members, "clean", bool),
        state=None if state is None else check_state(state),
        failure=take_past_failure(members),
        trial=take_seconds(members, "trial_ms"),
        commit=commit,
    )


def take_stop(members: Members) -> events.Stop:
    reason = take(members, "reason", str)
    if reason not in ("upgrade", "rollback", "shutdown"):
        raise Malformed("reason")
    is_upgrade = reason == "upgrade"
    return events.Stop(
        reason=reason,
        deadline=take_seconds(members, "deadline_ms", True),
        id=take_id(members, is_upgrade),
        generation=take_integer(members, "generation", is_upgrade),
    )


READERS: dict[str, Callable[[Members], events.Event]] = {
    "welcome": take_welcome,
    "activate": take_activate,
    "stop": take_stop,
    "accepted": lambda m: events.Accepted(take_id(m), take_integer(m, "generation")),
    "candidate_ready": lambda m: events.CandidateReady(
        take_id(m),
        take_integer(m, "generation"),
        take_text(m, "version", VERSION_BYTES_MAX, False),
    ),
    "candidate_lost": lambda m: events.CandidateLost(
        take_id(m), take_text(m, "reason", LINE_BYTES_MAX)
    ),
    "upgrade_failed": lambda m: events.UpgradeFailed(take_failure(m)),
    "committed": lambda m: events.Committed(take_id(m), take_integer(m, "generation")),
    "error": lambda m: events.Error(
        reason=take_text(m, "reason", REASON_BYTES_MAX),
        about=take_text(m, "about", ABOUT_BYTES_MAX, False),
    ),
}


def refuse_number(text: str) -> None:
    """Refuses NaN and Infinity, which are not JSON."""
    raise ValueError(text)


def read_integer(text: str) -> float:
    """Returns an integer of a message. An integer of 20 characters or more becomes infinity, which
    is refused as the value of any known member. Unknown members may have such values."""
    return int(text) if len(text) < 20 else float("inf")


def nesting(line: str) -> int:
    """Returns how deeply the arrays and objects in a line of JSON are nested."""
    depth = deepest = 0
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|[][{}]', line):
        if found[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif found[0] in "]}":
            depth -= 1
    return deepest


def decode(line: bytes) -> Optional[events.Event]:
    """Returns the event for a line from the upgrader, without its newline, or None if agents must
    ignore the line."""
    if len(line) >= LINE_BYTES_MAX:
        return None
    try:
        text = line.decode()
        members = json.loads(
            text,
            object_pairs_hook=Members,
            parse_constant=refuse_number,
            parse_int=read_integer,
        )
        if not isinstance(members, Members) or nesting(text) > NESTING_MAX:
            return None
        reader = READERS.get(take(members, "type", str))
        return None if reader is None else reader(members)
    except (ValueError, RecursionError, Malformed):
        return None
