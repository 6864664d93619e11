// The tracer follows the upgrader with ptrace, and each of the upgrader's children from the fork to
// the exec. It never traces agents. The tracer makes one system call fail, or kills the process
// that makes this call. It also gives the upgrader a simulated clock.
//
// `strace -e inject` would not be enough, for these reasons:
// * The tracer must detach from a child at its exec.
// * The upgrader must stay stopped while an agent dies. Otherwise runs would differ in the order of
//   their calls, and the k-th call would not be the same call in every run.
// * The tracer must report the phase in which the fault struck.
// * The tracer may cost only a few milliseconds per run.
//
// To make a call fail, the tracer replaces the call's number by a number that no call has. When the
// kernel has answered ENOSYS, the tracer replaces ENOSYS by the wanted error: now the fault has
// fired. `close`, and `wait4` for a reaped child, have an effect although they fail. So the tracer
// lets the kernel carry out these calls, and then replaces their results. A kill has fired when the
// kernel reports that SIGKILL ended the process at the entry of the call.
//
// The calls of the dynamic loader and of the libraries' constructors are not counted: counting
// begins at the first call of main(), which is fcntl(0, F_GETFD).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/adversity/fault/calls.h"

namespace fault {

inline constexpr const char* kill_fault = "KILL";

// The phase of the run in which a call was made.
enum class Phase {
  start,    // no agent has been activated yet
  serving,  // an agent is active; an upgrade may be under way
  gap,      // the active agent has been reaped, and the next agent is not active yet
  end       // the upgrader has been told to shut down
};
inline constexpr const char* phase_names[] = {"start", "serving", "gap", "end"};

struct Fault {
  std::string play;
  // The caller: "upgrader", or "child1" for the child of the first fork, and so on.
  std::string who;
  std::string call;
  // The fault, in one of these forms:
  // * EIO, for example: the k-th call fails with this error.
  // * KILL: the caller is killed at the entry of the k-th call.
  // * EIO+: all later calls of this name fail, too, until stop_faults() is called. If the call
  //   needs memory or descriptors, all later calls that need the same resource fail.
  // * EIO*: the caller's next call of this name, which repeats the failed call, fails, too.
  std::string what;
  int k = 1;

  [[nodiscard]] bool kills() const { return what == kill_fault; }
  [[nodiscard]] bool lasts() const { return what.ends_with('+'); }
  [[nodiscard]] bool is_repeated() const { return what.ends_with('*'); }
  [[nodiscard]] int error() const;
  [[nodiscard]] std::string text() const;  // joins all members with colons
};

// A system call of the upgrader or a child, as recorded in a run without a fault.
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

// A simulated clock for a traced process. With this clock, every run makes the same calls, however
// fast the machine is. The process also need not wait in real time for its own deadlines, such as
// the tenth of a second between two writes of status.json.
//
// The clock that the process could read without a system call (the vDSO) is hidden. So the process
// asks the kernel for the time, and the tracer replaces the answer. Each wait moves the simulated
// clock on by half a second; otherwise the clock stands still. A wait for a tenth of a second or
// less ends immediately, and a longer wait ends when an event comes. If no other process will act
// before the end of a wait, the tracer breaks off the wait, and moves the clock on by its whole
// length.
class SwiftTime {
 public:
  // Hides the clock that the process could read without a system call (the vDSO). Must be called
  // right after the exec of the traced process.
  static void hide_other_clocks(pid_t pid);

  // Returns whether the system call asks for the time.
  [[nodiscard]] static bool is_question(const RawCall& call);
  // Must be called at the entry of every system call. If the call is a wait, moves the simulated
  // clock, and replaces the wait's time limit until leave().
  void enter(const RawCall& call);
  // Ends the wait that has just begun if it would last at most `most_ms` milliseconds, and returns
  // true. Otherwise returns false.
  bool break_off(const RawCall& call, int most_ms);
  // Must be called at the return of every system call. If enter() has replaced the time limit,
  // restores it. If the call asks for the monotonic time, replaces the answer by the simulated
  // time.
  void leave(const RawCall& call);

 private:
  std::int64_t started_ns_ = 0;  // the kernel's clock when the process first asked for the time
  std::int64_t waited_ms_ = 0;
  // True if enter() has changed the time limit of the current system call, so that leave() must
  // restore it.
  bool changed_ = false;
  bool broken_off_ = false;
};

class Tracer {
 public:
  // Makes a tracer that injects the fault, if there is one. Whenever a child of the upgrader has
  // executed an agent's program, calls `agent_started` with the child's pid. If `shows` is true,
  // prints the trace.
  Tracer(std::optional<Fault> fault, std::function<void(pid_t)> agent_started, bool shows);
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Begins to trace the upgrader. Before its exec, the upgrader's process must have called
  // PTRACE_TRACEME and stopped itself.
  void follow(pid_t upgrader, std::string log);

  // Handles all stops and exits of traced processes that the kernel reports. Returns false if the
  // kernel reports none.
  bool take_stops();

  [[nodiscard]] pid_t upgrader() const { return upgrader_; }
  [[nodiscard]] bool alive() const { return alive_; }
  // Returns the upgrader's status, as from waitpid(). Must be called only when the upgrader has
  // ended.
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] bool has_child() const { return tracees_.size() > (alive_ ? 1U : 0U); }
  // Returns whether the upgrader waits for other processes. While one of its children is between
  // fork and exec, the upgrader does not count as waiting.
  [[nodiscard]] bool at_rest() const;
  // Returns whether the upgrader's current wait has no time limit, or only the long time limit of a
  // trial. Must be called only while the upgrader is at rest.
  [[nodiscard]] bool waits_for_ever() const;

  // Ends the upgrader's wait for a deadline immediately. Returns false if the upgrader does not
  // wait for a deadline.
  bool break_off_wait();

  // Makes the upgrader stay stopped when its next system call begins or ends, until release() is
  // called.
  void hold() { hold_ = true; }
  [[nodiscard]] bool held() const { return held_; }
  void release();

  void stop_faults() { faults_over_ = true; }  // lets calls succeed from now on
  void enter_end() { ending_ = true; }         // begins Phase::end
  [[nodiscard]] bool fired() const { return fired_ > 0; }
  [[nodiscard]] int times_fired() const { return fired_; }
  [[nodiscard]] Phase fault_phase() const { return fault_phase_; }
  [[nodiscard]] pid_t active_at_fault() const { return active_at_fault_; }
  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
  // Returns the number of lines that the upgrader has written to this pipe, an agent's standard
  // input.
  [[nodiscard]] int lines_sent(const std::string& pipe) const;
  [[nodiscard]] bool has_closed(const std::string& pipe) const { return closed_.contains(pipe); }
  // Returns the wait statuses, by pid, of those children of the test that are not traced: orphans
  // of the upgrader, and processes that the run itself has started.
  [[nodiscard]] const std::map<pid_t, int>& others() const { return others_; }
  // Returns the process that is still alive because the fault made the upgrader's kill() fail, or
  // 0.
  [[nodiscard]] pid_t spared() const { return fired_ > 0 ? spared_ : 0; }

 private:
  struct Tracee {
    std::string who{};
    bool seen = false;    // the process has stopped for the first time
    bool counts = false;  // main has begun, so the process's calls are counted
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
  pid_t latest_ = 0;        // the process id of the last child that has executed a program
  pid_t active_ = 0;
  std::vector<Call> calls_;
  std::map<std::string, int> lines_sent_;
  std::set<std::string> closed_;
  std::map<pid_t, int> others_;
  pid_t spared_ = 0;
  SwiftTime time_;
};

// Waits up to five seconds until the process has exited. A zombie counts as exited.
void await_end(pid_t pid);
[[nodiscard]] bool has_ended(pid_t pid);

}  // namespace fault
