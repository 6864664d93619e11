# The recorder records a program's changes to a directory. It runs the program under strace, and
# reads three kinds of system calls: those that change files in the directory, those that sync, and
# those that send data to another process.
import os
import re
import subprocess

CALLS = ("open,openat,creat,close,dup,dup2,dup3,fcntl,lseek,write,writev,pwrite64,pwritev,"
         "ftruncate,truncate,fallocate,copy_file_range,sendfile,rename,renameat,renameat2,link,"
         "linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir,chmod,fchmod,fchmodat,"
         "fsync,fdatasync,sync,syncfs")
# System calls that change files, but that the recorder does not understand. If a program makes such
# a call, the recording fails.
UNKNOWN = ("writev", "pwritev", "fallocate", "copy_file_range", "sendfile", "rmdir", "truncate")
TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(\.\.\.)?|(-?\w+)<((?:[^>\\]|\\.)*)>|([^,\s"<]+)')
LINE = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+|\?)(?:<([^>]*)>)?(.*)$")

# The umask of this process, which the recorded programs inherit. The umask can only be read by
# setting it, so the next line restores it.
UMASK = os.umask(0)
os.umask(UMASK)


class Misread(Exception):
    """Raised if the recorder does not understand a system call. A wrong recording would be worse
    than no recording."""


def text_of(escaped):
    return escaped.encode("latin-1").decode("unicode_escape").encode("latin-1")


class Argument:
    """An argument of a call in strace's output: a quoted text, a descriptor with its path, or a
    bare word."""

    def __init__(self, match):
        self.text = text_of(match[1]) if match[1] is not None else None
        self.cut = match[2] is not None
        self.number = match[3] or match[5]
        self.path = text_of(match[4]).decode("utf-8", "replace") if match[4] is not None else None


class Call:
    def __init__(self, line):
        found = LINE.match(line)
        if not found:
            raise Misread(line)
        self.name = found[1]
        words = found[2].replace(">(deleted)", ">")
        self.arguments = [Argument(match) for match in TOKEN.finditer(words)]
        self.result = int(found[3]) if found[3] != "?" else None
        self.words = found[2]
        if any(argument.cut for argument in self.arguments):
            raise Misread("cut off: " + line[:100])

    def number(self, index):
        return int(self.arguments[index].number, 0)

    def mode(self, index):
        return int(self.arguments[index].number, 8)

    def flag(self, name):
        return re.search(r"\b" + name + r"\b", self.words) is not None

    def path(self, index):
        """Returns the path of the file that this argument of a system call names. The argument is a
        path, a descriptor, or a path that is relative to the descriptor of a directory."""
        argument = self.arguments[index]
        if argument.text is None:
            return argument.path
        path = os.fsdecode(argument.text)
        if index > 0 and self.arguments[index - 1].path is not None:
            path = os.path.join(self.arguments[index - 1].path, path)
        return os.path.normpath(path)


def strace(log, command, inject=None):
    """Returns the command that runs `command` under strace, which writes the system calls to `log`.
    """
    options = ["-e", f"inject={inject}"] if inject else []
    # LeakSanitizer does not work in a traced process, so it is switched off.
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0:verify_asan_link_order=0"
    return ["strace", "-y", "-s", "1000000", "-o", log, "-e", "trace=" + CALLS, *options,
            "-E", "ASAN_OPTIONS=" + sanitizer, *command]


class Recorder:
    """Passes the recorded system calls of one program to a Disk, in their order."""

    def __init__(self, disk):
        self.disk = disk
        # Maps each descriptor to a list that holds its file offset. Copies of a descriptor share
        # the list.
        self.open = {}

    def run(self, log, command, **keywords):
        done = subprocess.run(strace(log, command), check=False, **keywords)
        self.take(log)
        return done.returncode

    def take(self, log, notes=()):
        """Passes the calls in a log of strace to the disk. `notes` are pairs of a line number and a
        function: the function is called when the log has been read up to that line."""
        self.open = {}
        notes = list(notes)
        with open(log, encoding="latin-1") as lines:
            for number, line in enumerate(lines):
                while notes and number >= notes[0][0]:  # ends at the first note for a later line
                    notes.pop(0)[1]()
                if line.startswith(("---", "+++")) or " = ? " in line or line.endswith("= ?\n"):
                    # Skips a line of strace's output that is not a finished call: a signal, an
                    # exit, or a call that a kill has interrupted.
                    continue
                call = Call(line.rstrip("\n"))
                if call.result is not None and call.result >= 0:
                    self.take_call(call)
        for _, note in notes:
            note()

    def take_call(self, call):
        if call.name in UNKNOWN:
            if any(argument.path and self.disk.holds(argument.path)
                   for argument in call.arguments):
                raise Misread("not known: " + call.name)
            return
        take = {"open": self.on_open, "openat": self.on_open, "creat": self.on_open,
                "close": self.on_close, "dup": self.on_copy, "dup2": self.on_copy,
                "dup3": self.on_copy, "fcntl": self.on_fcntl, "lseek": self.on_lseek,
                "write": self.on_write, "pwrite64": self.on_write}.get(call.name)
        if take:
            take(call)
        else:
            self.on_change(call)

    def on_open(self, call):
        path = call.path(1 if call.name == "openat" else 0)
        if call.flag("O_TMPFILE"):
            return  # a power cut removes an unnamed file in any case
        self.open[call.result] = [0, call.flag("O_APPEND")]
        if not self.disk.holds(path):
            return
        if call.name == "creat" or call.flag("O_CREAT"):
            self.disk.create(path, call.mode(-1) & ~UMASK)
        if call.name == "creat" or call.flag("O_TRUNC"):
            self.disk.truncate(path, 0)

    def on_close(self, call):
        self.open.pop(call.number(0), None)

    def on_copy(self, call):
        if call.number(0) in self.open:
            self.open[call.result] = self.open[call.number(0)]

    def on_fcntl(self, call):
        if call.flag("F_DUPFD") or call.flag("F_DUPFD_CLOEXEC"):
            self.on_copy(call)

    def on_lseek(self, call):
        if call.number(0) in self.open:
            self.open[call.number(0)][0] = call.result

    def on_write(self, call):
        path, text = call.arguments[0].path, call.arguments[1].text[:call.result]
        if path.startswith("pipe:"):
            self.disk.say(text)
        if not self.disk.holds(path) or call.number(0) not in self.open:
            return
        place = self.open[call.number(0)]
        if call.name == "pwrite64":
            self.disk.write(path, call.number(3), text)
            return
        offset = self.disk.size(path) if place[1] else place[0]
        place[0] = offset + len(text)
        self.disk.write(path, offset, text)

    def on_change(self, call):
        disk, name = self.disk, call.name
        at = 1 if name.endswith("at") or name == "renameat2" else 0
        if name in ("sync", "syncfs"):
            disk.sync_all()
        elif name in ("fsync", "fdatasync"):
            disk.sync(call.arguments[0].path)
        elif name == "ftruncate":
            disk.truncate(call.arguments[0].path, call.number(1))
        elif name in ("rename", "renameat", "renameat2"):
            disk.rename(call.path(at), call.path(3 if at else 1))
        elif name in ("link", "linkat"):
            disk.link(call.path(at), call.path(3 if at else 1))
        elif name in ("symlink", "symlinkat"):
            disk.symlink(os.fsdecode(call.arguments[0].text), call.path(2 if at else 1))
        elif name in ("unlink", "unlinkat"):
            disk.unlink(call.path(at))
        elif name in ("mkdir", "mkdirat"):
            disk.mkdir(call.path(at), call.mode(at + 1) & ~UMASK)
        elif name == "fchmod":
            disk.chmod(call.arguments[0].path, call.mode(1))
        elif name in ("chmod", "fchmodat"):
            disk.chmod(call.path(at), call.mode(at + 1))
        else:
            raise Misread("not known: " + name)
