# Judges a group of source files by the fates of its mutants (killed, or survived). There are two
# kinds of groups:
# * Groups whose survivors must be in the table of survivors. A survivor that the table lacks is an
#   error, and so is a line of the table that is no longer true.
# * Groups of which a certain share of mutants must be killed. The functions with the most survivors
#   are named.
import re
from dataclasses import dataclass, replace

import planted


@dataclass
class Verdict:
    killed: int
    listed: int
    sampled: int
    all: int
    wrong: list  # the errors, each as a line of text
    # The share that is reported for the group. For a group whose survivors must be in the table:
    # the share of all its mutants that the table does not list. For any other group: the share of
    # its tried mutants that were killed.
    figure: float
    met: bool
    # The functions with the most survivors, each with the number of survivors and of tried mutants.
    # Empty if survivors.table must list all survivors of the judged group.
    worst: tuple = ()


@dataclass(frozen=True)
class Line:
    """One line of the table of survivors: the name of a mutant, or a pattern with `*` for the names
    of a family of mutants. `of` is the number of mutants whose names match the line, and `survive`
    the number of those that survive."""
    text: str
    survive: int = 1
    of: int = 1
    is_family: bool = False
    reason: str = ''

    @staticmethod
    def read(text):
        family = re.fullmatch(r'(.*) \((\d+)(?: of (\d+))?\)', text)
        if family is None:
            return Line(text)
        pattern, survive, of = family.groups()
        return Line(pattern, int(survive), int(of or survive), True)

    @property
    def file(self):
        return file_of(self.text)

    def fitting(self, names):
        if not self.is_family:
            return [name for name in names if name == self.text]
        pattern = re.compile('.*'.join(map(re.escape, self.text.split('*'))))
        return [name for name in names if pattern.fullmatch(name)]

    def with_one_less(self):
        return replace(self, survive=self.survive - 1, of=self.of - 1)


def read_table(path):
    """Returns the lines of the table of survivors, and the errors in the table. In the table, a
    reason stands below the line or lines that it explains."""
    lines, amiss = [], []
    with open(path, encoding='utf-8') as file:
        texts = [text.rstrip('\n') for text in file]
    above = []  # the last lines, which the next reason explains
    for number, text in enumerate(texts, 1):
        if text.startswith(' '):
            above = [replace(line, reason=f'{line.reason} {text.strip()}'.strip())
                     for line in above]
            lines[len(lines) - len(above):] = above
        elif text and not text.startswith('#'):
            line = Line.read(text)
            if line.text in [other.text for other in lines]:
                amiss.append(f'{path}:{number}: listed twice')
            above = [line] if not above or above[0].reason else [*above, line]
            lines.append(line)
        else:
            above = []
    amiss += [f'{path}: no reason: {line.text}' for line in lines if not line.reason]
    return lines, amiss


def file_of(name):
    return re.match(r'\S*', name).group()


def what_is_wrong_with(line, fitting, fates):
    """Yields the errors of a line of the table of survivors. `fitting` are the names of the mutants
    that match the line."""
    if len(fitting) != line.of:
        if not line.is_family:
            yield f'stale: no such mutant: {line.text}'
        else:
            yield f'stale: {len(fitting)} such mutants, and not {line.of}: {line.text}'
    tried = [name for name in fitting if name in fates]
    killed = [name for name in tried if fates[name].startswith('killed')]
    if len(killed) > line.of - line.survive:
        for name in killed:
            yield f'stale: {fates[name]}, but listed as a survivor: {name}'
    if len(tried) - len(killed) > line.survive:
        yield (f'new survivor: {len(tried) - len(killed)} survive, and not {line.survive}: '
               f'{line.text}')


def judge(group, mutants, fates, lines):
    """Judges whether the mutants of a group that survived are those that the table of survivors
    permits. `fates` has a text for each mutant that was tried. The text begins with `killed` if a
    test has killed the mutant."""
    names = {m['name']: m for m in mutants if m['name'] not in planted.NAMES}
    tried = [name for name in names if name in fates]
    survivors = [name for name in tried if not fates[name].startswith('killed')]
    its_own = [line for line in lines if line.file in group.files]
    wrong, listed = [], {}
    for line in its_own:
        fitting = line.fitting(names)
        wrong += what_is_wrong_with(line, fitting, fates)
        wrong += [f'listed twice: {name}' for name in fitting if name in listed]
        listed.update(dict.fromkeys(fitting))
    for name in survivors:
        if name not in listed:
            wrong.append(f'new survivor ({fates[name]}), MUTANT={names[name]["number"]}, line '
                         f'{names[name]["line"]}: {name}')
    figure = 1 - sum(line.survive for line in its_own) / max(1, len(names))
    killed = len(tried) - len(survivors)
    met = not wrong and figure >= group.killed_min and killed > 0
    return Verdict(killed, len([name for name in survivors if name in listed]), len(tried),
                   len(names), wrong, figure, met)


WORST = 3


def score(group, mutants, fates):
    """Judges a group of source files like judge(), but by the share of killed mutants alone."""
    tried = [m for m in mutants if m['name'] in fates and m['name'] not in planted.NAMES]
    of, survive = {}, {}
    for mutant in tried:
        function = f'{mutant["file"]} {mutant["function"]}'
        of[function] = of.get(function, 0) + 1
        if not fates[mutant['name']].startswith('killed'):
            survive[function] = survive.get(function, 0) + 1
    worst = sorted(survive, key=lambda function: (-survive[function], function))[:WORST]
    killed = len(tried) - sum(survive.values())
    figure = killed / max(1, len(tried))
    every = sum(m['name'] not in planted.NAMES for m in mutants)
    return Verdict(killed, 0, len(tried), every, [], figure,
                   killed > 0 and figure >= group.killed_min,
                   tuple((function, survive[function], of[function]) for function in worst))
