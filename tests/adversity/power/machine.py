# Runs small virtual machines without a disk of their own: Debian's kernel, and an initramfs with
# busybox, a shell script as init, and the files that it needs.
import gzip
import os
import re
import subprocess
from pathlib import Path

# The kernel modules that every virtual machine needs, in the order in which they are loaded.
MODULES = ["virtio_pci", "virtio_blk", "loop", "crc32c_generic", "libcrc32c"]


class Kernel:
    """Debian's kernel and its modules, unpacked below the directory `root`."""

    def __init__(self, root):
        self.image = next(Path(root).glob("boot/vmlinuz-*"))
        self.paths = {path.stem.replace("-", "_"): path
                      for path in Path(root).glob("lib/modules/*/kernel/**/*.ko")}

    def modules(self, names):
        """Returns the files of these kernel modules and of all modules that they need, in an order
        in which they can be loaded. A module that is built into the kernel has no file."""
        order = []

        def add(name):
            path = self.paths.get(name.replace("-", "_"))
            if path is None or path in order:
                return
            needs = re.search(rb"\0depends=([^\0]*)\0", b"\0" + path.read_bytes())
            for other in (needs.group(1).decode() if needs else "").split(","):
                add(other)
            order.append(path)
        for name in names:
            add(name)
        return order


def initramfs(path, files, links=()):
    """Writes a cpio archive to `path`. `files` maps names to (mode, bytes)."""
    out = bytearray()

    def put(name, mode, data, number):
        fields = [number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        out.extend(b"070701" + b"".join(b"%08X" % field for field in fields))
        out.extend(name.encode() + b"\0")
        out.extend(b"\0" * (-len(out) % 4))
        out.extend(data)
        out.extend(b"\0" * (-len(out) % 4))
    directories = sorted({str(parent) for name in files for parent in Path(name).parents} - {"."})
    number = 0
    for number, name in enumerate(directories, 1):
        put(name, 0o040755, b"", number)
    for name, (mode, data) in files.items():
        number += 1
        put(name, 0o100000 | mode, data, number)
    for name, target in links:
        number += 1
        put(name, 0o120777, target.encode(), number)
    put("TRAILER!!!", 0, b"", 0)
    Path(path).write_bytes(gzip.compress(bytes(out), 1))


def libraries_of(program):
    """Returns the loader and the libraries of a program. A static program has none."""
    found = subprocess.run(["ldd", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           text=True).stdout
    return re.findall(r"(/\S+) \(0x", found)


def guest_files(kernel, init, others, modules, config):
    """Returns the files for a virtual machine's initramfs. `others` maps paths in the machine to
    paths on this host."""
    files = {"bin/busybox": (0o755, Path("/bin/busybox").read_bytes()),
             "init": (0o755, Path(init).read_bytes()),
             "config": (0o644, "".join("%s='%s'\n" % pair for pair in config.items()).encode())}
    for name, path in others.items():
        files[name] = (0o755, Path(path).read_bytes())
        for library in libraries_of(path):
            files[library.lstrip("/")] = (0o755, Path(library).resolve().read_bytes())
    order = kernel.modules(MODULES + modules)
    for path in order:
        files["modules/" + path.name] = (0o644, path.read_bytes())
    files["modules/order"] = (0o644, "".join(path.name + "\n" for path in order).encode())
    return files


def run_machine(kernel, directory, files, disk, patience_s, more=(), reboots=False, words=""):
    """Runs a virtual machine until it switches itself off. Returns the lines that it has printed.
    `disk` is a -blockdev chain whose last node is called `disk`, `more` are further options of
    QEMU, and `words` is added to the kernel's command line."""
    directory = Path(directory)
    initramfs(directory / "initramfs", files, [("bin/sh", "busybox"), ("bin/env", "busybox")])
    told = directory / "told"
    for left in (told, directory / "console"):  # files that an earlier machine has left
        left.unlink(missing_ok=True)
    # The clock of the virtual machine counts instructions. Therefore no time limit in the virtual
    # machine expires only because the host is busy.
    arguments = ["qemu-system-x86_64", "-accel", "tcg", "-icount", "shift=2,sleep=off", "-rtc",
                 "clock=vm", "-m", "512", "-nodefaults", "-display", "none",
                 "-kernel", str(kernel.image),
                 "-initrd", str(directory / "initramfs"),
                 "-append", "console=ttyS0 quiet mitigations=off tsc=nowatchdog panic=%d %s" % (
                     0 if reboots else -1, words),
                 "-serial", "file:%s" % (directory / "console"), "-serial", "file:%s" % told]
    arguments += [] if reboots else ["-no-reboot"]
    for node in disk:
        arguments += ["-blockdev", node]
    arguments += ["-device", "virtio-blk-pci,drive=disk", *more]
    with subprocess.Popen(arguments, stdin=subprocess.DEVNULL) as process:
        try:
            process.wait(patience_s)
        except subprocess.TimeoutExpired:
            process.kill()
            raise SystemExit("a machine did not end within %d s; it has told: %s\n%s" % (
                patience_s, told.read_text()[-2000:],
                (directory / "console").read_text(errors="replace")[-2000:])) from None
    lines = told.read_text(errors="replace").replace("\r", "").splitlines()
    if "over" not in lines:
        raise SystemExit("a machine ended early; it has told: %s\n%s" % (
            lines[-20:], (directory / "console").read_text(errors="replace")[-3000:]))
    return lines


def scratch_directory(build, name):
    path = Path(build).absolute() / "power" / name
    os.makedirs(path, exist_ok=True)
    return path
