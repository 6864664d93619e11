// The tracer runs an upgrader and its agents under ptrace(2), one process at a time. So every run
// takes the same steps in the same order, and can be halted at any step. The tracer knows system
// calls, but not their meaning in an upgrade, which step.h knows.
//
// `Order` says whether the upgrader or the agents come first. Of the processes that can run, the
// tracer runs the one that comes first, until the next system call of this process begins or ends.
// A process that sleeps in a system call cannot run. The end of this call tells the tracer that the
// process was woken.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <list>
#include <string>

namespace kill_points {

enum class Order { upgrader_first, agents_first };

struct Tracee {
  enum class Is { stopped, running, ended };

  pid_t pid = 0;
  int generation = 0;  // counts the agents in the order of their forks; 0: the upgrader
  Is is = Is::running;
  bool in_call = false;  // a system call of the process has begun and not returned
  int to_inject = 0;     // the signal that the process gets when it is continued, or 0
  bool doomed = false;   // another process has sent SIGKILL to this process
  int status = 0;        // the wait status as from waitpid, once the process has ended
  long call = 0;         // the system call that has begun, or was the last to return
  std::uint64_t args[6]{};
  std::int64_t result = 0;
};

// Returns whether the process is inside a system call, like vfork(), that returns only when the
// child has executed a program. Until then the process cannot be stopped, and of all signals only
// SIGKILL reaches it.
bool awaits_execution(const Tracee& tracee);

struct Stop {
  enum class What { call_begins, call_ends, ended };
  Tracee& who;
  What what;
};

class Tracer {
 public:
  // Makes a tracer. The path of every agent's executable begins with `agent`. A child that executes
  // any other program is the upgrader, and its parent is a wrapper.
  Tracer(Order order, std::string agent) : order_(order), agent_(std::move(agent)) {}
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // Begins to trace a process that has not executed its program yet. From now on the process runs
  // only while run() is called.
  bool seize(pid_t pid);

  // Runs the traced processes one at a time, from stop to stop. Returns true as soon as `halt`
  // returns true for a stop. Returns false when all processes have ended or sleep.
  bool run(const std::function<bool(const Stop&)>& halt);

  // Sends `victim` a signal that ends it, and runs `victim` until it has ended. Calls `watch` for
  // each stop on the way. Returns true if the kernel reports that this signal has ended the
  // process.
  bool end_by(Tracee& victim, int signal, const std::function<void(const Stop&)>& watch);

  // Stops the process by SIGSTOP and detaches from it. Returns true if /proc shows that the process
  // is stopped.
  bool freeze(Tracee& victim);

  // Runs only the processes that come first by `Order`: either the agents, or the upgrader. Returns
  // when these processes wait, because they have handled all events so far.
  void run_first_ones();

  // Detaches from all processes. Detaches immediately from processes that are stopped. From a
  // process that still runs, serve() detaches later, when the process stops.
  void let_go();
  void serve();

  [[nodiscard]] std::list<Tracee>& tracees() { return tracees_; }
  [[nodiscard]] const std::list<Tracee>& tracees() const { return tracees_; }
  // Reads bytes from the memory of a traced process.
  [[nodiscard]] static std::string peek(const Tracee& who, std::uint64_t address, std::size_t size);

 private:
  Tracee* choose();
  static Stop stop_of(Tracee& tracee);
  bool hold_others(const Tracee& exiting);
  // Waits until the traced process is stopped, sleeps or has ended. Returns false if it sleeps.
  bool settle(Tracee& tracee);
  bool take(Tracee& tracee, int status);
  void take_event(Tracee& tracee, int event);
  void take_call(Tracee& tracee);
  void adopt(pid_t pid);
  void doom(pid_t pid);
  void go_on(Tracee& tracee, int request);
  void detach(Tracee& tracee, int signal);

  const Order order_;
  const std::string agent_;
  std::list<Tracee> tracees_;
  int generations_ = 0;
  bool news_ = false;  // true if the last stop was at a system call, or the process has ended
};

}  // namespace kill_points
