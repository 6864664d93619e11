# Functions that the packer of npm's tarballs and the packer of pip's wheels share. They parse the
# command line, read the programs, and write a file atomically.
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ["upgrader", "upgraderctl", "agentify", "agent-releases"]


def arguments(packer, cpus):
    """Returns VERSION, OUT and [(CPU, [(program's name, bytes)])] of `packer VERSION OUT
    CPU=DIRECTORY...`. Ends the process with a sentence if a CPU is not in `cpus`, or a directory
    lacks a program. Makes OUT if it does not exist."""
    if len(sys.argv) < 3 or any("=" not in word for word in sys.argv[3:]):
        sys.exit(f"usage: {packer} VERSION OUT CPU=DIRECTORY...")
    packed = []
    for cpu, directory in (word.split("=", 1) for word in sys.argv[3:]):
        if cpu not in cpus:
            sys.exit(f"{packer}: nothing is packed for {cpu}, but for {', '.join(cpus)}")
        paths = [(name, pathlib.Path(directory) / name) for name in PROGRAMS]
        missing = [name for name, path in paths if not path.is_file()]
        if missing:
            sys.exit(f"{packer}: {directory} has no {', '.join(missing)}")
        packed.append((cpu, [(name, path.read_bytes()) for name, path in paths]))
    out = pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    return sys.argv[1], out, packed


def write_whole(path, content):
    """Writes the file with `content`. If that fails, the file is as it was before."""
    half = path.with_name("." + path.name)
    half.write_bytes(content)
    os.replace(half, path)
    print(path)
