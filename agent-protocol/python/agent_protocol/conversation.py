"""An agent's conversation with its upgrader. The session (session.py) decides; this module performs
the session's actions on the pipes, the signals and the process. Only this package uses this module;
programs use the class Agent."""

import copy
import errno
import fcntl
import os
import select
import signal
import sys
import threading
from collections import deque
from types import FrameType
from typing import Any, Callable, Optional

from . import events, mark
from ._upgrading import Upgrading
from .channel import Channel
from .messages import encode
from .session import Action, Deliver, ExitAtOnce, Refused, Send, SendStopped, Session

FIRST_PRIVATE = 3  # the first number above those of the standard descriptors


def _take_pipes() -> Channel:
    """Moves the pipes from descriptors 0 and 1 to private ones. Afterwards child processes do not
    inherit the pipes, and text that the program prints does not go to the upgrader. After a
    failure, descriptors 0 and 1 may have been replaced already."""
    input = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, FIRST_PRIVATE)
    output = fcntl.fcntl(1, fcntl.F_DUPFD_CLOEXEC, FIRST_PRIVATE)
    null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
    os.dup2(null, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        os.dup2(null, 1)
    os.close(null)
    return Channel(input, output)


def _keep_lock_private() -> None:
    number = os.environ.get("AGENT_PROTOCOL_LOCK_FD", "")
    if number.isdecimal() and int(number) >= FIRST_PRIVATE:
        try:
            os.set_inheritable(int(number), False)
        except OSError:
            pass  # the lock's descriptor is not open, so there is nothing to do


def refuse_worker() -> None:
    """Raises RuntimeError in a worker process that multiprocessing has started, while the worker
    imports its parent's main module again. The worker has no upgrader, so an agent in it would
    activate itself beside the parent."""
    process = sys.modules.get("multiprocessing.process")
    if process and getattr(process.current_process(), "_inheriting", False):
        raise RuntimeError(
            "a worker process imports the agent's main module: "
            'put the call of Agent() behind `if __name__ == "__main__":`'
        )


class Conversation:
    """Owns the pipes. Must be made in the main thread, since it catches SIGTERM. Any thread may
    call the methods, which hold a lock while they use the pipes."""

    def __init__(self, version: Optional[str] = None) -> None:
        self.alone = "AGENT_PROTOCOL" not in os.environ
        if self.alone and mark.is_left():
            raise OSError(errno.ENOTCONN, "this process has had its conversation with an upgrader")
        self._session = Session(self.alone)
        self._upgrading = Upgrading(self._session, version, self._rouse)
        self._channel: Optional[Channel] = None
        self._events: deque[events.Event] = deque()
        self._checks: list[tuple[str, Callable[[], Optional[str]]]] = []
        self._unsent_stopped = b""
        self._told_over = False
        self._terminated = False
        self._closed = False
        self._owner = os.getpid()
        self._renew_lock()
        os.register_at_fork(after_in_child=self._renew_lock)
        self._woken, self._wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._old_handler = signal.signal(signal.SIGTERM, self._on_sigterm)
        signal.siginterrupt(signal.SIGTERM, False)
        self._poll = select.epoll()
        self._poll.register(self._woken, select.EPOLLIN)
        if not self.alone:
            self._channel = _take_pipes()
            self._poll.register(self._channel.input, select.EPOLLIN)
            self._poll.register(self._channel.output, 0)
            mark.leave()
        _keep_lock_private()
        for name in [name for name in os.environ if name.startswith("AGENT_PROTOCOL")]:
            del os.environ[name]

    def close(self) -> None:
        """Closes the pipes to the upgrader. Sends nothing to the upgrader. Wakes every thread that
        waits in wait(), which then raises ValueError. SIGTERM gets its former handler back: now if
        the main thread calls close(), otherwise when the next SIGTERM comes, since Python changes
        handlers only in the main thread."""
        # The descriptors for waiting stay open, because another thread or a handler of SIGTERM may
        # be using them. If they were closed, a new file could get their numbers meanwhile.
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._upgrading.close()
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, self._old_handler)
            if self._channel:
                self._channel.close()
            self._channel = None
            self._rouse()

    def next(self) -> Optional[events.Event]:
        """Returns the next event, or None if there is none now. Never waits. Should be called until
        it returns None.

        If the input has ended, ends an agent that is not active yet at once, with status 1; an
        active agent gets Stop. Raises ValueError if the conversation has been closed, and in a
        forked process.
        """
        with self._lock:
            if why := self._why_unusable():
                raise ValueError(why)
            self._drain_wake()
            self._upgrading.perform_calls()
            self._leave_if_over()
            if self._channel:
                self._channel.exchange()
            while not self._events and self._channel:
                message = self._channel.take()
                if message is None:
                    break
                self._perform(self._session.hear(message))
            if not self._events and self._terminated:
                self._terminated = False
                self._perform(self._session.terminated())
            over = self._channel and self._channel.over and not self._channel.input_waits
            if not self._events and over:
                self._told_over = True
                self._perform(self._session.input_ended())
            event = self._events.popleft() if self._events else None
            self._watch()
            return event

    # ---- internal functions

    def _renew_lock(self) -> None:
        """Makes the lock. A forked process needs a new lock: another thread of its parent may have
        held the parent's lock."""
        self._lock = threading.RLock()

    def _why_unusable(self) -> str:
        """Returns why this process may not use the descriptors, or an empty string. A forked
        process that read the pipe would take messages, such as `stop`, from the agent."""
        if not self.alone and os.getpid() != self._owner:
            return "this process is a fork of the agent's process"
        return "the conversation has been closed" if self._closed else ""

    def _ask(self, word: str, id: str = "") -> None:
        """Raises Refused if the program may not send the message `word` now. Changes nothing."""
        if why := self._why_unusable():
            raise Refused(f"cannot say {word}: {why}")
        copy.copy(self._session).say(word, id)

    def _say(self, word: str, at_last: bool = False, **members: Any) -> None:
        with self._lock:
            id = members.get("id", "")
            self._ask(word, id)
            line = encode(word, **members)
            if not at_last and self._channel and not self._channel.has_room_for(line):
                raise Refused(f"cannot say {word}: the upgrader does not read what has been sent")
            self._perform(self._session.say(word, id), line)
            if at_last and self._channel:
                self._channel.flush()
            self._watch()

    def _sending(self) -> Callable[[], bool]:
        """Returns a function. That function returns whether all messages that the program had sent
        before the call of _sending() have been written to the pipe."""
        return self._channel.sending() if self._channel else lambda: True

    def _perform(self, actions: list[Action], line: bytes = b"") -> None:
        for action in actions:
            if isinstance(action, Deliver):
                self._events.append(action.event)
                self._upgrading.tell(action.event)
            elif isinstance(action, ExitAtOnce):
                os._exit(action.status)
            elif self._channel and isinstance(action, Send):
                self._channel.queue(line)
            elif self._channel and isinstance(action, SendStopped):
                self._channel.queue(self._unsent_stopped)
        if self._channel:
            self._channel.exchange()

    def _hear_what_is_there(self) -> None:
        if not self._channel:
            return
        self._channel.exchange()
        while message := self._channel.take():
            self._perform(self._session.hear(message))

    def _leave_if_over(self) -> None:
        with self._lock:
            if not self._session.held:
                return
            if self._channel:
                self._channel.exchange()
            if self._terminated:
                self._perform(self._session.terminated())
            if self._channel and self._channel.over:
                self._perform(self._session.input_ended())

    def _watch(self) -> None:
        """Makes the descriptor of fileno() poll readable while next() has something to do."""
        channel = self._channel
        more = bool(self._events) or self._terminated
        if channel:
            more = more or channel.input_waits or (channel.over and not self._told_over)
        if more:
            self._rouse()
        if not channel:
            return
        if channel.over:
            for number in (channel.input, channel.output):
                try:
                    self._poll.unregister(number)
                except FileNotFoundError:
                    pass
            return
        self._poll.modify(channel.output, select.EPOLLOUT if channel.unsent else 0)

    def _rouse(self) -> None:
        try:
            os.write(self._wake, b"!")
        except BlockingIOError:
            pass  # the pipe is full, so it polls readable already

    def _drain_wake(self) -> None:
        try:
            while os.read(self._woken, 4096):
                pass
        except BlockingIOError:
            pass

    def _on_sigterm(self, number: int, frame: Optional[FrameType]) -> None:
        if os.getpid() != self._owner:  # a forked child dies of SIGTERM as by default
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif self._closed:  # close() could not restore the old handler
            signal.signal(number, self._old_handler)
            signal.raise_signal(number)
        elif self._session.held:
            os._exit(128 + number)
        else:
            self._terminated = True
            self._rouse()
