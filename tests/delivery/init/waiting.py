# Waits for conditions with a deadline, and never for a fixed time.

import select
import time

SECONDS_MAX = 60  # the limit for anything: enough for a busy machine; a fault is named by its words


class Failed(Exception):
    """A check failed. The words say what the check waited for, or what it saw."""


class NotHere(Exception):
    """This machine lacks something that a check needs. The words say what."""


def wait_until(what, condition, seconds=SECONDS_MAX):
    """Returns the first true answer of condition(). `what` may be a function, for words of then."""
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
