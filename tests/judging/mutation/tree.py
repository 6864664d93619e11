# Makes the instrumented copy of the project, and builds it with the project's own Makefile: the
# sources with all mutants woven in, and the tests with a main() that switches the mutants on
# (killer_main.cc). A mutant that does not compile is taken out, and named in `stillborn`.
import glob
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import subprocess

import weave

COPIED = ['Makefile', 'agent-protocol', 'base', 'upgrader', 'sample-agent', 'packaging', 'fleet',
          'tools', 'tests/together/fleet', 'tests/together/releases', 'tests/together/agentify',
          'tests/decisions/decisions.mk', 'tests/decisions/unit', 'tests/decisions/scenario',
          'tests/decisions/explore', 'tests/support', 'tests/together/integration',
          'tests/together/regression', 'tests/judging/mutation/mutant.h']
# Tests that are not built in the copy of the project that has the mutants: tests of code without
# mutants, and explore_test, because second_table_test explores the same states.
NO_KILLERS = ('sample_', 'c_interface_', 'explore_test')
# The compiler's flags. They do not include hardening, because hardened code calls variants of some
# functions, and the tests can make only the usual functions fail.
FLAGS = '-O2 -w -D_GLIBCXX_ASSERTIONS -include tests/judging/mutation/mutant.h'
ROUNDS_MAX = 8


def sha(*texts):
    digest = hashlib.sha256()
    for text in texts:
        digest.update(text if isinstance(text, bytes) else text.encode())
        digest.update(b'\0')
    return digest.hexdigest()


def content(path):
    with open(path, 'rb') as file:
        return file.read()


def write_if_other(path, data):
    if os.path.exists(path) and content(path) == data:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'wb') as file:
        file.write(data)


def files_below(path):
    if os.path.isfile(path):
        return [path]
    return sorted(p for p in glob.glob(f'{path}/**', recursive=True) if os.path.isfile(p))


def included(path, seen=None):
    """Yields the content of this file, and of every file of the project that it includes directly
    or indirectly."""
    seen = set() if seen is None else seen
    seen.add(path)
    yield content(path)
    for other in re.findall(rb'^#include "([^"]+)"', content(path), re.M):
        other = other.decode()
        if other not in seen and os.path.exists(other):
            yield from included(other, seen)


class Tree:
    def __init__(self, directory, sources, wanted_tests):
        self.directory = directory  # all files of the copy are made below this directory
        self.wanted_tests = wanted_tests  # tests whose paths begin with one of these are built
        self.root = os.path.join(directory, 'tree')
        self.build = os.path.join(self.root, 'build')
        self.sources = sources
        # Maps each source file to its mutants, as dictionaries with the members of weave.Mutant.
        self.mutants = {}
        self.woven = {}
        self.stillborn = set()
        self.known_stillborn = os.path.join(directory, 'stillborn.json')
        if os.path.exists(self.known_stillborn):
            self.stillborn = set(json.loads(content(self.known_stillborn)))

    def make(self):
        self.copy()
        for _ in range(ROUNDS_MAX):
            self.weave()
            # A mutant in a header may be an error for the compiler. Compiles the sources before the
            # tests, so that such a mutant is found and removed before every test includes it.
            errors = self.compile(['upgrader', 'libupgrader.a', 'libagent-protocol.a'])
            if errors is None:
                errors = self.compile(self.targets()[1])
            if errors is None:
                return
            self.bury(errors)
        raise SystemExit('the instrumented copy does not compile')

    def copy(self):
        wanted = set()
        for copied in COPIED:
            for path in files_below(copied):
                wanted.add(path)
                if path not in self.sources:
                    write_if_other(os.path.join(self.root, path), content(path))
        write_if_other(os.path.join(self.root, 'tests/catch_main.cc'),
                       content('tests/judging/mutation/killer_main.cc'))
        wanted.add('tests/catch_main.cc')
        for path in files_below(self.root):
            relative = os.path.relpath(path, self.root)
            if relative not in wanted and not relative.startswith('build/'):
                os.remove(path)

    # ---- weaving the mutants into the sources

    def weave(self):
        scripts = [content(f'tests/judging/mutation/{name}.py')
                   for name in ('find', 'weave', 'planted')]
        jobs, keys = [], []
        for path, first in weave.first_numbers(self.sources).items():
            stillborn = sorted(n for n in self.stillborn if n.startswith(path + ' '))
            key = sha(path, str(first), *included(path), *scripts, json.dumps(stillborn))
            kept = os.path.join(self.directory, 'woven', key + '.json')
            if os.path.exists(kept):
                self.take(path, *json.loads(content(kept)))
            else:
                jobs.append((path, first, set(stillborn)))
                keys.append(kept)
        with multiprocessing.Pool() as pool:
            for job, kept, result in zip(jobs, keys, pool.imap(weave.woven, jobs)):
                write_if_other(kept, json.dumps(result).encode())
                self.take(job[0], *result)

    def take(self, path, text, mutants):
        self.woven[path] = text
        self.mutants[path] = mutants
        write_if_other(os.path.join(self.root, path), text.encode())

    # ---- compiling the copy of the project that has the mutants

    def targets(self):
        tests = [t for kind in ('decisions/unit', 'decisions/scenario', 'decisions/explore',
                                  'together/integration', 'together/regression')
                 for t in sorted(glob.glob(f'tests/{kind}/*_test.cc'))]
        # The tests of the fleet are linked into two programs.
        tests += ['tests/together/fleet/walks.cc', 'tests/together/fleet/wing.cc']
        programs = [t[:-len('.cc')] for t in tests
                    if t.startswith(self.wanted_tests) and 'sample_agent' not in t and
                    not os.path.basename(t).startswith(NO_KILLERS)]
        return programs, ['upgrader', 'tests/together/integration/puppet'] + programs

    def compile(self, targets):
        """Builds these targets of make. Returns the compiler's errors, or None if there are
        none."""
        command = ['make', '-k', f'-j{os.cpu_count()}', '--no-print-directory', '-C', self.root,
                   *(f'build/{target}' for target in targets)]
        environment = dict(os.environ, BUILD='build', SINGLE='1', HARDENING='',
                           CXXFLAGS=FLAGS, LC_ALL='C')
        for name in ('MAKEFLAGS', 'MAKELEVEL', 'MFLAGS', 'MAKEOVERRIDES'):
            environment.pop(name, None)
        done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, check=False)
        return None if done.returncode == 0 else done.stderr

    def bury(self, errors):
        """Removes the mutants in whose lines the compiler has found errors."""
        found = set()
        for path, line in re.findall(r'^(?:\./)?([^:\s]+):(\d+):\d+: error', errors, re.M):
            if path not in self.woven:
                continue
            lines = self.woven[path].split('\n')
            at = int(line) - 1
            while at > 0 and 'mutation::is_on' not in lines[at]:
                at -= 1
            numbers = {int(n) for n in re.findall(r'is_on(?:_at_run_time)?\((\d+)\)', lines[at])}
            found |= {m['name'] for m in self.mutants[path] if m['number'] in numbers}
        if not found:
            raise SystemExit(f'the instrumented copy does not compile:\n{errors[-4000:]}')
        self.stillborn |= found
        write_if_other(self.known_stillborn, json.dumps(sorted(self.stillborn)).encode())

    # ---- the copies of the build in which the mutants run

    def worker(self, number):
        """Makes a copy of the build for one worker, so that each worker switches its own mutant on.
        Returns the path of the copy."""
        place = os.path.join(self.directory, f'worker-{number}')
        shutil.rmtree(place, ignore_errors=True)
        _, targets = self.targets()
        for target in targets:
            copy = os.path.join(place, target)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            os.link(os.path.join(self.build, target), copy)
        return place
