// The agent's half of the conversation. The head of session.h describes its states.
#include "agent-protocol/cpp/session/session.h"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

namespace agent_protocol {

namespace {

using Why = std::optional<std::string>;

constexpr std::string_view readiness = "readiness";

StopCause cause_of(StopReason reason) {
  switch (reason) {
    case StopReason::upgrade:
      return StopCause::upgrade;
    case StopReason::rollback:
      return StopCause::rollback;
    case StopReason::shutdown:
      return StopCause::shutdown;
  }
  return StopCause::shutdown;
}

Refusal refuse(const AgentMessage& message, const std::string& why) {
  return Refusal{"cannot " + deed(message) + ": " + why, EPROTO};
}

SessionActions deliver(SessionEvent event) {
  return {Deliver{std::move(event)}};
}

SessionActions deliver_stop(StopCause cause) {
  StopAsked stop;
  stop.cause = cause;
  return deliver(std::move(stop));
}

}  // namespace

// ---- messages that the program says

Result<SessionActions> Session::say(const AgentMessage& message) {
  if (company_ == Company::nobody) return say_alone(message);
  const Why why = std::visit([this](const auto& known) { return why_not(known); }, message);
  if (why) return refuse(message, *why);
  return std::visit([this](const auto& known) { return said(known); }, message);
}

Result<SessionActions> Session::say_alone(const AgentMessage& message) {
  const Why why = std::visit([this](const auto& known) { return why_not(known); }, message);
  const bool ready = std::holds_alternative<Ready>(message);
  if (why && (ready || std::holds_alternative<Upgrade>(message))) return refuse(message, *why);
  if (why) return SessionActions{};
  SessionActions actions = std::visit([this](const auto& known) { return said(known); }, message);
  std::erase_if(actions, [](const auto& action) { return std::holds_alternative<Send>(action); });
  if (!ready) return actions;
  life_ = Life::active;
  return deliver(Activate{});
}

SessionActions Session::said(const Hello& hello) {
  life_ = Life::starting;
  return {Send{hello}};
}

SessionActions Session::said(const Ready& ready) {
  life_ = Life::ready;
  return {Send{ready}};
}

SessionActions Session::said(const Unfit& unfit) {
  if (life_ == Life::active) {
    trial_ = Trial::unfit;
  } else {
    life_ = Life::ended;
  }
  return {Send{unfit}};
}

SessionActions Session::said(const Upgrade& upgrade) {
  request_ = upgrade.id;
  return {Send{upgrade}};
}

SessionActions Session::said(const Confirm& confirm) {
  upgrade_->step = Step::confirmed;
  return {Send{confirm}};
}

SessionActions Session::said(const Cancel& cancel) {
  upgrade_->step = Step::cancelled;
  life_ = Life::active;
  ordered_.reset();
  return {Send{cancel}};
}

SessionActions Session::said(const Stopped& stopped) {
  life_ = Life::stopped;
  if (stop_ordered()) return {Send{stopped}};
  unsent_ = stopped;
  return {};
}

SessionActions Session::said(const Healthy& healthy) {
  works_ = true;
  return {Send{healthy}};
}

SessionActions Session::said(const Extend& extend) {
  // If the upgrader has not requested this stop, there is no deadline that an `extend` could move,
  // so the `extend` is not sent.
  if (life_ == Life::stopping && !ordered_) return {};
  return {Send{extend}};
}

SessionActions Session::said(const Heartbeat& heartbeat) {
  return {Send{heartbeat}};
}

SessionActions Session::said(const Status& status) {
  return {Send{status}};
}

// ---- messages from the upgrader

SessionActions Session::hear(const UpgraderMessage& message) {
  if (life_ == Life::silent || life_ == Life::ended || gone_) return {};
  if (company_ == Company::nobody) return {};
  return std::visit([this](const auto& known) { return heard(known); }, message);
}

SessionActions Session::heard(const Welcome& welcome) {
  if (welcomed_ || (life_ != Life::starting && life_ != Life::ready)) return {};
  welcomed_ = true;
  role_ = welcome.role;
  const auto& shared = welcome.features;
  readiness_ = std::find(shared.begin(), shared.end(), readiness) != shared.end();
  // A fallback has no trial, except a fallback that was started at boot because the first agent had
  // failed.
  at_boot_ = welcome.failure && welcome.failure->failure.id == "boot";
  return deliver(welcome);
}

SessionActions Session::heard(const Activate& activate) {
  if (life_ != Life::ready) return {};
  life_ = Life::active;
  trial_ = role_ == Role::candidate || at_boot_ ? Trial::running : Trial::none;
  return deliver(activate);
}

void Session::note_order(const Stop& stop) {
  ordered_ = stop.reason;
  trial_ = Trial::none;
  if (stop.reason == StopReason::upgrade && stop.id) upgrade_ = KnownUpgrade{*stop.id};
}

SessionActions Session::heard(const Stop& stop) {
  const bool cancelled = upgrade_ && upgrade_->step == Step::cancelled;
  if (cancelled && stop.reason == StopReason::upgrade && stop.id.value_or("") == upgrade_->id) {
    return {};
  }
  if (life_ == Life::stopped && !ordered_) {
    note_order(stop);
    return {Send{*unsent_}};
  }
  if (life_ == Life::stopping && !ordered_) {
    note_order(stop);
    return {};
  }
  if (life_ != Life::active) return {};
  life_ = Life::stopping;
  note_order(stop);
  return deliver(StopAsked{cause_of(stop.reason), stop.deadline_ms, stop.id, stop.generation});
}

SessionActions Session::heard(const Accepted& accepted) {
  if (life_ == Life::stopped || request_ != accepted.id) return {};
  request_.reset();
  upgrade_ = KnownUpgrade{accepted.id};
  return deliver(accepted);
}

SessionActions Session::heard(const CandidateReady& candidate) {
  if (life_ == Life::stopped || !upgrade_ || upgrade_->id != candidate.id) return {};
  if (upgrade_->step != Step::accepted || ordered_) return {};
  upgrade_->step = Step::candidate_ready;
  return deliver(candidate);
}

SessionActions Session::heard(const CandidateLost& candidate) {
  if (life_ != Life::stopping || ordered_ != StopReason::upgrade) return {};
  if (!upgrade_ || upgrade_->id != candidate.id) return {};
  return deliver(candidate);
}

SessionActions Session::heard(const UpgradeFailed& failed) {
  if (life_ == Life::stopped) return {};
  if (request_ == failed.failure.id) {
    request_.reset();
  } else if (upgrade_ && upgrade_->id == failed.failure.id) {
    upgrade_.reset();
  } else {
    return {};
  }
  return deliver(failed);
}

SessionActions Session::heard(const Committed& committed) {
  if (life_ == Life::stopped || trial_ == Trial::none) return {};
  trial_ = Trial::none;
  return deliver(committed);
}

SessionActions Session::heard(const Error& error) {
  if (error.about == "upgrade") request_.reset();
  return deliver(error);
}

// ---- the end of the input from the upgrader, and SIGTERM

SessionActions Session::input_ended() {
  if (company_ == Company::nobody || gone_) return {};
  gone_ = true;
  if (held()) {
    life_ = Life::ended;
    return {ExitAtOnce{exit_status_input_ended}};
  }
  if (life_ != Life::active) return {};
  life_ = Life::stopping;
  return deliver_stop(StopCause::end_of_input);
}

SessionActions Session::terminated() {
  if (held()) {
    life_ = Life::ended;
    return {ExitAtOnce{exit_status_terminated}};
  }
  if (life_ == Life::stopped) return {};
  signalled_ = true;
  if (life_ == Life::stopping) return {};
  life_ = Life::stopping;
  return deliver_stop(StopCause::signal);
}

}  // namespace agent_protocol
