"""A cell that `fleetctl cell init` has made, with addresses of the loopback device: members of
etcd, controllers and fleet-signer. Each machine has only the files of its own archive. JoinWorld is
such a cell for tests of machines that join."""
import base64
import glob
import http.client
import json
import os
import random
import shutil
import socket
import ssl
import subprocess
import tarfile
import tempfile

from cases import same, wait

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
JOINED, FAILED, UNREACHABLE, WAITS = 0, 1, 3, 4  # the exit statuses of `fleet-agent join`


def any_address():
    """Returns a random address of the loopback device. The ports in a cell are fixed, so each cell
    needs addresses that no other cell uses."""
    return "127.%d.%d.%d" % tuple(random.randrange(2, 250) for _ in range(3))


def text_of(base64_text):
    return base64.b64decode(base64_text).decode()


class Process:
    """A running program of a machine. The World that has started the program ends it."""

    def __init__(self, arguments, environment, log):
        self.file = log
        with open(log, "ab") as out:
            self.process = subprocess.Popen(arguments, env=dict(os.environ, **environment),
                                            stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.terminate()
        self.process.wait()


class World:
    def __init__(self):
        self.place = tempfile.mkdtemp(prefix="new-cell-")
        self.cell = self.path("cell")
        self.addresses = {name: any_address() for name in ("m1", "m2", "m3")}
        self.running = []

    def path(self, *parts):
        return os.path.join(self.place, *parts)

    def fleetctl(self, *words, environment=None):
        done = subprocess.run([os.path.join(BUILD, "fleetctl"), *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, cwd=self.place,
                              env=dict(os.environ, **environment or {}))
        return done.returncode, done.stdout

    def wrong_clock(self, ahead_s):
        """Returns an environment in which programs see a wall clock that is ahead by so many
        seconds. Another call changes the clock, also for programs that run already."""
        with open(self.path("new-clock"), "w", encoding="ascii") as clock:
            clock.write("%d\n" % ahead_s)
        os.rename(clock.name, self.path("clock"))
        return {"WALL_CLOCK": self.path("clock"),
                "LD_PRELOAD": os.path.join(BUILD, "tests/together/fleet/wall_clock.so")}

    def good(self, *words, **keywords):
        status, said = self.fleetctl(*words, **keywords)
        same((status, said if status else ""), (0, ""))
        return said

    def refused(self, *words):
        status, said = self.fleetctl(*words)
        same(status, 2)
        return said

    def init(self, count=3, controllers=("m1", "m2")):
        names = sorted(self.addresses)[:count]
        return ["cell", "init", self.cell,
                *["--member=%s=%s" % (name, self.addresses[name]) for name in names],
                *["--controller=%s=%s" % (name, self.addresses[name]) for name in controllers]]

    def as_person(self, *words, environment=None, output="/dev/stdout"):
        """Runs a fleetctl command with the variables of the cell's file `env`."""
        done = subprocess.run(["sh", "-c", ". '%s/env' && exec '%s/fleetctl' \"$@\" >%s"
                               % (self.cell, BUILD, output), "sh", *words], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False,
                              env=dict(os.environ, **environment or {}))
        return done.returncode, done.stdout

    def unpack(self, name):
        """Unpacks a machine's archive into a directory of the test, which stands for the machine's
        root directory."""
        root = self.path("machines", name)
        with tarfile.open(os.path.join(self.cell, name + ".tar")) as archive:
            archive.extractall(root)
        return root

    def settings(self, root, file):
        with open(os.path.join(root, "etc/default", file), encoding="ascii") as lines:
            text = lines.read().replace("/etc/fleet", root + "/etc/fleet") \
                .replace("/var/lib", root + "/var/lib") \
                .replace("/run/credentials/fleet-controller.service", root + "/etc/fleet")
        return dict(line.split("=", 1) for line in text.splitlines())

    def start_member(self, name):
        root = self.unpack(name)
        os.makedirs(root + "/var/lib/etcd")
        return self.run_member(name)

    def run_member(self, name):
        """Starts a member with the files that its machine has."""
        root = self.path("machines", name)
        self.running.append(Process(["/usr/bin/etcd", "--logger=zap"],
                                    self.settings(root, "etcd"), self.path(name + ".log")))
        return self.running[-1]

    def start_program(self, program, machine, log, options):
        """Starts a program of the cell on a machine, with the settings in the machine's archive.
        `options` is a function that is called with the directory of the machine's files, and
        returns additional options."""
        root = self.unpack(machine)
        own = self.settings(root, program)[program.upper().replace("-", "_") + "_OPTIONS"]
        self.running.append(Process(
            [os.path.join(BUILD, program), *options(root + "/etc/fleet/"),
             *own.strip('"').split()], {}, self.path(log)))
        return self.running[-1]

    def start_controller(self, name):
        return self.start_program(
            "fleet-controller", name, name + "-controller.log", lambda own:
            ["--ca=" + own + "ca.pem", "--cert=" + own + "controller.pem",
             "--key=" + own + "controller.key"])

    def start_signer(self, name="s1"):
        os.makedirs(self.path("machines", name, "var/lib/fleet-signer"), exist_ok=True)
        return self.start_program(
            "fleet-signer", name, "signer.log", lambda own:
            ["--ca=" + own + "ca.pem", "--cert=" + own + "root.pem", "--key=" + own + "root.key",
             "--signer=" + own + "ca.pem", "--signer-key=" + own + "ca.key"])

    def endpoints(self):
        return ["--endpoint=https://%s:2379" % address for address in self.addresses.values()]

    def start_store(self):
        for name in self.addresses:
            self.start_member(name)
        wait("the store", lambda: self.fleetctl("cell", "start", self.cell)[0] == 0)

    def files(self):
        found = {}
        for file in glob.glob(os.path.join(self.cell, "*")):
            with open(file, "rb") as content:
                found[os.path.basename(file)] = content.read()
        found.pop("lock")  # `lock` has the process id of the last fleetctl command
        return found

    def logs(self):
        text = ""
        for file in glob.glob(self.path("*.log")):
            with open(file, encoding="utf-8", errors="replace") as log:
                text += "--- %s\n%s" % (file, log.read()[-2000:])
        return text

    def log(self, name):
        with open(self.path(name), encoding="utf-8", errors="replace") as log:
            return log.read()

    def close(self):
        for process in self.running:
            process.kill()
        shutil.rmtree(self.place, ignore_errors=True)


class JoinWorld(World):
    """A cell with one member of etcd, two controllers and fleet-signer."""

    def __init__(self, made_before_s=0):
        super().__init__()
        self.addresses = {"m1": any_address()}
        self.good(*self.init(count=1, controllers=("m1",)),
                  "--controller=c2=" + any_address(), "--signer=s1",
                  environment=self.wrong_clock(-made_before_s) if made_before_s else None)
        self.start_store()
        self.controllers = {name: self.start_controller(name) for name in ("m1", "c2")}
        wait("both controllers", lambda: self.listens("m1") and self.listens("c2"))
        self.signer = self.start_signer()

    def url(self, name):
        with open(self.cell + "/cell", encoding="ascii") as terms:
            for line in terms:
                words = line.split()
                if words[:2] == ["controller", name]:
                    return words[2], 8443
        raise AssertionError(name)

    def listens(self, name):
        try:
            with socket.create_connection(self.url(name), timeout=1):
                return True
        except OSError:
            return False

    def ctl(self, *words):
        status, said = self.as_person(*words)
        same((status, said if status else ""), (0, ""))
        return said

    def token(self, *words):
        return self.ctl("token", "create", *words).strip()

    def start_join(self, token, node, *words, environment=None):
        process = subprocess.Popen(
            [os.path.join(BUILD, "fleet-agent"), "join", "-", "--node=" + node,
             "--root=" + self.path("machines", node), *words], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            env=dict(os.environ, **environment or {}))
        process.stdin.write(token + "\n")
        process.stdin.close()
        process.stdin = None
        return process

    def join(self, token, node, *words, **keywords):
        process = self.start_join(token, node, *words, **keywords)
        said, _ = process.communicate(timeout=120)
        return process.returncode, said

    def file(self, node, name):
        with open(self.path("machines", node, "etc", name), encoding="utf-8") as content:
            return content.read()

    def records(self, below):
        """Returns all records whose keys begin with /fleet/v1/ and `below`. The result maps the
        rest of each key to its record."""
        done = subprocess.run(
            ["etcdctl", "get", "--prefix", "/fleet/v1/" + below, "-w", "json",
             "--endpoints=https://%s:2379" % self.addresses["m1"],
             "--cacert=" + self.cell + "/ca.pem", "--cert=" + self.cell + "/root.pem",
             "--key=" + self.cell + "/root.key"],
            stdout=subprocess.PIPE, check=True, env=dict(os.environ, ETCDCTL_API="3"))
        found = {}
        for pair in json.loads(done.stdout).get("kvs", []):
            key = text_of(pair["key"])[len("/fleet/v1/" + below):]
            found[key] = json.loads(text_of(pair["value"]))
        return found

    def etcdctl(self, *words, who="root", check=True):
        done = subprocess.run(
            ["etcdctl", *words, "--endpoints=https://%s:2379" % self.addresses["m1"],
             "--cacert=" + self.cell + "/ca.pem", "--cert=%s/%s.pem" % (self.cell, who),
             "--key=%s/%s.key" % (self.cell, who)], check=False, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, env=dict(os.environ, ETCDCTL_API="3"))
        same(done.stdout if check and done.returncode else "", "")
        return done.returncode, done.stdout

    def certificates(self, node):
        return self.records("identity/node/")[node]["certificates"]

    def serial(self, node):
        """Returns the serial number of the certificate on the machine's disk."""
        done = subprocess.run(
            ["openssl", "x509", "-noout", "-serial", "-in",
             self.path("machines", node, "etc/fleet/node.pem")], stdout=subprocess.PIPE, text=True,
            check=True)
        return done.stdout.strip().partition("=")[2]

    def used(self):
        return sum(one["used"] for one in self.records("token/").values())

    def members(self):
        return sorted(self.records("identity/node/"))

    def post(self, body, method="POST", name="m1"):
        context = ssl.create_default_context(cafile=self.cell + "/ca.pem")
        line = http.client.HTTPSConnection(*self.url(name), timeout=30, context=context)
        line.request(method, "/v1/join", body)
        response = line.getresponse()
        said = response.read().decode()
        line.close()
        return response.status, said

    def request(self, node):
        """Makes a new key. Returns a certificate request for it."""
        done = subprocess.run(
            ["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-keyout", "/dev/null", "-subj", "/CN=node:" + node],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
        return done.stdout

    def ask(self, token, node, **keywords):
        return self.post(json.dumps({"node": node, "secret": json.loads(token)["secret"],
                                     "request": self.request(node)}), **keywords)


class NextWrite:
    """Watches a record in the background. wait() returns as soon as the record was written after
    the construction of this object. If a test fails before it calls wait(), the World ends the
    watch."""

    def __init__(self, world, record):
        now = json.loads(world.etcdctl("get", "x", "-w", "json")[1])["header"]["revision"]
        self.process = subprocess.Popen(
            ["etcdctl", "watch", "/fleet/v1/" + record, "-w", "json", "--rev=%d" % (now + 1),
             "--endpoints=https://%s:2379" % world.addresses["m1"],
             "--cacert=" + world.cell + "/ca.pem", "--cert=" + world.cell + "/root.pem",
             "--key=" + world.cell + "/root.key"], stdout=subprocess.PIPE,
            env=dict(os.environ, ETCDCTL_API="3"))
        world.running.append(self.process)

    def wait(self):
        try:
            self.process.stdout.readline()
        finally:
            self.process.kill()
            self.process.wait()
