// The agent's own account of its life, one line an event: "MICROSECONDS PID VERSION EVENT ...".
// From it, and from nobody's word, it can be judged whether two agents were ever active at once.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sample-agent/file.h"

namespace sample_agent {

class EventLog {
 public:
  // Without a path nothing is written.
  EventLog(const std::string& path, std::string version);

  // In one write, so that agents can share the file. A lost event costs nothing but itself.
  void note(std::string_view event);

 private:
  std::optional<File> file_;
  std::string version_;
};

}  // namespace sample_agent
