// Steps are the system calls that matter in an upgrade. Each step has a name that is the same in
// every run, such as `after-agent-2-writes-ready` and `before-upgrader-forks`. This file knows the
// messages of the protocol, but not their effects, which story.h knows.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/adversity/kill/tracer.h"

namespace kill_points {

struct Step {
  bool after = false;
  int who = 0;  // the agent's generation, or 0 for the upgrader
  std::string verb{};
  // If the verb is "reads" or "writes": the types of the messages that were read or written, joined
  // by '+'.
  std::string object{};
  std::int64_t result = 0;  // the result of the system call, once it has returned

  [[nodiscard]] std::string name() const;
  [[nodiscard]] bool is(int agent, std::string_view deed, std::string_view type) const;
};

// Returns "upgrader" or "agent-N".
std::string actor(int generation);

class Steps {
 public:
  // If `every_call` is true, every system call of the upgrader is a step. Otherwise, only those
  // system calls are steps that have a meaning in an upgrade.
  Steps(const Tracer& tracer, bool every_call) : tracer_(tracer), every_call_(every_call) {}

  // Returns the step that a traced process takes at this ptrace stop, or no value if the stop is
  // not a step.
  std::optional<Step> step_of(const Stop& stop);
  // Returns the name of the step. If a step of the same name has occurred before, a number follows
  // the name.
  std::string numbered(const Step& step);

 private:
  [[nodiscard]] std::optional<Step> step_of_call(const Stop& stop) const;
  [[nodiscard]] std::optional<Step> step_of_upgrader(const Tracee& who) const;

  [[nodiscard]] std::string actor_of(std::int64_t pid) const;

  const Tracer& tracer_;
  const bool every_call_;
  std::map<std::string, int> seen_;
  // For each process inside a system call: the step that this call is, or no value if the call is
  // not a step.
  std::map<pid_t, std::optional<Step>> begun_;
};

}  // namespace kill_points
