# Checks that a rollout loses no line of a log. A process writes to a log all the time, and on every
# machine a daemon copies the log. While new versions of the daemon are rolled out, each copy must
# get every line once, and in order.
import os
import pathlib
import threading

DAEMON = pathlib.Path(__file__).resolve().parents[2] / "demo" / "copier"


def copier(version, dies_after=0, fails_each=50):
    """Returns the program of one version of the daemon. The daemon dies after it has copied
    `dies_after` lines, or never if `dies_after` is 0. It marks one of `fails_each` lines with
    `again`, as if it had failed to copy this line at first."""
    text = DAEMON.read_text(encoding="ascii")
    told = {"VERSION": version, "DIES_AFTER": dies_after, "FAILS_EACH": fails_each}
    for name, value in told.items():
        text = text.replace("@%s@" % name, str(value))
    return text.encode()


class Source:
    """A log file, and a thread that writes lines to it until end() is called."""

    def __init__(self, path, lines_a_second):
        self.path = path
        self.lines = 0
        self.over = threading.Event()
        pathlib.Path(path).touch()
        self.writer = threading.Thread(target=self.write, args=(1 / lines_a_second,), daemon=True)
        self.writer.start()

    def write(self, pause_s):
        with open(self.path, "a", encoding="ascii") as log:
            while not self.over.wait(pause_s):  # ends when end() is called
                self.lines += 1
                log.write("line %d\n" % self.lines)
                log.flush()

    def end(self):
        self.over.set()
        self.writer.join()


class Copy:
    """The lines that a daemon has copied from a source."""

    def __init__(self, path):
        self.lines = []
        if os.path.exists(path):
            with open(path, encoding="ascii") as copy:
                self.lines = [line.split() for line in copy]

    def is_exact(self, source):
        return [line[1] for line in self.lines] == [str(at + 1) for at in range(source.lines)]

    def versions(self):
        """Returns the daemon's versions that have copied lines, in the order of their first
        lines."""
        return list(dict.fromkeys(line[2] for line in self.lines))

    def longest_pause_s(self):
        """Returns the longest time, in seconds, between two consecutive lines of the copy."""
        times = [int(line[3]) for line in self.lines]
        return max((b - a for a, b in zip(times, times[1:])), default=0) / 1e3
