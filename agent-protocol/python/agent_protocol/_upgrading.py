"""Connects update() with an agent that runs in another thread. update() sees all events of the
agent, and the program gets all of these events as well."""

import threading
from collections import deque
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Callable, Iterator, Optional

from . import events
from .session import Session

UNRECORDED_MAX = 16

Told = SimpleQueue[Optional[events.Event]]
Call = Callable[[], None]


class Upgrading:
    """The functions and data of an agent that update() uses. The agent owns this object. Any thread
    may call the methods, except where a comment names the thread."""

    def __init__(self, session: Session, version: Optional[str], rouse: Call) -> None:
        """The function `rouse` wakes the agent's thread. That thread then calls perform_calls()."""
        self.version = version
        # Failures that the upgrader has reported, and that update() has not recorded yet. Not all
        # are of update()'s own upgrades: upgraderctl or the previous agent may have requested the
        # failed upgrade.
        self.failures: deque[events.Failure] = deque(maxlen=UNRECORDED_MAX)
        self._session, self._rouse = session, rouse
        self._lock = threading.Lock()
        self._closed = False
        self._watchers: list[Told] = []
        self._calls: list[Call] = []

    # ---- functions that the Agent calls, in its own thread

    def perform_calls(self) -> None:
        with self._lock:
            calls, self._calls = self._calls, []
        for call in calls:
            call()

    def tell(self, event: Optional[events.Event]) -> None:
        failure = getattr(event, "failure", None)
        if failure is not None:
            self.failures.append(failure)
        with self._lock:
            for watcher in self._watchers:
                watcher.put(event)

    def close(self) -> None:
        """Tells the watchers that the agent is closed. Must be called before the agent closes its
        descriptors. Afterwards `rouse` is never called."""
        with self._lock:
            self._closed = True
        self.tell(None)

    # ---- for update()

    @property
    def when(self) -> str:
        """Returns when an upgrade may be requested: "now"; "later" if this agent is not active yet,
        is on trial or has an upgrade under way; "never" if this agent has been told to stop or has
        been closed."""
        return "never" if self._closed else self._session.when_upgrade()

    @contextmanager
    def watched(self) -> Iterator[Told]:
        """Yields a queue that gets every later event, and None when the agent is closed."""
        told: Told = SimpleQueue()
        with self._lock:
            self._watchers.append(told)
        try:
            yield told
        finally:
            with self._lock:
                self._watchers.remove(told)

    def post(self, call: Call) -> None:
        """Makes the agent's thread call the function `call`. If the agent is closed, or if
        withdraw(call) comes first, `call` is never called."""
        with self._lock:
            self._calls.append(call)
            if not self._closed:
                self._rouse()

    def withdraw(self, call: Call) -> bool:
        """Undoes post(call). Returns False if the agent's thread called the function already."""
        with self._lock:
            if call not in self._calls:
                return False
            self._calls.remove(call)
            return True
