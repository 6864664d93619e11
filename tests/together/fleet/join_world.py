"""A cell for tests of machines that join: one member of etcd, two controllers that use TLS, and
fleet-signer."""
import http.client
import json
import os
import socket
import ssl
import subprocess

import made_cell
from cases import same, wait
from made_cell import BUILD, any_address

JOINED, FAILED, UNREACHABLE, WAITS = 0, 1, 3, 4


class World(made_cell.World):
    """A cell with one member of etcd, two controllers and fleet-signer."""

    def __init__(self):
        super().__init__()
        self.addresses = {"m1": any_address()}
        self.good(*self.init(count=1, controllers=("m1",)),
                  "--controller=c2=" + any_address(), "--signer=s1")
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

    def start_join(self, token, node, *words):
        process = subprocess.Popen(
            [os.path.join(BUILD, "fleet-agent"), "join", "-", "--node=" + node,
             "--root=" + self.path("machines", node), *words], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        process.stdin.write(token + "\n")
        process.stdin.close()
        process.stdin = None
        return process

    def join(self, token, node, *words):
        process = self.start_join(token, node, *words)
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
            key = made_cell.text_of(pair["key"])[len("/fleet/v1/" + below):]
            found[key] = json.loads(made_cell.text_of(pair["value"]))
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
    """Watches a record in the background. wait() returns at the first write after the
    construction. If a test fails before it calls wait(), the World ends the watch."""

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
