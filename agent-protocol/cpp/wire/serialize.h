// The members of the messages: their names on the wire and their limits, for reading and writing.
// There is one function `serialize` for each structure, for any cereal archive; the archives for
// peers are in archive.h.
#pragma once

#include <cereal/cereal.hpp>

#include "agent-protocol/cpp/wire/member.h"
#include "agent-protocol/cpp/wire/message.h"

namespace agent_protocol {

using cereal::make_nvp;

// Checks a rule about several members together; `holds` is true if the rule is kept. If it is
// broken, the message is refused, unless the archive never refuses anything.
template <class Archive>
void require(Archive& archive, bool holds, const char* otherwise) {
  if constexpr (requires { archive.refuse(otherwise); }) {
    if (!holds) archive.refuse(otherwise);
  }
}

// ---- from an agent

template <class Archive>
void serialize(Archive& archive, Hello& message) {
  archive(make_nvp("protocol", ranged<1, protocol_number_max>(message.protocol)),
          make_nvp("version", limited<version_bytes_max>(message.version)),
          make_nvp("features", texts_or_none<features_max, feature_bytes_max>(message.features)));
}

template <class Archive>
void serialize(Archive&, Ready&) {}

template <class Archive>
void serialize(Archive& archive, Unfit& message) {
  archive(make_nvp("reason", limited<reason_bytes_max>(message.reason)));
}

// The terms of an upgrade, and its arguments. An agent can request them, and so can an operator.
template <class Archive>
void serialize_terms(Archive& archive, Upgrade& message) {
  archive(make_nvp("args", texts<args_max, line_bytes_max>(message.args)),
          make_nvp("mode", one_of_the_names(message.mode)),
          make_nvp("gate", one_of_the_names(message.gate)),
          make_nvp("commit", one_of_the_names(message.commit)),
          make_nvp("start_timeout_ms", ranged<0, timeout_ms_max>(message.start_timeout_ms)),
          make_nvp("confirm_timeout_ms", ranged<0, timeout_ms_max>(message.confirm_timeout_ms)),
          make_nvp("stop_timeout_ms", ranged<1, timeout_ms_max>(message.stop_timeout_ms)),
          make_nvp("trial_ms", ranged<0, timeout_ms_max>(message.trial_ms)),
          make_nvp("on_unclean_stop", one_of_the_names(message.on_unclean_stop)),
          make_nvp("fallback", one_of_the_names(message.fallback)));
  require(archive, !(message.gate == Gate::confirm && message.mode == Mode::sequential),
          R"("gate" is "confirm"; that needs "mode" to be "parallel")");
  require(archive, !(message.commit == CommitRule::healthy && message.trial_ms == 0),
          R"("commit" is "healthy"; that needs "trial_ms" not to be 0)");
}

template <class Archive>
void serialize(Archive& archive, Upgrade& message) {
  archive(make_nvp("id", identifier(message.id)),
          make_nvp("executable", absolute_path<executable_bytes_max>(message.executable)));
  serialize_terms(archive, message);
}

template <class Archive>
void serialize(Archive& archive, Confirm& message) {
  archive(make_nvp("id", identifier(message.id)));
}

template <class Archive>
void serialize(Archive& archive, Cancel& message) {
  archive(make_nvp("id", identifier(message.id)),
          make_nvp("reason", limited<reason_bytes_max>(message.reason)));
}

template <class Archive>
void serialize(Archive& archive, Stopped& message) {
  archive(make_nvp("state", limited<state_bytes_max, state_escaped_bytes_max>(message.state)));
}

template <class Archive>
void serialize(Archive&, Healthy&) {}

template <class Archive>
void serialize(Archive& archive, Extend& message) {
  archive(make_nvp("ms", ranged<1, timeout_ms_max>(message.ms)));
}

template <class Archive>
void serialize(Archive&, Heartbeat&) {}

template <class Archive>
void serialize(Archive& archive, Status& message) {
  archive(make_nvp("text", limited<status_bytes_max>(message.text)));
}

// ---- to an agent

template <class Archive>
void serialize(Archive& archive, Failure& failure) {
  archive(make_nvp("id", identifier(failure.id)),
          make_nvp("stage", one_of_the_names(failure.stage)),
          make_nvp("reason", limited<reason_bytes_max>(failure.reason)),
          make_nvp("exit_status", ranged<-integer_max, integer_max>(failure.exit_status)),
          make_nvp("signal", ranged<-integer_max, integer_max>(failure.signal)),
          make_nvp("errno", text(failure.errno_name)));
}

template <class Archive>
void serialize(Archive& archive, PastFailure& past) {
  serialize(archive, past.failure);
  archive(make_nvp("version", limited<version_bytes_max>(past.version)));
}

template <class Archive>
void serialize(Archive& archive, Welcome& message) {
  archive(make_nvp("protocol", ranged<1, protocol_number_max>(message.protocol)),
          make_nvp("features", texts<features_max, feature_bytes_max>(message.features)),
          make_nvp("generation", ranged<1, integer_max>(message.generation)),
          make_nvp("role", one_of_the_names(message.role)),
          make_nvp("previous_version", limited<version_bytes_max>(message.previous_version)),
          make_nvp("failure", object(message.failure)),
          make_nvp("watchdog_ms", ranged<1, integer_max>(message.watchdog_ms)));
}

template <class Archive>
void serialize(Archive& archive, Activate& message) {
  archive(make_nvp("state", limited<state_bytes_max, state_escaped_bytes_max>(message.state)),
          make_nvp("clean", truth(message.clean)), make_nvp("failure", object(message.failure)),
          make_nvp("trial_ms", ranged<1, integer_max>(message.trial_ms)),
          make_nvp("commit", one_of_the_names(message.commit)));
}

template <class Archive>
void serialize(Archive& archive, Stop& message) {
  archive(make_nvp("reason", one_of_the_names(message.reason)),
          make_nvp("deadline_ms", ranged<1, integer_max>(message.deadline_ms)),
          make_nvp("id", identifier(message.id)),
          make_nvp("generation", ranged<1, integer_max>(message.generation)));
  require(archive, message.reason != StopReason::upgrade || (message.id && message.generation),
          R"("reason" is "upgrade"; that needs "id" and "generation")");
}

template <class Archive>
void serialize(Archive& archive, Accepted& message) {
  archive(make_nvp("id", identifier(message.id)),
          make_nvp("generation", ranged<1, integer_max>(message.generation)));
}

template <class Archive>
void serialize(Archive& archive, CandidateReady& message) {
  archive(make_nvp("id", identifier(message.id)),
          make_nvp("generation", ranged<1, integer_max>(message.generation)),
          make_nvp("version", limited<version_bytes_max>(message.version)));
}

template <class Archive>
void serialize(Archive& archive, CandidateLost& message) {
  archive(make_nvp("id", identifier(message.id)), make_nvp("reason", text(message.reason)));
}

template <class Archive>
void serialize(Archive& archive, UpgradeFailed& message) {
  serialize(archive, message.failure);
}

template <class Archive>
void serialize(Archive& archive, Committed& message) {
  archive(make_nvp("id", identifier(message.id)),
          make_nvp("generation", ranged<1, integer_max>(message.generation)));
}

template <class Archive>
void serialize(Archive& archive, Error& message) {
  archive(make_nvp("about", limited<about_bytes_max>(message.about)),
          make_nvp("reason", limited<reason_bytes_max>(message.reason)));
}

}  // namespace agent_protocol
