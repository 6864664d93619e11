// The agent's own record of its events, one line each: "MICROSECONDS PID VERSION EVENT ...". Tests
// see in it whether two agents were ever active at once, without relying on the upgrader.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sample-agent/file.h"

namespace sample_agent {

class EventLog {
 public:
  // If the path is empty, nothing is written.
  EventLog(const std::string& path, std::string version);

  // Writes an event in one write, so that several agents can share the file. If an event cannot be
  // written, it is lost.
  void note(std::string_view event);

 private:
  std::optional<File> file_;
  std::string version_;
};

}  // namespace sample_agent
