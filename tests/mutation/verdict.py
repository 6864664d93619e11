# Judges what has become of the mutants of a group by the table of survivors that has been reviewed:
# a survivor that is not in it, and a line of it that is no longer so, are both wrong.
import re
from dataclasses import dataclass

import planted


@dataclass
class Verdict:
    killed: int
    listed: int
    sampled: int
    all: int
    wrong: list  # lines for people
    figure: float  # of all, which share is not listed
    met: bool


def read_table(path):
    """Names of survivors, each with the reason below it. What is amiss with the table is said as
    the second."""
    reasons, amiss = {}, []
    name = None
    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip('\n')
            if line == '' or line.startswith('#'):
                continue
            if not line.startswith(' '):
                name = line
                if name in reasons:
                    amiss.append(f'{path}:{number}: listed twice')
                reasons[name] = ''
            elif name is not None:
                reasons[name] = f'{reasons[name]} {line.strip()}'.strip()
    amiss += [f'{path}: no reason: {name}' for name, reason in reasons.items() if not reason]
    return reasons, amiss


def file_of(name):
    return re.match(r'\S*', name).group()


def judge(group, mutants, fates, reasons):
    """`fates` has a name's fate, if it was tried: a text that begins with `killed` or not."""
    mutants = [m for m in mutants if m['name'] not in planted.NAMES]
    names = {m['name']: m for m in mutants}
    wrong, killed, listed = [], 0, 0
    for name, mutant in names.items():
        fate = fates.get(name)
        if fate is None:
            continue
        if fate.startswith('killed'):
            killed += 1
            if name in reasons:
                wrong.append(f'stale: {fate}, but listed as a survivor: {name}')
        elif name in reasons:
            listed += 1
        else:
            wrong.append(f'new survivor ({fate}), MUTANT={mutant["number"]}, line '
                         f'{mutant["line"]}: {name}')
    its_own = [name for name in reasons if file_of(name) in group.files]
    wrong += [f'stale: no such mutant: {name}' for name in its_own if name not in names]
    figure = 1 - len([name for name in its_own if name in names]) / max(1, len(names))
    met = not wrong and figure >= group.killed_min and killed > 0
    return Verdict(killed, listed, killed + listed + len([w for w in wrong if w.startswith('new')]),
                   len(names), wrong, figure, met)
