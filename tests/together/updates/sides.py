# The two sides that tests/together/updates/pm2 compares: `npm install -g` with pm2, and update() of
# the JavaScript library for agents, with agentify. Each side runs its own web server. A test can
# kill the installation of a side just before its n-th call to a function of the C library that
# changes files, such as rename(); kill_at.c counts these calls. After that, the side reports which
# trees of files exist. Only one thread may use a side.
import hashlib
import json
import os
import pathlib
import shutil
import struct
import subprocess
import threading
import time
import urllib.error
import urllib.request

from double import marked
from update_world import ROOT, ended, free_port, wait
from world import BUILD

LIBRARY = ROOT / "agent-protocol/javascript/index.js"
KILLER = os.path.join(BUILD, "tests/together/updates/kill_at.so")
TRIAL = ["--upgrader=--trial=15s", "--settle=7s"]


def digest(tree):
    """Returns a hash of the names, modes and bytes of all files below a directory."""
    told = hashlib.sha256()
    for path in sorted(pathlib.Path(tree).rglob("*")):
        content = os.readlink(path) if path.is_symlink() else (
            path.read_bytes() if path.is_file() else "")
        content = content.encode() if isinstance(content, str) else content
        told.update(b"%s %o %d\n" % (str(path.relative_to(tree)).encode(),
                                     path.lstat().st_mode, len(content)) + content)
    return told.hexdigest()


def copy(source, target):
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(["cp", "-a", source, target], check=True)


class Side:
    """One of the two compared ways to update a daemon, by pm2 or by agentify. Each object has a
    directory, an environment and a port of its own."""

    def __init__(self, place, registry):
        self.place = pathlib.Path(place)
        self.place.mkdir()
        self.port = free_port()
        self.counter = self.place / "counter"
        self.mark = "TEST_MARK=" + "-".join(self.place.parts[-2:])
        for name in ["home", "scratch", "runtime", "saved"]:
            (self.place / name).mkdir()
        self.environment = {
            "PATH": BUILD + ":/usr/bin:/bin:" + os.environ["PATH"],
            "HOME": str(self.place / "home"),
            "TMPDIR": str(self.place / "scratch"), "XDG_RUNTIME_DIR": str(self.place / "runtime"),
            "TEST_MARK": self.mark.split("=")[1], "PORT": str(self.port),
            "PM2_HOME": str(self.place / "pm2"), "npm_config_registry": registry.url,
            "npm_config_update_notifier": "false", "npm_config_fetch_retries": "0",
            "npm_config_audit": "false", "npm_config_fund": "false", "npm_config_logs_max": "0"}
        self.log = self.place / "log"

    def call(self, *command, check=True):
        with open(self.log, "ab") as log:
            return subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=log, check=check, cwd=self.place)

    def install_killed(self, at, command):
        """Runs the installation, and kills it just before its `at`-th call to a function of the C
        library that changes files, or never if `at` is 0. Returns how many such calls the
        installation has begun, and whether it was killed."""
        self.counter.write_bytes(struct.pack("QQ", 0, at))
        environment = {**self.environment, "LD_PRELOAD": KILLER, "KILL_AT": str(self.counter)}
        with open(self.log, "ab") as log:
            process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log, cwd=self.place,
                                       start_new_session=True)
            process.wait(600)
        wait("the end of the installation", lambda: not self.of_session(process.pid))
        return struct.unpack("QQ", self.counter.read_bytes())[0], process.returncode == -9

    @staticmethod
    def of_session(leader):
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                text = pathlib.Path("/proc", entry, "stat").read_text()
            except OSError:
                continue
            state, _, _, session = text[text.rindex(")") + 2:].split()[:4]
            if int(session) == leader and state not in "ZX":
                return True
        return False

    def answer(self):
        """Returns the server's answer, or an empty text if it does not answer with status 200."""
        try:
            with urllib.request.urlopen("http://127.0.0.1:%d/" % self.port, timeout=2) as answer:
                return answer.read().decode().strip()
        except (OSError, urllib.error.HTTPError):
            return ""

    def close(self):
        self.stop()
        wait("all processes have gone", lambda: not marked(self.mark))


class Ours(Side):
    name = "update() and agentify"

    def __init__(self, place, registry):
        super().__init__(place, registry)
        self.releases = self.place / "releases"
        self.process = None

    def command(self, **options):
        text = ("import { update } from %s;\nconsole.log(JSON.stringify(await update(%s)));\n"
                % (json.dumps(str(LIBRARY)), json.dumps(
                    {"releases": str(self.releases), "package": "web", **options})))
        return ["node", "--input-type=module", "--eval", text]

    def prepare(self):
        """Installs version 1.0.0, and keeps a copy with which each test begins."""
        self.call(*self.command())
        copy(self.releases, self.place / "saved/tree")

    def reset(self):
        copy(self.place / "saved/tree", self.releases)

    def trees(self):
        """Returns the version and a hash of each installed tree of files that may be started."""
        return [(path.name.rsplit("-v", 1)[1], digest(path))
                for path in self.releases.glob("web-v*") if path.is_dir()]

    def install(self, at):
        return self.install_killed(at, self.command(wait=0))

    def begin(self):
        """Starts the service, as a restart after the interrupted installation does."""
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [os.path.join(BUILD, "agentify"), "run", "--releases=%s" % self.releases,
                 "--ready=http:http://127.0.0.1:%d/" % self.port, *TRIAL,
                 "--upgrader=--control=%s" % (self.place / "control"),
                 "--upgrader=--lock=%s" % (self.place / "lock")],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)

    def works(self):
        """Starts the service. Returns the version that answers, or `none` if the service gives
        up."""
        self.begin()
        try:
            return wait("an answer", lambda: self.answer() or
                        (self.process.poll() is not None and "none"))
        finally:
            self.stop()

    def stop(self):
        if self.process is None:
            return
        ended(self.process, self.mark)

    def replace(self):
        return json.loads(self.call(*self.command()).stdout)["outcome"]

    def starts(self, before):
        """Returns how often version 1.1.0 was started since the log had `before` bytes."""
        text = self.log.read_bytes()[before:].decode(errors="replace")
        return text.count("started as process") - text.count("web-v1.0.0/agent-entry.cjs")


class Pm2(Side):
    name = "npm install -g and pm2"

    def __init__(self, place, registry, pm2, delay_ms=None):
        """With `delay_ms`, pm2 waits that many milliseconds before a restart, and longer after each
        further failure."""
        super().__init__(place, registry)
        self.delay = [] if delay_ms is None else [str(delay_ms)]
        self.prefix = self.place / "prefix"
        self.tree = self.prefix / "lib/node_modules/web"
        self.environment["PM2"] = str(pm2)
        self.driver = None

    def command(self, version="1.1.0"):
        return ["npm", "install", "-g", "--prefix", str(self.prefix), "web@" + version]

    def prepare(self):
        self.call(*self.command("1.0.0"))
        copy(self.prefix, self.place / "saved/tree")
        with open(self.log, "ab") as log:
            self.driver = subprocess.Popen(
                ["node", str(pathlib.Path(__file__).with_name("pm2_driver.js"))], text=True,
                env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                cwd=self.place)
        self.begin()
        wait("an answer", lambda: self.answer() == "1.0.0")

    def begin(self):
        """Starts the service in pm2 as a new one: deletes it first, so that pm2 forgets its earlier
        restarts."""
        self.ask("delete")
        self.ask("start", str(self.tree / "server.js"), *self.delay)

    def ask(self, *words):
        """Sends one request to pm2, by its own interface for programs. Returns the answer."""
        self.driver.stdin.write(" ".join(words) + "\n")
        self.driver.stdin.flush()
        return json.loads(self.driver.stdout.readline())

    def reset(self):
        copy(self.place / "saved/tree", self.prefix)

    def trees(self):
        version = "none"
        try:
            version = json.loads((self.tree / "package.json").read_text())["version"]
        except (OSError, ValueError):
            pass
        return [(version, digest(self.tree))]

    def install(self, at):
        return self.install_killed(at, self.command())

    def works(self):
        """Restarts the service. Returns the version that answers. Returns `none` if pm2 refuses the
        restart, if more than three restarts have failed, or if nothing answers within a minute."""
        first = self.ask("restart")
        before, latest = first.get("restarts", 0), time.monotonic() + 60

        def ended():
            told = self.ask("state")
            gave_up = (first.get("error") or told["status"] != "online" and told["status"] !=
                       "launching" or told["restarts"] > before + 3 or time.monotonic() > latest)
            return self.answer() or (gave_up and "none")
        return wait("an answer", ended)

    def replace(self):
        self.call(*self.command())
        return self.ask("reload")["status"]

    def starts(self, before):
        return self.ask("state")["restarts"]

    def stop(self):
        if self.driver is None:
            return
        self.driver.stdin.close()
        ended(self.driver, self.mark)


class Watch:
    """Sends requests to a side's server all the time, and remembers for how long none of `versions`
    answered."""

    def __init__(self, side, versions):
        self.side, self.versions = side, versions
        self.longest, self.latest, self.over = 0.0, "", threading.Event()
        self.good = time.monotonic()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.over.is_set():
            answer = self.side.answer()
            if answer in self.versions:
                self.latest = answer
                self.longest = max(self.longest, time.monotonic() - self.good)
                self.good = time.monotonic()
            self.over.wait(0.01)

    def end(self):
        """Returns the longest time for which none of `versions` answered, and the version that
        answered last, if any."""
        self.over.set()
        self.thread.join()
        silent = time.monotonic() - self.good
        return max(self.longest, silent), self.latest if silent < 2 else ""
