// Turns an event of the conversation into the structures of the C interface.
#include "agent-protocol/cpp/agent/agent_event.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "agent-protocol/cpp/wire/message.h"

namespace agent_protocol {

namespace {

const char* text_or_null(const std::optional<std::string>& text) {
  return text ? text->c_str() : nullptr;
}

int small_number(std::optional<std::int64_t> number) {
  using Limits = std::numeric_limits<int>;
  return static_cast<int>(
      std::clamp<std::int64_t>(number.value_or(-1), Limits::min(), Limits::max()));
}

agent_protocol_role role_of(Role role) {
  switch (role) {
    case Role::first:
      return AGENT_PROTOCOL_FIRST;
    case Role::candidate:
      return AGENT_PROTOCOL_CANDIDATE;
    case Role::fallback:
      return AGENT_PROTOCOL_FALLBACK;
  }
  return AGENT_PROTOCOL_FIRST;
}

agent_protocol_stop_reason stop_reason_of(StopCause cause) {
  switch (cause) {
    case StopCause::upgrade:
      return AGENT_PROTOCOL_STOP_UPGRADE;
    case StopCause::rollback:
      return AGENT_PROTOCOL_STOP_ROLLBACK;
    case StopCause::shutdown:
      return AGENT_PROTOCOL_STOP_SHUTDOWN;
    case StopCause::signal:
      return AGENT_PROTOCOL_STOP_SIGNAL;
    case StopCause::end_of_input:
      return AGENT_PROTOCOL_STOP_END_OF_INPUT;
  }
  return AGENT_PROTOCOL_STOP_SHUTDOWN;
}

}  // namespace

const agent_protocol_event* EventView::show(SessionEvent event) {
  event_ = std::move(event);
  view_ = {};
  view_.generation = -1;
  view_.deadline_ms = -1;
  view_.watchdog_ms = -1;
  view_.trial_ms = -1;
  std::visit([this](const auto& known) { fill(known); }, event_);
  return &view_;
}

void EventView::fill(const Welcome& welcome) {
  view_.type = AGENT_PROTOCOL_WELCOME;
  view_.role = role_of(welcome.role);
  view_.generation = welcome.generation;
  view_.watchdog_ms = welcome.watchdog_ms.value_or(-1);
  view_.version = text_or_null(welcome.previous_version);
  // An agent gets only one `welcome`, so `features_` is still empty here.
  for (const std::string& feature : welcome.features)
    features_.push_back(feature.c_str());
  features_.push_back(nullptr);
  view_.features = features_.data();
  if (welcome.failure) {
    fill_failure(welcome.failure->failure, text_or_null(welcome.failure->version));
  }
}

void EventView::fill(const Activate& activate) {
  view_.type = AGENT_PROTOCOL_ACTIVATE;
  view_.clean = activate.clean ? 1 : 0;
  view_.state = text_or_null(activate.state);
  view_.trial_ms = activate.trial_ms.value_or(-1);
  // name_of() returns a literal, so a NUL follows the text at data().
  view_.commit = activate.commit ? name_of(*activate.commit).data() : nullptr;
  if (activate.failure) {
    fill_failure(activate.failure->failure, text_or_null(activate.failure->version));
  }
}

void EventView::fill(const StopAsked& stop) {
  view_.type = AGENT_PROTOCOL_STOP;
  view_.stop_reason = stop_reason_of(stop.cause);
  view_.deadline_ms = stop.deadline_ms.value_or(-1);
  view_.id = text_or_null(stop.id);
  view_.generation = stop.generation.value_or(-1);
}

void EventView::fill(const Accepted& accepted) {
  view_.type = AGENT_PROTOCOL_ACCEPTED;
  view_.id = accepted.id.c_str();
  view_.generation = accepted.generation;
}

void EventView::fill(const CandidateReady& candidate) {
  view_.type = AGENT_PROTOCOL_CANDIDATE_READY;
  view_.id = candidate.id.c_str();
  view_.generation = candidate.generation;
  view_.version = text_or_null(candidate.version);
}

void EventView::fill(const CandidateLost& candidate) {
  view_.type = AGENT_PROTOCOL_CANDIDATE_LOST;
  view_.id = candidate.id.c_str();
  view_.reason = candidate.reason.c_str();
}

void EventView::fill(const UpgradeFailed& failed) {
  view_.type = AGENT_PROTOCOL_UPGRADE_FAILED;
  view_.id = failed.failure.id.c_str();
  view_.reason = failed.failure.reason.c_str();
  fill_failure(failed.failure, nullptr);
}

void EventView::fill(const Committed& committed) {
  view_.type = AGENT_PROTOCOL_COMMITTED;
  view_.id = committed.id.c_str();
  view_.generation = committed.generation;
}

void EventView::fill(const Error& error) {
  view_.type = AGENT_PROTOCOL_ERROR;
  view_.about = text_or_null(error.about);
  view_.reason = error.reason.c_str();
}

void EventView::fill_failure(const Failure& failure, const char* version) {
  failure_.id = failure.id.c_str();
  // name_of() returns a literal, so a NUL follows the text at data().
  failure_.stage =
      failure.later_stage ? failure.later_stage->c_str() : name_of(failure.stage).data();
  failure_.reason = failure.reason.c_str();
  failure_.version = version;
  failure_.errno_name = text_or_null(failure.errno_name);
  failure_.exit_status = small_number(failure.exit_status);
  failure_.signal = small_number(failure.signal);
  view_.failure = &failure_;
}

}  // namespace agent_protocol
