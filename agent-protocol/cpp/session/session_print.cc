// Prints a session in words, for tests and for people who debug an agent.
#include "agent-protocol/cpp/session/session.h"

namespace agent_protocol {

std::string Session::describe() const {
  static constexpr const char* lives[] = {"silent",   "starting", "ready", "active",
                                          "stopping", "stopped",  "ended"};
  static constexpr const char* trials[] = {"", ", on trial", ", unfit on trial"};
  static constexpr const char* steps[] = {"accepted", "candidate ready", "confirmed", "cancelled"};
  static constexpr const char* roles[] = {"first", "candidate", "fallback"};
  static constexpr const char* orders[] = {"upgrade", "rollback", "shutdown"};

  std::string text = lives[static_cast<int>(life_)];
  if (company_ == Company::nobody) text += ", alone";
  if (welcomed_) text += std::string(", ") + roles[static_cast<int>(role_)];
  text += trials[static_cast<int>(trial_)];
  if (request_) text += ", upgrade " + *request_ + " requested";
  if (upgrade_) text += ", upgrade " + upgrade_->id + " " + steps[static_cast<int>(upgrade_->step)];
  if (ordered_) text += std::string(", stop for ") + orders[static_cast<int>(*ordered_)];
  if (unsent_) text += ", stopped not sent";
  if (readiness_) text += works_ ? ", works" : ", readiness awaited";
  if (signalled_) text += ", signalled";
  if (gone_) text += ", upgrader gone";
  return text;
}

}  // namespace agent_protocol
