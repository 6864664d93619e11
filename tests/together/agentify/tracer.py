"""Traces a process with all its descendants (ptrace), stops them at each of their system calls, and
can kill a process there."""

import ctypes
import os
import signal

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
LIBC.ptrace.restype = ctypes.c_long

TRACEME, CONT, SETOPTIONS, SYSCALL = 0, 7, 0x4200, 24
TRACE_SYSGOOD, TRACE_FORK, TRACE_VFORK, TRACE_CLONE, TRACE_EXEC = 1, 2, 4, 8, 16
OPTIONS = TRACE_SYSGOOD | TRACE_FORK | TRACE_VFORK | TRACE_CLONE | TRACE_EXEC
ALL = 0x40000000  # the value of __WALL in waitpid()
SUBREAPER = 36


def ptrace(request, pid, data=0):
    return LIBC.ptrace(request, pid, None, data)


def become_subreaper():
    LIBC.prctl(SUBREAPER, 1, 0, 0, 0)


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


class Family:
    """Traces the processes that are started here, and all their descendants. At each system call,
    calls `step` with the pid and the name of the calling process. When `step` has returned true,
    processes no longer stop at system calls, but only at signals."""

    def __init__(self, step):
        self.step = step
        self.free = False  # true when `step` has ended the tracing of system calls
        self.inside = {}  # for each process, whether it is in a system call
        self.alive = set()
        self.ended = {}

    def start(self, argv, environment, output):
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                os.dup2(output, 1)
                os.dup2(output, 2)
                if not self.free:
                    ptrace(TRACEME, 0)
                    os.kill(os.getpid(), signal.SIGSTOP)
                os.execve(argv[0], argv, environment)
            finally:
                os._exit(127)
        self.alive.add(pid)
        if not self.free:
            os.waitpid(pid, ALL)
            ptrace(SETOPTIONS, pid, OPTIONS)
            self.go_on(pid)
        return pid

    def go_on(self, pid, number=0):
        ptrace(CONT if self.free else SYSCALL, pid, number)

    def look(self):
        """Waits for the next event of a traced process, and handles it. Returns false if there was
        none."""
        try:
            pid, status = os.waitpid(-1, ALL | os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return False
        if not os.WIFSTOPPED(status):
            self.alive.discard(pid)
            self.ended[pid] = status
            return True
        self.alive.add(pid)
        number = os.WSTOPSIG(status)
        if number == signal.SIGTRAP | 0x80:
            entering = self.inside[pid] = not self.inside.get(pid, False)
            if entering and not self.free and self.step(pid, name_of(pid)):
                self.free = True
            self.go_on(pid)
        elif status >> 16 or number == signal.SIGTRAP:
            # ptrace reports an exec before execve() returns. So after this event the process is
            # still in a system call; after other events it is not.
            self.inside[pid] = status >> 16 == 4
            self.go_on(pid)
        elif number == signal.SIGSTOP and pid not in self.inside:
            self.inside[pid] = False  # a process that has just been forked
            ptrace(SETOPTIONS, pid, OPTIONS)
            self.go_on(pid)
        else:
            self.go_on(pid, number)
        return True
