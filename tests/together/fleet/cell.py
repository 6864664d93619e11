# The fixture of the fleet's tests: members of etcd with mutual TLS, machines with a real upgrader
# and fleet-agent, controllers, and a publisher who signs releases.
import base64
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(os.path.dirname(HERE)), "support")]
from cases import case, has, run_cases, same, wait  # noqa: E402, F401
from machines import (BUILD, Controller, Machine, Members, Neighbour,  # noqa: E402, F401
                      Signer, agent_binary, daemon)

ROOT = "/fleet/v1/"


def main():
    run_cases(Cell)


def begin(cell, *arguments, who="root", endpoint=None, environment=None):
    """Starts fleetctl in the background, and returns its process."""
    endpoints = ["--endpoint=" + endpoint] if endpoint else cell.endpoints
    return subprocess.Popen([os.path.join(BUILD, "fleetctl"), *endpoints, *cell.identity(who),
                             *arguments], env=dict(os.environ, **environment or {}),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ctl(cell, *arguments, who="root", endpoint=None):
    """Runs fleetctl. Returns its exit status, its standard output and its standard error."""
    process = begin(cell, *arguments, who=who, endpoint=endpoint)
    said, error = process.communicate()
    return process.returncode, said, error


def good(cell, *arguments, **keywords):
    status, said, error = ctl(cell, *arguments, **keywords)
    same((status, error), (0, ""))
    return said


# ---- admission of nodes and people

def make_request(cell, file):
    cell.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                 "-subj", "/CN=whatever", "-keyout", file + ".key", "-out", file + ".csr")


def enrol(cell, name, *options, file=None):
    file = file or name
    make_request(cell, file)
    return good(cell, "enrol", name, "--request=" + cell.path(file + ".csr"), *signer(cell),
                "--output=" + cell.path(file + ".pem"), *options)


def signer(cell):
    return ["--signer=" + cell.path("ca.pem"), "--signer-key=" + cell.path("ca.key")]


def serial_of(cell, file):
    done = subprocess.run(["openssl", "x509", "-noout", "-serial", "-in", cell.path(file)],
                          stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.strip().partition("=")[2]


def is_program(content):
    """Returns whether `content` is a program that this machine can run."""
    with open(sys.executable, "rb") as python:
        machine = python.read(20)[18:]
    return content.startswith(b"#!") or (content.startswith(b"\x7fELF") and len(content) > 4096 and
                                         content[18:20] == machine)


class Cell:
    """A store, and the machines of its cell. In most tests the store is one member of etcd, since
    faults between members are the subject of separate tests."""

    days = 2  # for how many days the cell's certificates are valid

    def __init__(self, count=1, member_options=()):
        self.place = tempfile.mkdtemp(prefix="fleet-")
        self.machines = []
        self.make_authority()
        self.sign("member")
        self.sign("root")
        self.members = Members(self, count, member_options)
        self.start()

    def path(self, *parts):
        return os.path.join(self.place, *parts)

    def make(self, *parts):
        os.makedirs(self.path(*parts), exist_ok=True)
        return self.path(*parts)

    # ---- certificates

    def openssl(self, *arguments, environment=None):
        subprocess.run(["openssl", *arguments], cwd=self.place, check=True,
                       env=dict(os.environ, **environment or {}),
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def make_authority(self):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                     "-nodes", "-days", str(self.days), "-subj", "/CN=cell", "-keyout", "ca.key",
                     "-out", "ca.pem")

    def sign(self, file, name=None, days=None, environment=None):
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                     "-subj", "/CN=" + (name or file), "-keyout", file + ".key",
                     "-out", file + ".csr")
        with open(self.path("ext"), "w", encoding="ascii") as extensions:
            extensions.write("subjectAltName=IP:127.0.0.1\n")
        self.openssl("x509", "-req", "-in", file + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                     "-CAcreateserial", "-days", str(days or self.days), "-extfile", "ext",
                     "-out", file + ".pem", environment=environment)

    # ---- the members

    @property
    def url(self):
        return self.members.url(0)

    @property
    def endpoints(self):
        return ["--endpoint=" + self.members.url(i) for i in range(self.members.count)]

    def identity(self, who):
        """Returns the options that name three files: the authority's certificate, and the
        certificate and key of `who`. All programs of the fleet have these options."""
        return ["--ca=" + self.path("ca.pem"), "--cert=" + self.path(who + ".pem"),
                "--key=" + self.path(who + ".key")]

    def start(self):
        for member in range(self.members.count):
            self.members.start(member)
        wait("etcd", lambda: self.etcdctl("get", "nothing").returncode == 0)

    def kill(self):
        self.members.kill_all()

    def etcdctl(self, *arguments, text=None, who="root"):
        return self.etcdctl_at(self.members.urls(), *arguments, text=text, who=who)

    def etcdctl_at(self, urls, *arguments, text=None, who="root"):
        return subprocess.run(
            ["etcdctl", "--endpoints=" + ",".join(urls),
             "--cacert=" + self.path("ca.pem"), "--cert=" + self.path(who + ".pem"),
             "--key=" + self.path(who + ".key"), "--command-timeout=5s", *arguments],
            input=text, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=dict(os.environ, ETCDCTL_API="3"), text=True, check=False)

    def get(self, key):
        """Returns the record as an object, or None if it is absent."""
        said = self.etcdctl("get", ROOT + key, "--print-value-only").stdout
        return json.loads(said) if said.strip() else None

    def history(self, key):
        """Returns all values that the record has had so far, the oldest first."""
        said = self.etcdctl("get", ROOT + key, "--write-out=json").stdout
        found = json.loads(said).get("kvs")
        if not found:
            return []
        records, at = [], found[0]["mod_revision"]
        while at >= found[0]["create_revision"]:  # ends when the first value is read
            said = self.etcdctl("get", ROOT + key, "--rev=%d" % at, "--write-out=json").stdout
            record = json.loads(said)["kvs"][0]
            records.insert(0, json.loads(base64.b64decode(record["value"])))
            at = record["mod_revision"] - 1
        return records

    def keys(self, below):
        said = self.etcdctl("get", "--prefix", "--keys-only", ROOT + below).stdout
        return [line[len(ROOT):] for line in said.split() if line]

    def put(self, key, **record):
        done = self.etcdctl("put", ROOT + key, text=json.dumps(dict(record, v=1)))
        same((done.returncode, done.stderr), (0, ""))

    def put_and_erase(self, put, record, erased):
        """Writes one record and erases another in one transaction, as a driver does."""
        words = "\n".join(("", "put %s%s %s" % (ROOT, put, json.dumps(json.dumps(
            dict(record, v=1)))), "del %s%s" % (ROOT, erased), "", "", ""))
        done = self.etcdctl("txn", text=words)
        same((done.returncode, done.stdout.split()[0], done.stderr), (0, "SUCCESS", ""))

    def erase(self, key):
        same(self.etcdctl("del", ROOT + key).returncode, 0)

    # ---- the publisher

    def make_key(self, trusted=True):
        """Makes a publisher's key, which the machines trust if `trusted` is true. Returns the path
        of the secret key."""
        secret = self.path("release.key" if trusted else "stranger.key")
        public = os.path.join(self.make("keys" if trusted else "strangers"), "r.pub")
        if not os.path.exists(secret):
            subprocess.run([os.path.join(BUILD, "agent-releases"), "key", "make", "--no-password",
                            "--public=" + public, secret], check=True, stdout=subprocess.DEVNULL)
        return secret

    def publish_file(self, version, content, sign=True, name="fleet-agent", arch="any",
                     trusted=True):
        """Publishes a release with its signed manifest. Returns the release's record. Writes the
        manifest without agent-releases if the content is not a program or the processor is not
        known, since agent-releases would refuse to pack such a release."""
        make = self.pack if is_program(content) and arch == "any" else self.forge
        make(name, version, content, arch, self.make_key(trusted))
        record = self.published(version, name)
        if not sign:
            os.remove(self.manifest(version, name) + ".minisig")
        return record

    def publish_tree(self, version, component, files):
        """Publishes a release that is a directory. `files` maps each path to the content of the
        file. The file with the component's name is the program."""
        tree = self.make("trees", version)
        for path, content in files.items():
            with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
                file.write(content)
        os.chmod(os.path.join(tree, component), 0o755)
        self.pack_path(component, version, tree, self.make_key())
        self.put("release/%s/%s" % (component, version), **self.published(version, component))

    def published(self, version, name):
        """Returns the record of the release whose manifest was published last."""
        manifest = self.manifest(version, name)
        with open(manifest + ".minisig", encoding="ascii") as signature:
            signed = signature.read()
        with open(manifest, encoding="ascii") as text:
            told = text.read()
        parts = {"arch": json.loads(told)["arch"], "manifest": told, "signature": signed,
                 "url": "file://" + manifest}
        digest = hashlib.sha256("".join("%d:%s" % (len(parts[name]), parts[name]) for name in
                                        ("arch", "manifest", "signature")).encode()).hexdigest()
        return {"manifests": [parts], "digest": digest}

    def manifest(self, version, name="fleet-agent"):
        """Returns the path of the manifest that was published last."""
        return glob.glob(self.path("pub", "%s-%s-*.json" % (name, version)))[0]

    def pack(self, name, version, content, _, secret):
        program = self.path("program")
        with open(program, "wb") as binary:
            binary.write(content)
        os.chmod(program, 0o755)
        self.pack_path(name, version, program, secret)

    def pack_path(self, name, version, path, secret, *options):
        for left in glob.glob(os.path.join(self.make("pub"), "%s-%s-*" % (name, version))):
            os.unlink(left)
        subprocess.run([os.path.join(BUILD, "agent-releases"), "pack", "--name=" + name,
                        "--version=" + version, "--out=" + self.path("pub"), "--sign=" + secret,
                        *options, path], check=True, stdout=subprocess.DEVNULL,
                       stdin=subprocess.DEVNULL)

    def forge(self, name, version, content, arch, secret):
        file = os.path.join(self.make("pub"), "%s-%s-%s" % (name, version, arch))
        with open(file, "wb") as binary:
            binary.write(content)
        manifest = file + ".json"
        with open(manifest, "w", encoding="ascii") as text:
            json.dump({"name": name, "version": version, "arch": arch, "kind": "file",
                       "size": len(content), "sha256": hashlib.sha256(content).hexdigest(),
                       "min_protocol": 1, "url": os.path.basename(file)}, text)
        subprocess.run(["minisign", "-S", "-s", secret, "-m", manifest], check=True,
                       stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

    def publish(self, version, content=None, sign=True, component="agent", **how):
        """Publishes a release. Returns its version and digest, in the form that a desired version
        has."""
        if content is None:
            content = agent_binary(version)
        name = "fleet-agent" if component == "agent" else component
        record = self.publish_file(version, content, sign, name, **how)
        self.put("release/%s/%s" % (component, version), **record)
        return {"version": version, "digest": record["digest"]}

    # ---- machines

    def machine(self, node, *options, version="1.0.0", upgrader_options=(), environment=None):
        machine = Machine(self, node, list(options), version, list(upgrader_options),
                          environment or {})
        self.machines.append(machine)
        return machine

    def neighbour(self, name, version="1.0.0"):
        one = Neighbour(self, name, daemon(version))
        one.node = name
        self.machines.append(one)
        return one

    def controller(self, name):
        return Controller(self, name)

    def logs(self):
        return "".join("--- %s\n%s" % (machine.node, machine.log()) for machine in self.machines)

    def close(self):
        for machine in self.machines:
            machine.kill()
        self.kill()
        shutil.rmtree(self.place, ignore_errors=True)
