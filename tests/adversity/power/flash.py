# Tests file systems for flash on the simulated flash of flash.c. Each write to a flash is complete
# before the next one begins, so a power cut tears only the last write or the last erase. The flash
# and the log of its writes are in the memory of a virtual machine. This memory is a file on this
# host, from which the test reads the log.
import struct
from pathlib import Path

from bench import BUILD, PATIENCE_S, Bench
from machine import run_machine

MIB = 1 << 20
START = 64 * MIB  # the address in the virtual machine's memory at which the flash begins
BYTES = 4 * MIB
LOG_BYTES = 96 * MIB
BLOCK_BYTES = 65536
# A flash chip writes this number of bytes in one operation. A power cut may leave any of these
# bytes unwritten.
BUFFER_BYTES = 64
WRITE, ERASE, NOTE = 1, 2, 3
HEAD = struct.Struct("<III")
MODULES = {"jffs2": ["flash", "jffs2"],
           "ubifs": ["flash", "deflate", "lzo", "zstd", "ubi", "ubifs"]}
TOOLS = {"jffs2": ("flash_erase",), "ubifs": ("flash_erase", "ubiattach", "ubidetach", "ubimkvol")}


class Entry:
    """An entry of the flash's log: a write, an erase or a note. `flushes` is true for an erase, so
    figures count the erases of a flash where they count the flushes of a disk. The offset of a note
    is the end of the flash."""

    is_durable = True

    def __init__(self, kind, offset, length, data):
        self.flushes = kind == ERASE
        self.offset = offset if kind != NOTE else BYTES
        self.length = length
        self.data = data


def read_log(memory):
    (used,) = struct.unpack("<Q", memory[:8])
    assert 0 < used < LOG_BYTES - MIB, "%d bytes of the log are used" % used
    entries = []
    at = 8
    for _ in range(used // HEAD.size):
        if at == 8 + used:
            break
        kind, offset, length = HEAD.unpack(memory[at:at + HEAD.size])
        at += HEAD.size
        data = b"" if kind == ERASE else memory[at:at + length]
        at += len(data)
        entries.append(Entry(kind, offset, length, data))
    return entries


def torn(flash, entry, chance):
    """Performs a write or an erase only in part, as if the power was cut during this operation.
    Returns a description."""
    begin = entry.offset
    if not entry.flushes:
        whole = chance.randrange(entry.length + 1)
        buffer = min(entry.length, whole // BUFFER_BYTES * BUFFER_BYTES + BUFFER_BYTES)
        for at, byte in enumerate(entry.data[:buffer]):
            # A write to flash clears bits. After a power cut, some of these bits may still be set.
            flash[begin + at] &= byte if at < whole else byte | chance.getrandbits(8)
        return "%d of %d bytes of a write" % (whole, entry.length)
    how = chance.choice(["begun", "cleared", "partly set", "half"])
    for at in range(begin, begin + entry.length):
        if how == "cleared":
            flash[at] = 0
        elif how == "partly set":
            flash[at] |= chance.getrandbits(8)
        elif how == "half" and at < begin + entry.length // 2:
            flash[at] = 0xff
    return "an erase, " + how


class FlashBench(Bench):
    bad_disk = "a flash that has made only every third of its last 100 writes"
    flushes = "erases"

    def __init__(self, name):
        Bench.__init__(self, name, (BYTES // MIB, [], "defaults", MODULES[name]))
        self.delays_writes = name == "ubifs"
        self.kernel.paths["flash"] = Path(BUILD) / "tests/adversity/power/flash.ko"
        self.others.update({"bin/" + tool: "/usr/sbin/" + tool for tool in TOOLS[name]})

    def files(self, script, *rest):
        log_bytes = LOG_BYTES if script == "worker.sh" else 0
        self.config["FLASH"] = "start=%d bytes=%d log_bytes=%d block_bytes=%d" % (
            START, BYTES, log_bytes, BLOCK_BYTES)
        return Bench.files(self, script, *rest)

    def make_base(self, make):
        self.base.write_bytes(b"\xff" * BYTES)  # all bits of an erased flash are set

    def run_in_file(self, files, disk):
        """Runs a virtual machine whose memory is a file. Returns the lines that the machine has
        printed, and the path of the file."""
        memory = self.scratch / "memory"
        memory.unlink(missing_ok=True)  # left by an earlier machine that failed
        told = run_machine(self.kernel, self.scratch, files, disk, PATIENCE_S, [
            "-object", "memory-backend-file,id=ram,size=512M,share=on,mem-path=%s" % memory,
            "-machine", "memory-backend=ram"],
            words="memmap=%dM$%dM" % ((BYTES + LOG_BYTES) // MIB, START // MIB))
        return told, memory

    def record(self, files):
        told, memory = self.run_in_file(files, ["driver=null-co,size=1048576,node-name=disk"])
        with open(memory, "rb") as file:
            file.seek(START + BYTES)
            entries = read_log(file.read(LOG_BYTES))
        memory.unlink()
        return told, entries

    def run(self, files, disk):
        told, memory = self.run_in_file(files, [
            "driver=file,filename=%s,node-name=disk,cache.no-flush=on" % disk])
        memory.unlink()
        return told

    def state(self, base, entries, cut, chance, obeys, how):
        flash = bytearray(base)
        for at, entry in enumerate(entries[:cut]):
            if entry.offset >= BYTES or (cut - at <= 100 and not obeys(at)):
                continue
            end = entry.offset + entry.length
            if entry.flushes:
                flash[entry.offset:end] = b"\xff" * entry.length
            else:
                old = int.from_bytes(flash[entry.offset:end], "little")
                new = int.from_bytes(entry.data, "little")
                flash[entry.offset:end] = (old & new).to_bytes(entry.length, "little")
        if cut < len(entries) and entries[cut].offset < BYTES:
            return flash, torn(flash, entries[cut], chance)
        return flash, "between two writes"

    def positions(self, entries, cuts, chance, obeys):
        places = self.span(entries)
        return [chance.choice(places) for _ in range(cuts)]
