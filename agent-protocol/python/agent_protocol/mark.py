"""Leaves and finds the mark by which a process recognizes that it has been an agent.

Opening the conversation removes the upgrader's variables from the environment. Without the mark, an
agent that executes its program again would find no upgrader, and activate itself although another
agent may be active.
"""

import os

VARIABLE = "LIBAGENT_PROTOCOL_PROCESS"
UNKNOWN_START = "0"


def _start_of_process() -> str:
    """Returns the 22nd field of /proc/self/stat, the time at which the process was started. This
    time stays the same when the process executes a new program."""
    try:
        with open("/proc/self/stat", encoding="latin-1") as file:
            # The second field is the program's name in parentheses, which may contain blanks. So
            # fields are counted after the name.
            return file.read().rpartition(")")[2].split()[22 - 3]
    except (OSError, IndexError):
        return UNKNOWN_START


def leave() -> None:
    """Leaves the mark: an environment variable with this process's pid and the time at which this
    process was started. Processes that the agent starts inherit the variable, but have other pids,
    so they are not taken for the agent."""
    os.environ[VARIABLE] = f"{os.getpid()} {_start_of_process()}"


def is_left() -> bool:
    """Returns True if this process has left the mark."""
    number, _, start = os.environ.get(VARIABLE, "").partition(" ")
    own = _start_of_process()
    return number == str(os.getpid()) and (start == own or UNKNOWN_START in (start, own))
