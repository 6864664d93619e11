# Members of etcd. Each member is a process that a test may kill and start again with the same
# files.
import os
import pathlib
import subprocess
import sys

TESTS = str(pathlib.Path(__file__).resolve().parents[2])
sys.path.append(os.path.join(TESTS, "support"))
from cases import wait  # noqa: E402
from ports import free_port  # noqa: E402


class Members:
    def __init__(self, cell, count, options=()):
        self.cell = cell
        self.options = list(options)
        self.count = count
        self.ports = [(free_port(), free_port()) for _ in range(count)]
        self.processes = {}

    @staticmethod
    def name(member):
        return "m%d" % (member + 1)

    def url(self, member):
        return "https://127.0.0.1:%d" % self.ports[member][0]

    def peer(self, member):
        return "http://127.0.0.1:%d" % self.ports[member][1]

    def urls(self):
        return [self.url(member) for member in range(self.count)]

    def start(self, member):
        place, name = self.cell.path, self.name(member)
        all_peers = ",".join("%s=%s" % (self.name(i), self.peer(i)) for i in range(self.count))
        revoked = place("crl.pem")
        options = list(self.options)
        options += ["--client-crl-file=" + revoked] if os.path.exists(revoked) else []
        with open(place(name + ".log"), "ab") as log:
            self.processes[member] = subprocess.Popen(
                ["/usr/bin/etcd", "--name=" + name, "--data-dir=" + place(name), "--logger=zap",
                 "--listen-client-urls=" + self.url(member),
                 "--advertise-client-urls=" + self.url(member),
                 "--listen-peer-urls=" + self.peer(member),
                 "--initial-advertise-peer-urls=" + self.peer(member),
                 "--initial-cluster=" + all_peers, "--cert-file=" + place("member.pem"),
                 "--key-file=" + place("member.key"), "--client-cert-auth",
                 "--trusted-ca-file=" + place("ca.pem"), *options], stdout=log, stderr=log)

    def kill(self, member):
        process = self.processes.pop(member)
        process.kill()
        process.wait()

    def kill_all(self):
        for member in list(self.processes):
            self.kill(member)

    def leader(self):
        """Waits until one of the members is the leader. Returns the number of this member."""
        return wait("a leader of the store", self.leads) - 1

    def leads(self):
        for member in self.processes:
            said = self.cell.etcdctl_at([self.url(member)], "endpoint", "status",
                                        "--write-out=fields").stdout
            words = dict(line.split(" : ", 1) for line in said.splitlines() if " : " in line)
            leader = words.get('"Leader"', "0")
            if leader not in ("0", "") and leader == words.get('"MemberID"'):
                return member + 1
        return None
