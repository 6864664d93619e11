# Waits for conditions with a deadline, and never for a fixed time.

import select
import time

SECONDS_MAX = 60  # for any wait, enough for a busy machine


class Failed(Exception):
    """A check failed. The words say what the check waited for, or what it saw."""


class NotHere(Exception):
    """This machine lacks something that a check needs. The words say what."""


def wait_until(what, condition, seconds=SECONDS_MAX):
    """Waits until condition() returns a true value, and returns that. `what` describes the
    condition in the message of a failure; a function is called only then, so that its words are
    about that moment."""
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
