# The groups of source files that get mutants. For each group, this file names the part of the
# product that the group covers, the share of the group's mutants that must be killed, and the tests
# that may kill these mutants. A mutant is killed if a test fails because of it.
import glob
from dataclasses import dataclass

# Files that get no mutants: code that only tests call, code that only ends a program with an error,
# the version, the C header, which has no code, and plain data whose members are always all set.
LEFT_OUT = {'agent-protocol/cpp/session/session_print.cc',
            'base/check.cc', 'base/check.h', 'upgrader/core/event.h',
            'upgrader/core/action.h', 'base/version.h', 'agent-protocol/agent_protocol.h'}
# Files of upgrader/core that belong to the group of the shell (the code around the decisions), and
# not to that of the decisions: init_news.h has the facts for messages to init, and options.cc and
# options.h are tested with whole programs.
NOT_CORE = {'upgrader/core/' + name
            for name in ('init_news.h', 'options.cc', 'options.h')}
# Files of base/ that belong to one of the groups of source files below: BASE_CORE to the group of
# the decisions, and BASE_PROTOCOL to the group of the protocol.
BASE_CORE = ('ending', 'errno_name', 'number', 'named_number', 'time')
# Files of base/ that get no mutants, because the upgrader does not link them, and the programs that
# use them have their own tests. For the same reason, the part of agent-protocol/ that sends
# requests through a control directory gets no mutants.
BASE_TOOLS = ('curl_loop', 'moment', 'notify_listener', 'pointers', 'shown', 'signals',
              'standard_output', 'status_path', 'table', 'temporary_path', 'terminal_size')
BASE_PROTOCOL = ('escape', 'form', 'json_line', 'result', 'utf8')
# The beginnings of the paths of tests: first those that may kill mutants of the decisions, then
# those that may kill mutants of the protocol. These tests start no process, so they are fast.
CORE_TESTS = ('tests/decisions/scenario/', 'tests/decisions/explore/second_table', *(
    f'tests/decisions/unit/{name}' for name in (
        'supervisor', 'phase_event', 'chronicle', 'words', 'log_limit', 'init_messages',
        'init_news', 'init_pace', 'heartbeat', 'attempts', 'control', 'status', 'number',
        'options')))
# The directories with the decisions of the fleet's controllers, and the test programs that may kill
# their mutants.
FLEET = tuple(f'fleet/model/{name}' for name in ('rollouts', 'plans', 'desired', 'drivers'))
FLEET_TESTS = ('tests/together/fleet/walks', 'tests/together/fleet/wing')
PROTOCOL_TESTS = tuple(f'tests/decisions/unit/{name}' for name in (
    'archive', 'codec', 'json_line', 'line_reader', 'message', 'session', 'stock_archive', 'text'))


@dataclass
class Group:
    name: str
    what: str
    files: list
    killed_min: float  # the share of the group's mutants that must be killed
    # True if the table of survivors must list each mutant of this group that survives, with the
    # reason. If false, it is enough to reach killed_min.
    listed: bool
    patient: bool  # true if the tests start processes, and so may be slow
    tests: tuple  # the beginnings of the paths of the tests that may kill the mutants
    is_usual: bool = True  # False: the group is tried only if PARTS names it

    def may_kill(self, case):
        return case.program.startswith(self.tests)


def sources(directory):
    return [path for kind in ('cc', 'h')
            for path in glob.glob(f'{directory}/**/*.{kind}', recursive=True)]


def stem(path):
    return path.rsplit('/', 1)[1].rsplit('.', 1)[0]


def groups():
    upgrader = sources('upgrader')
    protocol = [p for p in sources('agent-protocol') if '/control/' not in p]
    upgrader, protocol = (sorted(set(paths) - LEFT_OUT) for paths in (upgrader, protocol))
    base = sorted(p for p in set(sources('base')) - LEFT_OUT if stem(p) not in BASE_TOOLS)
    core = [p for p in upgrader if p.startswith('upgrader/core/') and p not in NOT_CORE]
    core += [p for p in base if stem(p) in BASE_CORE]
    protocol += [p for p in base if stem(p) in BASE_PROTOCOL]
    agent = [p for p in protocol if stem(p).startswith('agent')]
    return [
        Group('core', 'the decisions', core, 0, True, False,
              CORE_TESTS),
        Group('protocol', 'codec, archive, line reader, session',
              [p for p in protocol if p not in agent], 0.95, True, False, PROTOCOL_TESTS),
        Group('shell', 'the shell', [p for p in upgrader + base if p not in core + protocol], 0.85,
              False, True,
              ('tests/decisions/unit/', 'tests/decisions/scenario/', 'tests/together/integration/',
               'tests/together/regression/')),
        Group('agent', 'what an agent links', agent, 0.85, False, True,
              ('tests/decisions/unit/agent_', 'tests/decisions/unit/failing_agent')),
        Group('fleet', 'the decisions of the controllers',
              sorted(path for directory in FLEET for path in sources(directory)), 0.70, False,
              False, FLEET_TESTS, is_usual=False),
    ]
