# Prints the table with the results of all init systems, and writes it into the man page.

import datetime
import pathlib
import re

PAGE = pathlib.Path("man/upgrader.8")
NOT_HERE = "cannot be asked here"


def table_lines(columns, rows):
    """Returns the lines of the table of results. Its columns are numbered, and print_table() says
    what the numbers mean."""
    widths = [max(len(row[i]) for row in rows + [("init", "version")]) for i in (0, 1)]
    form = "%%-%ds  %%-%ds" % tuple(widths)
    lines = [form % ("init", "version") + "".join("%5d" % (n + 1) for n in range(len(columns)))]
    for name, version, answers in rows:
        cells = ["yes" if answer == "yes" else "-" if answer in ("not asked", NOT_HERE) else "NO"
                 for answer in answers]
        lines.append(form % (name, version) + "".join("%5s" % cell for cell in cells))
    return lines


def print_table(columns, rows):
    print("\n".join(table_lines(columns, rows)))
    print(", ".join("%d %s" % (n + 1, column) for n, column in enumerate(columns)), flush=True)


def write_page(columns, rows):
    """Writes the table into the man page, between two markers. The rest of the page stays."""
    table = "\n".join(table_lines(columns, rows))
    head = '.\\" BEGIN inits: written by make check-init, ' + datetime.date.today().isoformat()
    block = head + "\n.Bd -literal\n" + table + '\n.Ed\n.\\" END inits'
    page = PAGE.read_text()
    fresh, count = re.subn(r'\.\\" BEGIN inits.*?\.\\" END inits', lambda _: block, page,
                           flags=re.DOTALL)
    if count != 1:
        raise RuntimeError("%s has no place for the table" % PAGE)
    PAGE.write_text(fresh)
