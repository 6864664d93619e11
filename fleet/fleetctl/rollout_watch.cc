// fleetctl rollout watch: shows a rollout until it has ended. On a terminal, the lines are redrawn
// in place. Otherwise, lines that have changed are printed again.
#include <unistd.h>

#include <cstdio>

#include "base/shown.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/fleetctl/rollout_bars.h"
#include "fleet/model/keys.h"

namespace fleetctl {
namespace {

// Draws the lines in place of the lines that were drawn before.
void draw(const std::vector<std::string>& lines, std::size_t before) {
  if (before > 0) std::printf("\x1b[%zuA", before);
  for (const std::string& line : lines) {
    std::printf("\x1b[2K%s\n", upgraderctl::shown(line).c_str());
  }
  std::fflush(stdout);
}

void append(const std::vector<std::string>& lines, const std::vector<std::string>& before) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i >= before.size() || before[i] != lines[i]) say(lines[i]);
  }
  std::fflush(stdout);
}

}  // namespace

int watch_rollout(const Options& options, Asker& asker) {
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  std::vector<std::string> before;
  for (;;) {
    const auto reply =
        asker.read({fleet::key_of(fleet::KeyKind::rollout, {options.rollout}), true});
    if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
    const WatchedRollout now = watched(options.rollout, std::get<fleet::Reading>(reply));
    if (!now.is_there || !now.damage.empty()) {
      complain(options.rollout + ": " + (now.is_there ? now.damage : "no such rollout"));
      return exit_refused;
    }
    is_terminal ? draw(now.lines, before.size()) : append(now.lines, before);
    before = now.lines;
    if (now.state == fleet::RolloutState::completed) return exit_done;
    if (fleet::is_over(now.state)) return exit_failed;
    asker.rest();
  }
}

}  // namespace fleetctl
