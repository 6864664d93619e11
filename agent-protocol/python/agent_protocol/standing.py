"""The state of a conversation, and the reasons why a message may not be sent in that state: see
session.py."""

from typing import Optional

STANDING = {
    "silent": "hello has not been said",
    "starting": "this agent is held",
    "ready": "this agent has said ready and is held",
    "active": "this agent is active",
    "stopping": "this agent has been told to stop",
    "stopped": "this agent has said stopped",
    "ended": "this agent's part has ended",
}


class Standing:
    """The state of a session. The class Session changes this state."""

    def __init__(self, alone: bool) -> None:
        self.alone = alone
        self.life = "silent"
        self.welcomed = False
        self.role = "first"
        # True for a fallback that was started at boot, because the upgrader's first agent had
        # failed.
        self.at_boot = False
        self.trial = "none"  # "none", "running", or "unfit" after the program has said `unfit`
        # The id of a requested upgrade that the upgrader has not answered.
        self.request: Optional[str] = None
        # The id of the upgrade under way that is to replace this agent.
        self.upgrade: Optional[str] = None
        # The step that the upgrade under way has reached: "accepted", "candidate_ready",
        # "confirmed" or "cancelled".
        self.step = ""
        # The reason in the upgrader's `stop`, if the upgrader has sent one.
        self.ordered: Optional[str] = None
        self.signalled = False  # SIGTERM has requested a stop
        self.gone = False  # the input has ended
        self.readiness = False  # both sides have the feature `readiness`
        self.works = False  # the program has said `healthy`

    @property
    def held(self) -> bool:
        """Returns True while the agent has no work that it must give up before it exits."""
        return self.life in ("silent", "starting", "ready", "ended")

    @property
    def stop_ordered(self) -> bool:
        """Returns True if the upgrader has requested a stop, and is still there. Then the session
        sends the program's `stopped` immediately. Otherwise the session keeps the `stopped` until
        the upgrader requests a stop."""
        return self.ordered is not None and not self.gone

    def when_upgrade(self) -> str:
        """Returns when an upgrade may be requested: "never" if this agent has no upgrader or has
        been told to stop; otherwise "now" or "later"."""
        if self.alone or self.gone or self.life in ("stopping", "stopped", "ended"):
            return "never"
        return "later" if self._why_not_upgrade("") else "now"

    # ---- the functions below return why the program may not send a message now, or "" if it may

    def _standing(self) -> str:
        return "the upgrader has gone" if self.gone else STANDING[self.life]

    def _why_not_hello(self, _: str) -> str:
        return "" if self.life == "silent" else "it has been said already"

    def _why_not_ready(self, _: str) -> str:
        return "" if self.life == "starting" else self._standing()

    def _why_not_unfit(self, _: str) -> str:
        if self.life in ("starting", "ready"):
            return ""
        if self.life != "active":
            return self._standing()
        if self.trial == "running":
            return ""
        return "this agent is not on trial" if self.trial == "none" else "it has been said already"

    def _why_not_upgrade(self, _: str) -> str:
        if self.alone:
            return "there is no upgrader"
        if self.life != "active":
            return self._standing()
        if self.trial != "none":
            return "this agent is on trial"
        if self.request is not None:
            return f"upgrade {self.request} has been requested"
        if self.upgrade is not None:
            return f"upgrade {self.upgrade} is under way"
        return ""

    def _why_not_known(self, id: str) -> str:
        if self.request == id:
            return "it has not been accepted"
        if self.upgrade is None or self.upgrade != id:
            return "no such upgrade is under way"
        return "it has been cancelled" if self.step == "cancelled" else ""

    def _why_not_confirm(self, id: str) -> str:
        if self.life != "active":
            return self._standing()
        if why := self._why_not_known(id):
            return why
        if self.step == "accepted":
            return "its candidate is not ready"
        return "it has been confirmed" if self.step == "confirmed" else ""

    def _why_not_cancel(self, id: str) -> str:
        if self.gone or self.life not in ("active", "stopping"):
            return self._standing()
        if self.signalled:
            return "SIGTERM has told this agent to stop"
        if self.life == "stopping" and self.ordered != "upgrade":
            return self._standing()
        return self._why_not_known(id)

    def _why_not_stopped(self, _: str) -> str:
        if self.life == "stopping":
            return ""
        if self.life == "active":
            return "this agent has not been told to stop"
        return self._standing()

    def _why_not_healthy(self, _: str) -> str:
        if self.life != "active":
            return self._standing()
        if self.trial == "running" or (self.trial == "none" and self.readiness):
            return ""
        return "this agent is not on trial" if self.trial == "none" else "this agent has said unfit"

    def _why_not_extend(self, _: str) -> str:
        fits = self.life in ("starting", "stopping")
        if self.life == "active":
            fits = self.readiness and not self.works
        return "" if fits and not self.gone else self._standing()

    def _why_not_heartbeat(self, _: str) -> str:
        fits = not self.gone and self.life in ("active", "stopping")
        return "" if fits else self._standing()

    def _why_not_status(self, _: str) -> str:
        return self._standing() if self.gone or self.life == "silent" else ""
