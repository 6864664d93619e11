// The machine on which a simulated upgrader runs: a clock, processes with their two pipes,
// descriptors and signals. The replaced system calls in system_calls.cc connect the real code in
// upgrader/shell with this machine. The machine's time stands still except when the event loop
// waits or is held up (libuv_double.cc).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-protocol/cpp/wire/codec.h"
#include "base/ending.h"
#include "tests/decisions/explore/canonical.h"
#include "tests/together/simulation/operators.h"
#include "tests/together/simulation/random.h"
#include "tests/together/simulation/swarm.h"
#include "upgrader/core/event.h"

namespace upgrader::simulation {

class AgentDouble;
class Machine;

// The message that the upgrader should decode from a line of an agent. The simulated agent knows
// this message, since it writes the line. The judge compares it with the message that the upgrader
// has decoded.
using Meaning = agent_protocol::Decoded<agent_protocol::AgentMessage>;

struct Pipe {
  std::string bytes;
  std::size_t capacity = 65'536;
  bool reader = true;
  bool writer = true;
};

// A child process of the upgrader, as the kernel knows it. For the judge, this object also records
// which lines the process has really written, and which lines the supervisor wanted to send to the
// process.
class Process {
 public:
  enum class Life { running, zombie, reaped };

  struct Spoken {
    std::size_t end = 0;  // where the line ends: an offset in all output of the process
    Meaning meaning;
  };

  struct Order {
    std::string line;
    bool may_be_lost = false;  // true for a reply, which is dropped if the pipe has no room
  };

  Process(Machine& machine, pid_t pid, Generation generation, std::string path);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Puts a line into a buffer of the process, from which push() writes it into the pipe.
  void say(std::string_view line, Meaning meaning);
  void say(const agent_protocol::AgentMessage& message);
  // Writes as many of the buffered bytes as fit into the pipe, at most `bytes_max`.
  void push(std::size_t bytes_max);
  void close_output();
  void close_input();
  void end(Ending how);
  void kill(Duration delay);

  Machine& machine;
  pid_t pid;
  Generation generation;
  std::string path;
  Life life = Life::running;
  Ending ending;
  Pipe input;   // the pipe into which the upgrader writes
  Pipe output;  // the pipe from which the upgrader reads
  std::optional<Time> killed_at;
  bool output_inherited = false;  // true if a child of the process keeps the output open
  std::unique_ptr<AgentDouble> agent;

  std::string outbox;         // bytes of lines that the process has not written yet
  std::size_t said = 0;       // how many bytes say() has put into the outbox so far
  std::size_t written = 0;    // how many bytes push() has written into the pipe so far
  std::deque<Spoken> spoken;  // lines that have not been reported to the supervisor yet
  std::size_t told = 0;       // how many lines have been reported to the supervisor
  // How many lines this process (an agent) had written when the callback of the upgrader's timer
  // last began. If this callback finds that a deadline has passed, it must report these lines to
  // the supervisor before it reports the deadline (rule IO-1 of ARCHITECTURE.md).
  std::size_t held_at_look = 0;
  bool ended_at_look = false;
  std::deque<Order> orders;  // lines that the process has not read yet
  // Signals that the supervisor has ordered and that the code in upgrader/shell has not sent yet.
  std::deque<int> signals_due;
  std::size_t bytes_in_turn = 0;
  int lines_in_turn = 0;
  bool promised = false;   // true if the supervisor has ordered to send `activate`
  bool activated = false;  // true if all of the `activate` is in the agent's pipe
  std::string incoming;    // the line that is being written to the process
  std::size_t taken = 0;   // how many bytes the upgrader has written into the process's input
  // How many bytes the upgrader had written to the process's input when the callback of the
  // upgrader's timer last began; no value if the pipe was full then.
  std::optional<std::size_t> taken_at_look;
  bool owes_word = false;    // true if the agent must still send `healthy`
  bool is_fallback = false;  // true if the process's `welcome` has the role `fallback`
  // True if the upgrader has sent the process the reason why the upgrade failed.
  bool knows_reason = false;
  bool told_to_stop = false;
  std::optional<std::string> stop_id;
  bool confirmed = false;  // true if the process has said `stopped`
  std::optional<std::string> left;
  bool killed = false;    // true if the supervisor has ordered SIGKILL for the process
  bool knows_it = false;  // true if the agent has read its `activate`
  bool buried = false;    // true if the code in upgrader/shell has reported the exit of the process
};

struct Descriptor {
  enum class What { input, output, signals, program, control };
  What what = What::program;
  Process* process = nullptr;
};

class Machine {
 public:
  Machine(const Swarm& its_swarm, std::uint64_t seed);

  // ---- time
  [[nodiscard]] Time now() const { return now_; }
  // Makes the next planned event of the machine happen, such as the exit of a process, if the event
  // comes no later than `limit`. Returns false if there is no such event.
  bool step(Time limit);
  [[nodiscard]] std::optional<Time> next() const;
  void pass_to(Time later) { now_ = std::max(now_, later); }
  // Lets time pass while the upgrader does not run.
  void hold_up(Duration duration);
  // Imitates events that come while the upgrader is inside a system call. In some calls, chosen at
  // random, lets a moment pass, and makes the machine's next event happen if its time has come.
  void jostle();

  // ---- processes
  Process* start(const std::string& path);
  [[nodiscard]] Process* find(pid_t pid) const;
  [[nodiscard]] Process* of(Generation generation) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Process>>& processes() const {
    return processes_;
  }
  Generation next_generation = 1;  // the generation that the next start must have

  // ---- descriptors and signals
  int open(Descriptor descriptor);
  bool close(int fd);
  [[nodiscard]] const Descriptor* at(int fd) const;
  [[nodiscard]] std::size_t open_count(Descriptor::What what) const;
  [[nodiscard]] bool readable(int fd) const;
  [[nodiscard]] bool writable(int fd) const;
  void raise(int signal) { pending_signals_ |= 1ULL << static_cast<unsigned>(signal); }
  void schedule(Time at, int signal) { scheduled_.push_back({at, signal}); }
  void unschedule() { scheduled_.clear(); }
  // Returns true if init's socket is full. For a while init reads its socket, then for an equally
  // long while it does not, and so on.
  [[nodiscard]] bool init_is_full() const {
    return !calm && swarm.init_reads > Duration(0) &&
           now_.count() / swarm.init_reads.count() % 2 == 1;
  }
  // Returns the next pending signal, or 0.
  int take_signal();

  Random random;
  const Swarm& swarm;
  Operators operators{*this};
  bool calm = false;          // true at the end of a run, when no more faults happen
  bool lock_is_free = false;  // true if no other process holds the lock of --lock any more
  // The outcomes that a guide (guide.h) wants for the next actions, in their order.
  std::deque<test::EventClass> outcomes;

 private:
  struct ScheduledSignal {
    Time at;
    int signal;
  };

  Time now_{1'000'000};
  pid_t next_pid_ = 100;
  int next_fd_ = first_fd;
  std::vector<std::unique_ptr<Process>> processes_;
  std::map<int, Descriptor> descriptors_;
  std::vector<ScheduledSignal> scheduled_;
  std::uint64_t pending_signals_ = 0;

 public:
  // The lowest simulated descriptor. Real descriptors have smaller numbers.
  static constexpr int first_fd = 1'000'000;
};

// The machine on which the system calls of the code in upgrader/shell act; null outside a run.
extern Machine* the_machine;

}  // namespace upgrader::simulation
