# What the tests of fleet-agent and fleetctl stand on: a member of etcd by mutual TLS, machines with
# a real upgrader and fleet-agent on them, a publisher who signs.
import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
DEADLINE_S = 60
ROOT = "/fleet/v1/"

cases = []


def case(name, rows=""):
    """Declares a test: its name is a sentence, `rows` are the requirements that it shows."""
    def declare(function):
        cases.append((name, rows, function))
        return function
    return declare


def main():
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    passed = failed = 0
    for name, rows, function in cases:
        if only not in name:
            continue
        cell = Cell()
        try:
            function(cell)
            passed += 1
            print("ok %s%s" % (name, " [%s]" % rows if rows else ""))
        except Exception as error:  # an assertion, or whatever went wrong
            failed += 1
            trace = error.__traceback__
            while trace.tb_next:
                trace = trace.tb_next
            print("not ok %s: line %d: %s %s"
                  % (name, trace.tb_lineno, type(error).__name__, error))
            print(cell.logs()[-6000:])
        finally:
            cell.close()
        sys.stdout.flush()
    print("%d passed, %d failed" % (passed, failed))
    sys.exit(1 if failed else 0)


def same(found, expected):
    assert found == expected, "found %r, expected %r" % (found, expected)


def has(text, part):
    assert part in text, "%r is not in %r" % (part, text)


def wait(what, condition):
    """Until the condition gives something; fails by the name of what was waited for."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time_passes()
    raise AssertionError("waited in vain for " + what)


def time_passes():
    subprocess.run(["true"], check=False)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cell:
    """One member of etcd: what members do to each other is tested elsewhere."""

    def __init__(self):
        self.place = tempfile.mkdtemp(prefix="fleet-")
        self.port = free_port()
        self.peer = free_port()
        self.machines = []
        self.make_authority()
        self.sign("member")
        self.sign("root")
        self.member = None
        self.start()

    def path(self, *parts):
        return os.path.join(self.place, *parts)

    def make(self, *parts):
        os.makedirs(self.path(*parts), exist_ok=True)
        return self.path(*parts)

    # ---- certificates

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.place, check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def make_authority(self):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                     "-nodes", "-days", "2", "-subj", "/CN=cell", "-keyout", "ca.key",
                     "-out", "ca.pem")

    def sign(self, file, name=None):
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                     "-subj", "/CN=" + (name or file), "-keyout", file + ".key",
                     "-out", file + ".csr")
        with open(self.path("ext"), "w", encoding="ascii") as extensions:
            extensions.write("subjectAltName=IP:127.0.0.1\n")
        self.openssl("x509", "-req", "-in", file + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                     "-CAcreateserial", "-days", "2", "-extfile", "ext", "-out", file + ".pem")

    # ---- the member

    @property
    def url(self):
        return "https://127.0.0.1:%d" % self.port

    def start(self):
        peer = "http://127.0.0.1:%d" % self.peer
        with open(self.path("etcd.log"), "ab") as log:
            self.member = subprocess.Popen(
                ["/usr/bin/etcd", "--name=m", "--data-dir=" + self.path("etcd"), "--logger=zap",
                 "--listen-client-urls=" + self.url, "--advertise-client-urls=" + self.url,
                 "--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
                 "--initial-cluster=m=" + peer, "--cert-file=" + self.path("member.pem"),
                 "--key-file=" + self.path("member.key"), "--client-cert-auth",
                 "--trusted-ca-file=" + self.path("ca.pem")], stdout=log, stderr=log)
        wait("etcd", lambda: self.etcdctl("get", "nothing").returncode == 0)

    def kill(self):
        self.member.kill()
        self.member.wait()

    def etcdctl(self, *arguments, text=None, who="root"):
        return subprocess.run(
            ["etcdctl", "--endpoints=" + self.url, "--cacert=" + self.path("ca.pem"),
             "--cert=" + self.path(who + ".pem"), "--key=" + self.path(who + ".key"),
             "--command-timeout=5s", *arguments], input=text, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=dict(os.environ, ETCDCTL_API="3"), text=True, check=False)

    def get(self, key):
        """The record as an object; None where it is absent."""
        said = self.etcdctl("get", ROOT + key, "--print-value-only").stdout
        return json.loads(said) if said.strip() else None

    def keys(self, below):
        said = self.etcdctl("get", "--prefix", "--keys-only", ROOT + below).stdout
        return [line[len(ROOT):] for line in said.split() if line]

    def put(self, key, **record):
        done = self.etcdctl("put", ROOT + key, text=json.dumps(dict(record, v=1)))
        same((done.returncode, done.stderr), (0, ""))

    def erase(self, key):
        same(self.etcdctl("del", ROOT + key).returncode, 0)

    # ---- the publisher

    def make_key(self):
        secret = self.path("release.key")
        if not os.path.exists(secret):
            subprocess.run(["minisign", "-G", "-W", "-p", os.path.join(self.make("keys"), "r.pub"),
                            "-s", secret], check=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
        return secret

    def publish_file(self, version, content, sign=True, name="fleet-agent"):
        """A release among what is published, with its signed manifest; gives the record."""
        file = os.path.join(self.make("pub"), name + "-" + version)
        with open(file, "wb") as binary:
            binary.write(content)
        manifest = file + ".json"
        with open(manifest, "w", encoding="ascii") as text:
            json.dump({"name": name, "version": version, "arch": "any", "kind": "file",
                       "size": len(content), "sha256": hashlib.sha256(content).hexdigest(),
                       "min_protocol": 1, "url": os.path.basename(file)}, text)
        secret = self.make_key()
        subprocess.run(["minisign", "-S", "-s", secret, "-m", manifest], check=True,
                       stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        with open(manifest + ".minisig", encoding="ascii") as signature:
            signed = signature.read()
        with open(manifest, encoding="ascii") as text:
            parts = {"arch": "any", "manifest": text.read(), "signature": signed,
                     "url": "file://" + manifest}
        if not sign:
            os.remove(manifest + ".minisig")
        digest = hashlib.sha256("".join("%d:%s" % (len(parts[name]), parts[name]) for name in
                                        ("arch", "manifest", "signature")).encode()).hexdigest()
        return {"manifests": [parts], "digest": digest}

    def publish(self, version, content=None, sign=True, component="agent"):
        """What `desired` says beside the version."""
        if content is None:
            content = agent_binary(version)
        name = "fleet-agent" if component == "agent" else component
        record = self.publish_file(version, content, sign, name)
        self.put("release/%s/%s" % (component, version), **record)
        return {"version": version, "digest": record["digest"]}

    # ---- machines

    def machine(self, node, *options, version="1.0.0", upgrader_options=()):
        machine = Machine(self, node, list(options), version, list(upgrader_options))
        self.machines.append(machine)
        return machine

    def neighbour(self, name, version="1.0.0"):
        one = Neighbour(self, name, version)
        one.node = name
        self.machines.append(one)
        return one

    def logs(self):
        return "".join("--- %s\n%s" % (machine.node, machine.log()) for machine in self.machines)

    def close(self):
        for machine in self.machines:
            machine.kill()
        self.kill()
        shutil.rmtree(self.place, ignore_errors=True)


def agent_binary(version):
    with open(os.path.join(BUILD, "tests", "fleet", "agents", version), "rb") as binary:
        return binary.read()


class Neighbour:
    """A daemon under an upgrader of its own, made an agent by agentify."""

    def __init__(self, cell, name, version):
        self.home = cell.make("neighbours", name)
        self.releases = os.path.join(self.home, "releases")
        self.control = os.path.join(self.home, "control")
        self.link = os.path.join(self.home, name)
        first = os.path.join(self.home, name + "-as-installed")
        with open(first, "wb") as binary:
            binary.write(daemon(version))
        os.chmod(first, 0o755)
        os.symlink(first, self.link)
        self.option = "--component=%s=%s:%s" % (name, self.control, self.releases)
        self.start()

    def start(self):
        with open(os.path.join(self.home, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [os.path.join(BUILD, "upgrader"), "--relink", "--trial=1s",
                 "--control=" + self.control, "--adapter=" + os.path.join(BUILD, "agentify"),
                 "--adapter=--vouch=no",
                 "--adapter=--version-command=\"$AGENT_PROTOCOL_PROGRAM\" --version",
                 "--adapter=--check=\"$AGENT_PROTOCOL_PROGRAM\" --check", self.link],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        with open(os.path.join(self.home, "log"), errors="replace", encoding="utf-8") as log:
            return log.read()


def daemon(version, check="exit 0"):
    return ("#!/bin/sh\ncase $1 in --version) echo %s; exit ;; --check) %s ;; esac\n"
            "exec tail -f /dev/null\n" % (version, check)).encode()


class Machine:
    """An upgrader with a fleet-agent below it."""

    def __init__(self, cell, node, options, version, upgrader_options):
        self.cell = cell
        self.node = node
        cell.make_key()
        if not os.path.exists(cell.path(node + ".pem")):
            cell.sign(node, "node:" + node)
        self.home = cell.make("machines", node)
        self.link = os.path.join(self.home, "fleet-agent")
        if not os.path.lexists(self.link):
            os.symlink(os.path.join(BUILD, "tests", "fleet", "agents", version), self.link)
        self.upgrader_options = upgrader_options
        self.arguments = [
            "--node=" + node, "--endpoint=" + cell.url, "--ca=" + cell.path("ca.pem"),
            "--cert=" + cell.path(node + ".pem"), "--key=" + cell.path(node + ".key"),
            "--releases=" + os.path.join(self.home, "releases"), "--keys=" + cell.path("keys"),
            "--state=" + cell.make("machines", node, "state"), "--lease=3"] + options
        self.start()

    def start(self):
        with open(os.path.join(self.home, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [os.path.join(BUILD, "upgrader"), "--relink", "--trial=20s",
                 "--control=" + os.path.join(self.home, "control"), *self.upgrader_options,
                 self.link, *self.arguments], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self):
        """The upgrader; what is below it goes with it."""
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.terminate()
        return self.process.wait(DEADLINE_S)

    def signal(self, number):
        os.kill(self.process.pid, number)

    def log(self):
        with open(os.path.join(self.home, "log"), errors="replace", encoding="utf-8") as log:
            return log.read()

    # ---- its records

    def get(self, name):
        return self.cell.get("node/%s/%s" % (self.node, name))

    def put(self, name, **record):
        self.cell.put("node/%s/%s" % (self.node, name), **record)

    def instances(self):
        keys = self.cell.keys("node/%s/instance/" % self.node)
        records = [(key.split("/")[-1], self.cell.get(key)) for key in keys]
        return [dict(record, id=name) for name, record in records if record]

    def instance(self, version):
        """The id of the living instance of this version, once it is ready."""
        for record in self.instances():
            if record.get("version") == version and record.get("ready"):
                return record["id"]
        return None

    def runs(self, version):
        active = self.get("active")
        mine = [record for record in self.instances() if active and record["id"] ==
                active.get("instance")]
        return (bool(mine) and mine[0].get("version") == version and
                (self.get("versions") or {}).get("agent") == version)

    def phase(self, attempt_of=None, component="agent"):
        upgrade = self.get("upgrade/" + component) or {}
        if attempt_of and upgrade.get("to") != attempt_of:
            return None
        return upgrade.get("phase")

    # ---- orders, as a controller gives them

    def order(self, action, command, component="agent", **members):
        self.put("command/" + component, **{"id": command, "action": action,
                                            "trace": command.split(".")[0], **members})

    def wish(self, release, component="agent", **members):
        """As whoever moves the cell lets this node begin."""
        self.put("desired/" + component, **release, **members)

    def order_stop(self, command, component="agent", **members):
        """As a controller does that has seen the new instance."""
        self.order("stop", command, component, **{"reason": "the wish", "deadline_ms": 10_000,
                                                  **members})

    def answer(self, command, component="agent"):
        """What was answered to the command; None: nothing yet."""
        answer = self.get("answer/" + component) or {}
        return answer.get("result") if answer.get("command") == command else None
