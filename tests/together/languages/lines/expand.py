#!/usr/bin/python3
# Expands lines.table for the tests of the libraries, which cannot read the table's notation. A row
# of the output has three columns, separated by a blank: the row's line number in the table, the
# message type that a library must find (or `ignored`), and the bytes of the line in hexadecimal, or
# `-` if there are none.
#
# usage: expand.py >FILE
import pathlib
import re

TABLE = pathlib.Path(__file__).with_name("lines.table")


def expanded(match):
    count, text, byte = match.groups()
    return text.encode() * int(count) if text else bytes.fromhex(byte)


def line_of(notation):
    line, at = b"", 0
    for match in re.finditer(r"<(?:(\d+)\*([^>]+)|x([0-9a-f]{2}))>", notation):
        line += notation[at : match.start()].encode() + expanded(match)
        at = match.end()
    return line + notation[at:].encode()


for number, row in enumerate(TABLE.read_text().splitlines(), 1):
    if row and not row.startswith("#"):
        judgement, notation = row.split(" ", 1)
        print(number, judgement, line_of(notation).hex() or "-")
