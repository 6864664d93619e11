// The members of the messages: their names on the wire and their limits, for reading and writing.
// Each structure has one function `serialize`, for any cereal archive; archive.h has the archives
// for lines from peers.
#pragma once

#include <cereal/cereal.hpp>

#include "agent-protocol/cpp/wire/member.h"
#include "agent-protocol/cpp/wire/message.h"

namespace agent_protocol {

using cereal::make_nvp;

// Refuses the message unless `holds` is true. Used for rules that concern several members together.
// An archive without a function refuse() ignores these rules.
void require(auto& archive, bool holds, const char* otherwise) {
  if constexpr (requires { archive.refuse(otherwise); }) {
    if (!holds) archive.refuse(otherwise);
  }
}

// ---- from an agent

void serialize(auto& archive, Hello& message) {
  archive(make_nvp("protocol", Member{message.protocol, protocol_rule}),
          make_nvp("version", Member{message.version, version_rule}),
          make_nvp("features", Member{message.features, features_or_none_rule}));
}

void serialize(auto&, Ready&) {}

void serialize(auto& archive, Unfit& message) {
  archive(make_nvp("reason", Member{message.reason, reason_rule}));
}

// The terms of an upgrade (mode, gate, timeouts and so on), and the new version's arguments. Both
// the `upgrade` of an agent and the request of an operator have these members.
void serialize_terms(auto& archive, Upgrade& message) {
  archive(make_nvp("args", Member{message.args, args_rule}),
          make_nvp("mode", Member{message.mode, name_rule<Mode>}),
          make_nvp("gate", Member{message.gate, name_rule<Gate>}),
          make_nvp("commit", Member{message.commit, name_rule<CommitRule>}),
          make_nvp("start_timeout_ms", Member{message.start_timeout_ms, timeout_rule}),
          make_nvp("confirm_timeout_ms", Member{message.confirm_timeout_ms, timeout_rule}),
          make_nvp("stop_timeout_ms", Member{message.stop_timeout_ms, positive_timeout_rule}),
          make_nvp("trial_ms", Member{message.trial_ms, timeout_rule}),
          make_nvp("on_unclean_stop", Member{message.on_unclean_stop, name_rule<UncleanStop>}),
          make_nvp("fallback", Member{message.fallback, name_rule<FallbackMode>}));
  require(archive, !(message.gate == Gate::confirm && message.mode == Mode::sequential),
          R"("gate" is "confirm"; that needs "mode" to be "parallel")");
  require(archive, !(message.commit == CommitRule::healthy && message.trial_ms == 0),
          R"("commit" is "healthy"; that needs "trial_ms" not to be 0)");
}

void serialize(auto& archive, Upgrade& message) {
  archive(make_nvp("id", Member{message.id, id_rule}),
          make_nvp("executable", Member{message.executable, executable_rule}));
  serialize_terms(archive, message);
}

void serialize(auto& archive, Confirm& message) {
  archive(make_nvp("id", Member{message.id, id_rule}));
}

void serialize(auto& archive, Cancel& message) {
  archive(make_nvp("id", Member{message.id, id_rule}),
          make_nvp("reason", Member{message.reason, reason_rule}));
}

void serialize(auto& archive, Stopped& message) {
  archive(make_nvp("state", Member{message.state, state_rule}));
}

void serialize(auto&, Healthy&) {}

void serialize(auto& archive, Extend& message) {
  archive(make_nvp("ms", Member{message.ms, positive_timeout_rule}));
}

void serialize(auto&, Heartbeat&) {}

void serialize(auto& archive, Status& message) {
  archive(make_nvp("text", Member{message.text, status_rule}));
}

// ---- to an agent

void serialize(auto& archive, Failure& failure) {
  OpenName stage_name{failure.stage, failure.later_stage};
  archive(make_nvp("id", Member{failure.id, id_rule}),
          make_nvp("stage", Member{stage_name, text_rule}),
          make_nvp("reason", Member{failure.reason, reason_rule}),
          make_nvp("exit_status", Member{failure.exit_status, integer_rule}),
          make_nvp("signal", Member{failure.signal, integer_rule}),
          make_nvp("errno", Member{failure.errno_name, text_rule}));
}

void serialize(auto& archive, PastFailure& past) {
  serialize(archive, past.failure);
  archive(make_nvp("version", Member{past.version, version_rule}));
}

void serialize(auto& archive, Welcome& message) {
  archive(make_nvp("protocol", Member{message.protocol, protocol_rule}),
          make_nvp("features", Member{message.features, features_rule}),
          make_nvp("generation", Member{message.generation, positive_rule}),
          make_nvp("role", Member{message.role, name_rule<Role>}),
          make_nvp("previous_version", Member{message.previous_version, version_rule}),
          make_nvp("failure", Member{message.failure, object_rule}),
          make_nvp("watchdog_ms", Member{message.watchdog_ms, positive_rule}));
}

void serialize(auto& archive, Activate& message) {
  archive(make_nvp("state", Member{message.state, state_rule}),
          make_nvp("clean", Member{message.clean, truth_rule}),
          make_nvp("failure", Member{message.failure, object_rule}),
          make_nvp("trial_ms", Member{message.trial_ms, positive_rule}),
          make_nvp("commit", Member{message.commit, open_name_rule<CommitRule>}));
}

void serialize(auto& archive, Stop& message) {
  archive(make_nvp("reason", Member{message.reason, name_rule<StopReason>}),
          make_nvp("deadline_ms", Member{message.deadline_ms, positive_rule}),
          make_nvp("id", Member{message.id, id_rule}),
          make_nvp("generation", Member{message.generation, positive_rule}));
  require(archive, message.reason != StopReason::upgrade || (message.id && message.generation),
          R"("reason" is "upgrade"; that needs "id" and "generation")");
}

void serialize(auto& archive, Accepted& message) {
  archive(make_nvp("id", Member{message.id, id_rule}),
          make_nvp("generation", Member{message.generation, positive_rule}));
}

void serialize(auto& archive, CandidateReady& message) {
  archive(make_nvp("id", Member{message.id, id_rule}),
          make_nvp("generation", Member{message.generation, positive_rule}),
          make_nvp("version", Member{message.version, version_rule}));
}

void serialize(auto& archive, CandidateLost& message) {
  archive(make_nvp("id", Member{message.id, id_rule}),
          make_nvp("reason", Member{message.reason, text_rule}));
}

void serialize(auto& archive, UpgradeFailed& message) {
  serialize(archive, message.failure);
}

void serialize(auto& archive, Committed& message) {
  archive(make_nvp("id", Member{message.id, id_rule}),
          make_nvp("generation", Member{message.generation, positive_rule}));
}

void serialize(auto& archive, Error& message) {
  archive(make_nvp("about", Member{message.about, about_rule}),
          make_nvp("reason", Member{message.reason, reason_rule}));
}

}  // namespace agent_protocol
