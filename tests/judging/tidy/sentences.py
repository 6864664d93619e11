#!/usr/bin/env python3
"""Reads pages sentence by sentence, and comments by their beginnings; prints sentences that have to
be read twice.

usage: sentences.py pages FILE ...      violations in manual pages and Markdown files
       sentences.py comments FILE ...   violations in comments of C++ files
       sentences.py count FILE ...      FILE, sentences, mean and largest number of words

A sentence has at most 40 words. No sentence begins with a clause in the place of a noun ("What was
cut off goes on"), and none is a noun with a colon ("Nothing: it has ended"). A comment directly
above a function begins with the verb that says what the function does ("Returns"), with "True if",
with an article, with "These", with "Must be called", or with one of the parameters.
"""

import re
import sys

words_max = 40

# Matches sentences that begin with a clause as their subject, such as "What is planted here is
# found.". Such sentences are hard to read, so only questions may begin in this way.
riddle = re.compile(r"^\W*(?:What(?:ever)?|Who(?:ever|m|se)?|Where)\b(?!.*\?$)")
bare = re.compile(r"^\W*(?:Nothing|None|Empty):(?:\s|$)")
bare_in_code = re.compile(r"^(?:Nothing|None|Empty|0):(?:\s|$)")
counted_word = re.compile(r"\S*[A-Za-z0-9]\S*")
comment = re.compile(r"(?:^|\s)//\s*(.*)")
sentence_end = re.compile(r"(?<=[.?!]) ")

# Matches the beginning of a function's declaration or definition, up to its parameters. Does not
# match a variable whose initial value contains parentheses, a period or a string.
function = re.compile(
    r"(?:template ?<.*?> |\[\[[\w:]+\]\] |extern \"C\" )*"
    r"(?!(?:return|else|new|delete|throw|case|using|class|struct|enum|namespace|goto)\b)"
    r"[\w:<>,*&\[\] ]+?[ *&][\w:~]+\((?!.*[(.\"])")
contract = re.compile(
    r"(?:[A-Z]\d+: )?(?!(?:As|Is|This|Its|Always|Unless) )[A-Za-z][a-z]+s[ ,](?!(?:is|are) )|"
    r"(?:True|False) if |(?:A|An|The|These|Each|Both) |(?:Called|Must (?:only )?be called) |`\w+` |"
    r"----|clang-format|NOLINT")

# Macros of mdoc(7) whose arguments are a part of the current sentence, and macros that end a
# sentence.
inline_macros = set("""Ap Aq Ar Bq Brq Cm Dl Dq Dv D1 Em Er Ev Fa Fl Fn Ft Ic Li Ms Nm No Ns Oc Oo
Op Pa Pc Pf Po Pq Qc Ql Qo Qq Sm Sq Sx Sy Tn Va Vt Xr""".split())
ending_macros = set("Sh Ss Pp It Bl El Bd Ed Nd Dd Dt Os Rs Re".split())


def count_words(text):
    return len(counted_word.findall(text))


def plain(line):
    """Returns the words of a macro line of mdoc(7) as they are read, or None if the line ends a
    sentence."""
    name, _, rest = line[1:].partition(" ")
    if name in ending_macros or name.startswith("\\"):
        return None
    arguments = re.findall(r'"[^"]*"|\S+', rest)
    shown = [name] if name not in inline_macros else []
    if name == "Nm" and (not arguments or not re.match(r"[a-z]", arguments[0])):
        shown.append("program")
    for argument in arguments:
        if argument == "Nm":
            shown.append("program")
        elif argument not in inline_macros:
            shown.append(argument.strip('"'))
    text = " ".join(shown)
    return re.sub(r" ([.,;:?!)]+)(?= |$)", r"\1", text)


def sentences_of_manual(lines):
    """Yields (line number, sentence)."""
    held, start, skipped, synopsis = [], 0, False, False
    for number, line in enumerate(lines + [".Pp"], 1):
        if line.startswith(".\\\""):
            continue
        if line.startswith(".Sh "):
            synopsis = line == ".Sh SYNOPSIS"
        if line.startswith((".Bd -literal", ".Bl -column")):
            skipped = True
        if skipped:
            skipped = not line.startswith((".Ed", ".El"))
        if skipped or synopsis or line.startswith((".Ed", ".El")):
            line = ".Pp"
        text = plain(line) if line.startswith(".") else line.replace("\\&", "")
        if text is None:
            if held:
                yield start, " ".join(held)
            held = []
            continue
        if not held:
            start = number
        held.append(text)
        if re.search(r"[.?!][)\"']*$", text):
            yield start, " ".join(held)
            held = []


def without_targets(sentence):
    """Returns the sentence with each link replaced by its text. A link to a test, whose text is the
    test's name, counts as one word."""
    sentence = re.sub(r"\[[^]]*\]\([^)]*_test\.cc\)", "[test]", sentence)
    return re.sub(r"\]\([^)]*\)", "]", sentence)


def sentences_of_text(block):
    """Cuts a paragraph, given as (line number, word) pairs, into sentences."""
    held, start = [], 0
    for number, word in block:
        if not held:
            start = number
        held.append(word)
        if re.search(r"[.?!][)\"'*_`]*$", word):
            yield start, without_targets(" ".join(held))
            held = []
    if held:
        yield start, without_targets(" ".join(held))


def sentences_of_markdown(lines):
    block, fenced, comment = [], False, False
    for number, line in enumerate(lines + [""], 1):
        if line.lstrip().startswith("```"):
            fenced, line = not fenced, ""
        elif fenced or (line.startswith("    ") and not block):
            line = ""
        if comment or line.lstrip().startswith("<!--"):
            comment, line = "-->" not in line, ""
        cells = None
        if line.lstrip().startswith("|"):
            cells = line.strip().strip("|").split(" | ")
        heading = line.startswith("#")
        begins = not line.strip() or heading or re.match(r"\s*([*+-]|[0-9]+\.) ", line) or cells
        if begins and block:
            yield from sentences_of_text(block)
            block = []
        if cells:
            for cell in cells:
                yield from sentences_of_text([(number, word) for word in cell.split()])
        elif line.strip() and not heading:
            text = re.sub(r"^\s*([*+-]|[0-9]+\.) ", "", line)
            block += [(number, word) for word in text.split()]


def sentences_of(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    if path.endswith(".md"):
        return sentences_of_markdown(lines)
    return sentences_of_manual(lines)


def check_page(path):
    for number, sentence in sentences_of(path):
        count = count_words(sentence)
        if count > words_max:
            print(f"{path}:{number}: {count} words: {sentence[:60]}")
        if riddle.match(sentence):
            print(f"{path}:{number}: begins with a clause: {sentence[:60]}")
        if bare.match(sentence):
            print(f"{path}:{number}: is no sentence: {sentence[:60]}")


def check_contracts(path, lines):
    """Prints comments above functions that do not begin with what the function does."""
    for number, line in enumerate(lines, 1):
        text = line.lstrip()
        if not text.startswith("// ") or lines[number - 2].lstrip().startswith("//"):
            continue
        below = number
        while below < len(lines) and lines[below].lstrip().startswith("//"):  # until code follows
            below += 1
        code = " ".join(text.strip() for text in lines[below:below + 6])
        if lines[below:below + 1] != [""] and function.match(re.split("[{;]", code)[0]):
            if not contract.match(text[3:]):
                print(f"{path}:{number}: says not what the function does: {text[3:53]}")


def check_comments(path):
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    check_contracts(path, lines)
    before = ""
    for number, line in enumerate(lines, 1):
        if "//" not in line:
            before = ""
            continue
        match = comment.search(line)
        text = match.group(1) if match else ""
        whole = line.lstrip().startswith("//")
        begins = not whole or not before or re.search(r"[.?!:]$", before)
        for sentence in sentence_end.split(text) if match else []:
            if begins and (riddle.match(sentence) or bare_in_code.match(sentence)):
                print(f"{path}:{number}: {sentence[:70]}")
            begins = True
        before = text if whole else ""


def count_page(path):
    lengths = [count_words(sentence) for _, sentence in sentences_of(path)]
    lengths = [length for length in lengths if length]
    long = sum(length > words_max for length in lengths)
    mean = sum(lengths) / max(1, len(lengths))
    print(f"{path} {len(lengths)} sentences, mean {mean:.1f}, largest {max(lengths)}, "
          f"{long} over {words_max}")


def main():
    deeds = {"pages": check_page, "comments": check_comments, "count": count_page}
    for path in sys.argv[2:]:
        deeds[sys.argv[1]](path)


main()
