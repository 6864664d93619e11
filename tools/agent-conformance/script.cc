#include "tools/agent-conformance/script.h"

#include <csignal>
#include <cstring>

namespace conformance {
namespace {

std::string cancel_out_of_turn(const Life& life, const Said& said) {
  if (!life.told_stop || life.upgrade.empty()) return "there is no upgrade to cancel";
  if (said.id == life.upgrade) return {};
  return "the upgrade is " + life.upgrade + ", and not " + said.id.value_or("");
}

std::string stopped_out_of_turn(const Life& life) {
  if (life.told_stop || life.hung_up || life.signalled) return {};
  return life.said_cancel ? "it has cancelled its stop" : "it was not told to stop";
}

std::string active_word_out_of_turn(const Life& life) {
  return life.told_activate ? "" : "it is not active";
}

}  // namespace

std::string out_of_turn(const Life& life, const Said& said) {
  const std::string& type = said.type;
  if (type == "hello") return life.said_hello ? "it has said hello before" : "";
  if (!life.said_hello) return "it has not said hello";
  if (type == "ready") {
    if (life.told_activate) return "it is active already";
    return life.said_ready ? "it has said ready before" : "";
  }
  if (type == "unfit") {
    return life.is_held() || life.is_on_trial() ? "" : "it is active, and not on trial";
  }
  if (type == "upgrade" || type == "heartbeat") return active_word_out_of_turn(life);
  if (type == "confirm") return "there is no candidate behind a gate";
  if (type == "cancel") return cancel_out_of_turn(life, said);
  if (type == "stopped") return stopped_out_of_turn(life);
  if (type == "healthy") {
    if (life.is_held()) return "it is not active";
    return life.is_on_trial() || life.wants_readiness ? "" : "it is not on trial";
  }
  if (type == "extend") {
    if (life.is_held()) return life.said_ready ? "it is ready, and was not told to stop" : "";
    return life.told_stop ? "" : "it was not told to stop";
  }
  return {};
}

void take(Life& life, const Said& said, Time now) {
  if (said.type == "hello") {
    life.said_hello = true;
    life.version = said.version;
    life.wants_readiness = said.readiness;
  } else if (said.type == "ready") {
    life.said_ready = true;
  } else if (said.type == "unfit") {
    life.unfit = said.reason;
  } else if (said.type == "heartbeat") {
    life.heartbeats.push_back(now);
  } else if (said.type == "extend") {
    life.extended = Duration(said.ms);
    life.extended_at = now;
  } else if (said.type == "stopped") {
    life.said_stopped = true;
    life.stopped_at = now;
    life.state = said.state;
  } else if (said.type == "cancel") {
    life.said_cancel = true;
    life.told_stop = false;
  }
}

std::string end_in_words(const Exited& exited) {
  if (exited.signal == 0) return "exited with status " + std::to_string(exited.status);
  const char* const name = ::sigabbrev_np(exited.signal);
  return "was killed by signal " + std::to_string(exited.signal) +
         (name != nullptr ? " (SIG" + std::string(name) + ")" : "");
}

}  // namespace conformance
