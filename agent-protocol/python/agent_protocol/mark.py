"""By which a process knows that it has been an agent.

Opening the conversation takes the upgrader's variables out of the environment, so an agent that has
executed itself anew would find no upgrader, and activate itself beside the one that is active.
"""

import os

VARIABLE = "LIBAGENT_PROTOCOL_PROCESS"
UNKNOWN_START = "0"


def _start_of_process() -> str:
    """The 22nd field of the process's line in /proc, which executing a program leaves as it is."""
    try:
        with open("/proc/self/stat", encoding="latin-1") as file:
            return file.read().rpartition(")")[2].split()[22 - 3]  # the name may hold blanks, too
    except (OSError, IndexError):
        return UNKNOWN_START


def leave() -> None:
    """What the agent starts inherits the mark, and is another process."""
    os.environ[VARIABLE] = f"{os.getpid()} {_start_of_process()}"


def is_left() -> bool:
    """True if this process has left the mark."""
    number, _, start = os.environ.get(VARIABLE, "").partition(" ")
    own = _start_of_process()
    return number == str(os.getpid()) and (start == own or UNKNOWN_START in (start, own))
