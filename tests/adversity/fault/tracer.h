// Follows the upgrader by ptrace, and each of its children from the fork to the exec, where it lets
// go: agents are never traced. Makes one call fail, or kills the caller at it.
//
// Why our own and not `strace -e inject`: it must let go of a child at its exec, hold the upgrader
// while an agent dies (so that each run makes the same calls in the same order, and the k-th is
// always the same one), tell the phase that the fault fell into, and take a few milliseconds.
//
// A call is made to fail by giving the kernel a number that no call has; at its return the kernel's
// ENOSYS is seen to be there, the error is put in its place and read back: then it has fired. An
// error that comes after the deed (close, a reaped child) is put in the place of the true result. A
// kill has fired when the kernel says that the process was ended by SIGKILL while it was held at
// the entry of that call.
//
// The calls of the dynamic loader and of the libraries' constructors are left out: main's first is
// fcntl(0, F_GETFD), and there the counting begins.
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

// The part of its life in which the upgrader made a call.
enum class Phase {
  start,    // no agent has been activated yet
  serving,  // one is active, an upgrade may be under way
  gap,      // the active one has been reaped, the next is not active yet
  end       // it was told to shut down
};
inline constexpr const char* phase_names[] = {"start", "serving", "gap", "end"};

struct Fault {
  std::string play;
  std::string who;  // "upgrader", or "child1" for the child of its first fork, and so on
  std::string call;
  // An error's name, or KILL; `+` behind it: every call from the k-th on; `*`: its repetition, too.
  std::string what;
  int k = 1;

  [[nodiscard]] bool kills() const { return what == kill_fault; }
  [[nodiscard]] bool lasts() const { return what.ends_with('+'); }
  [[nodiscard]] bool is_repeated() const { return what.ends_with('*'); }
  [[nodiscard]] int error() const;
  [[nodiscard]] std::string text() const;  // PLAY:WHO:CALL:WHAT:K
};

// A call that was made, as the plan of faults needs it.
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
  // `agent_started` is told of every exec of a child; `log` is what the log leads to.
  Tracer(std::optional<Fault> fault, std::function<void(pid_t)> agent_started, bool shows);
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Takes a process that has asked to be traced and stopped itself before its exec.
  void follow(pid_t upgrader, std::string log);

  // Takes in what the kernel has to tell of anybody. False if there was nothing.
  bool take_stops();

  [[nodiscard]] pid_t upgrader() const { return upgrader_; }
  [[nodiscard]] bool alive() const { return alive_; }
  [[nodiscard]] int status() const { return status_; }  // as waitpid gives it, once it is dead
  [[nodiscard]] bool has_child() const { return tracees_.size() > (alive_ ? 1U : 0U); }
  // It waits for somebody, and none of its children is on its way.
  [[nodiscard]] bool at_rest() const;
  // And nothing but an agent or a signal would end that.
  [[nodiscard]] bool waits_for_ever() const;

  // It does not wait any longer for what comes by itself. False if it waits for nothing else.
  bool break_off_wait();

  // It is not to go on from the next stop it comes to.
  void hold() { hold_ = true; }
  [[nodiscard]] bool held() const { return held_; }
  void release();

  void stop_faults() { faults_over_ = true; }  // of those that last
  void enter_end() { ending_ = true; }         // from here on, Phase::end
  [[nodiscard]] bool fired() const { return fired_ > 0; }
  [[nodiscard]] int times_fired() const { return fired_; }
  [[nodiscard]] Phase fault_phase() const { return fault_phase_; }
  [[nodiscard]] pid_t active_at_fault() const { return active_at_fault_; }
  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
  // Lines that went into the pipe that is this process's standard input.
  [[nodiscard]] int lines_sent(const std::string& pipe) const;
  [[nodiscard]] bool has_closed(const std::string& pipe) const { return closed_.contains(pipe); }
  // The ends of children of ours that are no tracees, as waitpid gives them: orphans, or whom the
  // run has started itself.
  [[nodiscard]] const std::map<pid_t, int>& others() const { return others_; }
  // The process that a kill spared when it was made to fail; 0 if there is none.
  [[nodiscard]] pid_t spared() const { return fired_ > 0 ? spared_ : 0; }

 private:
  struct Tracee {
    std::string who{};
    bool seen = false;    // its first stop was
    bool counts = false;  // from main's first call on
    bool inside = false;  // a call: its entry was seen, and not yet its return
    RawCall call{};
    std::string name{};
    int k = 0;
    Phase phase = Phase::start;
    bool faulted = false;  // this call is to fail
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
  bool activated_ = false;  // anybody, ever
  pid_t latest_ = 0;        // the child that was executed last
  pid_t active_ = 0;
  std::vector<Call> calls_;
  std::map<std::string, int> lines_sent_;
  std::set<std::string> closed_;
  std::map<pid_t, int> others_;
  pid_t spared_ = 0;
  SwiftTime time_;
};

// Waits, for a moment at most, until that process has ended, reaped or not.
void await_end(pid_t pid);
[[nodiscard]] bool has_ended(pid_t pid);

}  // namespace fault
