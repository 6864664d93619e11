// What the command line says is what the supervisor goes by.
#include "upgrader/core/policy.h"

#include <catch2/catch.hpp>

namespace policy_test {

using namespace upgrader;
using namespace std::chrono_literals;

TEST_CASE("every option that the supervisor goes by is in its policy") {
  Options options;
  options.mode = agent_protocol::Mode::sequential;
  options.gate = agent_protocol::Gate::confirm;
  options.commit = agent_protocol::CommitRule::healthy;
  options.start_timeout = 1s;
  options.confirm_timeout = 2s;
  options.stop_timeout = 3s;
  options.trial = 4s;
  options.on_unclean_stop = agent_protocol::UncleanStop::carry_on;
  options.fallback = agent_protocol::FallbackMode::warm;
  options.exit_grace = 5s;
  options.relink = true;
  options.previous = "/opt/previous";
  options.attempts = 1;
  const Terms terms{.mode = options.mode,
                    .gate = options.gate,
                    .commit = options.commit,
                    .start_timeout = 1s,
                    .confirm_timeout = 2s,
                    .stop_timeout = 3s,
                    .trial = 4s,
                    .on_unclean_stop = options.on_unclean_stop,
                    .fallback = options.fallback};

  CHECK(policy_of(options, 6s) == Policy{terms, 5s, 6s, true, true, true});
}

TEST_CASE("the gate takes as long as a start may where nobody says, and no attempts are no count") {
  Options options;
  options.start_timeout = 7s;

  CHECK(policy_of(options, 0s).defaults.confirm_timeout == 7s);
  CHECK_FALSE(policy_of(options, 0s).attempts);
  CHECK_FALSE(policy_of(options, 0s).previous);
}

}  // namespace policy_test
