"""The agent's conversation for asyncio: the methods of Agent, and events that can be awaited."""

import asyncio
from typing import Any, AsyncIterator, Optional, Sequence

from . import events
from .agent import Agent


class AsyncAgent:
    """An Agent whose wait() does not block the asyncio loop. Several tasks of one loop may wait for
    events; each event goes to one of them. Must be opened in the main thread. All other methods
    (ready, stopped, healthy, ...) are those of Agent. stopped() and unfit() block until the whole
    message has been written to the pipe. They return immediately unless the pipe is full because
    the upgrader does not read."""

    def __init__(self, version: Optional[str] = None, *, features: Sequence[str] = ()) -> None:
        self._agent = Agent(version, features=features)
        self._waiting: set[asyncio.Event] = set()  # one for each task that waits in wait()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    async def wait(self, timeout: Optional[float] = None) -> Optional[events.Event]:
        """Returns the next event, or None when `timeout` seconds are over."""
        loop = asyncio.get_running_loop()
        deadline = None if timeout is None else loop.time() + timeout
        while True:
            event = self._agent.next()
            if event is not None:
                return event
            left = None if deadline is None else deadline - loop.time()
            if left is not None and left <= 0:
                return None
            await self._readable(loop, left)

    async def _readable(self, loop: asyncio.AbstractEventLoop, seconds: Optional[float]) -> None:
        told = asyncio.Event()
        number = self._agent.fileno()
        self._waiting.add(told)
        loop.add_reader(number, self._tell_all)  # replaces a reader that another task has added
        try:
            await asyncio.wait_for(told.wait(), seconds)
        except asyncio.TimeoutError:
            pass
        finally:
            self._waiting.remove(told)
            if not self._waiting:
                loop.remove_reader(number)

    def _tell_all(self) -> None:
        for told in self._waiting:
            told.set()

    def __aiter__(self) -> AsyncIterator[events.Event]:
        return self._all()

    async def _all(self) -> AsyncIterator[events.Event]:
        while True:
            try:
                event = await self.wait()
            except ValueError:
                if not self._agent._closed:
                    raise
                return
            if event is not None:
                yield event

    async def __aenter__(self) -> "AsyncAgent":
        return self

    async def __aexit__(self, *error: Any) -> None:
        self._agent.close()
