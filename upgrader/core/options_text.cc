// The texts of --help and --version.
#include "base/form.h"
#include "base/version.h"
#include "upgrader/core/options.h"

namespace upgrader {

std::string help_text() {
  return R"(Usage: upgrader [options] [--] AGENT [ARG ...]

Runs AGENT, and when it asks for it replaces it by its next version; falls back by
itself when that fails. AGENT is a path, or a name that is looked up in PATH.

  --mode=parallel|sequential	for upgrades that do not say (parallel)
  --start-timeout=D		from the start of a process to its ready (5m); 0: no limit
  --stop-timeout=D		from stop to stopped (90s); not 0
  --exit-grace=D		from stopped to the exit (10s); 0: no limit
  --trial=D			from activate to the commit (30s); 0: commit at once
  --on-unclean-stop=fallback|continue
				what follows an unclean stop (fallback)
  --fallback=cold|warm		start what a failed trial goes back to when it has failed,
				or keep it ready meanwhile (cold)
  --gate=none|confirm		whether a parallel upgrade waits for confirm (none)
  --confirm-timeout=D		how long, where the agent did not ask for the upgrade
				(start timeout); 0: no limit
  --commit=survive|healthy	what ends a trial well: its time, or healthy (survive)
  --relink			AGENT is a symbolic link: make it name what is committed
  --previous=LINK		make LINK name what was committed before, and start that
				when the first agent fails
  --attempts=N			start it, too, when AGENT did not last N times (0: off)
  --lock=FILE			at most one active agent, by a lock that agents inherit
  --lock-timeout=D		how long to wait for it (stop timeout + exit grace);
				0: no limit
  --control=DIR			say in DIR how things stand, and take requests
  --notify-fd=N			write a newline to descriptor N when the first agent is
				active, and close it
  --subreaper			reap orphans of agents, as process 1 does
  --adapter=WORD		AGENT does not speak the protocol; the program WORD runs it
				(given again: its arguments)
  --log-level=error|warning|info|debug
				what to log on standard error (info)
  -h, --help			print this, and exit
  --version			print the version, and exit

D is a whole number and ms, s, m or h, at most 24h; or 0. No option may be given twice, but
the adapter's words.

  SIGUSR2			upgrade to what AGENT names now
  SIGTERM, SIGINT		stop the agent, and exit
  SIGQUIT			kill all agents at once, and exit
  SIGHUP, SIGUSR1		passed on to the agent

More in upgrader(8).
)";
}

std::string version_text() {
  return "upgrader {}, agent protocol {}\n"_with(upgrader_version,
                                                 agent_protocol::protocol_version);
}

}  // namespace upgrader
