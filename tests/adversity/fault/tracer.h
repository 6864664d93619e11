// Follows the upgrader by ptrace, and each of its children from the fork to the exec. Agents are
// never traced. Makes one call fail, or kills the process that makes the call.
//
// `strace -e inject` would not be enough. The tracer must let go of a child at its exec. It must
// hold the upgrader while an agent dies, so that each run makes the same calls in the same order,
// and the k-th call is the same call in every run. It must report the phase in which the fault
// struck. And it must take only a few milliseconds.
//
// To make a call fail, the tracer gives the kernel a number that no call has. At the return it
// checks that the kernel has answered ENOSYS, and puts the wanted error in its place: the fault has
// fired. Some calls are carried out although they fail: close, and wait4 for a reaped child. For
// these, the tracer replaces the true result. A kill has fired when the kernel reports that SIGKILL
// ended the process at the entry of the call.
//
// The calls of the dynamic loader and of the libraries' constructors are not counted: counting
// begins at main's first call, fcntl(0, F_GETFD).
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/adversity/fault/calls.h"
#include "tests/adversity/fault/swift_time.h"

namespace fault {

inline constexpr const char* kill_fault = "KILL";

// The part of the upgrader's life in which a call was made.
enum class Phase {
  start,    // no agent has been activated yet
  serving,  // an agent is active; an upgrade may be under way
  gap,      // the active agent has been reaped, and the next agent is not active yet
  end       // the upgrader has been told to shut down
};
inline constexpr const char* phase_names[] = {"start", "serving", "gap", "end"};

struct Fault {
  std::string play;
  std::string who;  // "upgrader", or "child1" for the child of its first fork, and so on
  std::string call;
  // The name of an error, or KILL. With `+` behind it, every call from the k-th on fails. With `*`,
  // the k-th call fails, and so does the call that repeats it.
  std::string what;
  int k = 1;

  [[nodiscard]] bool kills() const { return what == kill_fault; }
  [[nodiscard]] bool lasts() const { return what.ends_with('+'); }
  [[nodiscard]] bool is_repeated() const { return what.ends_with('*'); }
  [[nodiscard]] int error() const;
  [[nodiscard]] std::string text() const;  // the members, joined by colons
};

// A call that a run without a fault has made.
struct Call {
  std::string who;
  std::string name;
  int k = 0;
  Phase phase = Phase::start;
  long result = 0;
  [[nodiscard]] bool operator==(const Call& other) const {
    return who == other.who && name == other.name && k == other.k && phase == other.phase;
  }
};

class Tracer {
 public:
  // `agent_started` is called at every exec of a child.
  Tracer(std::optional<Fault> fault, std::function<void(pid_t)> agent_started, bool shows);
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Begins to trace a process that has asked for it and has stopped itself before its exec.
  void follow(pid_t upgrader, std::string log);

  // Handles all stops and ends that the kernel reports. Returns false if there was none.
  bool take_stops();

  [[nodiscard]] pid_t upgrader() const { return upgrader_; }
  [[nodiscard]] bool alive() const { return alive_; }
  // Returns the upgrader's status, as waitpid() gave it. Call it only when the upgrader has ended.
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] bool has_child() const { return tracees_.size() > (alive_ ? 1U : 0U); }
  // Returns whether the upgrader waits for other processes. It does not count as waiting while one
  // of its children is between fork and exec.
  [[nodiscard]] bool at_rest() const;
  // Returns whether the upgrader is at rest, and only an agent or a signal can end its rest.
  [[nodiscard]] bool waits_for_ever() const;

  // Breaks off the upgrader's wait for a deadline. Returns false if it waits for no deadline.
  bool break_off_wait();

  // Keeps the upgrader stopped at its next stop.
  void hold() { hold_ = true; }
  [[nodiscard]] bool held() const { return held_; }
  void release();

  void stop_faults() { faults_over_ = true; }  // ends a fault that makes call after call fail
  void enter_end() { ending_ = true; }         // from now on the phase is `end`
  [[nodiscard]] bool fired() const { return fired_ > 0; }
  [[nodiscard]] int times_fired() const { return fired_; }
  [[nodiscard]] Phase fault_phase() const { return fault_phase_; }
  [[nodiscard]] pid_t active_at_fault() const { return active_at_fault_; }
  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
  // Returns the number of lines that were written to this pipe, the standard input of an agent.
  [[nodiscard]] int lines_sent(const std::string& pipe) const;
  [[nodiscard]] bool has_closed(const std::string& pipe) const { return closed_.contains(pipe); }
  // Returns the ends of this process's children that are not traced, as waitpid gives them: orphans
  // of the upgrader, and processes that the run itself has started.
  [[nodiscard]] const std::map<pid_t, int>& others() const { return others_; }
  // Returns the process that still lives because the upgrader's kill() was made to fail, or 0.
  [[nodiscard]] pid_t spared() const { return fired_ > 0 ? spared_ : 0; }

 private:
  struct Tracee {
    std::string who{};
    bool seen = false;    // the first stop of the process was seen
    bool counts = false;  // calls are counted, from main's first call on
    bool inside = false;  // the process is inside a system call
    RawCall call{};
    std::string name{};
    int k = 0;
    Phase phase = Phase::start;
    bool faulted = false;  // the tracer has made this call fail
    bool to_be_killed = false;
    std::map<std::string, int> counted{};
  };

  void take_stop(pid_t pid, int status);
  [[nodiscard]] Tracee& expect_child(pid_t pid);
  void take_end(pid_t pid, int status);
  void take_call(pid_t pid, Tracee& tracee);
  void enter(pid_t pid, Tracee& tracee);
  void leave(pid_t pid, Tracee& tracee, long result);
  void note_effects(const Tracee& tracee, long result);
  [[nodiscard]] bool is_due(const Tracee& tracee) const;
  void replace_entry(pid_t pid, Tracee& tracee);
  [[nodiscard]] long replace_result(pid_t pid, Tracee& tracee, long result);
  void let_go(pid_t pid);
  void resume(pid_t pid, int signal);
  [[nodiscard]] Phase phase() const;
  void show(const Tracee& tracee, long result, const char* mark) const;

  std::optional<Fault> fault_;
  std::function<void(pid_t)> agent_started_;
  bool shows_;
  std::string log_;
  pid_t upgrader_ = -1;
  bool alive_ = false;
  int status_ = 0;
  std::map<pid_t, Tracee> tracees_;
  std::set<pid_t> known_children_;
  bool hold_ = false;
  bool held_ = false;
  bool faults_over_ = false;
  bool ending_ = false;
  int fired_ = 0;
  Phase fault_phase_ = Phase::start;
  pid_t active_at_fault_ = 0;
  bool activated_ = false;  // an agent of this run has been activated
  pid_t latest_ = 0;        // the child that was the last to execute a program
  pid_t active_ = 0;
  std::vector<Call> calls_;
  std::map<std::string, int> lines_sent_;
  std::set<std::string> closed_;
  std::map<pid_t, int> others_;
  pid_t spared_ = 0;
  SwiftTime time_;
};

// Waits, at most for a moment, until the process has ended, reaped or not.
void await_end(pid_t pid);
[[nodiscard]] bool has_ended(pid_t pid);

}  // namespace fault
