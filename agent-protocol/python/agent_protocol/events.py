"""The events that the upgrader sends to an agent, as the program gets them. A text or number that
does not apply is None. Times are in seconds."""

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
    """The answer to `hello`. `role` is "first", "candidate" or "fallback"."""

    generation: int
    role: str
    protocol: int = 1
    features: tuple[str, ...] = ()
    previous_version: Optional[str] = None
    failure: Optional[Failure] = None
    # Send a heartbeat at least once in every half of this time; None if the upgrader wants no
    # heartbeats.
    watchdog: Optional[float] = None


@dataclass(frozen=True)
class Activate:
    """Gives the work to this agent, now. If `clean` is False, the program must recover as after a
    crash. A fallback that was started before the failure, as a standby, learns of it from
    `failure`. An agent on trial gets `trial`, the length of the trial, and `commit`, which says how
    to pass it: "survive" or "healthy"."""

    clean: bool = False
    state: Optional[str] = None
    failure: Optional[Failure] = None
    trial: Optional[float] = None
    commit: Optional[str] = None


@dataclass(frozen=True)
class Stop:
    """Asks the program to finish, give up all work, say `stopped` and exit with status 0.

    `reason` is "upgrade", "rollback" or "shutdown" if the upgrader requests the stop; "signal" if
    SIGTERM reached this process; "end_of_input" if the upgrader has gone.
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
    """Says that the candidate is ready, and waits for this agent to call `confirm` or `cancel`."""

    id: str
    generation: int
    version: Optional[str] = None


@dataclass(frozen=True)
class CandidateLost:
    """Says that the candidate failed after this agent was told to stop. Call `cancel` to keep the
    work."""

    id: str
    reason: str


@dataclass(frozen=True)
class UpgradeFailed:
    """Says that the upgrade has failed, and that this agent is active as before."""

    failure: Failure


@dataclass(frozen=True)
class Committed:
    """Says that this agent has passed its trial, so that its upgrade is committed."""

    id: str
    generation: int


@dataclass(frozen=True)
class Error:
    """Says that the upgrader has refused a message of this agent."""

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
