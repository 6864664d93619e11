// What --help and --version print.
#include "agent-protocol/wire/form.h"
#include "upgrader/core/options.h"
#include "upgrader/version.h"

namespace upgrader {

using agent_protocol::operator""_with;

std::string help_text() {
  return "Usage: upgrader [options] [--] AGENT [ARG ...]\n"
         "\n"
         "Runs AGENT, and when it asks for it replaces it by its next version; falls back by\n"
         "itself when that fails. AGENT is a path, or a name that is looked up in PATH.\n"
         "\n"
         "  --mode=parallel|sequential  for upgrades that do not say (parallel)\n"
         "  --start-timeout=D           from the start of a process to its ready (5m); 0: no "
         "limit\n"
         "  --stop-timeout=D            from stop to stopped (90s); not 0\n"
         "  --exit-grace=D              from stopped to the exit (10s); 0: no limit\n"
         "  --trial=D                   from activate to the commit (30s); 0: commit at once\n"
         "  --on-unclean-stop=fallback|continue\n"
         "                              what follows an unclean stop (fallback)\n"
         "  --fallback=cold|warm        start what a failed trial goes back to when it has "
         "failed,\n"
         "                              or keep it ready meanwhile (cold)\n"
         "  --gate=none|confirm         whether a parallel upgrade waits for confirm (none)\n"
         "  --confirm-timeout=D         how long, where the agent did not ask for the upgrade\n"
         "                              (start timeout); 0: no limit\n"
         "  --commit=survive|healthy    what ends a trial well: its time, or healthy (survive)\n"
         "  --relink                    AGENT is a symbolic link: make it name what is committed\n"
         "  --previous=LINK             make LINK name what was committed before, and start that\n"
         "                              when the first agent fails\n"
         "  --attempts=N                start it, too, when AGENT did not last N times (0: off)\n"
         "  --lock=FILE                 at most one active agent, by a lock that agents inherit\n"
         "  --lock-timeout=D            how long to wait for it (stop timeout + exit grace);\n"
         "                              0: no limit\n"
         "  --control=DIR               say in DIR how things stand, and take requests\n"
         "  --notify-fd=N               write a newline to descriptor N when the first agent is\n"
         "                              active, and close it\n"
         "  --subreaper                 reap orphans of agents, as process 1 does\n"
         "  --adapter=WORD              AGENT does not speak the protocol; the program WORD runs "
         "it\n"
         "                              (given again: its arguments)\n"
         "  --log-level=error|warning|info|debug\n"
         "                              what to log on standard error (info)\n"
         "  -h, --help                  print this, and exit\n"
         "  --version                   print the version, and exit\n"
         "\n"
         "D is a whole number and ms, s, m or h, at most 24h; or 0. No option may be given twice, "
         "but\n"
         "the adapter's words.\n"
         "\n"
         "  SIGUSR2                     upgrade to what AGENT names now\n"
         "  SIGTERM, SIGINT             stop the agent, and exit\n"
         "  SIGQUIT                     kill all agents at once, and exit\n"
         "  SIGHUP, SIGUSR1             passed on to the agent\n"
         "\n"
         "More in upgrader(8).\n";
}

std::string version_text() {
  return "upgrader {}, agent protocol {}\n"_with(upgrader_version,
                                                 agent_protocol::protocol_version);
}

}  // namespace upgrader
