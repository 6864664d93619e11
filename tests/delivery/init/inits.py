# The tested init systems. Each has a class with the Debian packages that it needs, the paths at
# which it expects the files of sample-agent/init/, and its own commands.

import itertools
import pathlib
import re

from machine import demand

SOURCE = pathlib.Path("sample-agent/init")
NAME = "sample-agent"
SETUP = "# Before the first start, as root:"


class Init:
    """The parts that all init systems have in common. In every method except install(), the test
    machine `machine` is running."""

    packages = []
    program = ["/sbin/init"]
    watches = False  # whether this init ends an agent that hangs
    halts = False  # whether this init has a command of its own to halt the machine
    crash_seconds_max = 180  # the time limit for 20 crashes of the agent
    said = staticmethod(lambda machine: "nothing")

    def setup(self):
        """Returns the commands that root must type before the first start. A person copies them
        from the comments of the service file."""
        commands = []
        for file in sorted((SOURCE / self.name).iterdir()):
            lines = iter(file.read_text().splitlines())
            for line in lines:
                if line == SETUP:
                    commands = [c[4:] for c in itertools.takewhile(
                        lambda c: c.startswith("#   "), lines)]
        demand(commands, "no file of %s says what to do before the first start" % self.name)
        return "\n".join(commands) + "\n"

    def inspect(self, machine):
        """Checks the running service in ways that only make sense under this init system."""

    def install(self, machine):
        raise NotImplementedError

    def put(self, machine, name, path, mode=0o644):
        machine.put(SOURCE / self.name / name, path, mode)

    def is_up(self, machine):
        raise NotImplementedError

    def is_down(self, machine):
        return not self.is_up(machine)

    def main_pid(self, machine, service):
        """Returns the pid of the process that init counts as the service's main process."""
        raise NotImplementedError

    def restarts(self, machine):
        """Returns how often init has started the service again, or None if init does not count."""
        return None


class Runit(Init):
    name = "runit"
    packages = ["runit-init"]
    versioned = "runit"

    def install(self, machine):
        self.put(machine, "run", "/etc/sv/sample-agent/run", 0o755)
        machine.link("/etc/sv/sample-agent", "/etc/runit/runsvdir/default/sample-agent")

    def said(self, machine):
        return machine.run("sv", "status", NAME)[1].strip()

    def is_up(self, machine):
        return self.said(machine).startswith("run:")

    def is_down(self, machine):
        return self.said(machine).startswith("down:")

    def main_pid(self, machine, service):
        found = re.search(r"\(pid (\d+)\)", self.said(machine))
        return found and int(found.group(1))

    def upgrade(self, machine):
        machine.must("sv", "2", NAME)

    def restart(self, machine, service):
        machine.must("sv", "-w", "50", "restart", NAME)

    def stop(self, machine, service):
        machine.must("sv", "-w", "50", "down", NAME)


class S6(Init):
    name = "s6"
    packages = ["s6"]
    versioned = "s6"
    program = ["/etc/s6/init"]

    # The first process of the test machine. The program s6-linux-init would make this script, but
    # Debian 12 has no package of s6-linux-init.
    STAGE_1 = """#!/bin/sh
# This script is the machine's first process. It makes the directory of services, and becomes the
# program s6-svscan, which runs them.
mkdir -p /run/service
ln -s /etc/s6/sample-agent /run/service/sample-agent
exec s6-svscan /run/service
"""
    PLACE = "/run/service/sample-agent"

    def install(self, machine):
        machine.put(self.STAGE_1, "/etc/s6/init", 0o755)
        for file in (SOURCE / "s6").iterdir():
            machine.put(file, "/etc/s6/sample-agent/" + file.name, file.stat().st_mode & 0o777)

    def said(self, machine):
        return machine.run("s6-svstat", "-o", "up,ready,pid", self.PLACE)[1].strip()

    def is_up(self, machine):
        return self.said(machine).startswith("true true ")

    def is_down(self, machine):
        return self.said(machine).startswith("false ")

    def main_pid(self, machine, service):
        return int(self.said(machine).split()[2])

    def upgrade(self, machine):
        machine.must("s6-svc", "-2", self.PLACE)

    def restart(self, machine, service):
        machine.must("s6-svc", "-r", self.PLACE)

    def stop(self, machine, service):
        machine.must("s6-svc", "-wD", "-d", self.PLACE)


UNIT = NAME + ".service"


class Systemd(Init):
    name = "systemd"
    packages = ["systemd", "systemd-sysv", "man-db"]
    versioned = "systemd"
    program = ["/lib/systemd/systemd"]
    watches = True
    SOONER = "# Nobody waits half a minute for an agent that hangs.\n[Service]\nWatchdogSec=5\n"

    def install(self, machine):
        place = "/etc/systemd/system/"
        self.put(machine, UNIT, place + UNIT)
        machine.link("../sample-agent.service",
                     place + "multi-user.target.wants/sample-agent.service")
        machine.link("/dev/null", place + "console-getty.service")
        machine.put(self.SOONER, place + "sample-agent.service.d/sooner.conf")

    def property(self, machine, name):
        return machine.run("systemctl", "show", "--value", "-p", name, NAME)[1].strip()

    def said(self, machine):
        return ", ".join(self.property(machine, name) or "-"
                         for name in ("ActiveState", "SubState", "StatusText"))

    def is_up(self, machine):
        return self.said(machine).startswith("active, running, ")

    def is_down(self, machine):
        return self.said(machine).startswith("inactive, dead, ")

    def main_pid(self, machine, service):
        return int(self.property(machine, "MainPID"))

    def restarts(self, machine):
        return int(self.property(machine, "NRestarts"))

    def inspect(self, machine):
        verified = machine.must("systemd-analyze", "verify", "/etc/systemd/system/" + UNIT)
        demand(verified == "", "systemd-analyze verify says: " + verified)
        for name, wanted in (("OOMPolicy", "continue"), ("StartLimitIntervalUSec", "0")):
            found = self.property(machine, name)
            demand(found == wanted, "%s is %s, and not %s" % (name, found, wanted))

    def upgrade(self, machine):
        machine.must("systemctl", "reload", NAME)

    def restart(self, machine, service):
        machine.must("systemctl", "restart", NAME)

    def stop(self, machine, service):
        machine.must("systemctl", "stop", NAME)


class OpenRc(Init):
    name = "openrc"
    packages = ["openrc"]
    versioned = "openrc"
    program = ["/sbin/openrc-init"]

    def install(self, machine):
        self.put(machine, "sample-agent", "/etc/init.d/sample-agent", 0o755)
        machine.link("/etc/init.d/sample-agent", "/etc/runlevels/default/sample-agent")

    def said(self, machine):
        return machine.run("rc-service", NAME, "status")[1].strip()

    def is_up(self, machine):
        return "status: started" in self.said(machine)

    def is_down(self, machine):
        return "status: stopped" in self.said(machine)

    def main_pid(self, machine, service):
        return int(machine.must("sh", "-c", "cat /run/openrc/options/sample-agent/child_pid"))

    def upgrade(self, machine):
        machine.must("rc-service", NAME, "upgrade")

    def restart(self, machine, service):
        machine.must("rc-service", NAME, "restart")

    def stop(self, machine, service):
        machine.must("rc-service", NAME, "stop")


class Finit(Init):
    name = "finit"
    packages = ["finit", "finit-sysv"]
    versioned = "finit"

    def install(self, machine):
        self.put(machine, "sample-agent.conf", "/etc/finit.d/sample-agent.conf")

    TOOL = "/lib/finit/initctl"  # Debian's path of initctl

    def said(self, machine):
        return machine.run(self.TOOL, "-b", "-p", "status", NAME)[1].strip()

    def is_up(self, machine):
        return re.search(r"Status *: *running", self.said(machine)) is not None

    def is_down(self, machine):
        return re.search(r"Status *: *(stopped|halted)", self.said(machine)) is not None

    def main_pid(self, machine, service):
        found = re.search(r"PID *: *(\d+)", self.said(machine))
        return found and int(found.group(1))

    def restarts(self, machine):
        found = re.search(r"Restarts *: *(\d+)", self.said(machine))
        return found and int(found.group(1))

    def upgrade(self, machine):
        found = re.search(r"PID *: *(\d+)", self.said(machine))
        machine.must("sh", "-c", "kill -USR2 " + found.group(1))

    def restart(self, machine, service):
        machine.must(self.TOOL, "-b", "restart", NAME)

    def stop(self, machine, service):
        machine.must(self.TOOL, "-b", "stop", NAME)


class WithInittab(Init):
    """An init system that starts the service by a line of /etc/inittab, as its own child, and has
    no commands for services."""

    SERVICE_LINE = "/etc/sample-agent/run"

    def children(self, machine):
        return [p for p in machine.processes() if p.parent == 1 and p.name == "upgrader"]

    def is_up(self, machine):
        return len(self.children(machine)) == 1

    def main_pid(self, machine, service):
        return [p.pid for p in self.children(machine)]

    def lines(self):
        return (SOURCE / self.name / "inittab").read_text()

    @staticmethod
    def take_line_out(machine):
        table = machine.path("/etc/inittab")
        kept = [line for line in table.read_text().splitlines()
                if not (line.endswith(WithInittab.SERVICE_LINE) and "respawn" in line)]
        table.write_text("\n".join(kept) + "\n")

    @staticmethod
    def signal(machine, name):
        """Sends a signal to the process that the lock's file names, as the comments of the service
        files tell people to do."""
        machine.must("sh", "-c", "read -r upgrader start </var/lib/sample-agent/lock"
                     " && kill -%s $upgrader" % name)

    def upgrade(self, machine):
        self.signal(machine, "USR2")

    def restart(self, machine, service):
        self.signal(machine, "TERM")


class Sysvinit(WithInittab):
    name = "sysvinit"
    crash_seconds_max = 420  # sysvinit's script `run` waits between two crashes
    packages = ["sysvinit-core", "sysv-rc"]
    versioned = "sysvinit-core"

    def install(self, machine):
        table = (machine.root_below / "etc/inittab").read_text()
        kept = [line for line in table.splitlines() if "getty" not in line]
        machine.put("\n".join(kept) + "\n" + self.lines(), "/etc/inittab")
        self.put(machine, "run", "/etc/sample-agent/run", 0o755)

    def stop(self, machine, service):
        self.take_line_out(machine)
        machine.must("telinit", "-t", "50", "q")


class Busybox(WithInittab):
    name = "busybox"
    versioned = "busybox-static"
    halts = True

    def install(self, machine):
        machine.put(self.lines(), "/etc/inittab")
        for script in ("run", "stop"):
            self.put(machine, script, "/etc/sample-agent/" + script, 0o755)

    def stop(self, machine, service):
        self.take_line_out(machine)
        machine.must("kill", "-HUP", "1")
        demand(len(self.children(machine)) == 1, "the reload of /etc/inittab stopped the service")
        machine.must("/etc/sample-agent/stop")

    def start(self, machine):
        machine.path("/etc/inittab").write_text(self.lines())
        machine.must("kill", "-HUP", "1")

    def halt(self, machine):
        machine.run("kill", "-USR2", "1")  # may fail: the machine may end before `kill` does


INITS = [Systemd(), OpenRc(), Runit(), S6(), Finit(), Sysvinit(), Busybox()]
