# Finds the mutants of a C++ file. Visits libclang's syntax tree of the file, and records for each
# place the texts with which mutants replace the text at this place. weave.py switches mutants on,
# and verdict.py judges them.
#
# The name of a mutant consists of its file, its function, the original text, the replacement, and a
# number that distinguishes equal mutants. So the name does not depend on changes in other parts of
# the file.
import re
from dataclasses import dataclass, field

import clang.cindex
from clang.cindex import CursorKind as K
from clang.cindex import TypeKind as T

ARGUMENTS = ['-std=c++20', '-I.', '-xc++', '-w']
TEXT_MAX = 160

FUNCTIONS = {K.FUNCTION_DECL, K.CXX_METHOD, K.CONSTRUCTOR, K.DESTRUCTOR, K.FUNCTION_TEMPLATE,
             K.CONVERSION_FUNCTION}
LITERALS = {K.INTEGER_LITERAL, K.CXX_BOOL_LITERAL_EXPR, K.CXX_NULL_PTR_LITERAL_EXPR,
            K.STRING_LITERAL, K.CHARACTER_LITERAL, K.FLOATING_LITERAL}
INTEGERS = {T.INT, T.UINT, T.LONG, T.ULONG, T.LONGLONG, T.ULONGLONG, T.SHORT, T.USHORT,
            T.UCHAR, T.SCHAR, T.CHAR_S}
SWAPS = {'==': ['!='], '!=': ['=='], '<': ['<=', '>='], '<=': ['<', '>'], '>': ['>=', '<='],
         '>=': ['>', '<'], '+': ['-'], '-': ['+'], '*': ['/'], '/': ['*'], '%': ['*'],
         '&': ['|'], '|': ['&'], '<<': ['>>'], '>>': ['<<'], '&&': ['||'], '||': ['&&']}
RESULTS = INTEGERS | {T.RECORD, T.POINTER, T.ENUM, T.ELABORATED}
NOTHING = r'\{\}|nullptr|0|""|std::nullopt|\*this'
COMPARISONS = {'==', '!=', '<', '<=', '>', '>=', '&&', '||'}
# Functions that make checks with UPGRADER_CHECK, and check_failed(), which UPGRADER_CHECK calls.
# These functions get no mutants, and no mutant deletes a statement that calls them. A check fails
# only if the program has a bug, so no test of a correct program notices that a check is missing.
CHECKING = {'check_state', 'check_heartbeat', 'check_activate', 'check_failed'}
ASSIGNMENTS = {'+=': '-=', '-=': '+=', '|=': '&=', '&=': '|='}


@dataclass
class Place:
    """A stretch of a source file, and the texts by which mutants replace it."""
    start: int
    end: int
    kind: str  # names the function weave_KIND of weave.py, which replaces the text
    function: str
    at_run_time: bool  # True: the text may be evaluated at compile time, too
    # The texts by which the mutants at this place replace the original text. Each text is also a
    # part of its mutant's name.
    alternatives: list = field(default_factory=list)


def flat(text):
    text = re.sub(r'\s+', ' ', text).strip()
    return text if len(text) <= TEXT_MAX else text[:TEXT_MAX - 3] + '...'


class Finder:
    def __init__(self, path, unit, source):
        self.path = path
        self.source = source
        self.places = {}
        self.macros = [(c.extent.start.offset, c.extent.end.offset)
                       for c in unit.cursor.get_children()
                       if c.kind == K.MACRO_INSTANTIATION and self.is_here(c) and
                       source[c.extent.end.offset - 1:c.extent.end.offset] == b')']
        for cursor in unit.cursor.get_children():
            if self.is_here(cursor):
                self.find_functions(cursor)

    def is_here(self, cursor):
        file = cursor.location.file
        return file is not None and file.name == self.path

    def text(self, start, end):
        return self.source[start:end].decode()

    def text_of(self, cursor):
        return self.text(*self.extent(cursor))

    @staticmethod
    def extent(cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def in_macro(self, start, end):
        return any(a <= start and end <= b for a, b in self.macros)

    # ---- declarations

    def find_functions(self, cursor):
        if cursor.kind in FUNCTIONS:
            if cursor.is_definition():
                self.enter_function(cursor)
            return
        if cursor.kind == K.FIELD_DECL:
            self.enter_member(cursor)
            return
        for child in cursor.get_children():
            if child.kind.is_declaration() or child.kind in (K.UNEXPOSED_DECL, K.LINKAGE_SPEC):
                self.find_functions(child)

    def name_of(self, cursor):
        parent = cursor.semantic_parent
        owner = ''
        if parent is not None and parent.kind in (K.CLASS_DECL, K.STRUCT_DECL, K.CLASS_TEMPLATE):
            owner = parent.spelling + '::'
        types = ', '.join(a.type.spelling for a in cursor.get_arguments())
        types = re.sub(r'\b(const|std::|agent_protocol::|upgrader::|test::)(\s|\b)', '', types)
        return f'{owner}{cursor.spelling}({re.sub(r" *&", "", types).strip()})'

    def enter_function(self, cursor):
        body = next((c for c in cursor.get_children() if c.kind == K.COMPOUND_STMT), None)
        if body is None or '= default' in self.text_of(cursor):
            return
        if cursor.spelling in CHECKING:
            return
        self.function = self.name_of(cursor)
        head = self.text(cursor.extent.start.offset, body.extent.start.offset)
        if re.search(r'\bconsteval\b', head):
            # A consteval function gets no mutants: only the compiler runs it, and no mutant is
            # switched on at compile time.
            return
        self.begin, self.end = self.extent(cursor)
        self.at_run_time = re.search(r'\bconstexpr\b', head) is not None
        self.result = cursor.result_type
        for child in cursor.get_children():
            if child.kind == K.COMPOUND_STMT:
                self.visit(child)
            elif cursor.kind == K.CONSTRUCTOR and child.kind.is_expression():
                self.visit(child)

    def enter_member(self, cursor):
        """Finds the places for mutants in the default value of a member."""
        self.function = self.name_of(cursor).replace('()', '')
        self.at_run_time = True  # the compiler may evaluate the value, too
        self.result = None
        for child in cursor.get_children():
            if child.kind.is_expression() and '=' in self.text_of(cursor):
                self.visit(child)

    # ---- adding a mutant to a place in the source

    def add(self, start, end, kind, *alternatives):
        if start >= end or (self.in_macro(start, end) and kind not in ('truth', 'statement')):
            return
        place = self.places.get((start, end))
        if place is None:
            place = Place(start, end, kind, self.function, self.at_run_time)
            self.places[(start, end)] = place
        if kind == 'truth' and place.kind == 'value':
            place.kind = kind
        for alternative in alternatives:
            if alternative not in place.alternatives:
                place.alternatives.append(alternative)

    def visit(self, cursor):
        """Looks for places for mutants in a statement or an expression, and in its parts."""
        start, end = self.extent(cursor)
        if re.match(r'UPGRADER_CHECK|\W+$', self.text(start, end)):
            return  # a use of UPGRADER_CHECK gets no mutants: see CHECKING
        look = getattr(self, 'look_at_' + cursor.kind.name.lower(), None)
        if look is not None and look(cursor) == 'done':
            return
        if self.in_macro(start, end):
            return
        for child in cursor.get_children():
            self.visit(child)

    # ---- statements

    def look_at_compound_stmt(self, cursor):
        for child in cursor.get_children():
            self.look_at_statement(child)

    def look_at_statement(self, cursor):
        start, end = self.extent(cursor)
        deletable = cursor.kind in (K.BREAK_STMT, K.CONTINUE_STMT)
        if cursor.kind.is_expression() and cursor.kind not in LITERALS:
            deletable = re.match(r'\(void\) *\w+$', self.text(start, end)) is None
        if cursor.kind == K.RETURN_STMT and not list(cursor.get_children()):
            deletable = True
        text = self.text(start, end)
        if not deletable or text.startswith('UPGRADER_CHECK') or text.split('(')[0] in CHECKING:
            return
        if text == 'return' and re.fullmatch(rb'[;\s}]*', self.source[end:self.end]) and \
                not re.search(rb'\b(for|while|do)\b', self.source[self.begin:self.end]):
            return  # no mutant: the function ends here anyway
        semicolon = re.compile(rb'\s*;').match(self.source, end)
        if semicolon:
            self.add(start, semicolon.end(), 'statement', '')

    def look_at_case_stmt(self, cursor):
        body = list(cursor.get_children())[-1]
        # No mutant deletes the last `break` of a switch: that would change nothing.
        if re.compile(rb'break;\s*\}').match(self.source, body.extent.start.offset):
            return 'done'
        self.look_at_statement(body)
        self.visit(body)
        return 'done'

    def look_at_default_stmt(self, cursor):
        self.look_at_statement(list(cursor.get_children())[-1])

    def look_at_if_stmt(self, cursor):
        if re.match(r'if constexpr\b', self.text_of(cursor)):
            for child in list(cursor.get_children())[1:]:
                self.look_at_statement(child)
                self.visit(child)
            return 'done'
        children = list(cursor.get_children())
        opened = self.source.index(b'(', cursor.extent.start.offset) + 1
        bodies = children[-2:] if self.has_else(children) else children[-1:]
        heads = children[:len(children) - len(bodies)]
        for body in bodies:
            self.look_at_statement(body)
        self.look_at_head(opened, heads)
        return None

    def has_else(self, children):
        """Returns whether these children belong to an `if` with an `else`. Then the last two are
        its branches."""
        if len(children) < 3:
            return False
        between = self.text(children[-2].extent.end.offset, children[-1].extent.start.offset)
        return re.match(r'[\s;]*(//[^\n]*\s*)*else\b', between) is not None

    def look_at_head(self, opened, heads):
        if not heads:
            return
        declared = next((c for c in heads if c.kind in (K.VAR_DECL, K.DECL_STMT)), None)
        last = heads[-1]
        if declared is None:
            self.condition(last)
            return
        variable = declared
        if declared.kind == K.DECL_STMT:
            variable = next(declared.get_children())
        end = max(c.extent.end.offset for c in heads)
        text = self.text(opened, end)
        if ';' in text:
            self.condition(last)
        elif variable.kind == K.VAR_DECL:
            name = variable.spelling
            self.add(opened, end, 'head', f'{name} is nothing')

    def condition(self, cursor, can_hold=True):
        if cursor.kind in LITERALS:
            return
        self.add(*self.extent(cursor), 'truth', *(['true'] if can_hold else []), 'false')

    def look_at_while_stmt(self, cursor):
        children = list(cursor.get_children())
        self.look_at_statement(children[-1])
        if children[0].kind.is_expression():
            self.condition(children[0], can_hold=False)

    def look_at_do_stmt(self, cursor):
        children = list(cursor.get_children())
        self.condition(children[-1], can_hold=False)

    def look_at_for_stmt(self, cursor):
        children = list(cursor.get_children())
        self.look_at_statement(children[-1])
        for child in children[:-1]:
            if child.kind.is_expression() and child.type.kind == T.BOOL:
                self.condition(child, can_hold=False)

    def look_at_cxx_for_range_stmt(self, cursor):
        self.look_at_statement(list(cursor.get_children())[-1])

    def look_at_return_stmt(self, cursor):
        value = next(cursor.get_children(), None)
        if value is None:
            return
        end = value.extent.end.offset
        text = self.text_of(value)
        result = None if self.result is None else self.result.get_canonical().kind
        whole = cursor.extent.start.offset, self.source.index(b';', end) + 1
        if T.BOOL in (result, value.type.get_canonical().kind):
            self.condition(value)
        elif result == T.VOID:
            self.add(*whole, 'return', 'return', text)
        elif self.result is not None and re.search(
                r'\bResult<|variant<|\bMember<', self.result.get_canonical().spelling):
            pass  # this type has no empty value, so `return {}` is not a mutant
        elif result in RESULTS and not re.fullmatch(NOTHING, text) and not self.is_constant(value):
            self.add(*whole, 'return', 'return {}')

    def is_constant(self, cursor):
        """Returns whether the expression is a number, a truth value or an enumerator. Mutants of
        such a value change the value itself."""
        while (cursor.kind in (K.UNEXPOSED_EXPR, K.CALL_EXPR)
               and not cursor.spelling.startswith('o')):
            children = list(cursor.get_children())
            if len(children) != 1 or self.extent(children[0]) != self.extent(cursor):
                break
            cursor = children[0]
        enumerator = (cursor.referenced is not None
                      and cursor.referenced.kind == K.ENUM_CONSTANT_DECL)
        return enumerator or cursor.kind in (K.INTEGER_LITERAL, K.CXX_BOOL_LITERAL_EXPR)

    def look_at_lambda_expr(self, cursor):
        body = next((c for c in cursor.get_children() if c.kind == K.COMPOUND_STMT), None)
        result, self.result = self.result, None
        if body is not None:
            self.visit(body)
        self.result = result
        return 'done'

    # ---- expressions

    def operator_between(self, left, right):
        between = self.text(left.extent.end.offset, right.extent.start.offset)
        between = re.sub(r'//[^\n]*', '', between).strip(' \n()')
        return between

    def look_at_binary_operator(self, cursor):
        children = list(cursor.get_children())
        if len(children) == 2:
            self.operation(cursor, children[0], children[1])

    look_at_compound_assignment_operator = look_at_binary_operator

    def look_at_unexposed_expr(self, cursor):
        children = list(cursor.get_children())
        if len(children) == 2:  # the two operands of an operator
            self.operation(cursor, children[0], children[1])
        operands = self.operands_of_rewritten(cursor)
        if operands is None:
            return None
        self.operation(cursor, *operands)
        for operand in operands:
            self.visit(operand)
        return 'done'

    def operands_of_rewritten(self, cursor):
        """Returns the operands of an `a != b` that the compiler rewrites to `!(a == b)`, or of an
        `a < b` that it rewrites to `(a <=> b) < 0`; None for any other expression."""
        calls = [c for c in cursor.get_children() if self.extent(c) != self.extent(cursor)]
        while calls:
            call = calls.pop()
            children = list(call.get_children())
            if call.spelling in ('operator==', 'operator<=>') and len(children) == 3:
                return sorted((children[0], children[2]), key=self.extent)
            calls.extend(c for c in children
                         if c.spelling.startswith('operator') and c.kind == K.CALL_EXPR)
        return None

    def operation(self, cursor, left, right):
        sign = self.operator_between(left, right)
        a, b = self.text_of(left), self.text_of(right)
        if (left.extent.start.offset < cursor.extent.start.offset or
                right.extent.end.offset > cursor.extent.end.offset):
            return
        if sign in ASSIGNMENTS:
            if self.is_number(left) and self.is_number(right):
                self.add(*self.extent(cursor), 'value', f'{a} {ASSIGNMENTS[sign]} {b}')
            return
        if sign not in SWAPS:
            return
        arithmetic = sign not in COMPARISONS
        if arithmetic and not (self.is_number(left) and self.is_number(right)):
            return
        kind = 'value' if arithmetic else 'truth'
        a, b = (f'({x})' if ' ' in x and not x.startswith('(') else x for x in (a, b))
        self.add(*self.extent(cursor), kind, *(f'{a} {other} {b}' for other in SWAPS[sign]))
        if sign in ('&&', '||'):
            self.add(*self.extent(cursor), kind, a, b)

    @staticmethod
    def is_number(cursor):
        kind = cursor.type.get_canonical()
        return kind.kind in INTEGERS or 'chrono::duration' in kind.spelling

    def look_at_unary_operator(self, cursor):
        start, end = self.extent(cursor)
        text = self.text(start, end)
        operand = next(cursor.get_children())
        if text.startswith('!'):
            self.add(start, end, 'truth', self.text_of(operand))
        elif text[:1] in '-~' and not text.startswith('--'):
            self.add(start, end, 'value', self.text_of(operand))

    def look_at_conditional_operator(self, cursor):
        self.condition(next(cursor.get_children()))

    def look_at_call_expr(self, cursor):
        children = list(cursor.get_children())
        start, end = self.extent(cursor)
        if cursor.spelling.startswith('operator'):
            if len(children) == 3:
                self.operation(cursor, children[0], children[2])
            if cursor.spelling == 'operator!' and self.text(start, end).startswith('!'):
                self.add(start, end, 'truth', self.text(start + 1, end))
            return
        self.swap_arguments(cursor)
        text = self.text(start, end)
        for name, other in (('std::min', 'std::max'), ('std::max', 'std::min')):
            if re.match(rf'{name}\b', text):
                self.add(start, end, 'value', other + text[len(name):])

    def swap_arguments(self, cursor):
        given = list(cursor.get_arguments())
        start, end = self.extent(cursor)
        taken = [] if cursor.referenced is None else [
            c.type for c in cursor.referenced.get_children() if c.kind == K.PARM_DECL]
        if any(t.kind == T.LVALUEREFERENCE and not t.get_pointee().is_const_qualified()
               for t in taken):
            return  # no mutant: the function may change an argument
        for one, other in zip(given, given[1:]):
            a, b = self.extent(one), self.extent(other)
            if not start <= a[0] < a[1] <= b[0] < b[1] <= end:
                continue
            kinds = [c.type.get_canonical().spelling for c in (one, other)]
            same = kinds[0] == kinds[1] and 'dependent' not in kinds[0]
            text = self.text(*a), self.text(*b)
            if not same or text[0] == text[1] or re.search(r'std::move|^\{', text[0] + text[1]):
                continue
            if re.match(r'std::(min|max|swap|exchange)\b|\{', self.text(start, end)):
                continue
            self.add(start, end, 'value', self.text(start, a[0]) + text[1] +
                     self.text(a[1], b[0]) + text[0] + self.text(b[1], end))

    def look_at_var_decl(self, cursor):
        text = self.text_of(cursor)
        if re.match(r'(static |inline )*constexpr\b', text):
            return 'done'
        for value in cursor.get_children():
            named = cursor.location.offset + len(cursor.spelling)
            before = self.text(named, max(named, value.extent.start.offset)).strip()
            # In a variable's declaration, only the initial value gets mutants. Any other expression
            # there, before the variable's name or in brackets after it, belongs to the type.
            if value.kind.is_expression() and value.extent.start.offset > named and before != '[':
                if cursor.type.get_canonical().kind == T.BOOL and value.kind not in LITERALS:
                    self.condition(value)
                self.visit(value)
        return 'done'

    def look_at_field_decl(self, cursor):
        return 'done'

    def look_at_static_assert(self, cursor):
        return 'done'

    def look_at_init_list_expr(self, cursor):
        for child in cursor.get_children():
            start, end = self.extent(child)
            designated = re.search(rb'\.\w+ = $', self.source[max(0, start - 40):start])
            if designated and child.kind not in LITERALS:
                self.add(start, end, 'value', 'nothing')

    def look_at_integer_literal(self, cursor):
        start, end = self.extent(cursor)
        text = self.text(start, end)
        if not text:
            return
        self.add(start, end, 'value', f'{text} + 1')
        if text != '0':
            self.add(start, end, 'value', f'{text} - 1')

    def look_at_cxx_bool_literal_expr(self, cursor):
        other = 'false' if self.text_of(cursor) == 'true' else 'true'
        self.add(*self.extent(cursor), 'truth', other)

    def look_at_member_ref_expr(self, cursor):
        for child in cursor.get_children():
            # In an expression such as `a.b<c>`, visits only `a`, the part before the `.` or `->`.
            # Only this part begins where the whole expression begins: template arguments such as
            # `c` begin later.
            if child.extent.start.offset == cursor.extent.start.offset:
                self.visit(child)
        return 'done'

    def look_at_decl_ref_expr(self, cursor):
        target = cursor.referenced
        if target is None or target.location.file is None:
            return 'done'
        if target.location.file.name.startswith('/'):
            return 'done'
        start, end = self.extent(cursor)
        text = self.text(start, end)
        if target.kind == K.ENUM_CONSTANT_DECL:
            all_of_it = [c.spelling for c in target.semantic_parent.get_children()]
            other = all_of_it[(all_of_it.index(target.spelling) + 1) % len(all_of_it)]
            if other != target.spelling and text.endswith(target.spelling):
                self.add(start, end, 'value', text[:-len(target.spelling)] + other)
        elif target.kind == K.VAR_DECL and target.type.is_const_qualified():
            tokens = self.declared_text(target)
            if 'constexpr' not in tokens:
                return 'done'
            kind = target.type.get_canonical()
            if kind.kind in INTEGERS:
                self.add(start, end, 'value', f'{text} + 1', f'{text} - 1')
            elif 'chrono::duration' in kind.spelling:
                self.add(start, end, 'value', f'{text} + {text}')
        return 'done'

    @staticmethod
    def declared_text(cursor):
        return [t.spelling for t in cursor.get_tokens()][:4]


def places_of(path):
    """Returns all places for mutants in this file, in order. Reads the file from the tree in the
    current directory."""
    with open(path, 'rb') as file:
        source = file.read()
    index = clang.cindex.Index.create()
    unit = index.parse(path, args=ARGUMENTS, options=(
        clang.cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD))
    errors = [d for d in unit.diagnostics if d.severity >= clang.cindex.Diagnostic.Error]
    if errors:
        raise SystemExit(f'{path}: libclang says: {errors[0]}')
    places = Finder(path, unit, source).places.values()
    return sorted(places, key=lambda place: (place.start, -place.end))
