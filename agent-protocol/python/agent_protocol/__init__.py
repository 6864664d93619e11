"""The agent's half of agent-protocol(7): with this library, a program lets upgrader(8) replace the
program by its next version. update() finds and fetches that version, and reports how the upgrade
has ended."""

from ._releases import UpdateError
from .aio import AsyncAgent
from .agent import Agent
from .events import (
    Accepted,
    Activate,
    CandidateLost,
    CandidateReady,
    Committed,
    Error,
    Event,
    Failure,
    Stop,
    UpgradeFailed,
    Welcome,
)
from .session import Refused
from .updating import Update, update

__all__ = [
    "Accepted",
    "Activate",
    "Agent",
    "AsyncAgent",
    "CandidateLost",
    "CandidateReady",
    "Committed",
    "Error",
    "Event",
    "Failure",
    "Refused",
    "Stop",
    "Update",
    "UpdateError",
    "UpgradeFailed",
    "Welcome",
    "update",
]
