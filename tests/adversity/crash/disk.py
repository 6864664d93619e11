# Builds the states in which a power cut may leave a directory. Records every operation on the
# directory, and builds every state that a file system without a journal could show, by these rules:
#
# * An operation on a directory (an entry made, removed, renamed) is durable once that directory has
#   been synced. Until then the operation may be lost, even if later operations are kept. A rename
#   is atomic: it is kept or lost completely.
# * A write is durable once its file has been synced. Until then, the write may be kept, be lost,
#   appear as zeros, or be torn (kept only in part). A change of size or mode may be lost, too.
# * A sync of a file does not cover the directory entry that names the file.
import itertools
import math
import os

KEPT, LOST, ZEROS = "kept", "lost", "zeros"


class TooMany(Exception):
    """Raised if a power cut at one moment could leave so many states that not all can be built."""


class Operation:
    """One change to an entry of a directory, or to the content of a file."""

    def __init__(self, words, owner, kind, detail):
        self.words = words
        self.owner = owner  # the changed directory or file: its number in the Tree
        self.kind = kind  # the kind of change: "entries", "write", "size", "mode"
        self.detail = detail
        self.at = None  # the moment at which the operation was made
        self.synced = None  # the moment at which the operation became durable

    def fates(self, torn):
        if self.kind != "write":
            return [KEPT, LOST]
        size = len(self.detail[1])
        cuts = sorted({cut for cut in torn(size) if 0 < cut < size})
        return [KEPT, LOST, ZEROS, *cuts]


class Node:
    def __init__(self, kind, content, mode=0o755):
        self.kind = kind  # the kind of node: "directory", "file" or "link"
        # The content of a directory maps each name in it to the number of a node. The content of a
        # file is its bytes. The content of a link is its target.
        self.content = content
        self.mode = mode

    def copy(self):
        content = dict(self.content) if self.kind == "directory" else self.content
        return Node(self.kind, content, self.mode)


class Tree:
    """A tree of directories, files and links, each with a number; number 0 is the root."""

    def __init__(self, nodes):
        self.nodes = nodes

    def copy(self):
        return Tree([node.copy() for node in self.nodes])

    def find(self, path, follow=False, hops=8):
        """Returns the number of the node (inode) at this path, or None if there is none."""
        number, parts = 0, [part for part in path.split("/") if part and part != "."]
        way = [0]
        for index, part in enumerate(parts):
            if part == "..":
                way = way[:-1] or [0]
                number = way[-1]
                continue
            if self.nodes[number].kind != "directory":
                return None
            number = self.nodes[number].content.get(part)
            if number is None:
                return None
            node = self.nodes[number]
            if node.kind == "link" and (follow or index + 1 < len(parts)):
                rest = "/".join(parts[index + 1:])
                before = "/".join(parts[:index])
                start = "" if node.content.startswith("/") else before + "/"
                return self.find(start + node.content + "/" + rest, follow, hops - 1) \
                    if hops else None
            way.append(number)
        return number

    def apply(self, operation, fate):
        if fate == LOST:
            return
        detail = operation.detail
        if operation.kind == "entries":
            for directory, name, number in detail:
                entries = self.nodes[directory].content
                if number is None:
                    entries.pop(name, None)
                else:
                    entries[name] = number
            return
        node = self.nodes[operation.owner]
        if operation.kind == "mode":
            node.mode = detail
        elif operation.kind == "size":
            node.content = node.content[:detail].ljust(detail, b"\0")
        else:
            offset, text = detail
            if fate == ZEROS:
                text = bytes(len(text))
            elif fate != KEPT:
                text = text[:fate]
            before = node.content[:offset].ljust(offset, b"\0")
            node.content = before + text + node.content[offset + len(text):]

    def picture(self, number=0, path=""):
        """Returns everything in the tree as text. Equal trees have equal texts."""
        node = self.nodes[number]
        if node.kind != "directory":
            return ((path, node.kind, node.content, node.mode if node.kind == "file" else 0),)
        below = [self.picture(node.content[name], path + "/" + name)
                 for name in sorted(node.content)]
        return sum(below, ((path, "directory", "", node.mode),))


def materialise(picture, where):
    """Makes the files of a tree, given as the text of Tree.picture(), in the empty directory
    `where`. A link target that begins with `/` is taken relative to `where`."""
    for path, kind, content, _ in picture:
        place = where + path
        if kind == "directory":
            os.makedirs(place, exist_ok=True)
        elif kind == "link":
            os.symlink(where + content if content.startswith("/") else content, place)
        else:
            with open(os.open(place, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as file:
                file.write(content)
    # A directory's mode may forbid creating files in it. So the modes are set only when all files
    # exist, and each directory gets its mode after the files in it.
    for path, kind, _, mode in reversed(picture):
        if kind != "link":
            os.chmod(where + path, mode)


class Disk:
    """The current content of the directory `root`, and all operations on the directory so far."""

    def __init__(self, root):
        self.root = root
        self.operations = []
        self.marks = []  # pairs: a moment, and the text that a program printed at that moment
        self.moment = 0  # grows by 1 with every operation and every mark
        self.now = Tree([])
        self.add_from(root)
        self.first = self.now.copy()

    def add_from(self, path):
        number = len(self.now.nodes)
        if os.path.islink(path):
            self.now.nodes.append(Node("link", os.readlink(path).replace(self.root, "", 1)))
        elif os.path.isdir(path):
            node = Node("directory", {}, os.stat(path).st_mode & 0o7777)
            self.now.nodes.append(node)
            for name in sorted(os.listdir(path)):
                node.content[name] = self.add_from(os.path.join(path, name))
        else:
            with open(path, "rb") as file:
                content = file.read()
            self.now.nodes.append(Node("file", content, os.stat(path).st_mode & 0o7777))
        return number

    # ---- the operations on files that the recorder reports

    def holds(self, path):
        return path == self.root or path.startswith(self.root + "/")

    def inside(self, path):
        return path[len(self.root):].lstrip("/")

    def node_of(self, path):
        return self.now.find(self.inside(path)) if self.holds(path) else None

    def size(self, path):
        return len(self.now.nodes[self.node_of(path)].content)

    def do(self, words, owner, kind, detail):
        operation = Operation(words, owner, kind, detail)
        self.now.apply(operation, KEPT)
        operation.at = self.moment
        self.moment += 1
        self.operations.append(operation)

    def entries(self, words, *changes):
        detail = []
        for path, number in changes:
            directory, name = os.path.split(path)
            detail.append((self.node_of(directory), name, number))
        self.do(words, detail[-1][0], "entries", detail)

    def add(self, words, path, node):
        if self.holds(path):
            self.now.nodes.append(node)
            self.first.nodes.append(node.copy())
            self.entries(f"{words} {self.inside(path)}", (path, len(self.now.nodes) - 1))

    def create(self, path, mode):
        if self.node_of(path) is None:
            self.add("create", path, Node("file", b"", mode))

    def mkdir(self, path, mode):
        self.add("make directory", path, Node("directory", {}, mode))

    def symlink(self, target, path):
        self.add("make link", path, Node("link", target.replace(self.root, "", 1)))

    def link(self, old, new):
        if self.holds(new):
            self.entries(f"link {self.inside(old)} as {self.inside(new)}",
                         (new, self.node_of(old)))

    def unlink(self, path):
        if self.holds(path):
            self.entries(f"unlink {self.inside(path)}", (path, None))

    def rename(self, old, new):
        if self.holds(new):
            self.entries(f"rename {self.inside(old)} to {self.inside(new)}", (old, None),
                         (new, self.node_of(old)))

    def truncate(self, path, size):
        number = self.node_of(path)
        if number is not None and (size or self.now.nodes[number].content):
            self.do(f"cut {self.inside(path)} to {size} bytes", number, "size", size)

    def write(self, path, offset, text):
        number = self.node_of(path)
        if number is not None and text:
            self.do(f"write {self.inside(path)}, {len(text)} bytes at {offset}", number, "write",
                    (offset, text))

    def chmod(self, path, mode):
        number = self.node_of(path)
        if number is not None:
            self.do(f"mode {mode:o} of {self.inside(path)}", number, "mode", mode)

    def sync(self, path):
        number = self.node_of(path)
        if number is None:
            return
        for operation in self.operations:
            owners = [change[0] for change in operation.detail] \
                if operation.kind == "entries" else [operation.owner]
            if number in owners and operation.synced is None:
                operation.synced = self.moment
        self.moment += 1

    def sync_all(self):
        for operation in self.operations:
            if operation.synced is None:
                operation.synced = self.moment
        self.moment += 1

    def say(self, text):
        self.marks.append((self.moment, text))
        self.moment += 1

    # ---- the states after a power cut

    def said(self, moment):
        """Returns the texts that the program had printed before the power was cut."""
        return [text for at, text in self.marks if at < moment]

    def open_at(self, moment):
        """Returns the file operations that may be lost if the power is cut at this moment."""
        return [operation for operation in self.operations if operation.at < moment
                and (operation.synced is None or operation.synced >= moment)]

    def fates_at(self, moment, states_max, finely):
        """Returns the operations that a power cut at this moment may lose, and for each the list of
        its possible fates: kept, lost, and for a write also zeros or torn. A write may be torn at
        several places, as long as that gives no more than `states_max` states."""
        pending = self.open_at(moment)
        everywhere = [lambda size: range(1, size)] if finely else []
        for torn in (*everywhere, lambda size: (1, size // 2, size - 1), lambda size: (size // 2,)):
            fates = [operation.fates(torn) for operation in pending]
            if math.prod(map(len, fates)) <= states_max:
                return pending, fates
        raise TooMany(f"{math.prod(map(len, fates))} states at moment {moment}")

    def states(self, moment, states_max, finely=False):
        """Yields every state that a power cut at this moment may leave, as a pair: the fates of the
        pending operations, and the resulting tree of files."""
        pending, fates = self.fates_at(moment, states_max, finely)
        build = self.builder(moment, pending)
        for choice in itertools.product(*fates):
            yield choice, build(choice)

    def some_states(self, moment, luck, count):
        """Yields `count` random states after a power cut, for moments that have too many states to
        build all of them."""
        pending, fates = self.fates_at(moment, math.inf, False)
        build = self.builder(moment, pending)
        for _ in range(count):
            yield build([luck.choice(each) for each in fates])

    def builder(self, moment, pending):
        """Returns a function that makes the tree of files for given fates of the pending
        operations."""
        done = [operation for operation in self.operations if operation.at < moment]
        sure = done.index(pending[0]) if pending else len(done)
        base = self.first.copy()
        for operation in done[:sure]:
            base.apply(operation, KEPT)

        def build(choice):
            became = dict(zip(map(id, pending), choice))
            tree = base.copy()
            for operation in done[sure:]:
                tree.apply(operation, became.get(id(operation), KEPT))
            return tree
        return build
