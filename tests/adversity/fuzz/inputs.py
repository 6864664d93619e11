#!/usr/bin/python3
"""Inputs of a fuzzer as one text file for each target: a line for each input, its name and its
bytes in base64. Lines that begin with `#` are for people. An input whose name begins with
`kept-` stays for ever: a person wrote this input, or the input once broke a rule. The name of any
other input is the beginning of the SHA-1 of its bytes; these inputs are replaced when the corpus is
made anew.

usage: inputs.py add FILE NAME <BYTES   puts a line into FILE; NAME gets `kept-` before it
       inputs.py unpack FILE DIRECTORY  makes a file of each input
       inputs.py pack FILE DIRECTORY    replaces the inputs by the files of DIRECTORY; keeps inputs
                                        with `kept-`
       inputs.py show FILE NAME         writes the bytes to standard output"""
import base64
import hashlib
import pathlib
import sys

KEPT = "kept-"


def read(path):
    """Returns the fuzzer's inputs by their names, in the order of the file."""
    inputs = {}
    for number, line in enumerate(pathlib.Path(path).read_text("ascii").splitlines(), 1):
        if line.startswith("#"):
            continue
        name, _, text = line.partition(" ")
        if name in inputs:
            raise ValueError("%s:%d: %s stands there twice" % (path, number, name))
        inputs[name] = base64.b64decode(text, validate=True)
    return inputs


def heading(path):
    if not pathlib.Path(path).exists():
        return []
    return [line for line in pathlib.Path(path).read_text("ascii").splitlines()
            if line.startswith("#")]


def write(path, inputs):
    lines = heading(path) + ["%s %s" % (name, base64.b64encode(content).decode("ascii"))
                             for name, content in sorted(inputs.items())]
    pathlib.Path(path).write_text("\n".join(lines) + "\n", "ascii")


def unpack(path, directory):
    directory = pathlib.Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in read(path).items():
        (directory / name).write_bytes(content)


def pack(path, files):
    """Replaces the inputs in the text file by the files of a directory. Keeps inputs whose names
    begin with `kept-`.
    """
    inputs = {name: content for name, content in read(path).items() if name.startswith(KEPT)}
    there = set(inputs.values())
    for file in files:
        content = file.read_bytes()
        if content not in there:
            inputs[hashlib.sha1(content).hexdigest()[:16]] = content
    write(path, inputs)
    return inputs


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("add", "unpack", "pack", "show"):
        sys.exit(__doc__)
    what, path, second = sys.argv[1:]
    if what == "add":
        inputs = read(path)
        name = KEPT + second
        if name in inputs or not second.isascii() or " " in second:
            sys.exit("inputs.py: %s: not a new name" % second)
        inputs[name] = sys.stdin.buffer.read()
        write(path, inputs)
    elif what == "unpack":
        unpack(path, second)
    elif what == "pack":
        pack(path, sorted(pathlib.Path(second).iterdir()))
    else:
        sys.stdout.buffer.write(read(path)[second])


if __name__ == "__main__":
    main()
