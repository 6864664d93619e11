# Runs the commands of a page as if a new user typed them. One shell runs all commands, so later
# commands know the functions, variables and jobs of earlier commands.
import os
import re
import subprocess

from cases import wait

PATIENCE_S = 120


def commands(page, section):
    """Returns the blocks of commands in a section of a page, in their order."""
    text = page.read_text().split(".Sh %s\n" % section)[1].split(".Sh ")[0]
    found = re.findall(r"\.Bd -literal[^\n]*\n(.*?)\.Ed|\.Dl ([^\n]*)", text, re.DOTALL)
    return [(block or line).replace("\\e", "\\").replace("\\&", "").strip()
            for block, line in found]


class Terminal:
    """A bash whose output goes to `file`."""

    def __init__(self, file, directory, environment=None, command=("bash",)):
        self.file = file
        self.log = open(file, "wb")
        self.shell = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=self.log,
                                      stderr=subprocess.STDOUT, cwd=directory, env=environment)
        self.count = 0

    def type(self, text):
        """Types the text. Returns the exit status of its last command."""
        self.count += 1
        mark = "%s.%d" % (self.file, self.count)
        self.shell.stdin.write(("%s\necho $? >%s.new; mv %s.new %s\n" % (
            text, mark, mark, mark)).encode())
        self.shell.stdin.flush()
        wait("the end of `%s`" % text.splitlines()[0], lambda: os.path.exists(mark), PATIENCE_S)
        with open(mark, encoding="ascii") as status:
            return int(status.read())

    def said(self):
        with open(self.file, errors="replace", encoding="utf-8") as said:
            return said.read()

    def close(self):
        self.shell.stdin.close()
        self.shell.wait()
        self.log.close()
