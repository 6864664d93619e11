"""The mark by which a process knows that it has been an agent.

It is needed because opening the conversation removes the upgrader's variables from the environment:
an agent that has executed its program again would find no upgrader, and activate itself beside the
agent that is active.
"""

import os

VARIABLE = "LIBAGENT_PROTOCOL_PROCESS"
UNKNOWN_START = "0"


def _start_of_process() -> str:
    """Returns the 22nd field of /proc/self/stat, the time at which the process was started. It
    stays the same when the process executes another program."""
    try:
        with open("/proc/self/stat", encoding="latin-1") as file:
            # The program's name, in parentheses, may contain blanks, so fields are counted after
            # it.
            return file.read().rpartition(")")[2].split()[22 - 3]
    except (OSError, IndexError):
        return UNKNOWN_START


def leave() -> None:
    """Leaves the mark, which names this process's pid. Processes that the agent starts inherit the
    mark, but have other pids, so they are not taken for the agent."""
    os.environ[VARIABLE] = f"{os.getpid()} {_start_of_process()}"


def is_left() -> bool:
    """Returns True if this process has left the mark."""
    number, _, start = os.environ.get(VARIABLE, "").partition(" ")
    own = _start_of_process()
    return number == str(os.getpid()) and (start == own or UNKNOWN_START in (start, own))
