#!/usr/bin/python3
# Finds loops that may run forever in the given Python and shell files of test drivers. Prints
# `FILE:LINE: ...` for each. A loop is good if one of its lines, or the line before it, has a word
# for a limit, such as `deadline`, `patience`, `tries` or `timeout`. It is also good if a comment on
# its first line begins with `until`, and so names the event that ends the loop.

import ast
import re
import sys

LIMIT = re.compile(r"monotonic|deadline|patience|timeout|limit|\bends\b|\btries\b|while read\b|"
                   r"IFS=|getline|\bmatch\(", re.IGNORECASE)
SAID = re.compile(r"#\s*until ")


def statements(node):
    """Yields the statements inside the node, but not the expressions, which have no loops."""
    for part in ("body", "handlers", "orelse", "finalbody", "cases"):
        for inner in getattr(node, part, ()):
            yield inner
            yield from statements(inner)


def python_loops(text):
    # Parsing takes long, so files without a line that could begin a loop are not parsed.
    if re.search(r"^\s*while\b", text, re.MULTILINE):
        for node in statements(ast.parse(text)):
            if isinstance(node, ast.While):
                yield node.lineno, node.end_lineno


def shell_loops(lines):
    open_loops = []
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*(while|until)\s", line):
            open_loops.append(number)
        if open_loops and (re.match(r"\s*done\b", line) or re.search(r";\s*done\b", line)):
            yield open_loops.pop(), number


def loops_of(name, text):
    first = text.split("\n", 1)[0]
    if name.endswith(".py") or "python" in first:
        return python_loops(text)
    if name.endswith(".sh") or re.match(r"#!.*\b(sh|bash)\b", first):
        return shell_loops(text.split("\n"))
    return ()


def main():
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            text = file.read()
        lines = text.split("\n")
        for begin, end in loops_of(name, text):
            if not SAID.search(lines[begin - 1]) and \
                    not LIMIT.search("\n".join(lines[max(0, begin - 2):end])):
                print("%s:%d: a loop without a limit: %s"
                      % (name, begin, lines[begin - 1].strip()))


main()
