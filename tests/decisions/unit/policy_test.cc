// Tests that the options of the command line become the supervisor's policy.
#include "upgrader/core/options.h"

#include <catch2/catch.hpp>

namespace policy_test {

using namespace upgrader;
using namespace std::chrono_literals;

TEST_CASE("every option that the supervisor goes by is in its policy") {
  Options options;
  options.defaults.mode = agent_protocol::Mode::sequential;
  options.defaults.gate = agent_protocol::Gate::confirm;
  options.defaults.commit = agent_protocol::CommitRule::healthy;
  options.defaults.start_timeout = 1s;
  options.defaults.confirm_timeout = 2s;
  options.defaults.stop_timeout = 3s;
  options.defaults.trial = 4s;
  options.defaults.on_unclean_stop = agent_protocol::UncleanStop::carry_on;
  options.defaults.fallback = agent_protocol::FallbackMode::warm;
  options.exit_grace = 5s;
  options.relink = true;
  options.previous = "/opt/previous";
  options.attempts = 1;
  const Terms terms{.mode = options.defaults.mode,
                    .gate = options.defaults.gate,
                    .commit = options.defaults.commit,
                    .start_timeout = 1s,
                    .confirm_timeout = 2s,
                    .stop_timeout = 3s,
                    .trial = 4s,
                    .on_unclean_stop = options.defaults.on_unclean_stop,
                    .fallback = options.defaults.fallback};

  CHECK(policy_of(options, 6s) == Policy{terms, 5s, 6s, true, true, true});
}

TEST_CASE("without their options there is no way back, and no attempts are counted") {
  const Options options;

  CHECK_FALSE(policy_of(options, 0s).attempts);
  CHECK_FALSE(policy_of(options, 0s).previous);
}

}  // namespace policy_test
