# The checks that every init system must pass. They are the columns of the table of results, in the
# order in which they run. A check that fails raises `Failed`, with the reason as text.

import shutil

from machine import NotHere, demand, wait_until
from service import BROKEN, EVENTS, PREVIOUS, UNTRIED, UPGRADER

FIRST = "1.0.0"
GOOD = "1.0.1-slow_to_stop"  # takes two seconds to stop
BAD = ("5.0.0-crash_on_trial", "3.0.0-crash_at_start")
QUICK_CRASHES = 20  # more crashes than any init system allows by default
MEMORY_LEFT = 100_000_000  # in bytes: enough for any release but GREEDY
# A bad release for the check of memory: it passes its self-test, but as a candidate its agent
# allocates ten times MEMORY_LEFT.
GREEDY = """#!/bin/sh
case "$*" in *--self-test*) echo 8.0.0 ok; exit ;; esac
echo 1000 >/proc/self/oom_score_adj
taken=$(head -c 1000000000 /dev/zero | tr '\\0' x)
"""
# An agent that works but never sends `healthy`, so that its trial takes the maximum time.
NEVER_HEALTHY = """#!/bin/sh
case "$*" in *--self-test*) echo 8.5.0 ok; exit ;; esac
echo '{"type":"hello","protocol":1,"version":"8.5.0"}'
echo '{"type":"ready"}'
while read -r line; do :; done
"""
ATTEMPTS = 3  # the value of --attempts in the service files
# When init has reported that the service is stopped, the last process of the service must exit
# within this number of seconds.
STOP_SECONDS_MAX = 10


class Check:
    """The parts that all checks of an init system share: the test machine, the machine's init, and
    the service on the machine."""

    def __init__(self, init, machine, service, keep):
        self.init = init
        self.machine = machine
        self.service = service
        self.keep = keep

    def wait_until_up(self):
        wait_until(lambda: "%s says that the service is up; it says: %s"
                   % (self.init.name, self.init.said(self.machine)),
                   lambda: self.init.is_up(self.machine))

    def seen_by_init(self):
        """Returns the service's main process, that process's pid as init knows it, and init's count
        of restarts. All three values stay the same if init has not noticed an upgrade."""
        return (self.service.main(), self.init.main_pid(self.machine, self.service),
                self.init.restarts(self.machine))

    def demand_unnoticed(self, before):
        self.wait_until_up()
        self.service.wait_for_main()
        after = self.seen_by_init()
        demand(after == before, "init noticed: main process and restarts were %s and are %s"
               % (before, after))

    def works(self, version):
        self.service.wait_for_one_agent(version)
        self.wait_until_up()
        self.service.judge(self.keep)

    # ---- the checks, one for each column of the table of results

    def becomes_ready(self):
        self.wait_until_up()
        self.init.inspect(self.machine)
        self.works(FIRST)
        self.service.start_writing()

    def good_upgrade(self):
        before = self.seen_by_init()
        self.service.add_release(GOOD)
        self.service.wait_for_event("1.0.1 committed")
        self.demand_unnoticed(before)
        self.upgrade_by_init()
        self.demand_unnoticed(before)
        self.works("1.0.1")

    def upgrade_by_init(self):
        """Makes init request an upgrade to the version that AGENT's link names. That version then
        requests an upgrade to the newest version by itself."""
        self.service.relink(FIRST)
        self.init.upgrade(self.machine)
        self.service.wait_for_event("1.0.0 committed sigusr2-1")
        self.service.wait_for_event("1.0.1 committed", already=1)

    def bad_upgrade(self):
        before = self.seen_by_init()
        for bad in BAD:
            failed = self.service.count_events("upgrade_failed")
            self.service.add_release(bad)
            self.service.wait_for_event("upgrade_failed", already=failed)
            self.works("1.0.1")
            self.demand_unnoticed(before)

    def agent_crash(self):
        self.agent_dies()
        self.works("1.0.1")
        if self.init.watches:
            before = self.service.main()
            self.machine.signal(self.service.agents()[0], "STOP")
            self.wait_for_another(before)

    def agent_dies(self):
        before = self.service.main()
        self.machine.kill(self.service.agents()[0])
        self.wait_for_main_but(before)

    def upgrader_killed(self):
        before = self.service.main()
        self.machine.kill(self.service.upgraders()[0])
        self.wait_for_another(before)

    def wait_for_another(self, before):
        self.wait_for_main_but(before)
        self.works("1.0.1")

    def wait_for_main_but(self, before):
        wait_until("init has started the upgrader again",
                   lambda: self.service.main() not in (None, before))

    def quick_crashes(self):
        """Runs an agent that ends at every start, and then a good one. Init must not give up before
        the good agent is started."""
        self.service.break_agent()
        self.service.link_to(BROKEN, PREVIOUS)  # the previous version cannot start either
        self.machine.kill(self.service.agents()[0])
        wait_until(lambda: "%d starts of an agent that exits at once; there were %d"
                   % (QUICK_CRASHES, self.service.starts()),
                   lambda: self.service.starts() >= QUICK_CRASHES, self.init.crash_seconds_max)
        self.service.relink(GOOD)
        self.works("1.0.1")
        self.service.relink(FIRST, PREVIOUS)

    def memory_runs_out(self):
        """Lets a candidate take too much memory. The kernel must kill the candidate, and the
        service must go on."""
        if not self.machine.limit_memory(MEMORY_LEFT):
            raise NotHere("no controller of memory in the unified hierarchy")
        before, killed = self.seen_by_init(), self.machine.memory_kills()
        failed = self.service.count_events("upgrade_failed")
        self.service.add_script("8.0.0", GREEDY)
        self.service.wait_for_event("upgrade_failed", already=failed)
        demand(self.machine.memory_kills() > killed, "the kernel killed nobody for want of memory")
        self.works("1.0.1")
        self.demand_unnoticed(before)
        self.machine.limit_memory(None)

    def upgrader_replaced(self):
        before = self.service.main()
        place = self.machine.path(UPGRADER)
        fresh = place.with_name("upgrader.new")
        shutil.copyfile(place, fresh)
        fresh.chmod(0o755)
        fresh.rename(place)
        self.init.restart(self.machine, self.service)
        self.wait_for_another(before)
        running = self.machine.path("/proc/%d/exe" % self.service.upgraders()[0].pid)
        demand(running.samefile(place), "the old file of the upgrader still runs")

    def power_cut(self):
        """Cuts the power during a trial: first a trial that the agent requested, then one that an
        operator requested by changing the link."""
        for ask in (lambda: self.service.add_script("8.5.0", NEVER_HEALTHY), self.ask_by_link):
            committed = self.service.linked()
            ask()
            self.wait_for_trial("8.5.0")
            demand(self.service.linked() == committed, "the link names what was never committed")
            self.power_goes()
            self.works("1.0.1")
            self.service.start_writing()

    def power_goes(self):
        """Cuts the power and boots the test machine again. Meanwhile no line is added to the log
        that the service copies."""
        self.service.stop_writing()
        self.machine.cut_power()
        self.machine.boot()

    def ask_by_link(self):
        self.service.add_program(UNTRIED, NEVER_HEALTHY)
        self.service.link_to(UNTRIED)
        # Requests the upgrade by a signal, since systemctl would wait for the upgrade's end.
        self.machine.signal(self.service.upgraders()[0], "USR2")

    def wait_for_trial(self, version):
        wait_until(lambda: "version %s is on trial; the upgrader says: %s"
                   % (version, self.service.status()),
                   lambda: (self.service.status("phase") == "trial"
                            and self.service.status("active", "version") == version))

    def bad_boot(self):
        """Makes the version that AGENT's link names end again and again. The previous version must
        then be started. After that, makes AGENT's link name a version that cannot start at all."""
        self.service.stop_writing()
        committed = self.service.count_events("1.0.1 committed")
        before = self.service.main()
        # Restarts the service cleanly, which sets the count of --attempts to 0.
        self.init.restart(self.machine, self.service)
        self.wait_for_another(before)
        for _ in range(ATTEMPTS - 1):
            self.agent_dies()
            self.works("1.0.1")
        self.agent_dies()
        self.works("1.0.0")
        self.service.break_agent()
        self.power_goes()
        self.service.wait_for_event("1.0.0 committed boot")
        self.service.wait_for_event("1.0.1 committed", already=committed)

    def clean_stop(self):
        stops = self.service.count_events("stopped next=")
        self.service.stop_writing()
        self.works("1.0.1")  # waits until all lines so far have been copied
        self.init.stop(self.machine, self.service)
        self.service.wait_for_event("stopped next=", already=stops)
        wait_until(lambda: "%s says that the service is down; it says: %s"
                   % (self.init.name, self.init.said(self.machine)),
                   lambda: self.init.is_down(self.machine))
        wait_until(lambda: "nothing of the service is left; there is: %s"
                   % ", ".join(" ".join(p.words)[:60] for p in self.service.left()),
                   lambda: not self.service.left(), STOP_SECONDS_MAX)
        self.service.judge(self.keep)
        if self.init.halts:
            self.machine_halts()

    def machine_halts(self):
        """Halts the test machine by init's own command. The service must be stopped cleanly:
        without the `shutdown` line in /etc/inittab, init would not give the agent enough time for
        that."""
        self.init.start(self.machine)
        self.works("1.0.1")
        # Opens the agent's event log before the machine is halted, so that this program can still
        # read it afterwards.
        with self.machine.path(EVENTS).open() as events:
            before = events.read()
            self.init.halt(self.machine)
            wait_until("the machine has ended", self.machine.has_ended)
            demand("stopped next=" in events.read(), "no clean stop when the machine halted, after "
                   + before.splitlines()[-1])


# The columns of the table of results, which has a row for each init system. Each column has a
# heading, and the check whose results stand in this column.
COLUMNS = [
    ("ready", Check.becomes_ready),
    ("good upgrade", Check.good_upgrade),
    ("bad upgrade", Check.bad_upgrade),
    ("agent crashes", Check.agent_crash),
    ("upgrader killed", Check.upgrader_killed),
    ("quick crashes", Check.quick_crashes),
    ("memory runs out", Check.memory_runs_out),
    ("upgrader replaced", Check.upgrader_replaced),
    ("power cut", Check.power_cut),
    ("bad boot", Check.bad_boot),
    ("clean stop", Check.clean_stop),
]
