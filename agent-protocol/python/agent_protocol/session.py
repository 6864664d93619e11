"""The agent's half of the conversation with its upgrader, as a state machine: it decides which
messages the program may send, which of the upgrader's messages the program gets, and when the
program must exit. It does no input or output, and reads no clock: conversation.py performs the
actions.

The states of an agent:

- "silent": it has not said `hello` yet.
- "starting": it has said `hello`, and must not work yet (it is held).
- "ready": it has said `ready`, and is still held.
- "active": the upgrader has sent `activate`, and the agent works.
- "stopping": a stop was requested by the upgrader, by SIGTERM or by the end of input. If the stop
  was for an upgrade, the agent becomes active again when it says `cancel`.
- "stopped": it has said `stopped`.
- "ended": it was held, and has said `unfit` or must exit immediately.

An active agent may say `healthy` while it is on trial, unless it has said `unfit`. If both sides
have the feature `readiness`, it may also say `healthy` without a trial, and `extend` before its
`healthy`.

A message from the upgrader that does not fit the agent's state is ignored. Usually both sides have
sent a message at the same moment: for example, the upgrader a `stop`, and the agent a `cancel` of
the same upgrade. Only a `stop` for an agent that has stopped by itself is answered, with `stopped`.

Without an upgrader, the program goes through the same states: it gets `activate` after its `ready`,
and `stop` after a SIGTERM. A request for an upgrade is refused; all other messages are accepted and
have no effect.
"""

from dataclasses import dataclass
from typing import Union

from . import events
from .standing import Standing

EXIT_INPUT_ENDED = 1
EXIT_TERMINATED = 128 + 15  # 143, the status by which a shell reports SIGTERM

HEARD = {
    events.Welcome: "welcome",
    events.Activate: "activate",
    events.Stop: "stop",
    events.Accepted: "accepted",
    events.CandidateReady: "candidate_ready",
    events.CandidateLost: "candidate_lost",
    events.UpgradeFailed: "upgrade_failed",
    events.Committed: "committed",
    events.Error: "error",
}


class Refused(Exception):
    """A message of the program was refused: the protocol does not allow the message in the current
    state, or the pipe has no room for the message. The message has not been sent."""


@dataclass(frozen=True)
class Send:
    """Send the message that the program has passed to the session."""


@dataclass(frozen=True)
class SendStopped:
    """Send the `stopped` that the program said before the upgrader's stop came."""


@dataclass(frozen=True)
class Deliver:
    """Give an event to the program."""

    event: events.Event


@dataclass(frozen=True)
class ExitAtOnce:
    """End the process, without any other effect."""

    status: int


Action = Union[Send, SendStopped, Deliver, ExitAtOnce]


class Session(Standing):
    """One agent's conversation. `alone` is True if there is no upgrader."""

    # ---- messages from the program

    def say(self, word: str, id: str = "") -> list[Action]:
        """Handles a message that the program sends, and returns the actions to perform. `word` is
        the message's type. If the protocol does not allow the message in the current state, raises
        Refused and changes nothing."""
        why: str = getattr(self, "_why_not_" + word)(id)
        if self.alone and why and word not in ("ready", "upgrade"):
            return []
        if why:
            about = f" {id}" if id else ""
            raise Refused(f"cannot say {word}{about}: {why}")
        said = getattr(self, "_said_" + word, None)
        actions: list[Action] = said(id) if said else [Send()]
        if not self.alone:
            return actions
        if word == "ready":
            self.life = "active"
            return [Deliver(events.Activate())]
        return [action for action in actions if not isinstance(action, Send)]

    def _said_hello(self, _: str) -> list[Action]:
        self.life = "starting"
        return [Send()]

    def _said_ready(self, _: str) -> list[Action]:
        self.life = "ready"
        return [Send()]

    def _said_unfit(self, _: str) -> list[Action]:
        if self.life == "active":
            self.trial = "unfit"
        else:
            self.life = "ended"
        return [Send()]

    def _said_upgrade(self, id: str) -> list[Action]:
        self.request = id
        return [Send()]

    def _said_confirm(self, _: str) -> list[Action]:
        self.step = "confirmed"
        return [Send()]

    def _said_cancel(self, _: str) -> list[Action]:
        self.step = "cancelled"
        self.life = "active"
        self.ordered = None
        return [Send()]

    def _said_stopped(self, _: str) -> list[Action]:
        self.life = "stopped"
        return [Send()] if self.stop_ordered else []

    def _said_healthy(self, _: str) -> list[Action]:
        self.works = True
        return [Send()]

    def _said_extend(self, _: str) -> list[Action]:
        # If the upgrader has not requested this stop, there is no deadline that an `extend` could
        # move, so the `extend` is not sent.
        return [] if self.life == "stopping" and self.ordered is None else [Send()]

    # ---- messages from the upgrader

    def hear(self, event: events.Event) -> list[Action]:
        """Handles a message of the upgrader. Returns the actions to perform; none if the message
        does not fit the state."""
        if self.alone or self.gone or self.life in ("silent", "ended"):
            return []
        name = "_heard_" + HEARD[type(event)]
        told: list[Action] = getattr(self, name)(event)
        return told

    def _heard_welcome(self, event: events.Welcome) -> list[Action]:
        if self.welcomed or self.life not in ("starting", "ready"):
            return []
        self.welcomed = True
        self.role = event.role
        self.readiness = "readiness" in event.features
        self.at_boot = event.failure is not None and event.failure.id == "boot"
        return [Deliver(event)]

    def _heard_activate(self, event: events.Activate) -> list[Action]:
        if self.life != "ready":
            return []
        self.life = "active"
        has_trial = self.role == "candidate" or self.at_boot
        self.trial = "running" if has_trial else "none"
        return [Deliver(event)]

    def _note_order(self, event: events.Stop) -> None:
        self.ordered = event.reason
        self.trial = "none"
        if event.reason == "upgrade" and event.id is not None:
            self.upgrade, self.step = event.id, "accepted"

    def _heard_stop(self, event: events.Stop) -> list[Action]:
        cancelled = self.upgrade is not None and self.step == "cancelled"
        if cancelled and event.reason == "upgrade" and event.id == self.upgrade:
            return []
        if self.life in ("stopping", "stopped") and self.ordered is None:
            self._note_order(event)
            return [SendStopped()] if self.life == "stopped" else []
        if self.life != "active":
            return []
        self.life = "stopping"
        self._note_order(event)
        return [Deliver(event)]

    def _heard_accepted(self, event: events.Accepted) -> list[Action]:
        if self.life == "stopped" or self.request != event.id:
            return []
        self.request = None
        self.upgrade, self.step = event.id, "accepted"
        return [Deliver(event)]

    def _heard_candidate_ready(self, event: events.CandidateReady) -> list[Action]:
        if self.life == "stopped" or self.upgrade != event.id:
            return []
        if self.step != "accepted" or self.ordered is not None:
            return []
        self.step = "candidate_ready"
        return [Deliver(event)]

    def _heard_candidate_lost(self, event: events.CandidateLost) -> list[Action]:
        if self.life != "stopping" or self.ordered != "upgrade" or self.upgrade != event.id:
            return []
        return [Deliver(event)]

    def _heard_upgrade_failed(self, event: events.UpgradeFailed) -> list[Action]:
        if self.life == "stopped":
            return []
        if self.request is not None and self.request == event.failure.id:
            self.request = None
        elif self.upgrade is not None and self.upgrade == event.failure.id:
            self.upgrade = None
        else:
            return []
        return [Deliver(event)]

    def _heard_committed(self, event: events.Committed) -> list[Action]:
        if self.life == "stopped" or self.trial == "none":
            return []
        self.trial = "none"
        return [Deliver(event)]

    def _heard_error(self, event: events.Error) -> list[Action]:
        if event.about == "upgrade":
            self.request = None
        return [Deliver(event)]

    # ---- the end of the input from the upgrader, and SIGTERM

    def input_ended(self) -> list[Action]:
        """Handles the end of input: the upgrader has gone."""
        if self.alone or self.gone:
            return []
        self.gone = True
        if self.held:
            self.life = "ended"
            return [ExitAtOnce(EXIT_INPUT_ENDED)]
        if self.life != "active":
            return []
        self.life = "stopping"
        return [Deliver(events.Stop("end_of_input"))]

    def terminated(self) -> list[Action]:
        """Handles SIGTERM."""
        if self.held:
            self.life = "ended"
            return [ExitAtOnce(EXIT_TERMINATED)]
        if self.life == "stopped":
            return []
        self.signalled = True
        if self.life == "stopping":
            return []
        self.life = "stopping"
        return [Deliver(events.Stop("signal"))]
