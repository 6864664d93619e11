// This file turns an event of the conversation into the structures of the C interface.
#pragma once

#include <vector>

#include "agent-protocol/agent_protocol.h"
#include "agent-protocol/cpp/session/session.h"

namespace agent_protocol {

// Makes the C structures, and owns the texts and lists that they point to.
class EventView {
 public:
  EventView() = default;
  EventView(const EventView&) = delete;
  EventView& operator=(const EventView&) = delete;

  // Returns the event as a C structure, which is valid until the next call.
  [[nodiscard]] const agent_protocol_event* show(SessionEvent event);

 private:
  void fill(const Welcome& welcome);
  void fill(const Activate& activate);
  void fill(const StopAsked& stop);
  void fill(const Accepted& accepted);
  void fill(const CandidateReady& candidate);
  void fill(const CandidateLost& candidate);
  void fill(const UpgradeFailed& failed);
  void fill(const Committed& committed);
  void fill(const Error& error);
  void fill_failure(const Failure& failure, const char* version);

  SessionEvent event_;
  std::vector<const char*> features_;  // pointers to the names, with a null at the end
  agent_protocol_failure failure_{};
  agent_protocol_event view_{};
};

}  // namespace agent_protocol
