"""Requests the upgrade of an agent that speaks the protocol, and waits for the upgrader's answer.
The program still gets all of the agent's events meanwhile, in the agent's own thread. This file
does not know where releases come from."""

import threading
from typing import Callable, Optional, Union

from ._releases import Releases, UpdateError
from ._upgrading import Upgrading
from .agent import Agent
from .aio import AsyncAgent
from .events import Error, Failure, Stop, UpgradeFailed
from .session import Refused

AnyAgent = Union[Agent, AsyncAgent]


def upgrading_of(agent: AnyAgent) -> Upgrading:
    """Returns the agent's object of the class Upgrading, with which update() reaches the agent.
    Raises UpdateError if no upgrader runs this agent. Also raises UpdateError in the main thread,
    which handles the agent's events and so must not wait."""
    if agent.alone:
        raise UpdateError("update", "this agent runs without an upgrader, which would replace it")
    if threading.current_thread() is threading.main_thread():
        reason = "this thread has to take the agent's events: call update() in another one"
        raise UpdateError("update", reason)
    found: Upgrading = agent._upgrading
    return found


def may_request(upgrading: Upgrading) -> bool:
    """Waits until this agent may request an upgrade: it is active, not on trial, and no other
    upgrade is under way. Returns False if the agent is told to stop instead."""
    with upgrading.watched() as told:
        while (when := upgrading.when) == "later":
            told.get()
    return when == "now"


def record_failures(upgrading: Upgrading, place: Releases) -> None:
    """Records every failure that the upgrader has reported to this agent in the ledger of
    agent-releases (its record of tried versions)."""
    while upgrading.failures:
        failure = upgrading.failures[0]
        place.fail(failure.id, failure.stage, failure.reason, failure.errno)
        if failure in upgrading.failures:
            upgrading.failures.remove(failure)


def request(agent: AnyAgent, id: str, executable: str) -> Optional[Failure]:
    """Requests the upgrade, and waits until the upgrade fails or this agent is told to stop.
    Returns the failure, and adds it to the failures that are to be recorded. Returns None if this
    agent is told to stop after the whole request has been written to the pipe."""
    upgrading: Upgrading = agent._upgrading
    asked = threading.Event()  # set when the agent's thread has tried to send the request
    is_sent: Optional[Callable[[], bool]] = None  # absent if the request was not sent

    def refuse(reason: str) -> Failure:
        failure = Failure(id, "request", reason)
        upgrading.tell(UpgradeFailed(failure))
        return failure

    def ask() -> None:
        nonlocal is_sent
        try:
            agent.upgrade(id, executable)
            is_sent = agent._sending()
        except (Refused, ValueError) as error:
            refuse(str(error))
        finally:
            asked.set()

    with upgrading.watched() as told:
        upgrading.post(ask)
        if upgrading.when == "never" and upgrading.withdraw(ask):
            return refuse("this agent has been told to stop")
        while True:
            event = told.get()
            if event is None or isinstance(event, Stop):
                if not upgrading.withdraw(ask):
                    asked.wait()
                    if is_sent is None:
                        continue  # ask() has queued the refusal as an event
                    if is_sent():
                        return None
                return refuse("this agent has been told to stop")
            if isinstance(event, UpgradeFailed) and event.failure.id == id:
                return event.failure
            if isinstance(event, Error) and event.about == "upgrade":
                return refuse(event.reason)
