"""The agent's two pipes. The class Channel writes lines, and reads lines and decodes them. Only
flush() blocks."""

import os
import select
from typing import Callable, Optional

from . import events
from .messages import LINE_BYTES_MAX, decode

PIPE_BUF = 4_096  # a pipe that polls writable takes up to this many bytes at once
# The most bytes of this agent's messages that are kept while the pipe to the upgrader is full. The
# upgrader has the same limit for the bytes that it keeps for an agent.
UNSENT_BYTES_MAX = 131_072


class Channel:
    """Owns the descriptors of the two pipes."""

    def __init__(self, input: int, output: int) -> None:
        self.input = input
        self.output = output
        self.over = False  # True if the upgrader has gone
        self.unsent = b""
        self._queued = 0  # the number of all bytes that were ever queued
        self._written = 0
        self._unread = bytearray()
        self._skipping = False  # True while the rest of a line that is too long is skipped

    def close(self) -> None:
        os.close(self.input)
        os.close(self.output)

    def has_room_for(self, line: bytes) -> bool:
        return len(self.unsent) + len(line) <= UNSENT_BYTES_MAX

    def queue(self, line: bytes) -> None:
        self.unsent += line
        self._queued += len(line)

    def sending(self) -> Callable[[], bool]:
        """Returns a function, which any thread may call. The function returns whether all bytes
        that were queued before the call of sending() have been written to the pipe."""
        end = self._queued
        return lambda: self._written >= end

    def exchange(self) -> None:
        """Reads and writes as much as is possible without waiting."""
        while self._turn(0):
            pass

    def flush(self) -> None:
        """Waits until all queued bytes have been written to the pipe, or the upgrader has gone."""
        while self.unsent and not self.over:
            self._turn(None)

    def take(self) -> Optional[events.Event]:
        """Returns the next event, or None if no line for one has been read. Skips messages that are
        unknown or malformed."""
        while True:
            end = self._unread.find(b"\n")
            if end < 0:
                if len(self._unread) >= LINE_BYTES_MAX:
                    self._skipping = True
                    self._unread.clear()
                return None
            line = bytes(self._unread[:end])
            del self._unread[: end + 1]
            if self._skipping:
                self._skipping = False
                continue
            if message := decode(line):
                return message

    @property
    def input_waits(self) -> bool:
        """Returns True if a whole line has been read that has not been returned as an event yet."""
        return b"\n" in self._unread

    def _full(self) -> bool:
        return len(self._unread) >= 2 * LINE_BYTES_MAX

    def _turn(self, timeout: Optional[int]) -> bool:
        if self.over:
            return False
        poll = select.poll()
        if not self._full() or timeout is None:
            poll.register(self.input, select.POLLIN)
        poll.register(self.output, select.POLLOUT if self.unsent else 0)
        ready = dict(poll.poll(timeout))
        if not ready:
            return False
        if ready.get(self.input):
            self._read_some()
        told = ready.get(self.output, 0)
        if not told & (select.POLLERR | select.POLLHUP | select.POLLNVAL):
            if told:
                self._write_some()
            return True
        # The upgrader has closed the pipe to which the agent writes, so unsent messages are
        # dropped. The upgrader's last messages may still be unread in the other pipe: the
        # conversation ends only after they have been read.
        self.unsent = b""
        if not ready.get(self.input) and not self._full():
            self.over = True
        return bool(ready.get(self.input))

    def _read_some(self) -> None:
        data = os.read(self.input, LINE_BYTES_MAX)
        self._unread += data
        self.over = not data

    def _write_some(self) -> None:
        try:
            written = os.write(self.output, self.unsent[:PIPE_BUF])
        except BrokenPipeError:
            self.unsent = b""
            return
        self.unsent = self.unsent[written:]
        self._written += written
