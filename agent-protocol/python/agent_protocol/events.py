"""The events that the program gets, most of them messages from the upgrader. A member that does not
apply is None. Times are in seconds."""

from dataclasses import dataclass
from typing import Optional, Union


@dataclass(frozen=True)
class Failure:
    """Why an upgrade failed. agent-protocol(7) lists the values of `stage` and `errno`."""

    id: str
    stage: str
    reason: str
    version: Optional[str] = None
    errno: Optional[str] = None
    exit_status: Optional[int] = None
    signal: Optional[int] = None


@dataclass(frozen=True)
class Welcome:
    """The upgrader's answer to `hello`. `role` is "first", "candidate" or "fallback". `features`
    names the agent's features that the upgrader has, too."""

    generation: int
    role: str
    protocol: int = 1
    features: tuple[str, ...] = ()
    previous_version: Optional[str] = None
    failure: Optional[Failure] = None
    # An active agent must send a heartbeat at least once in every half of this time. None means
    # that the upgrader wants no heartbeats.
    watchdog: Optional[float] = None


@dataclass(frozen=True)
class Activate:
    """Gives the work to this agent, now. If `clean` is False, the program must recover as after a
    crash. A fallback that got its Welcome as a standby, before the upgrade failed, learns of the
    failure from `failure`. `trial` and `commit` are set only for an agent on trial: `trial` is the
    length of the trial, and `commit` the condition for passing the trial, "survive" or
    "healthy"."""

    clean: bool = False
    state: Optional[str] = None
    failure: Optional[Failure] = None
    trial: Optional[float] = None
    commit: Optional[str] = None


@dataclass(frozen=True)
class Stop:
    """Asks the program to finish, give up all work, call `stopped` and exit with status 0.

    `reason` is "upgrade", "rollback" or "shutdown" if the upgrader requests the stop; "signal" if
    SIGTERM reached this process; "end_of_input" if the upgrader has gone. `deadline` is how long
    the agent may take to call `stopped`; None means that there is no limit.
    """

    reason: str
    deadline: Optional[float] = None
    id: Optional[str] = None
    generation: Optional[int] = None


@dataclass(frozen=True)
class Accepted:
    """Says that the upgrader has begun the upgrade `id`, which this agent requested."""

    id: str
    generation: int


@dataclass(frozen=True)
class CandidateReady:
    """Says that the candidate is ready. The upgrader waits for this agent to call `confirm`
    or `cancel`."""

    id: str
    generation: int
    version: Optional[str] = None


@dataclass(frozen=True)
class CandidateLost:
    """Says that the candidate failed after this agent was told to stop. If this agent can still
    take the work back, it calls `cancel`, and stays active. Otherwise it finishes its stop."""

    id: str
    reason: str


@dataclass(frozen=True)
class UpgradeFailed:
    """Says that the upgrade is over, and that this agent is still active."""

    failure: Failure


@dataclass(frozen=True)
class Committed:
    """Says that this agent has passed its trial, so that its upgrade is committed."""

    id: str
    generation: int


@dataclass(frozen=True)
class Error:
    """Says that the upgrader has refused a message of this agent. `about` is the type of that
    message, if it is known."""

    reason: str
    about: Optional[str] = None


Event = Union[
    Welcome,
    Activate,
    Stop,
    Accepted,
    CandidateReady,
    CandidateLost,
    UpgradeFailed,
    Committed,
    Error,
]
