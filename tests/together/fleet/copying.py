# The lines proof: a log is written all the time, and on every machine a daemon copies it, whose
# versions are rolled out. Afterwards each line must stand in each copy once, in its order.
import os
import pathlib
import threading

DAEMON = pathlib.Path(__file__).resolve().parents[2] / "demo" / "copier"


def copier(version, dies_after=0):
    """A version of the daemon: DIES_AFTER so many lines; 0: it does not die by itself."""
    text = DAEMON.read_text(encoding="ascii")
    return text.replace("@VERSION@", version).replace("@DIES_AFTER@", str(dies_after)).encode()


class Source:
    """The log, which is written from now until `end`."""

    def __init__(self, path, lines_a_second):
        self.path = path
        self.lines = 0
        self.over = threading.Event()
        pathlib.Path(path).touch()
        self.writer = threading.Thread(target=self.write, args=(1 / lines_a_second,), daemon=True)
        self.writer.start()

    def write(self, pause_s):
        with open(self.path, "a", encoding="ascii") as log:
            while not self.over.wait(pause_s):  # until end() is called
                self.lines += 1
                log.write("line %d\n" % self.lines)
                log.flush()

    def end(self):
        self.over.set()
        self.writer.join()


class Copy:
    """What a daemon has made of a source."""

    def __init__(self, path):
        self.lines = []
        if os.path.exists(path):
            with open(path, encoding="ascii") as copy:
                self.lines = [line.split() for line in copy]

    def is_exact(self, source):
        return [line[1] for line in self.lines] == [str(at + 1) for at in range(source.lines)]

    def versions(self):
        """In the order in which they copied."""
        return list(dict.fromkeys(line[2] for line in self.lines))

    def longest_pause_s(self):
        """Between two lines that were copied one after the other."""
        times = [int(line[3]) for line in self.lines]
        return max((b - a for a, b in zip(times, times[1:])), default=0) / 1e3
