# Runs test cases with a mutant switched on, in test programs that wait for orders (killer_main.cc).
# Before that, runs each test case without a mutant, to find out which mutants the test case
# reaches, and how long it takes.
import mmap
import os
import struct
import subprocess
from dataclasses import dataclass, field

# The number of bytes in mutants.control before the records of reached mutants: see mutant.h.
HEAD_BYTES = 4
MUTANTS_MAX = 1 << 21
RECORD = -1
# The command that runs a test program in its own PID namespace, because a mutant may send any
# signal to any process, or to all processes.
APART = ['unshare', *([] if os.geteuid() == 0 else ['--map-current-user']), '--pid', '--fork',
         '--kill-child', '--mount-proc']
FORK_MS = 3  # milliseconds: the time of the fork() before each test case


@dataclass
class Case:
    program: str
    number: int
    name: str
    ms: int = 0
    reached: set = field(default_factory=set)
    # How often this test case has killed mutants so far. Each kill is counted three times: under
    # the mutant's name, its function and its file.
    kills: dict = field(default_factory=dict)


def limits_of(case, patient):
    """Returns two time limits for a test case: seconds of the processor, and milliseconds of the
    clock. A test case that starts no processes can hang only in a loop, which uses up the first
    limit. Its second limit is generous, for busy machines. A test case that starts processes may
    also wait for an event that never comes, so its second limit is short. If a test case with
    processes exceeds a limit, kill() runs it again, and counts only a second failure."""
    if patient:
        return 60, 2_000 + 4 * case.ms
    return 1 + 8 * case.ms // 1000, 120_000 + 20 * case.ms


class Worker:
    """Runs the test programs in one directory. The directory has its own mutants.control, which
    switches mutants on."""

    def __init__(self, place):
        self.place = place
        path = os.path.join(place, 'mutants.control')
        size = HEAD_BYTES + MUTANTS_MAX
        with open(path, 'wb') as file:
            file.truncate(size)
        with open(path, 'r+b') as file:
            self.control = mmap.mmap(file.fileno(), size)
        self.servers = {}

    def server(self, program):
        server = self.servers.get(program)
        if server is None or server.poll() is not None:
            self.control[:HEAD_BYTES] = struct.pack('i', 0)
            environment = {k: v for k, v in os.environ.items()
                           if k not in ('MAKEFLAGS', 'MAKELEVEL', 'MFLAGS', 'MAKEOVERRIDES')}
            server = subprocess.Popen([*APART, os.path.join(self.place, program), '--serve'],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                      bufsize=1, env=environment)
            self.servers[program] = server
        return server

    def answer(self, program, order):
        server = self.server(program)
        server.stdin.write(order + '\n')
        server.stdin.flush()
        line = server.stdout.readline()
        if not line:
            raise SystemExit(f'{program} --serve has ended at: {order}')
        return line.rstrip('\n')

    def cases(self, program):
        found = []
        line = self.answer(program, 'list')
        while line != 'end':
            _, number, name = line.split(' ', 2)
            found.append(Case(program, int(number), name))
            line = self.servers[program].stdout.readline().rstrip('\n')
        return found

    def run(self, case, mutant, limits):
        """Runs a test case with a mutant switched on. Returns `passed`, `failed` or `late`, and the
        milliseconds that it took."""
        order = f'run {mutant} {limits[0]} {limits[1]} {case.number}'
        outcome, ms = self.answer(case.program, order).split()
        return outcome, int(ms)

    def record(self, case):
        """Runs a test case without a mutant, and records which mutants it reaches and how long it
        takes. Returns whether the test case passes."""
        self.control[HEAD_BYTES:] = bytes(MUTANTS_MAX)
        outcome, case.ms = self.run(case, RECORD, (300, 300_000))
        case.reached = numbers_of_marks(self.control[HEAD_BYTES:])
        # Recording slows a test case down, so a second run measures the time without it. The test
        # cases of tests/together/integration need no second run, since they mostly wait for
        # processes.
        waits = case.program.startswith('tests/together/integration/')
        if outcome != 'passed' or waits:
            return outcome == 'passed'
        outcome, case.ms = self.run(case, 0, (300, 300_000))
        return outcome == 'passed'

    def kill(self, mutant, cases, patient, ms_max):
        """Returns the first of these test cases that kills the mutant, with the outcome and the
        time; or None if none kills it. A test case with processes may occasionally fail for reasons
        besides the mutant. So its failure counts only if the test case then passes without the
        mutant, and fails again with it. When the test cases have taken `ms_max` in total, no more
        test cases are run."""
        spent = 0
        for case in sorted(cases, key=lambda case: promise(case, mutant)):
            spent += case.ms + FORK_MS
            if spent > ms_max:
                return None
            limits = limits_of(case, patient)
            outcome, ms = self.run(case, mutant['number'], limits)
            if outcome == 'passed':
                continue
            if patient and not self.is_confirmed(case, mutant, limits):
                continue
            note_kill(case, mutant)
            return case, outcome, ms
        return None

    def is_confirmed(self, case, mutant, limits):
        outcome, ms = self.run(case, 0, limits)
        in_time = outcome == 'passed' and ms < limits[1] // 2
        return in_time and self.run(case, mutant['number'], limits)[0] != 'passed'

    def close(self):
        for server in self.servers.values():
            server.stdin.close()
            server.wait()


def numbers_of_marks(notes):
    found, at = set(), notes.find(b'\1')
    while at >= 0:
        found.add(at)
        at = notes.find(b'\1', at + 1)
    return found


def note_kill(case, mutant):
    for key in (mutant['name'], mutant['function'], mutant['file']):
        case.kills[key] = case.kills.get(key, 0) + 1


def promise(case, mutant):
    """Returns a number by which test cases are sorted: the test case with the smallest is run
    first. The number is small if the test case is quick, reaches few mutants, and has killed this
    mutant or neighbours of it before."""
    near = (1000 * case.kills.get(mutant['name'], 0) + 8 * case.kills.get(mutant['function'], 0) +
            case.kills.get(mutant['file'], 0))
    return (case.ms + FORK_MS) * len(case.reached) / (1 + near)
