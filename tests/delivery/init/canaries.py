# Canaries for the checks of init systems: services that are each wrong in one way. The checks must
# find and name the error.

from checks import GOOD, Check
from inits import Runit, SOURCE
from service import UNTRIED


class Canary:
    def __init__(self, seeded, init, columns, words):
        self.seeded = seeded
        self.init = init
        self.columns = columns
        self.column = columns[-1][0]
        # Words that the last check must report as the reason of its failure.
        self.words = words
        self.first = GOOD


class RunitWith(Runit):
    """The init system runit with a changed run script: each `old` is replaced by its `new`."""

    def __init__(self, *replacements, crash_seconds_max=Runit.crash_seconds_max):
        self.crash_seconds_max = crash_seconds_max
        self.script = (SOURCE / "runit" / "run").read_text()
        for old, new in replacements:
            if self.script.count(old) != 1:
                raise RuntimeError("not exactly once in the run script: " + old)
            self.script = self.script.replace(old, new)

    def install(self, machine):
        super().install(machine)
        machine.put(self.script, "/etc/sv/sample-agent/run", 0o755)


def becomes_ready(check):
    check.wait_until_up()
    check.works("1.0.1")


def upgrade_by_restart(check):
    """Upgrades by a restart of the service, which is the way without an upgrader. Then makes the
    check that init has not noticed the upgrade. This check must fail."""
    before = check.seen_by_init()
    check.service.add_release("6.0.0")
    check.service.relink("6.0.0")
    check.init.restart(check.machine, check.service)
    check.service.wait_for_event("6.0.0 works")
    check.demand_unnoticed(before)


def power_cut_with_link(check):
    """Cuts the power during a trial. Before that, makes the operator's link name the version on
    trial again, as if the upgrader had not put the link back."""
    check.ask_by_link()
    check.wait_for_trial("8.5.0")
    check.service.link_to(UNTRIED)
    check.power_goes()
    check.works("1.0.1")


# Lines for a run script. They make the service give up after ten starts.
GIVES_UP = """exec 2>&1
echo started >>/run/starts
[ "$(wc -l </run/starts)" -le 10 ] || exec sv down sample-agent"""

READY = ("ready", becomes_ready)
BACK = " --previous=/var/lib/sample-agent/previous --attempts=3"
CANARIES = [
    Canary(
        "a killed upgrader's agent takes its time to stop, and the service has no lock",
        RunitWith((" --lock=/var/lib/sample-agent/lock", "")),
        [READY, ("upgrader killed", Check.upgrader_killed)],
        "was alive after",
    ),
    Canary(
        "a service that is given up after ten starts",
        RunitWith(("exec 2>&1", GIVES_UP), crash_seconds_max=20),
        [READY, ("quick crashes", Check.quick_crashes)],
        "starts of an agent that exits at once; there were ",
    ),
    Canary(
        "an upgrade that restarts the service",
        RunitWith(("--releases=/opt/sample-agent/releases ", "")),
        [READY, ("good upgrade", upgrade_by_restart)],
        "init noticed",
    ),
    Canary(
        "a service that leaves a process behind",
        RunitWith(("exec chpst", "chpst -u sample-agent tail -f /dev/null &\nexec chpst")),
        [READY, ("clean stop", Check.clean_stop)],
        "of the service is left",
    ),
    Canary(
        "a link that names what is on trial when the power goes",
        RunitWith(),
        [READY, ("power cut", power_cut_with_link)],
        "one upgrader with one agent",
    ),
    Canary(
        "a service without a way back at its start",
        RunitWith((BACK, "")),
        [READY, ("bad boot", Check.bad_boot)],
        "version 1.0.1 works, and not 1.0.0",
    ),
]
