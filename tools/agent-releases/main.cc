// The program agent-releases. It performs one command, and its exit status shows the outcome.
#include <signal.h>
#include <sodium.h>

#include <cstdio>
#include <string>

#include "base/descriptors.h"
#include "base/shown.h"
#include "base/standard_output.h"
#include "base/version.h"
#include "tools/agent-releases/shell/commands.h"
#include "tools/agent-releases/shell/options.h"

namespace agent_releases {
namespace {

int complain(const Refusal& refusal) {
  const char* hint = refusal.trouble == Trouble::usage ? "; see --help" : "";
  // The reason may contain names from a hostile archive, so control characters are escaped before a
  // terminal gets them.
  const std::string reason = upgraderctl::shown(refusal.reason);
  std::fprintf(stderr, "agent-releases: %s%s\n", reason.c_str(), hint);
  return exit_status_of(refusal.trouble);
}

int run(int argc, const char* const* argv) {
  const Result<Options> options = parse_options(argc, argv);
  if (!options) return complain(options.refusal());
  if (options.value().task == Task::show_help) {
    return upgrader::print_text("agent-releases", std::string(help_text()), 0, exit_system);
  } else if (options.value().task == Task::show_version) {
    std::printf("agent-releases %s\n", upgrader::upgrader_version);
  } else if (sodium_init() < 0) {
    return complain({"libsodium cannot be used", Trouble::system});
  } else if (const Outcome done = perform(options.value()); !done) {
    return complain(done.refusal());
  }
  return upgrader::finish_output("agent-releases", 0, exit_system);
}

}  // namespace
}  // namespace agent_releases

int main(int argc, char** argv) {
  if (upgrader::open_standard_descriptors(true) != 0) return agent_releases::exit_system;
  // A write beyond the limit of file sizes (RLIMIT_FSIZE) must fail, not kill the process, so that
  // unfinished files are removed.
  ::signal(SIGXFSZ, SIG_IGN);
  return agent_releases::run(argc, argv);
}
