// This file decides which messages a session refuses to send, and gives the reasons in words. The
// head of session.h describes the states.
#include "agent-protocol/cpp/session/session.h"

namespace agent_protocol {

namespace {

using Why = std::optional<std::string>;

constexpr Why allowed = std::nullopt;

struct Deed {
  std::string operator()(const Hello&) const { return "say hello"; }
  std::string operator()(const Ready&) const { return "say ready"; }
  std::string operator()(const Unfit&) const { return "say unfit"; }
  std::string operator()(const Upgrade& upgrade) const { return "request upgrade " + upgrade.id; }
  std::string operator()(const Confirm& confirm) const { return "confirm upgrade " + confirm.id; }
  std::string operator()(const Cancel& cancel) const { return "cancel upgrade " + cancel.id; }
  std::string operator()(const Stopped&) const { return "say stopped"; }
  std::string operator()(const Healthy&) const { return "say healthy"; }
  std::string operator()(const Extend&) const { return "extend the deadline"; }
  std::string operator()(const Heartbeat&) const { return "send a heartbeat"; }
  std::string operator()(const Status&) const { return "show a status"; }
};

}  // namespace

std::string deed(const AgentMessage& message) {
  return std::visit(Deed{}, message);
}

const char* Session::standing() const {
  if (gone_) return "the upgrader has gone";
  switch (life_) {
    case Life::silent:
      return "hello has not been said";
    case Life::starting:
      return "this agent is held";
    case Life::ready:
      return "this agent has said ready and is held";
    case Life::active:
      return "this agent is active";
    case Life::stopping:
      return "this agent has been told to stop";
    case Life::stopped:
      return "this agent has said stopped";
    case Life::ended:
      return "this agent's part has ended";
  }
  return "";
}

Why Session::why_not(const Hello&) const {
  if (life_ == Life::silent) return allowed;
  return "it has been said already";
}

Why Session::why_not(const Ready&) const {
  if (life_ == Life::starting) return allowed;
  return standing();
}

Why Session::why_not(const Unfit&) const {
  if (life_ == Life::starting || life_ == Life::ready) return allowed;
  if (life_ != Life::active) return standing();
  if (trial_ == Trial::running) return allowed;
  return trial_ == Trial::none ? "this agent is not on trial" : "it has been said already";
}

Why Session::why_not(const Upgrade&) const {
  if (company_ == Company::nobody) return "there is no upgrader";
  if (life_ != Life::active) return standing();
  if (trial_ != Trial::none) return "this agent is on trial";
  if (request_) return "upgrade " + *request_ + " has been requested";
  if (upgrade_) return "upgrade " + upgrade_->id + " is under way";
  return allowed;
}

Why Session::why_not_known(const std::string& id) const {
  if (request_ == id) return "it has not been accepted";
  if (!upgrade_ || upgrade_->id != id) return "no such upgrade is under way";
  if (upgrade_->step == Step::cancelled) return "it has been cancelled";
  return allowed;
}

Why Session::why_not(const Confirm& confirm) const {
  if (life_ != Life::active) return standing();
  if (Why why = why_not_known(confirm.id)) return why;
  if (upgrade_->step == Step::accepted) return "its candidate is not ready";
  if (upgrade_->step == Step::confirmed) return "it has been confirmed";
  return allowed;
}

Why Session::why_not(const Cancel& cancel) const {
  if (gone_ || (life_ != Life::active && life_ != Life::stopping)) return standing();
  if (signalled_) return "SIGTERM has told this agent to stop";
  if (life_ == Life::stopping && ordered_ != StopReason::upgrade) return standing();
  return why_not_known(cancel.id);
}

Why Session::why_not(const Stopped&) const {
  if (life_ == Life::stopping) return allowed;
  return life_ == Life::active ? "this agent has not been told to stop" : standing();
}

Why Session::why_not(const Healthy&) const {
  if (life_ != Life::active) return standing();
  if (trial_ == Trial::running || (trial_ == Trial::none && readiness_)) return allowed;
  return trial_ == Trial::none ? "this agent is not on trial" : "this agent has said unfit";
}

Why Session::why_not(const Extend&) const {
  if (!gone_ && (life_ == Life::starting || life_ == Life::stopping)) return allowed;
  if (!gone_ && life_ == Life::active && readiness_ && !works_) return allowed;
  return standing();
}

Why Session::why_not(const Heartbeat&) const {
  if (!gone_ && (life_ == Life::active || life_ == Life::stopping)) return allowed;
  return standing();
}

Why Session::why_not(const Status&) const {
  if (!gone_ && life_ != Life::silent) return allowed;
  return standing();
}

}  // namespace agent_protocol
