// The machine that an upgrader runs on, simulated: a clock, processes with their two pipes,
// descriptors and signals. The real shell reaches it by the calls of system_calls.cc. Nothing in it
// moves by itself: time passes when the event loop waits, or is held up (libuv_double.cc).
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

// How a line should be understood.
using Meaning = agent_protocol::Decoded<agent_protocol::AgentMessage>;

struct Pipe {
  std::string bytes;
  std::size_t capacity = 65'536;
  bool reader = true;
  bool writer = true;
};

// A process that has been started for the upgrader, as the kernel knows it; and beside that the
// truth about what it said and was to be told, for the judge.
class Process {
 public:
  enum class Life { running, zombie, reaped };

  struct Spoken {
    std::size_t end = 0;  // of its bytes among all that the process says
    Meaning meaning;
  };

  struct Order {
    std::string line;
    bool may_be_lost = false;  // a reply, to one that does not read
  };

  Process(Machine& machine, pid_t pid, Generation generation, std::string path);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // Says a line: its bytes lie in a buffer of the process until push() writes them.
  void say(std::string_view line, Meaning meaning);
  void say(const agent_protocol::AgentMessage& message);
  // Writes at most so many bytes as the pipe takes.
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
  Pipe input;   // the upgrader writes
  Pipe output;  // the upgrader reads
  std::optional<Time> killed_at;
  bool output_inherited = false;  // a grandchild keeps it open
  std::unique_ptr<AgentDouble> agent;

  std::string outbox;            // said, not written
  std::size_t said = 0;          // bytes
  std::size_t written = 0;       // of these
  std::deque<Spoken> spoken;     // not yet told to the supervisor
  std::size_t told = 0;          // lines told to the supervisor
  std::size_t held_at_look = 0;  // lines that it had written when the shell began to look
  bool ended_at_look = false;
  std::deque<Order> orders;     // not yet read by it
  std::deque<int> signals_due;  // ordered, not yet sent
  std::size_t bytes_in_turn = 0;
  int lines_in_turn = 0;
  bool promised = false;                     // `activate` was ordered
  bool activated = false;                    // and is whole in the pipe
  std::string incoming;                      // the line that is being written to it
  std::size_t taken = 0;                     // bytes that its input took
  std::optional<std::size_t> taken_at_look;  // by then, if there was room for more
  bool owes_word = false;     // its hello has the feature readiness, and it has not said healthy
  bool is_fallback = false;   // it was welcomed as one,
  bool knows_reason = false;  // and has been told what had failed
  bool told_to_stop = false;
  std::optional<std::string> stop_id;
  bool confirmed = false;  // its stop
  std::optional<std::string> left;
  bool killed = false;    // that was ordered
  bool knows_it = false;  // and it has read that
  bool buried = false;    // its exit has been told
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
  // What the machine does next by itself, if that is not later than `limit`. False: nothing.
  bool step(Time limit);
  [[nodiscard]] std::optional<Time> next() const;
  void pass_to(Time later) { now_ = std::max(now_, later); }
  // The upgrader is not scheduled for so long.
  void hold_up(Duration duration);
  // Something may happen while the upgrader is inside a system call.
  void jostle();

  // ---- processes
  Process* start(const std::string& path);
  [[nodiscard]] Process* find(pid_t pid) const;
  [[nodiscard]] Process* of(Generation generation) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Process>>& processes() const {
    return processes_;
  }
  Generation next_generation = 1;  // that the supervisor has ordered

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
  // Init reads its socket, or leaves it full for some time.
  [[nodiscard]] bool init_is_full() const {
    return !calm && swarm.init_reads > Duration(0) &&
           now_.count() / swarm.init_reads.count() % 2 == 1;
  }
  // The next pending signal, or 0.
  int take_signal();

  Random random;
  const Swarm& swarm;
  Operators operators{*this};
  bool calm = false;                      // nothing goes wrong any more
  bool lock_is_free = false;              // whatever the swarm says
  std::deque<test::EventClass> outcomes;  // that a guide wants, in order; then all goes well

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
  // Lower ones are the real machine's.
  static constexpr int first_fd = 1'000'000;
};

// The one that the calls of the shell reach; null outside a run.
extern Machine* the_machine;

}  // namespace upgrader::simulation
