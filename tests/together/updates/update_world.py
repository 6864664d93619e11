# The fixture of the tests of daemons that update themselves: a registry of npm, an index of pip, a
# daemon under `agentify run`, and a directory of releases. Everything works offline, on ports that
# the kernel chooses.
import base64
import contextlib
import hashlib
import http.server
import io
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import threading
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests/together/releases"))
sys.path.insert(0, str(ROOT / "tests/together/agentify"))
sys.dont_write_bytecode = True
import world as releases_world  # noqa: E402
from double import free_port, marked  # noqa: E402
from world import BUILD, World  # noqa: E402

FILE_TIME = 499162500
# The time limit of every wait, in seconds. npm and pip need seconds of processor time, which on a
# busy machine become minutes.
PATIENCE_S = 300


def wait(what, condition):
    return releases_world.wait(what, condition, PATIENCE_S)


def archive(files):
    """Returns a package's tarball, as npm publishes it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for path, content in files.items():
            info = tarfile.TarInfo("package/" + path)
            info.size = len(content)
            info.mtime = FILE_TIME
            info.mode = 0o755 if content.startswith(b"#!") else 0o644
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


class Registry(http.server.ThreadingHTTPServer):
    """A registry of npm and the simple index of pip, with the packages that a test publishes.
    `broken` has the paths of packages whose bytes differ from their published hashes."""

    def __init__(self):
        self.packages, self.files, self.pages, self.broken = {}, {}, {}, set()
        self.asked = []
        super().__init__(("127.0.0.1", 0), Answer)
        self.url = "http://127.0.0.1:%d/" % self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()

    def publish(self, tarball):
        """Publishes a tarball of npm. The version that was published last is the tag `latest`."""
        with tarfile.open(fileobj=io.BytesIO(tarball)) as tar:
            described = json.load(tar.extractfile("package/package.json"))
        name, version = described["name"], described["version"]
        path = "/%s/-/%s-%s.tgz" % (name, name.rsplit("/", 1)[-1], version)
        self.files[path] = tarball
        digest = base64.b64encode(hashlib.sha512(tarball).digest()).decode()
        described["dist"] = {"tarball": self.url.rstrip("/") + path,
                             "integrity": "sha512-" + digest,
                             "shasum": hashlib.sha1(tarball).hexdigest()}
        if isinstance(described.get("bin"), str):
            described["bin"] = {name.rsplit("/", 1)[-1]: described["bin"]}
        package = self.packages.setdefault(name, {"name": name, "dist-tags": {}, "versions": {}})
        package["versions"][version] = described
        package["dist-tags"]["latest"] = version
        return path

    def publish_wheel(self, name, file_name, wheel):
        path = "/files/" + file_name
        self.files[path] = wheel
        self.pages.setdefault(name, []).append(
            '<a href="%s#sha256=%s">%s</a>' % (path, hashlib.sha256(wheel).hexdigest(), file_name))
        return path


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        path = urllib.parse.unquote(self.path.split("?")[0])
        self.server.asked.append(path)
        if path in self.server.files:
            content = self.server.files[path]
            if path in self.server.broken:
                content = content[:-20] + bytes(20)
            return self.answer(content, "application/octet-stream")
        if path[1:] in self.server.packages:
            return self.answer(json.dumps(self.server.packages[path[1:]]).encode(),
                               "application/json")
        page = self.server.pages.get(path.strip("/").rsplit("/", 1)[-1])
        if page:
            return self.answer(("<!DOCTYPE html>" + "".join(page)).encode(), "text/html")
        self.answer(b'{"error":"not found"}', "application/json", 404)

    def answer(self, content, kind, status=200):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def answer_of(port):
    """Returns the daemon's answer, or an empty text if it does not answer."""
    try:
        with urllib.request.urlopen("http://127.0.0.1:%s/" % port, timeout=5) as answer:
            return answer.read().decode().strip()
    except OSError:
        return ""


def ended(process, mark):
    """Kills a process. Waits for the end of all processes that have `mark` in their environment."""
    if process.poll() is None:
        process.kill()
    process.wait(60)
    for other in marked(mark):
        with contextlib.suppress(ProcessLookupError):
            os.kill(other, 9)
    wait("all processes have gone", lambda: not marked(mark))


class UpdateWorld(World):
    """A registry of npm and pip, and at most one daemon that runs from the directory `releases`."""

    def __init__(self):
        super().__init__()
        self.registry = Registry()
        self.daemon = None
        self.closers.append(self.registry.close)
        self.port = free_port()
        self.log = self.path("log")
        self.mark = "TEST_MARK=" + os.path.basename(self.place)
        self.environment = {
            "PATH": BUILD + ":/usr/bin:/bin:" + os.environ["PATH"], "HOME": self.make("home"),
            "TMPDIR": self.make("scratch"), "XDG_RUNTIME_DIR": self.make("runtime"),
            "TEST_MARK": os.path.basename(self.place), "PYTHONDONTWRITEBYTECODE": "1",
            "npm_config_registry": self.registry.url, "npm_config_update_notifier": "false",
            "PIP_INDEX_URL": self.registry.url + "simple", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "npm_config_fetch_retries": "0", "PIP_RETRIES": "0"}

    def logs(self):
        text = open(self.log).read() if os.path.exists(self.log) else ""
        return self.said + text

    def call(self, *command, status=0, **environment):
        """Runs the command, which must end with `status`. Returns its standard output."""
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, cwd=self.place,
                              env={**self.environment, **environment}, timeout=300)
        self.said += "$ %s\n%s%s-> %d\n" % (command, done.stdout, done.stderr, done.returncode)
        assert done.returncode == status, "status %d: %s" % (done.returncode, done.stderr)
        return done.stdout

    def start(self, *words, options=()):
        """Starts the daemon by `agentify run`. It listens on `port`."""
        control = self.path("control")
        with open(self.log, "ab") as log:
            self.daemon = subprocess.Popen(
                [os.path.join(BUILD, "agentify"), "run", "--releases=" + self.releases,
                 "--ready=tcp:127.0.0.1:%d" % self.port, "--upgrader=--control=" + control,
                 "--upgrader=--lock=" + self.path("lock"), "--upgrader=--trial=20s", "--settle=0",
                 *options, "--", str(self.port), *words],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, cwd=self.place)
        self.closers.insert(0, self.end)

    def start_agent(self, *words, options=()):
        """Starts an agent that speaks the protocol by itself, under the upgrader."""
        with open(self.log, "ab") as log:
            self.daemon = subprocess.Popen(
                [os.path.join(BUILD, "upgrader"), "--relink",
                 "--previous=" + self.releases + "/previous",
                 "--control=" + self.path("control"), "--lock=" + self.path("lock"), "--trial=2s",
                 *options, self.releases + "/current", str(self.port), *words],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, cwd=self.place)
        self.closers.insert(0, self.end)

    def end(self):
        ended(self.daemon, self.mark)

    def answers(self):
        """Returns the daemon's version, or an empty text while it does not answer."""
        return answer_of(self.port)

    def wait_for_version(self, version):
        wait("version %s to answer" % version, lambda: self.answers() == version)

    def wait_for_log(self, text):
        wait("%s in the log" % text, lambda: text in self.logs())

    def requests(self, version):
        """Returns how often an upgrade to this version, requested by an agent, was accepted."""
        return sum("upgrade %s/" % version in line and " accepted" in line
                   for line in self.logs().splitlines())

    def list(self):
        """Returns what `agent-releases list` prints about each version."""
        done = subprocess.run([os.path.join(BUILD, "agent-releases"), "--json", "list",
                               "--dir=" + self.releases], stdout=subprocess.PIPE, check=True)
        return {one["version"]: one for one in json.loads(done.stdout)["releases"]}

    def ending(self, version):
        return self.list().get(version, {}).get("last", {}).get("ending")
