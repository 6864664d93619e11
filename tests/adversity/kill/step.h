// The meaning of a system call in the story of an upgrade, as a name that is the same in every run:
// `after-agent-2-writes-ready`, `before-upgrader-forks`. Knows the lines of the protocol, and
// nothing of what they lead to: see moment.h.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/adversity/kill/tracer.h"

namespace kill_points {

struct Step {
  bool after = false;
  int who = 0;  // a generation; 0: the upgrader
  std::string verb{};
  std::string object{};     // of reads and writes, the types of the messages, by '+'
  std::int64_t result = 0;  // of the call, once it is over

  [[nodiscard]] std::string name() const;
  [[nodiscard]] bool is(int agent, std::string_view deed, std::string_view type) const;
};

// "upgrader" or "agent-N".
std::string actor(int generation);

class Steps {
 public:
  // With `every_call`, steps are all system calls of the upgrader, too.
  Steps(const Tracer& tracer, bool every_call) : tracer_(tracer), every_call_(every_call) {}

  // The step that this stop is, if it is one; and its name, numbered if it has been before.
  std::optional<Step> step_of(const Stop& stop);
  std::string numbered(const Step& step);

 private:
  [[nodiscard]] std::optional<Step> step_of_call(const Stop& stop) const;
  [[nodiscard]] std::optional<Step> step_of_upgrader(const Tracee& who) const;

  [[nodiscard]] std::string actor_of(std::int64_t pid) const;

  const Tracer& tracer_;
  const bool every_call_;
  std::map<std::string, int> seen_;
  std::map<pid_t, std::optional<Step>> begun_;  // by process, what its call was when it began
};

}  // namespace kill_points
