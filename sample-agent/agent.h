// The sample agent: talks to the upgrader, and lets the copier work while this agent is active.
// libagent-protocol reports events, and the class SampleAgent passes them to the other classes.
#pragma once

#include <unistd.h>
#include <uv.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <agent-releases/follower.h>

#include "agent-protocol/agent.h"
#include "sample-agent/configuration.h"
#include "sample-agent/copier.h"
#include "sample-agent/file.h"
#include "sample-agent/handle.h"

namespace sample_agent {

// The agent's own record of its events, one line for each event: "MICROSECONDS PID VERSION EVENT
// ...". It shows whether two agents were ever active at the same time, independently of the
// upgrader.
class EventLog {
 public:
  // Opens the event log at `path`. If `path` is empty, no events are written.
  EventLog(const std::string& path, std::string version);

  // Writes an event in one write(2), so that several agents can share the file. An event that
  // cannot be written is dropped.
  void note(std::string_view event);

 private:
  std::optional<File> file_;
  std::string version_;
};

// The gate of an upgrade: a candidate that is ready waits until an operator makes the file
// `confirm`. The agent removes that file when it finds it, so one file confirms only one upgrade.
class Gate {
 public:
  explicit Gate(const std::string& directory) : path_(directory + "/confirm") {}

  // Returns true if the operator has made the file `confirm`, and removes that file.
  [[nodiscard]] bool take_opening() const { return unlink(path_.c_str()) == 0; }

  // Removes a file `confirm` that is left from an earlier upgrade.
  void close() const { unlink(path_.c_str()); }

 private:
  std::string path_;
};

class SampleAgent {
 public:
  using Agent = agent_protocol::Agent;

  // Makes the agent. `arguments` are the arguments of the command line, from which `configuration`
  // was parsed. The agent starts the self-test of a new release with the same arguments.
  SampleAgent(uv_loop_t& loop, const Configuration& configuration,
              std::vector<std::string> arguments, Agent agent);

  // Runs until the agent must exit, and returns the exit status.
  [[nodiscard]] int run();

 private:
  void take_events();
  void on(const Agent::Welcome& welcome);
  void on(const Agent::Activate& activate);
  void on(const Agent::Stop& stop);
  void on(const Agent::Accepted& accepted);
  void on(const Agent::CandidateReady& candidate);
  void on(const Agent::CandidateLost& candidate);
  void on(const Agent::UpgradeFailed& failed);
  void on(const Agent::Committed& committed);
  void on(const Agent::Error& error);

  void start_heartbeats();
  void start_work();
  void settle();
  void follow_releases();
  [[nodiscard]] bool ask(const std::string& id, const std::string& executable);
  void work();
  void save();
  void look_at_gate();
  void finish_stop();
  void report(const std::string& text);
  void fail(const std::string& reason);

  uv_loop_t& loop_;
  Configuration configuration_;
  std::vector<std::string> arguments_;
  Agent agent_;
  EventLog events_;
  Gate gate_;
  int exit_status_ = 0;

  Agent::Role role_ = Agent::Role::first;
  // The interval within which the upgrader expects a heartbeat (`watchdog_ms` of `welcome`); absent
  // if it expects none.
  std::optional<Agent::Milliseconds> watchdog_;
  std::optional<Agent::Failure> past_failure_;
  std::optional<Copier> copier_;  // copies the lines of the log; exists while this agent is active
  bool on_trial_ = false;
  bool vouched_ = false;             // true if this agent has said `healthy`
  std::optional<Agent::Stop> stop_;  // the last `stop`, unless this agent has cancelled it since
  // the id of the upgrade that waits for the operator's confirmation
  std::optional<std::string> waiting_;
  std::optional<agent_releases::Follower> follower_;

  Timer work_timer_;
  Timer save_timer_;
  Timer tick_;
  Timer heartbeat_timer_;
  Timer stop_timer_;
  Timer rotate_timer_;  // fires when the agent may leave a rotated file for the next file
  std::optional<DirectoryWatch> input_watch_;
  std::optional<Readable> conversation_;
  std::optional<Readable> releases_;
};

}  // namespace sample_agent
