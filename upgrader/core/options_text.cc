// The texts of --help and --version.
#include "base/form.h"
#include "base/version.h"
#include "upgrader/core/options.h"

namespace upgrader {

std::string help_text() {
  return "Usage: upgrader [options] [--] AGENT [ARG ...]\n"
         "\n"
         "Runs AGENT, and when it asks for it replaces it by its next version; falls back by\n"
         "itself when that fails. AGENT is a path, or a name that is looked up in PATH.\n"
         "\n"
         "  --mode=parallel|sequential\tfor upgrades that do not say (parallel)\n"
         "  --start-timeout=D\t\tfrom the start of a process to its ready (5m); 0: no limit\n"
         "  --stop-timeout=D\t\tfrom stop to stopped (90s); not 0\n"
         "  --exit-grace=D\t\tfrom stopped to the exit (10s); 0: no limit\n"
         "  --trial=D\t\t\tfrom activate to the commit (30s); 0: commit at once\n"
         "  --on-unclean-stop=fallback|continue\n"
         "\t\t\t\twhat follows an unclean stop (fallback)\n"
         "  --fallback=cold|warm\t\tstart what a failed trial goes back to when it has failed,\n"
         "\t\t\t\tor keep it ready meanwhile (cold)\n"
         "  --gate=none|confirm\t\twhether a parallel upgrade waits for confirm (none)\n"
         "  --confirm-timeout=D\t\thow long, where the agent did not ask for the upgrade\n"
         "\t\t\t\t(start timeout); 0: no limit\n"
         "  --commit=survive|healthy\twhat ends a trial well: its time, or healthy (survive)\n"
         "  --relink\t\t\tAGENT is a symbolic link: make it name what is committed\n"
         "  --previous=LINK\t\tmake LINK name what was committed before, and start that\n"
         "\t\t\t\twhen the first agent fails\n"
         "  --attempts=N\t\t\tstart it, too, when AGENT did not last N times (0: off)\n"
         "  --lock=FILE\t\t\tat most one active agent, by a lock that agents inherit\n"
         "  --lock-timeout=D\t\thow long to wait for it (stop timeout + exit grace);\n"
         "\t\t\t\t0: no limit\n"
         "  --control=DIR\t\t\tsay in DIR how things stand, and take requests\n"
         "  --notify-fd=N\t\t\twrite a newline to descriptor N when the first agent is\n"
         "\t\t\t\tactive, and close it\n"
         "  --subreaper\t\t\treap orphans of agents, as process 1 does\n"
         "  --adapter=WORD\t\tAGENT does not speak the protocol; the program WORD runs it\n"
         "\t\t\t\t(given again: its arguments)\n"
         "  --log-level=error|warning|info|debug\n"
         "\t\t\t\twhat to log on standard error (info)\n"
         "  -h, --help\t\t\tprint this, and exit\n"
         "  --version\t\t\tprint the version, and exit\n"
         "\n"
         "D is a whole number and ms, s, m or h, at most 24h; or 0. No option may be given twice, "
         "but\n"
         "the adapter's words.\n"
         "\n"
         "  SIGUSR2\t\t\tupgrade to what AGENT names now\n"
         "  SIGTERM, SIGINT\t\tstop the agent, and exit\n"
         "  SIGQUIT\t\t\tkill all agents at once, and exit\n"
         "  SIGHUP, SIGUSR1\t\tpassed on to the agent\n"
         "\n"
         "More in upgrader(8).\n";
}

std::string version_text() {
  return "upgrader {}, agent protocol {}\n"_with(upgrader_version,
                                                 agent_protocol::protocol_version);
}

}  // namespace upgrader
