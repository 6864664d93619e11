// An agent from outside: its processes, as /proc shows them. Plain data.
#pragma once

#include <string>
#include <vector>

namespace conformance {

struct ProcessFacts {
  int pid = 0;
  std::string name;
  bool is_agent = false;       // the process that was started, not one of its descendants
  bool sleeps = false;         // waits for something: neither runs nor is about to
  bool has_executed = false;   // it runs a program of its own, and is no mere fork of the agent
  bool has_output = false;     // holds the pipe on which the agent speaks
  bool has_variables = false;  // its environment has AGENT_PROTOCOL...
  bool has_lock = false;       // holds the descriptor of the lock
  bool lock_on_exec = false;   // and that one is not marked close-on-exec
  std::vector<std::string> listens;  // addresses
};

struct Facts {
  bool alive = false;         // the agent's process has not ended
  bool input_closed = false;  // nobody reads the agent's input
  std::vector<ProcessFacts> processes;
};

}  // namespace conformance
