"""The agent's end of the conversation, for programs without asyncio: see README.md. Without an
upgrader the same calls work, and lead the program through the same steps: after ready() comes the
event Activate, and after SIGTERM the event Stop. A request for an upgrade is refused. Every other
call succeeds and has no effect."""

import errno
import time
from types import TracebackType
from typing import Callable, Iterator, Optional, Sequence

from . import events, messages
from .conversation import Conversation, refuse_worker
from .messages import encode
from .session import Refused

POLL_SECONDS_MAX = 86_400.0  # one call of poll() cannot wait for a month or longer

_opened = False  # True after Agent(); a process can open only one conversation


class Agent(Conversation):
    """The agent's end of the conversation with the upgrader. A process has one, and must open it in
    the main thread, before anything else. An agent is a context manager that closes the
    conversation at the end, and an iterator over the agent's events. Any thread may call the
    methods.

    A call that sends a message raises Refused if the protocol does not allow the message in the
    current state, if too much is still unsent, if the conversation has been closed, or in a process
    that was forked from the agent's process. The call raises ValueError if a text or a number is
    invalid. Then nothing has been sent. ready() is the exception: if a check fails, ready() sends
    `unfit` and raises Refused."""

    def __init__(self, version: Optional[str] = None, *, features: Sequence[str] = ()) -> None:
        """Starts the conversation. `version` is the version of the program, at most 128 bytes.
        `features` names the features that the program has, at most 16 names of at most 32 bytes. If
        the program and the upgrader have the feature "readiness", init is told that the service is
        ready when a first agent or a fallback calls healthy(), and not already at Activate.

        With an upgrader, these things are true afterwards:

        - `hello` has been sent.
        - Descriptor 0 is /dev/null, and 1 is a copy of 2.
        - The AGENT_PROTOCOL variables are gone from the environment.
        - SIGTERM is caught: an agent that is not active yet exits at once with status 143, an
          active one gets Stop.

        Without an upgrader, nothing is sent, and descriptors are left alone; SIGTERM is caught
        nevertheless.

        Raises OSError with EBUSY if this process has opened its conversation before, even if it has
        closed that conversation since. Raises OSError with ENOTCONN if the process had a
        conversation with an upgrader and has then executed its program again. Raises RuntimeError
        in a worker process of multiprocessing that imports the program's main module again."""
        global _opened
        refuse_worker()
        if _opened:
            raise OSError(errno.EBUSY, "this process has opened its conversation already")
        if version is not None:
            messages.check_text("version", version, messages.VERSION_BYTES_MAX)
        named = messages.check_features(features)
        super().__init__(version)
        _opened = True
        self._say("hello", protocol=messages.PROTOCOL, version=version, features=named or None)

    def __enter__(self) -> "Agent":
        return self

    def __exit__(
        self,
        kind: Optional[type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    # ---- events

    def fileno(self) -> int:
        """Returns a descriptor for an event loop: it polls readable when next() may have an event,
        or can send messages for which the pipe had no room. After close() the descriptor stays
        open, and polls readable: next() raises ValueError."""
        return self._poll.fileno()

    def wait(self, timeout: Optional[float] = None) -> Optional[events.Event]:
        """Returns the next event. Waits for up to `timeout` seconds, or without limit if `timeout`
        is None. Returns None when the time is over."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            event = self.next()
            if event is not None:
                return event
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return None
            self._poll.poll(None if left is None else min(left, POLL_SECONDS_MAX))

    def __iter__(self) -> Iterator[events.Event]:
        """Yields events until the conversation is closed, so the program must leave its loop
        itself, after the event Stop."""
        while True:
            try:
                event = self.wait()
            except ValueError:
                if not self._closed:
                    raise
                return
            if event is not None:
                yield event

    # ---- messages from the program

    def add_check(self, name: str, check: Callable[[], Optional[str]]) -> None:
        """Registers a start-up check, to be run by ready() in the order of registration. The check
        returns a string that says what is wrong, or None if it passes."""
        self._checks.append((name, check))

    def ready(self) -> None:
        """Runs the checks in order. If all pass, sends `ready`. If one fails, sends `unfit` with
        that check's name and reason, runs no further check and raises Refused. The program must
        then exit without any other effect. If a check raises an error, ready() raises that error,
        has sent nothing and may be called again."""
        self._ask("ready")
        for name, check in self._checks:
            self._leave_if_over()
            wrong = check()
            if wrong is not None:
                self.unfit(f"{name}: {wrong}")
                raise Refused(f"cannot say ready: {name}: {wrong}")
        self._leave_if_over()
        self._say("ready")

    def unfit(self, reason: str) -> None:
        """Tells the upgrader that this agent must not get the work, or, if it is on trial, must not
        keep the work. An agent that is not active yet must then exit; an agent on trial is told to
        stop. `reason` is cut to 1,024 bytes. Returns when the whole message has been written to the
        pipe, or the upgrader has gone."""
        self._say("unfit", at_last=True, reason=messages.fit(reason, messages.REASON_BYTES_MAX))

    def upgrade(
        self,
        id: str,
        executable: str,
        args: Optional[Sequence[str]] = None,
        *,
        mode: Optional[str] = None,
        gate: Optional[str] = None,
        commit: Optional[str] = None,
        on_unclean_stop: Optional[str] = None,
        start_timeout: Optional[float] = None,
        confirm_timeout: Optional[float] = None,
        stop_timeout: Optional[float] = None,
        trial: Optional[float] = None,
        fallback: Optional[str] = None,
    ) -> None:
        """Requests an upgrade of this agent. The answer is the event Accepted or UpgradeFailed. For
        an argument that is left out, the upgrader uses its own default. Times are in seconds."""
        messages.check_id(id)
        messages.check_text("executable", executable, messages.EXECUTABLE_BYTES_MAX)
        if not executable.startswith("/"):
            raise ValueError("executable is not an absolute path")
        if args is not None:
            if isinstance(args, str):
                raise ValueError("args are a single text, and not a sequence of texts")
            if len(args) > messages.ARGS_MAX:
                raise ValueError(f"args are {len(args)}: {messages.ARGS_MAX} can be sent")
            for arg in args:
                messages.check_text("an argument", arg, messages.LINE_BYTES_MAX)

        def ms(name: str, seconds: Optional[float], least: int = 0) -> Optional[int]:
            return None if seconds is None else messages.milliseconds(name, seconds, least)

        self._say(
            "upgrade",
            id=id,
            executable=executable,
            args=None if args is None else list(args),
            mode=mode,
            gate=gate,
            commit=commit,
            on_unclean_stop=on_unclean_stop,
            start_timeout_ms=ms("start_timeout", start_timeout),
            confirm_timeout_ms=ms("confirm_timeout", confirm_timeout),
            stop_timeout_ms=ms("stop_timeout", stop_timeout, 1),
            trial_ms=ms("trial", trial),
            fallback=fallback,
        )

    def confirm(self, id: str) -> None:
        """Confirms the upgrade `id`, whose candidate is ready: the upgrader then stops this agent
        and activates the candidate."""
        self._say("confirm", id=messages.check_id(id))

    def cancel(self, id: str, reason: Optional[str] = None) -> None:
        """Cancels the upgrade `id`, so that this agent stays active. May be called even after a
        Stop for that upgrade, until stopped() has been called. `reason` is cut to 1,024 bytes."""
        cut = None if reason is None else messages.fit(reason, messages.REASON_BYTES_MAX)
        self._say("cancel", id=messages.check_id(id), reason=cut)

    def stopped(self, state: Optional[str] = None) -> None:
        """Confirms a clean stop. All work must be finished or given up before the call, and the
        program must exit after it. `state` is passed to the next agent: at most 32,768 bytes, and
        at most 65,000 when escaped for JSON. Returns when the whole message has been written to the
        pipe, or the upgrader has gone.

        If the state is refused, nothing has been confirmed: call again with another state, or
        without one. After a stop that the upgrader did not request (a signal, the end of input),
        nothing is sent."""
        if state is not None:
            messages.check_state(state)
        with self._lock:
            if not self._session.stop_ordered and not self._why_unusable():
                self._hear_what_is_there()
            self._unsent_stopped = encode("stopped", state=state)
            self._say("stopped", at_last=True, state=state)

    def healthy(self) -> None:
        """Tells the upgrader that this agent works. If the agent is on trial, the upgrade is then
        committed at once. With the feature "readiness", a first agent or a fallback must call this
        method, and init is then told that the service is ready. With an upgrader, raises Refused if
        this agent is not active, if it has said `unfit`, or (without the feature) if it is not on
        trial."""
        self._say("healthy")

    def extend(self, seconds: float) -> None:
        """Asks the upgrader for more time: moves this agent's current deadline to `seconds` (1 ms
        to 24 h) from now, unless the deadline is later already. May be called before ready(), and
        between the event Stop and stopped(). With the feature "readiness", it may also be
        called between the event Activate and healthy()."""
        self._say("extend", ms=messages.milliseconds("the time", seconds, 1))

    def heartbeat(self) -> None:
        """Tells the upgrader that this agent is alive. If Welcome.watchdog is set, an active agent
        must call this method at least once in every half of that time. Raises Refused if this agent
        is not active yet."""
        self._say("heartbeat")

    def status(self, text: str) -> None:
        """Sends a status of one line for people, cut to 256 bytes."""
        self._say("status", text=messages.fit(text, messages.STATUS_BYTES_MAX))
