#!/usr/bin/python3
"""Draws docs/hand-over.svg and docs/measurements.svg from the table of docs/measurements.md.

usage: draw.py [--check]   with --check writes nothing, and prints which picture is out of date

Texts are 14 units high in a picture 360 units wide, so that they can be read on a telephone."""

import pathlib
import re
import sys

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
INK, OLD, NEW, GAP, HELD, PAPER = "#1b1f24", "#3b6ea5", "#2e7d4f", "#c62828", "#dfeee5", "#ffffff"
GAP_ROW = re.compile(
    r"^\| the gap with (\d+) ms of start-up( and .*?)? ÷ .*?\| [\d.]+ \(([\d.]+) ÷ ([\d.]+) ms\)")


class Picture:
    """A picture of shapes and texts, 360 units wide."""

    def __init__(self, height, title):
        self.height, self.title, self.parts = height, title, []

    def box(self, x, y, width, height, fill, more=""):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:.4g}" height="{height:g}" '
                          f'fill="{fill}"{more}/>')

    def line(self, x1, y1, x2, y2, colour=INK, more=""):
        self.parts.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" '
                          f'stroke="{colour}"{more}/>')

    def text(self, x, y, words, fill=INK, anchor="start", weight="normal"):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" fill="{fill}" text-anchor="{anchor}" '
                          f'font-weight="{weight}">{words}</text>')

    def svg(self):
        return "\n".join(
            [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 {self.height}" '
             f'width="480" height="{self.height * 4 // 3}" role="img" font-family="sans-serif" '
             'font-size="14">', f"<title>{self.title}</title>",
             f'<rect width="360" height="{self.height}" rx="6" fill="{PAPER}"/>',
             *self.parts, "</svg>", ""])


def gaps():
    """Returns the rows of the table about the gap, the time in which no agent works. Each row has
    four values: how many ms the agent takes to start; whether the options of the service files
    were used; the gap in ms under the upgrader; and the gap in ms under a minimal C program."""
    rows = [GAP_ROW.match(line) for line in (DOCS / "measurements.md").read_text().splitlines()]
    found = [(int(row[1]), bool(row[2]), float(row[3]), float(row[4])) for row in rows if row]
    if not found:
        sys.exit("draw.py: docs/measurements.md has no row of a gap")
    return found


def hand_over():
    start, _, gap, _ = max(row for row in gaps() if not row[1])
    # X coordinates in the picture: the start of the new version is drawn from `begin` to `end`.
    # `a_ms` is the width of a millisecond.
    left, begin, end, right = 10, 100, 240, 350
    a_ms = (end - begin) / start
    picture = Picture(374, "Stop and start, beside an upgrade by the upgrader, to scale")
    text, box = picture.text, picture.box
    text(left, 24, f"The new version takes {start / 1000:g} s to start", weight="bold")

    text(left, 52, "Stop and start")
    box(left, 60, begin - left, 28, OLD)
    text(left + 8, 79, "old works", PAPER)
    box(begin, 60, end - begin, 28, GAP)
    text((begin + end) / 2, 79, f"nobody: {start:,} ms", PAPER, "middle")
    box(end, 60, right - end, 28, NEW)
    text(end + 8, 79, "new works", PAPER)

    text(left, 120, "With the upgrader")
    box(left, 128, end - left, 28, OLD)
    text(left + 8, 147, "old works on", PAPER)
    box(begin, 160, end - begin, 28, HELD, f' stroke="{NEW}" stroke-dasharray="4 3"')
    text((begin + end) / 2, 179, "starts, is held", INK, "middle")
    box(end, 128, gap * a_ms, 60, GAP)
    box(end + gap * a_ms, 160, right - end - gap * a_ms, 28, NEW)
    text(end + 8, 179, "new works", PAPER)

    picture.line(begin, 196, begin, 204)
    picture.line(end, 196, end, 204)
    picture.line(left, 200, right, 200)
    text(begin, 219, "0", INK, "middle")
    text(end, 219, f"{start / 1000:g} s", INK, "middle")
    text(right, 219, "time", INK, "end")

    larger = 500
    text(left, 258, f"The same moment, {larger} times larger")
    picture.line(end, 224, end, 264, GAP, ' stroke-width="0.7" stroke-dasharray="2 2"')
    wide = gap * a_ms * larger
    box(left, 266, end - left, 28, OLD)
    text(left + 8, 285, "old works on", PAPER)
    box(end, 266, wide, 28, GAP)
    box(end + wide, 266, right - end - wide, 28, NEW)
    text(right - 6, 285, "new works", PAPER, "end")
    text(end + wide / 2, 314, f"nobody: {gap:.2f} ms", GAP, "middle", "bold")
    text(left, 340, "To scale. Stop and start: no shorter than the start-up.")
    text(left, 358, "The upgrader: as measured by make size.")
    return picture.svg()


def measurements():
    rows = gaps()
    scale = 190 / max(max(ours, minimal) for _, _, ours, minimal in rows)
    picture = Picture(46 + 62 * len(rows), "The gap by start-up time, in milliseconds")
    picture.text(10, 24, "The gap, in milliseconds", weight="bold")
    for number, (start, service, ours, minimal) in enumerate(rows):
        y = 46 + 62 * number
        more = ", with the options of service files" if service else ""
        picture.text(10, y, f"{start:,} ms of start-up{more}")
        for place, (name, value, fill) in enumerate(
                (("upgrader", ours, NEW), ("minimal C", minimal, OLD))):
            top = y + 6 + 18 * place
            picture.text(10, top + 13, name)
            picture.box(90, top, value * scale, 16, fill)
            picture.text(96 + value * scale, top + 13, f"{value:.3f}")
    return picture.svg()


def main():
    check = sys.argv[1:] == ["--check"]
    for name, svg in (("hand-over.svg", hand_over()), ("measurements.svg", measurements())):
        file = DOCS / name
        if file.exists() and file.read_text() == svg:
            continue
        if check:
            print(f"docs/{name}: is not as packaging/html/draw.py draws it")
        else:
            file.write_text(svg)


if __name__ == "__main__":
    main()
