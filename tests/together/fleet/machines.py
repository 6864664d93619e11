# The processes of a test cell: members of etcd, machines, daemons, controllers and signers. This
# file also has the orders that many tests give to machines, and the conditions for which tests
# wait.
import os
import pathlib
import subprocess
import sys

TESTS = str(pathlib.Path(__file__).resolve().parents[2])
sys.path.append(os.path.join(TESTS, "support"))
from cases import PATIENCE_S, same, wait  # noqa: E402
from ports import free_port  # noqa: E402

BUILD = os.path.abspath(os.environ.get("BUILD", "build"))
CONTROLLER_LEASE_S = 3


def agent_binary(version):
    with open(os.path.join(BUILD, "tests", "together", "fleet", "agents", version), "rb") as binary:
        return binary.read()


class Members:
    """Members of etcd. Each member is a process that a test may kill and start again with the same
    files."""

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


class Neighbour:
    """A daemon on the machine of a fleet-agent. The daemon runs under an upgrader of its own, with
    agentify as adapter."""

    def __init__(self, cell, name, content, home=None, arguments=(), adapter=()):
        self.arguments = list(arguments)
        self.adapter = ["--adapter=" + option for option in adapter]
        self.home = home or cell.make("neighbours", name)
        self.releases = os.path.join(self.home, "releases")
        self.control = os.path.join(self.home, "control")
        self.link = os.path.join(self.home, name)
        first = os.path.join(self.home, name + "-as-installed")
        with open(first, "wb") as binary:
            binary.write(content)
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
                 "--adapter=--check=\"$AGENT_PROTOCOL_PROGRAM\" --check", *self.adapter,
                 self.link, *self.arguments],
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


class WallClock:
    """A wrong clock for all programs that are started with its environment variables. The test may
    change the clock while the programs run."""

    def __init__(self, file):
        self.file = file
        self.environment = {"WALL_CLOCK": file,
                            "LD_PRELOAD": os.path.join(BUILD, "tests/together/fleet/wall_clock.so")}

    def set(self, ahead_s):
        with open(self.file + ".new", "w", encoding="ascii") as fresh:
            fresh.write("%d\n" % ahead_s)
        os.rename(self.file + ".new", self.file)


class Machine:
    """A machine of the cell: an upgrader that runs a fleet-agent."""

    def __init__(self, cell, node, options, version, upgrader_options, environment):
        self.cell = cell
        self.node = node
        cell.make_key()
        if not os.path.exists(cell.path(node + ".pem")):
            cell.sign(node, "node:" + node)
        self.home = cell.make("machines", node)
        # As with the installed fleet-agent.service, the link `current` is outside the directory of
        # the releases.
        self.link = os.path.join(self.home, "current")
        if not os.path.lexists(self.link):
            os.symlink(os.path.join(BUILD, "tests/together/fleet/agents", version), self.link)
        self.upgrader_options = upgrader_options
        self.environment = dict(os.environ, **environment)
        self.arguments = [
            "--node=" + node, *cell.endpoints, *cell.identity(node),
            "--releases=" + os.path.join(self.home, "releases"), "--keys=" + cell.path("keys"),
            "--allow-file=" + cell.path("pub"),
            "--state=" + cell.make("machines", node, "state"), "--lease=3"] + options
        self.start()

    def start(self):
        with open(os.path.join(self.home, "log"), "ab") as log:
            self.process = subprocess.Popen(
                [os.path.join(BUILD, "upgrader"), "--relink", "--trial=20s",
                 "--control=" + os.path.join(self.home, "control"), *self.upgrader_options,
                 self.link, *self.arguments], env=self.environment, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log)

    def kill(self):
        """Kills the upgrader. The kernel then kills its fleet-agent."""
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.terminate()
        return self.process.wait(PATIENCE_S)

    def signal(self, number):
        os.kill(self.process.pid, number)

    def log(self):
        with open(os.path.join(self.home, "log"), errors="replace", encoding="utf-8") as log:
            return log.read()

    def control_status(self):
        with open(os.path.join(self.home, "control", "status.json"), encoding="utf-8") as file:
            return file.read()

    # ---- the records of the node

    def get(self, name):
        return self.cell.get("node/%s/%s" % (self.node, name))

    def put(self, name, **record):
        self.cell.put("node/%s/%s" % (self.node, name), **record)

    def instances(self):
        keys = self.cell.keys("node/%s/instance/" % self.node)
        records = [(key.split("/")[-1], self.cell.get(key)) for key in keys]
        return [dict(record, id=name) for name, record in records if record]

    def instance(self, version):
        """Returns the id of a living instance that runs this version and is ready, or None."""
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

    # ---- orders to the node, written as a controller writes them

    def order(self, action, command, component="agent", **members):
        self.put("command/" + component, **{"id": command, "action": action,
                                            "trace": command.split(".")[0], **members})

    def wish(self, release, component="agent", **members):
        """Writes a desired version for this node, as a controller does to bring the node to the
        cell's desired version."""
        self.put("desired/" + component, **release, **members)

    def order_stop(self, component="agent", **members):
        """Orders the old instance to stop, as a controller does when the new instance is ready.
        Returns the id of the command. The id begins with that of the attempt to upgrade."""
        command = self.get("upgrade/" + component)["attempt"] + ".stop.1"
        self.order("stop", command, component, **{"reason": "the wish", "deadline_ms": 10_000,
                                                  **members})
        return command

    def answer(self, command, component="agent"):
        """Returns the node's answer to the command, or None if the node has not answered yet."""
        answer = self.get("answer/" + component) or {}
        return answer.get("result") if answer.get("command") == command else None


class Program:
    """A program that belongs to the cell and not to one machine, such as a controller. The
    program ends when the cell is closed."""

    def __init__(self, cell, program, name, *options, who="root"):
        self.cell = cell
        self.node = name
        self.file = cell.path(name + ".log")
        with open(self.file, "ab") as log:
            self.process = subprocess.Popen(
                [os.path.join(BUILD, program), "--name=" + name, *cell.endpoints,
                 *cell.identity(who), *options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        cell.machines.append(self)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        with open(self.file, errors="replace", encoding="utf-8") as log:
            return log.read()


class Controller(Program):
    """A fleet-controller."""

    def __init__(self, cell, name, *options, who="root"):
        super().__init__(cell, "fleet-controller", name, "--lease=%d" % CONTROLLER_LEASE_S,
                         "--observe=1", *options, who=who)


class Signer(Program):
    """A fleet-signer."""

    def __init__(self, cell, name, *options):
        super().__init__(cell, "fleet-signer", name, "--signer=" + cell.path("ca.pem"),
                         "--signer-key=" + cell.path("ca.key"), *options)


# ---- orders to machines, and conditions to wait for


def at_the_gate(machine, version, component="agent"):
    wait("cutover-ready of " + version,
         lambda: machine.phase(version, component) == "cutover-ready")


def failed(machine, version, component="agent"):
    wait("failed of " + version, lambda: machine.phase(version, component) == "failed")
    return machine.get("upgrade/" + component)["error"]


def answered(machine, command, component="agent"):
    return wait("the answer to " + command, lambda: machine.answer(command, component))


def started(cell, *options, **keywords):
    machine = cell.machine("n1", *options, **keywords)
    wait("1.0.0", lambda: machine.runs("1.0.0"))
    return machine


def prepared(cell, machine, component="agent", **keywords):
    release = cell.publish("1.1.0", component=component, **keywords)
    machine.order("prepare", "r1.prepare.1", component, **release)
    same(answered(machine, "r1.prepare.1", component), "done")
    return release


def running(machine, component):
    return (machine.get("versions") or {}).get(component)
