# The fixture of the tests of agent-releases: a directory of releases with trusted keys, a
# publisher, an HTTP server, and the program agent-releases.
import hashlib
import http.server
import json
import os
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from cases import case, has, run_cases, same, wait  # noqa: E402, F401

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
PROGRAM = os.path.join(BUILD, "agent-releases")
# The processor for which the programs are built. It differs from this machine's processor if an
# emulator runs the programs.
MACHINE = os.environ.get("MACHINE") or os.uname().machine
DEADLINE_S = 120
# The members of a manifest that options of `agent-releases pack` can set.
TRUE_MEMBERS = {"version", "arch", "expires"}
# The files that `agent-releases key make` and `pack` have made so far. Starting the program costs
# most of the tests' time, so a test that needs the same key or release again gets a copy of the
# files.
made_keys = {}  # for each name, the contents of the secret key and of the public key
packed = {}  # for each release, its files as (path below the world, content, mode)


def main(result=None):
    """Runs the cases. `result`, if given, is a function that returns a part of a row in the table
    of `make verify`: the name of the layer, the figures, and the required values."""
    def close(failed):
        layer, figures, bar = result()
        print_result(layer, "make crash-releases", figures, bar, not failed)
    run_cases(World, close if result and not sys.argv[1:] else None)


def print_result(layer, command, figures, bar, met):
    """Prints a row for the table of `make verify`."""
    print("result: %s | %s | %s | %s | %s" % (
        layer, command, figures, bar, "met" if met else "not met: see its output"))


def strace(log, calls, *arguments):
    """Returns the beginning of a strace command. strace runs the command that follows, and writes
    its system calls that are in `calls` to `log`."""
    # LeakSanitizer must trace its own process, which is impossible while strace traces it. So the
    # search for leaks is switched off.
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    # With --seccomp-bpf, which needs -f, strace stops the command only at calls that are in
    # `calls`. That saves processor time, but strace 6.1 then cannot send signals at calls. So the
    # option is left out if strace is to send a signal.
    sends_signal = any(":signal=" in argument for argument in arguments)
    return ["strace", "-qq", *([] if sends_signal else ["-f", "--seccomp-bpf"]), "-o", log,
            "-E", "ASAN_OPTIONS=" + sanitizer, "-e", "trace=" + calls, *arguments]


def calls_in(log):
    """Yields each system call in a log of strace: its name, and its text from the name on. Before
    the name, there may be the number of the process."""
    with open(log, errors="replace") as lines:
        for line in lines:
            called = re.match(r"(?:\d+ +)?((\w+)\(.*)", line)
            if called:
                yield called[2], called[1]


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class World:
    def __init__(self, below=None):
        self.place = tempfile.mkdtemp(prefix="releases-", dir=below)
        self.said = ""
        self.pub = self.make("pub")
        self.keys = self.make("keys")
        self.releases = self.path("releases")
        self.closers = []

    def logs(self):
        return self.said

    def close(self):
        for closer in self.closers:
            closer()
        shutil.rmtree(self.place, ignore_errors=True)
        if os.path.isdir(self.place):
            subprocess.run(["chmod", "-R", "u+rwX", self.place], check=False)
            shutil.rmtree(self.place, ignore_errors=True)

    def path(self, *parts):
        return os.path.join(self.place, *parts)

    def make(self, *parts):
        os.makedirs(self.path(*parts), exist_ok=True)
        return self.path(*parts)

    def write(self, path, content, mode=0o644):
        path = self.path(path)
        with open(path, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode())
        os.chmod(path, mode)
        return path

    # ---- the publisher

    def make_key(self, name="release"):
        """Makes a key pair whose public key is trusted. Returns the path of the secret key."""
        secret, public = self.path(name + ".key"), self.path("keys", name + ".pub")
        if os.path.exists(secret):
            return secret
        if name in made_keys:
            self.write(secret, made_keys[name][0], 0o600)
            self.write(public, made_keys[name][1])
            return secret
        subprocess.run([PROGRAM, "key", "make", "--no-password", "--public=" + public, secret],
                       check=True, stdout=subprocess.DEVNULL)
        made_keys[name] = pathlib.Path(secret).read_bytes(), pathlib.Path(public).read_bytes()
        return secret

    def minisign(self, *arguments):
        done = subprocess.run(["minisign", *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.said += done.stdout.decode(errors="replace")
        return done.returncode

    def publish(self, number="1.0.0", content=b"#!/bin/sh\nexit 0\n", key="release", **changes):
        """Publishes a release with a signed manifest. Replaces an earlier release of that version.
        Returns the manifest's path."""
        wanted = {"version": number, **changes}
        if not content.startswith((b"#!", b"\x7fELF")) or not set(wanted) <= TRUE_MEMBERS:
            return self.forge(number, content, key=key, **changes)
        for name in os.listdir(self.pub):
            if name.startswith("agent-%s-" % number):
                os.unlink(os.path.join(self.pub, name))
        signing = ["--sign=" + self.make_key(key)] if key else []
        release = (number, content, key, *sorted(wanted.items()))
        if release not in packed:
            packed[release] = self.pack(content, signing, wanted)
        for file in packed[release]:
            self.write(*file)
        return self.path(packed[release][0][0])

    def pack(self, content, signing, wanted):
        """Packs a program. Returns the published files, the manifest first, each as (path below the
        world, content, mode)."""
        out = self.make("packed")
        command = [PROGRAM, "--json", "--name=agent", "pack", "--out=" + out,
                   *("--%s=%s" % item for item in wanted.items()), *signing,
                   self.write("program", content, 0o755)]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        self.said += done.stderr.decode()
        same(done.returncode, 0)
        os.unlink(self.path("program"))
        said = json.loads(done.stdout)
        paths = [pathlib.Path(said[name]) for name in ["manifest", "file", "signature"]
                 if name in said]
        files = [("pub/" + path.name, path.read_bytes(), path.stat().st_mode & 0o7777)
                 for path in paths]
        shutil.rmtree(out)
        return files

    def forge(self, number, content=b"#!/bin/sh\nexit 0\n", file=None, key="release",
              **changes):
        """Publishes a release like publish(), but writes the manifest without `pack`, which would
        refuse such contents and members."""
        file = file or "agent-%s-any" % number
        self.write(os.path.join("pub", file), content)
        manifest = {"name": "agent", "version": number, "arch": "any", "kind": "file",
                    "size": len(content), "sha256": sha256(content), "min_protocol": 1,
                    "url": file}
        manifest.update(changes)
        manifest = {name: value for name, value in manifest.items() if value is not None}
        path = self.write(os.path.join("pub", file + ".json"), json.dumps(manifest, indent=2))
        if key:
            same(self.minisign("-S", "-s", self.make_key(key), "-m", path), 0)
        return path

    def publish_tar(self, number, archive, entry="bin/agent", **changes):
        return self.forge(number, archive, "agent-%s.tar" % number, kind="tar", entry=entry,
                          **changes)

    # ---- the program

    def command(self, *arguments, keys=True, name="agent"):
        command = [PROGRAM, "--dir=" + self.releases]
        if keys:
            command.append("--keys=" + self.keys)
        if name:
            command.append("--name=" + name)
        return command + list(arguments)

    def run(self, *arguments, keys=True, name="agent", **keywords):
        """Runs the program. Returns its exit status. Afterwards `out` has its standard output, and
        `error` its standard error."""
        done = subprocess.run(self.command(*arguments, keys=keys, name=name),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=DEADLINE_S, check=False, **keywords)
        self.out, self.error = done.stdout.decode(), done.stderr.decode()
        self.said += "$ %s\n%s%s-> %d\n" % (" ".join(arguments), self.out, self.error,
                                            done.returncode)
        return done.returncode

    def succeeds(self, *arguments, **keywords):
        same(self.run(*arguments, **keywords), 0)
        return self.out

    def refuses(self, status, reason, *arguments, **keywords):
        """Checks that the command fails with that status and reason, and leaves the directory as it
        was, except for partial downloads."""
        before = self.picture()
        same(self.run(*arguments, **keywords), status)
        has(self.error, reason)
        assert self.error.startswith("agent-releases: ") or "\nagent-releases: " in self.error
        same(self.picture(), before)

    def listing(self):
        return json.loads(self.succeeds("list", "--json"))

    def versions(self):
        return [release["version"] for release in self.listing()["releases"]]

    # ---- the directory's content

    def picture(self):
        """Returns every file of the directory, with its mode and content. Leaves out the files that
        agent-releases keeps there for itself, such as its lock."""
        found = {}
        for directory, below, files in os.walk(self.releases):
            for name in below + files:
                path = os.path.join(directory, name)
                relative = os.path.relpath(path, self.releases)
                if relative.split("/")[0] in (".staging", ".lock", ".name"):
                    continue
                if os.path.islink(path):
                    found[relative] = "-> " + os.readlink(path)
                elif os.path.isdir(path):
                    found[relative] = "directory %o" % (os.stat(path).st_mode & 0o7777)
                else:
                    with open(path, "rb") as file:
                        found[relative] = (os.stat(path).st_mode & 0o7777, file.read())
        return found

    def staging(self):
        path = os.path.join(self.releases, ".staging")
        return sorted(os.listdir(path)) if os.path.isdir(path) else []

    def release(self, name):
        return os.path.join(self.releases, name)


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers one request to a Double."""
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        double = self.server.double
        with double.changed:
            double.requests.append((self.path, self.headers.get("Range")))
            double.changed.notify_all()
        how = double.faults.get(self.path)
        if how and how[0]:
            return how.pop(0)(self)
        return self.serve()

    def content(self):
        path = os.path.join(self.server.double.directory, self.path.lstrip("/"))
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return file.read()

    def serve(self, content=None, cut=None, length=None, ranges=True):
        """Serves a file. A test may set other bytes (`content`), the number of bytes after which
        the answer is `cut` off, or a wrong `length`. Without `ranges`, always serves the whole
        file."""
        content = self.content() if content is None else content
        if content is None:
            return self.send_error(404)
        begin, wanted = 0, self.headers.get("Range")
        if wanted and ranges:
            begin = int(wanted.split("=")[1].split("-")[0])
            if begin >= len(content):
                self.send_response(416)
                self.send_header("Content-Length", "0")
                return self.end_headers()
            self.send_response(206)
            self.send_header("Content-Range",
                             "bytes %d-%d/%d" % (begin, len(content) - 1, len(content)))
        else:
            self.send_response(200)
        rest = content[begin:]
        self.send_header("Content-Length", str(len(rest) if length is None else length))
        if length is not None or cut is not None:
            self.close_connection = True
        self.end_headers()
        self.wfile.write(rest if cut is None else rest[:cut])
        return None

    def redirect(self, where):
        self.send_response(302)
        self.send_header("Location", where)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Double:
    """An HTTP server. It serves a directory well, except files for which a test has ordered a
    fault: a cut, a wrong length, a redirection, a delay, other bytes at the second read, or no
    support of ranges."""

    def __init__(self, directory, identity=None):
        """Serves by https if `identity` is given: the paths of a certificate and of its key."""
        self.directory = directory
        self.requests = []  # pairs of the requested path and range
        self.changed = threading.Condition()   # notified at each further request
        self.faults = {}  # for each path, the faults of its next answers in their order
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.scheme = "https" if identity else "http"
        if identity:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*identity)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.server.daemon_threads = True
        self.server.double = self
        # Prints no error messages: a client closes the connection after a truncated answer, which
        # is not an error here.
        self.server.handle_error = lambda *_: None
        self.is_open = True
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    def serve(self):
        # Unlike serve_forever(), handle_request() does not wake up many times per second to check
        # whether it must end.
        while self.is_open:  # until close() is called
            self.server.handle_request()

    def url(self, name=""):
        return "%s://127.0.0.1:%d/%s" % (self.scheme, self.server.server_address[1], name)

    def fails(self, path, *deeds):
        self.faults["/" + path] = list(deeds) + [None]

    def ranges_of(self, path):
        return [wanted for asked, wanted in self.requests if asked == "/" + path]

    def close(self):
        self.is_open = False
        self.server.socket.shutdown(socket.SHUT_RDWR)  # ends the wait for the next request
        self.thread.join()
        self.server.server_close()
