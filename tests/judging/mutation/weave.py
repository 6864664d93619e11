# Weaves mutants into the text of a source file. At each place, the program then chooses between the
# original text and the texts of the mutants, by the number of the mutant that is switched on
# (mutant.h). Every mutant has its own line, so that the line number of a compiler error shows which
# mutant does not compile.
import zlib
from dataclasses import asdict, dataclass

import find
import planted

# The numbers of a file's mutants begin just after a multiple of this constant, and the file's name
# determines this multiple. So a change of one file does not change the numbers in any other file.
# If the numbers in a header changed, all files that include this header would have to be compiled
# again.
NUMBERS_OF_A_FILE = 4096
FILES_MAX = 512


@dataclass
class Mutant:
    number: int
    name: str
    file: str
    line: int
    function: str


class Weaver:
    def __init__(self, path, first_number, stillborn):
        self.path = path
        with open(path, 'rb') as file:
            self.source = file.read()
        self.places = self.merged(find.places_of(path), path)
        self.next_number = first_number
        self.stillborn = stillborn
        self.mutants = []
        self.names = {}

    def merged(self, places, path):
        planted.plant(path, self.source, places)
        return sorted(places, key=lambda place: (place.start, -place.end))

    def weave(self):
        """Returns the source with its mutants woven in. Afterwards `mutants` lists these
        mutants."""
        self.at = 0
        text = self.stretch(0, len(self.source))
        return text

    def name(self, place, alternative):
        if place.function.startswith('canary'):
            return f'{self.path} {place.function}: `{alternative}`'
        original = find.flat(self.source[place.start:place.end].decode())
        name = f'{self.path} {place.function}: `{original}` -> `{find.flat(alternative)}`'
        self.names[name] = self.names.get(name, 0) + 1
        return name if self.names[name] == 1 else f'{name} #{self.names[name]}'

    def number(self, place, alternative):
        """Gives this mutant the next number, and returns it. Returns None if the mutant does not
        compile."""
        name = self.name(place, alternative)
        if name in self.stillborn:
            return None
        number = self.next_number
        self.next_number += 1
        line = self.source[:place.start].count(b'\n') + 1
        self.mutants.append(Mutant(number, name, self.path, line, place.function))
        return number

    def stretch(self, start, end):
        text = ''
        while self.at < len(self.places) and self.places[self.at].start < end:
            place = self.places[self.at]
            if place.end > end:
                raise SystemExit(f'{self.path}: {place} does not end where it should')
            text += self.source[start:place.start].decode()
            self.at += 1
            text += self.choice(place)
            start = place.end
        return text + self.source[start:end].decode()

    def choice(self, place):
        """Returns the text that replaces a place in the source. Mutants of places within this place
        are contained in the text."""
        numbered = [(self.number(place, a), a) for a in place.alternatives]
        numbered = [(number, a) for number, a in numbered if number is not None]
        within = self.stretch(place.start, place.end)
        if not numbered:
            return within
        call = '::mutation::is_on_at_run_time' if place.at_run_time else '::mutation::is_on'
        return getattr(self, 'weave_' + place.kind)(
            [(f'{call}({number})', a) for number, a in numbered], within, place)

    @staticmethod
    def weave_truth(numbered, within, _):
        choices = ''.join(f'\n{on} ? static_cast<bool>({a}) :' for on, a in numbered)
        return f'({choices}\nstatic_cast<bool>({within}))'

    def weave_value(self, numbered, within, place):
        original = self.source[place.start:place.end].decode()
        nothing = f'std::decay_t<decltype({original})>{{}}'
        choices = ''.join(f'\n{on} ? ({nothing if a == "nothing" else a}) :' for on, a in numbered)
        return f'({choices}\n({within}))'

    @staticmethod
    def weave_statement(numbered, within, _):
        return f'\nif (!{numbered[0][0]}) {{\n{within} }}\n'

    @staticmethod
    def weave_return(numbered, within, _):
        choices = ''.join(f'\nif ({on}) {{ {a}; }} else' for on, a in numbered)
        return f'{{{choices} {{\n{within} }} }}'

    @staticmethod
    def weave_head(numbered, within, _):
        (on, alternative), = numbered
        name = alternative.split()[0]
        return f'{within};\n{on} ? false : static_cast<bool>({name})'


def first_numbers(paths):
    """Returns for each file the first number of its mutants."""
    places = {}
    for path in paths:
        place = zlib.crc32(path.encode()) % FILES_MAX
        while place in places.values():
            place = (place + 1) % FILES_MAX
        places[path] = place
    return {path: place * NUMBERS_OF_A_FILE + 1 for path, place in places.items()}


def woven(job):
    """Weaves the mutants into one source file. Returns the new text, and the mutants."""
    path, first_number, stillborn = job
    weaver = Weaver(path, first_number, stillborn)
    text = weaver.weave()
    if len(weaver.mutants) >= NUMBERS_OF_A_FILE:
        raise SystemExit(f'{path}: too many mutants')
    return text, [asdict(mutant) for mutant in weaver.mutants]
