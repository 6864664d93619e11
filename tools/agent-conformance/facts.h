// Facts about an agent's processes, as /proc shows them, as plain data.
#pragma once

#include <string>
#include <vector>

namespace conformance {

struct ProcessFacts {
  int pid = 0;
  std::string name;
  bool is_agent = false;      // the process that was started itself, not a descendant of it
  bool sleeps = false;        // the process waits: it neither runs nor waits for a processor
  bool has_executed = false;  // the process has called exec since its fork
  bool has_output = false;    // the process has the pipe for the agent's messages open
  // The process has the variables AGENT_PROTOCOL... in its environment.
  bool has_variables = false;
  bool has_lock = false;             // the process has the upgrader's lock open
  bool lock_on_exec = false;         // programs that the process executes inherit the lock, too
  std::vector<std::string> listens;  // the addresses on which the process listens
};

struct Facts {
  bool alive = false;         // the agent's main process has not ended
  bool input_closed = false;  // no process has the reading end of the agent's input open
  std::vector<ProcessFacts> processes;
};

}  // namespace conformance
