// The agents that run: their processes and pipes. This code turns messages and exits of agents into
// events, and the supervisor's actions for agents into lines and signals. It knows pids, and does
// not know what an event means.
#pragma once

#include <sys/types.h>
#include <uv.h>

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "agent-protocol/cpp/wire/message.h"
#include "base/process.h"
#include "base/program.h"
#include "upgrader/core/event.h"
#include "upgrader/shell/channel.h"

namespace upgrader {

class Logbook;

// The most lines of one agent that are handled in one turn of the loop.
inline constexpr int lines_a_turn = 32;
// The most orphans (children that are not agents) that are reaped in one turn of the loop.
inline constexpr int strangers_a_turn = 256;
// Agents' messages are read before the supervisor gets a passed deadline or an exit. At most this
// many bytes, the default size of a pipe, are then read from each agent. So an agent that enlarges
// its pipe and fills it cannot delay the other agents for long.
inline constexpr std::size_t look_bytes_max = 65'536;
// The most bytes that are read of an agent's output after the agent has exited: the largest size
// that an agent without privileges can give a pipe. These bytes are read in several turns of the
// loop; then the exit is reported.
inline constexpr std::size_t last_words_bytes_max = 1'048'576;

class Agents {
 public:
  // The function that gets each event as it happens. It may call start(), send() and signal() of
  // this object.
  using Sink = std::function<void(Event)>;
  // Called once after all events of a turn of the event loop.
  using TurnOver = std::function<void()>;

  // Messages to and from agents are written to `log` at the level debug. `log` may be null.
  Agents(uv_loop_t* loop, ChildSetting setting, Sink sink, TurnOver turn_over,
         Logbook* log = nullptr);

  // Starts a process and begins to listen to it. After a success, the other functions find the
  // process by its generation. After a failure, no process and no open descriptor is left.
  [[nodiscard]] std::optional<StartFailed> start(Generation generation, const Program& program);
  // Returns the agent's pid, or -1 once the agent has been reaped.
  [[nodiscard]] pid_t pid_of(Generation generation) const;

  // Sends a message, or drops it if the agent has been reaped. Returns whether the message was
  // written, waits because the pipe is full, or is lost. If an `activate` waits, ActivateWritten
  // follows when it has been written whole.
  Sent send(Generation generation, const agent_protocol::UpgraderMessage& message);
  void close_input(Generation generation);
  // Sends a signal. Returns 0 or an errno value.
  [[nodiscard]] int signal(Generation generation, int signal_number);

  // Returns the number of bytes of an agent's output that nobody has read yet.
  [[nodiscard]] std::size_t unread(Generation generation) const;

  // Reaps all agents that have ended, handles the lines that they have left in their pipes, and
  // then reports their exits. If an agent has left more than `look_bytes_max` bytes, its exit is
  // reported some turns of the loop later.
  void reap_exits();
  // Reaps ended children that were never agents: orphans that this process inherits as process 1 or
  // as a subreaper, and children that the process had before it executed the upgrader. Must be
  // called after reap_exits().
  void reap_strangers();
  // Reports the exits of agents, and handles the messages that are in the pipes of living agents.
  // Must be called before the supervisor gets a passed deadline, since a message may have come in
  // time. `late` lists the agents whose deadline has passed. If one of them has exited, all its
  // messages and its exit are reported now, not some turns of the loop later. A living agent that
  // leaves too many replies unread is skipped, unless it is in `late`.
  void read_everything(const std::vector<Generation>& late);

 private:
  struct Running {
    Generation generation;
    pid_t pid;
    Channel channel;
    // Set when the process has been reaped. From then on `pid` must not be used, since the kernel
    // may give it to another process.
    std::optional<Ending> ending{};
    // The number of bytes that the agent wrote before it was reaped and that are still unread.
    std::size_t last_words = 0;
    // Set while an `activate` waits: the number that channel.written() reaches when the `activate`
    // has been written whole.
    std::optional<std::uint64_t> activate_end{};
  };

  void show(Generation generation, std::string_view does, std::string_view line);
  [[nodiscard]] Running* find(Generation generation) const;
  [[nodiscard]] bool is_agent(pid_t pid) const;
  void on_readable(Generation generation);
  void on_writable(Generation generation);
  void on_backlog();
  void start_backlog();
  void flush(Running& agent);
  void tell_activate_written(Running& agent);

  void pass_lines(Running& agent);
  void pass_line(Running& agent, const agent_protocol::Line& line);
  void end_output(Running& agent);
  struct Budget {
    std::size_t bytes;
    int lines = std::numeric_limits<int>::max();
  };
  void look_for_end(Running& agent);
  void bury_the_dead(const Budget& budget);
  [[nodiscard]] bool read_lines(Running& agent, std::size_t& unread, Budget budget);
  void bury(Running& agent);
  void watch_as_fits(Running& agent);
  [[nodiscard]] static bool must_read_replies_first(const Running& agent) {
    return agent.channel.unsent() > unsent_pause_bytes;
  }

  uv_loop_t* loop_;
  ChildSetting setting_;
  Sink sink_;
  TurnOver turn_over_;
  Logbook* log_;
  // active while lines or exits are left over from an earlier turn of the loop
  UvHandle<uv_idle_t> backlog_;
  bool strangers_left_ = false;
  // The agents whose exit has not been reported yet, the newest last. A loop over this list that
  // reports events must use an index: the handler of an event may start an agent, which is
  // appended. Only bury() removes agents.
  std::vector<std::unique_ptr<Running>> running_;
};

}  // namespace upgrader
