#include "upgrader/core/terms.h"

#include <algorithm>

namespace upgrader {

using namespace agent_protocol;

Terms terms_of(const agent_protocol::Upgrade& request, const Terms& defaults, bool by_agent) {
  const auto given = [](const std::optional<std::int64_t>& ms, Duration otherwise) {
    return ms ? Duration(*ms) : otherwise;
  };
  const Mode mode = request.mode.value_or(defaults.mode);
  const Duration confirm_timeout = by_agent ? Duration::zero() : defaults.confirm_timeout;
  return Terms{
      .mode = mode,
      .gate = request.gate.value_or(mode == Mode::parallel ? defaults.gate : Gate::none),
      .commit = request.commit.value_or(defaults.commit),
      .start_timeout = given(request.start_timeout_ms, defaults.start_timeout),
      .confirm_timeout = given(request.confirm_timeout_ms, confirm_timeout),
      .stop_timeout = given(request.stop_timeout_ms, defaults.stop_timeout),
      .trial = given(request.trial_ms, defaults.trial),
      .on_unclean_stop = request.on_unclean_stop.value_or(defaults.on_unclean_stop),
      .fallback = mode == Mode::parallel ? request.fallback.value_or(defaults.fallback)
                                         : FallbackMode::cold,
  };
}

std::optional<std::string> contradiction_in(const Terms& terms) {
  if (terms.gate == Gate::confirm && terms.mode == Mode::sequential) {
    return "\"gate\" is \"confirm\", which goes with mode parallel only";
  }
  if (terms.commit == CommitRule::healthy && terms.trial == Duration::zero()) {
    return "\"commit\" is \"healthy\", which needs a trial that is not 0";
  }
  return std::nullopt;
}

Duration longer_of(Duration one, Duration other) {
  if (one == Duration::zero() || other == Duration::zero()) return Duration::zero();
  return std::max(one, other);
}

}  // namespace upgrader
