# This file reads the log of all writes to a disk, as QEMU's blklogwrites and the kernel's
# dm-log-writes write it, and builds the states in which a power cut may leave the disk.
import struct

SECTOR = 512
MAGIC = 0x6A736677736872
FLUSH, FUA, DISCARD = 1, 2, 4
HEADER = struct.Struct("<QQQQ")


class Entry:
    """One write to the disk, or one flush. A flush makes every write before it durable."""

    def __init__(self, sector, flags, data):
        self.offset = sector * SECTOR
        self.flushes = bool(flags & FLUSH)
        self.is_durable = bool(flags & FUA)
        self.data = data


def read_log(path):
    entries = []
    with open(path, "rb") as log:
        magic, version, _, size = struct.unpack("<QQQI", log.read(28))
        assert (magic, version, size) == (MAGIC, 1, SECTOR), (magic, version, size)
        log.seek(SECTOR)
        for header in iter(lambda: log.read(SECTOR), b""):
            sector, count, flags, _ = HEADER.unpack(header[:HEADER.size])
            if not count and not flags:
                break
            data = b"" if flags & DISCARD else log.read(count * SECTOR)
            entries.append(Entry(sector, flags, data))
    return entries


def unflushed(entries, cut, obeys=lambda number: True):
    """Finds the writes that a power cut before entry `cut` may lose, because no flush has made them
    durable. Returns the number of the entry after the last flush before `cut`, and the numbers of
    these writes. `obeys` says for each flush whether the disk obeys it."""
    last = number = 0
    for at, entry in enumerate(entries[:cut]):
        if entry.flushes:
            number += 1
            if obeys(number):
                last = at + 1
    return last, [at for at in range(last, cut)
                  if entries[at].data and not entries[at].is_durable]


def state(base, entries, cut, random, obeys=lambda number: True, size=None, how=None):
    """Builds the disk as a power cut before the entry `cut` may leave it. The disk has all flushed
    writes. Of the unflushed writes, the disk has none, all, some, or some of their sectors: `how`
    may choose one of these cases. Returns the disk, and the case in words."""
    last, loose = unflushed(entries, cut, obeys)
    how = how or (random.choice(["none", "all", "some", "torn"]) if loose else "none")
    if how in ("some", "torn"):
        kept = {at for at in loose if random.random() < 0.5}
    else:
        kept = set(loose if how == "all" else ())
    disk = bytearray(base)
    for at, entry in enumerate(entries[:cut]):
        if not entry.data or (size and entry.offset >= size):
            continue
        if at < last or entry.is_durable or (at in kept and how != "torn"):
            disk[entry.offset:entry.offset + len(entry.data)] = entry.data
        elif at in kept:
            for begin in range(0, len(entry.data), SECTOR):
                if random.random() < 0.5:
                    disk[entry.offset + begin:entry.offset + begin + SECTOR] = \
                        entry.data[begin:begin + SECTOR]
    return disk, "%s of %d unflushed writes" % (how, len(loose))
