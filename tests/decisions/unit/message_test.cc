// Tests message.h: the names of enumerators in messages, and the members' default values, which the
// protocol page gives.
#include "agent-protocol/cpp/wire/message.h"

#include <catch2/catch.hpp>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace message_test {

using namespace agent_protocol;

namespace {

template <class Enum>
void check_names(const std::vector<Enum>& values, const std::vector<std::string_view>& names) {
  REQUIRE(names_of<Enum>.size() == values.size());
  REQUIRE(names.size() == values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(name_of(values[i]) == names[i]);
    CHECK(named<Enum>(names[i]) == values[i]);
  }
}

}  // namespace

TEST_CASE("every enumerator has the name that the page gives it, and is found by it") {
  check_names<Role>({Role::first, Role::candidate, Role::fallback},
                    {"first", "candidate", "fallback"});
  check_names<Mode>({Mode::parallel, Mode::sequential}, {"parallel", "sequential"});
  check_names<Gate>({Gate::none, Gate::confirm}, {"none", "confirm"});
  check_names<CommitRule>({CommitRule::survive, CommitRule::healthy}, {"survive", "healthy"});
  check_names<UncleanStop>({UncleanStop::fall_back, UncleanStop::carry_on},
                           {"fallback", "continue"});
  check_names<FallbackMode>({FallbackMode::cold, FallbackMode::warm}, {"cold", "warm"});
  check_names<StopReason>({StopReason::upgrade, StopReason::rollback, StopReason::shutdown},
                          {"upgrade", "rollback", "shutdown"});
  check_names<Stage>({Stage::request, Stage::spawn, Stage::start, Stage::confirm, Stage::cancel,
                      Stage::stop, Stage::trial, Stage::commit, Stage::shutdown, Stage::boot},
                     {"request", "spawn", "start", "confirm", "cancel", "stop", "trial", "commit",
                      "shutdown", "boot"});
}

TEST_CASE("a text that is not a name names nothing") {
  CHECK(named<Mode>("") == std::nullopt);
  CHECK(named<Mode>("Parallel") == std::nullopt);
  CHECK(named<Mode>("parallel ") == std::nullopt);
  CHECK(named<Mode>("none") == std::nullopt);
}

TEST_CASE("a hello names the highest version that this code speaks") {
  CHECK(Hello{}.protocol == protocol_version);
}

TEST_CASE("messages are equal when all their members are") {
  const Cancel cancel{.id = "u", .reason = "r"};

  CHECK(AgentMessage(cancel) == AgentMessage(Cancel{.id = "u", .reason = "r"}));
  CHECK(AgentMessage(cancel) != AgentMessage(Cancel{.id = "u", .reason = {}}));
  CHECK(AgentMessage(cancel) != AgentMessage(Cancel{.id = "v", .reason = "r"}));
  CHECK(AgentMessage(Ready{}) != AgentMessage(Healthy{}));
}

TEST_CASE("a result holds a value or a reason") {
  const Result<int> value = 7;
  const Result<int> none = Refusal{"no"};

  REQUIRE(value);
  CHECK(value.value() == 7);
  REQUIRE_FALSE(none);
  CHECK(none.reason() == "no");
}

}  // namespace message_test
