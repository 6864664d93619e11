# Mutants that serve as canaries: they show that `make mutate` judges mutants correctly. Some change
# behavior that a test certainly checks, so tests must kill them. The other mutants change nothing
# that the program does, so they must survive.
import find

# The canaries: mutants whose fate is known. Each row has the expected fate, the file, the text that
# the canary replaces, and the replacement.
PLANTED = [
    ('killed', 'upgrader/core/state.cc', 'state.incumbent && state.incumbent->activated',
     '!(state.incumbent && state.incumbent->activated)'),
    ('survived', 'base/ending.cc', '128 + ending.value', '128 + ending.value + 0'),
    ('killed', 'base/escape.cc', 'is_control(c) ? 6 : 1', 'is_control(c) ? 5 : 1'),
    ('survived', 'agent-protocol/cpp/wire/line_reader.cc', 'end_ - begin_ == size_',
     'end_ - begin_ + 0 == size_'),
    ('killed', 'upgrader/main.cc', 'first_passed_descriptor + sockets.value_or(0)',
     'first_passed_descriptor + 1 + sockets.value_or(0)'),
    ('survived', 'upgrader/main.cc', 'sockets.value_or(0) + (lock ? 1 : 0)',
     '0 + sockets.value_or(0) + (lock ? 1 : 0)'),
]


def name_of(fate, path, alternative):
    return f'{path} canary, {fate}: `{alternative}`'


NAMES = {name_of(fate, path, other): fate for fate, path, _, other in PLANTED}


def plant(path, source, places):
    """Adds the canaries of this file to the file's places for mutants."""
    for fate, where, original, other in PLANTED:
        if where != path:
            continue
        if source.count(original.encode()) != 1:
            raise SystemExit(f'{path}: no place to plant a canary: {original}')
        start = source.index(original.encode())
        kind = 'truth' if '==' in original or '&&' in original else 'value'
        places.append(find.Place(start, start + len(original), kind, f'canary, {fate}', False,
                                 [other]))
