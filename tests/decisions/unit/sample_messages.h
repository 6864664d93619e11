// Messages for the tests of the wire format. Each type has one message with as few members as
// allowed, and one message with all members. The lines of the messages were written by hand from
// the protocol page.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent-protocol/cpp/wire/message.h"

namespace agent_protocol::wire_test {

template <class Message>
struct Sample {
  Message message;
  std::string line;  // the line of the message, without the newline
};

inline std::vector<Sample<AgentMessage>> upgrade_samples() {
  return {
      {Upgrade{.id = "u7",
               .executable = "/a",
               .args = {},
               .mode = {},
               .gate = {},
               .commit = {},
               .start_timeout_ms = {},
               .confirm_timeout_ms = {},
               .stop_timeout_ms = {},
               .trial_ms = {},
               .on_unclean_stop = {},
               .fallback = {}},
       R"({"type":"upgrade","id":"u7","executable":"/a"})"},
      {Upgrade{.id = "~ !",
               .executable = "/opt/a b/\xc3\xa9",
               .args = {{"", "-x", "a\"b\\c/d"}},
               .mode = Mode::parallel,
               .gate = Gate::confirm,
               .commit = CommitRule::healthy,
               .start_timeout_ms = 0,
               .confirm_timeout_ms = 1,
               .stop_timeout_ms = 90'000,
               .trial_ms = 86'400'000,
               .on_unclean_stop = UncleanStop::carry_on,
               .fallback = FallbackMode::warm},
       R"({"type":"upgrade","id":"~ !","executable":"/opt/a b/é","args":["","-x","a\"b\\c/d"],)"
       R"("mode":"parallel","gate":"confirm","commit":"healthy","start_timeout_ms":0,)"
       R"("confirm_timeout_ms":1,"stop_timeout_ms":90000,"trial_ms":86400000,)"
       R"("on_unclean_stop":"continue","fallback":"warm"})"},
      {Upgrade{.id = "u",
               .executable = "/",
               .args = std::vector<std::string>{},
               .mode = Mode::sequential,
               .gate = Gate::none,
               .commit = CommitRule::survive,
               .start_timeout_ms = {},
               .confirm_timeout_ms = {},
               .stop_timeout_ms = {},
               .trial_ms = 0,
               .on_unclean_stop = UncleanStop::fall_back,
               .fallback = FallbackMode::cold},
       R"({"type":"upgrade","id":"u","executable":"/","args":[],"mode":"sequential",)"
       R"("gate":"none","commit":"survive","trial_ms":0,"on_unclean_stop":"fallback",)"
       R"("fallback":"cold"})"},
  };
}

inline std::vector<Sample<AgentMessage>> agent_samples() {
  std::vector<Sample<AgentMessage>> samples{
      {Hello{.protocol = 1, .version = {}, .features = {}}, R"({"type":"hello","protocol":1})"},
      {Hello{.protocol = 2'147'483'647, .version = "1.2.3-rc1", .features = {"park", ""}},
       R"({"type":"hello","protocol":2147483647,"version":"1.2.3-rc1","features":["park",""]})"},
      {Ready{}, R"({"type":"ready"})"},
      {Unfit{.reason = "no disk"}, R"({"type":"unfit","reason":"no disk"})"},
      {Confirm{.id = "u7"}, R"({"type":"confirm","id":"u7"})"},
      {Cancel{.id = "u7", .reason = {}}, R"({"type":"cancel","id":"u7"})"},
      {Cancel{.id = "u7", .reason = ""}, R"({"type":"cancel","id":"u7","reason":""})"},
      {Stopped{}, R"({"type":"stopped"})"},
      {Stopped{.state = "{\"at\":1}\n\t\b\f\r\x01\x1f\x7f"},
       "{\"type\":\"stopped\",\"state\":\"{\\\"at\\\":1}\\n\\t\\b\\f\\r\\u0001\\u001f\x7f\"}"},
      {Healthy{}, R"({"type":"healthy"})"},
      {Extend{.ms = 1}, R"({"type":"extend","ms":1})"},
      {Heartbeat{}, R"({"type":"heartbeat"})"},
      {Status{.text = "\xf0\x9f\x98\x80"}, R"({"type":"status","text":"😀"})"},
  };
  for (Sample<AgentMessage>& sample : upgrade_samples())
    samples.push_back(std::move(sample));
  return samples;
}

inline Failure sample_failure(Stage stage, std::optional<std::int64_t> exit_status = {},
                              std::optional<std::int64_t> signal = {},
                              std::optional<std::string> errno_name = {}) {
  return {.id = "u7",
          .stage = stage,
          .reason = "exited",
          .exit_status = exit_status,
          .signal = signal,
          .errno_name = std::move(errno_name)};
}

inline std::vector<Sample<UpgraderMessage>> welcome_and_activate_samples() {
  const Failure killed = sample_failure(Stage::trial, {}, 11);
  return {
      {Welcome{.protocol = 1,
               .features = {},
               .generation = 1,
               .role = Role::first,
               .previous_version = {},
               .failure = {},
               .watchdog_ms = {}},
       R"({"type":"welcome","protocol":1,"features":[],"generation":1,"role":"first"})"},
      {Welcome{.protocol = 1,
               .features = {"park"},
               .generation = 2,
               .role = Role::candidate,
               .previous_version = "1.0",
               .failure = {},
               .watchdog_ms = 5'000},
       R"({"type":"welcome","protocol":1,"features":["park"],"generation":2,"role":"candidate",)"
       R"("previous_version":"1.0","watchdog_ms":5000})"},
      {Welcome{.protocol = 1,
               .features = {},
               .generation = 9'007'199'254'740'991,
               .role = Role::fallback,
               .previous_version = {},
               .failure = PastFailure{.failure = killed, .version = "2.0"},
               .watchdog_ms = {}},
       R"({"type":"welcome","protocol":1,"features":[],"generation":9007199254740991,)"
       R"("role":"fallback","failure":{"id":"u7","stage":"trial","reason":"exited","signal":11,)"
       R"("version":"2.0"}})"},
      {Activate{}, R"({"type":"activate","clean":false})"},
      {Activate{.state = "s", .clean = true, .failure = {}},
       R"({"type":"activate","state":"s","clean":true})"},
      {Activate{.state = {},
                .clean = false,
                .failure = PastFailure{.failure = {.id = "u7",
                                                   .stage = Stage::trial,
                                                   .reason = "exited",
                                                   .exit_status = 3,
                                                   .signal = {},
                                                   .errno_name = {}},
                                       .version = "2.0"}},
       R"({"type":"activate","clean":false,"failure":{"id":"u7","stage":"trial",)"
       R"("reason":"exited","exit_status":3,"version":"2.0"}})"},
      {Activate{.state = {},
                .clean = true,
                .failure = {},
                .trial_ms = 30'000,
                .commit = CommitRule::healthy},
       R"({"type":"activate","clean":true,"trial_ms":30000,"commit":"healthy"})"},
  };
}

inline std::vector<Sample<UpgraderMessage>> upgrader_samples() {
  const Failure exited = sample_failure(Stage::start, 3);
  const Failure killed = sample_failure(Stage::trial, {}, 11);
  const Failure refused = sample_failure(Stage::request, {}, {}, "ENOENT");
  std::vector<Sample<UpgraderMessage>> samples{
      {Stop{.reason = StopReason::upgrade, .deadline_ms = 90'000, .id = "u7", .generation = 2},
       R"({"type":"stop","reason":"upgrade","deadline_ms":90000,"id":"u7","generation":2})"},
      {Stop{.reason = StopReason::rollback, .deadline_ms = 1, .id = {}, .generation = {}},
       R"({"type":"stop","reason":"rollback","deadline_ms":1})"},
      {Stop{.reason = StopReason::shutdown, .deadline_ms = 1, .id = {}, .generation = {}},
       R"({"type":"stop","reason":"shutdown","deadline_ms":1})"},
      {Accepted{.id = "u7", .generation = 2}, R"({"type":"accepted","id":"u7","generation":2})"},
      {CandidateReady{.id = "u7", .generation = 2, .version = {}},
       R"({"type":"candidate_ready","id":"u7","generation":2})"},
      {CandidateReady{.id = "u7", .generation = 2, .version = "2"},
       R"({"type":"candidate_ready","id":"u7","generation":2,"version":"2"})"},
      {CandidateLost{.id = "u7", .reason = "killed by signal 9"},
       R"({"type":"candidate_lost","id":"u7","reason":"killed by signal 9"})"},
      {UpgradeFailed{exited},
       R"({"type":"upgrade_failed","id":"u7","stage":"start","reason":"exited","exit_status":3})"},
      {UpgradeFailed{killed},
       R"({"type":"upgrade_failed","id":"u7","stage":"trial","reason":"exited","signal":11})"},
      {UpgradeFailed{refused},
       R"({"type":"upgrade_failed","id":"u7","stage":"request","reason":"exited",)"
       R"("errno":"ENOENT"})"},
      {Committed{.id = "u7", .generation = 2}, R"({"type":"committed","id":"u7","generation":2})"},
      {Error{.about = {}, .reason = "why"}, R"({"type":"error","reason":"why"})"},
      {Error{.about = "ready", .reason = "why"},
       R"({"type":"error","about":"ready","reason":"why"})"},
  };
  for (Sample<UpgraderMessage>& sample : welcome_and_activate_samples())
    samples.push_back(std::move(sample));
  return samples;
}

}  // namespace agent_protocol::wire_test
