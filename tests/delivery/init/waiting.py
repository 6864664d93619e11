# Waits for conditions with a deadline, and never for a fixed time.

import select
import time

SECONDS_MAX = 60  # the limit for any wait, even on a busy machine


class Failed(Exception):
    """Raised if a check has failed. The text says what the check waited for, or what it saw."""


class NotHere(Exception):
    """Raised if this machine lacks something that a check needs. The text says what is missing."""


def wait_until(what, condition, seconds=SECONDS_MAX):
    """Waits until condition() returns a true value, and returns that value. `what` describes the
    condition, for the error message. If `what` is a function, it is called only on a failure, so
    that its text is about that moment."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer:
            return answer
        if time.monotonic() > deadline:
            raise Failed("not within %d s: %s" % (seconds, what() if callable(what) else what))
        pause_between_looks()


def pause_between_looks():
    select.select([], [], [], 0.01)


def demand(fact, words):
    if not fact:
        raise Failed(words)
