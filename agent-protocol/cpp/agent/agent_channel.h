// The agent's two pipes. The class `Channel` writes lines and reads messages, and does not
// interpret them. It never sets O_NONBLOCK, since other processes that hold a pipe share that flag.
// Instead, it polls a pipe before each read and write, and writes only as many bytes as the pipe
// certainly has room for.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "agent-protocol/cpp/agent/agent_descriptor.h"
#include "agent-protocol/cpp/wire/line_reader.h"
#include "agent-protocol/cpp/wire/message.h"

namespace agent_protocol {

// The two pipes to and from the upgrader, which are descriptors 0 and 1 at the start. The functions
// below hide three things from the program, or at least from programs that it starts: these pipes,
// the descriptor of the upgrader's lock, and the upgrader's environment variables.
struct Pipes {
  Descriptor input;
  Descriptor output;
};

// Returns true if an upgrader has started this process.
[[nodiscard]] bool upgrader_is_there();

// Makes private copies of descriptors 0 and 1. Then replaces 0 by /dev/null, and 1 by a copy of 2
// (of /dev/null if 2 is closed). After a failure, returns nullopt and sets errno, and descriptors 0
// and 1 are as before.
[[nodiscard]] std::optional<Pipes> take_pipes();

// Puts the pipes back as descriptors 0 and 1.
void give_back(const Pipes& pipes);

// Makes the descriptor of the upgrader's lock, which this process may have inherited,
// close-on-exec, so that no program that this process starts holds the lock. The descriptor stays
// open until this process ends, so the process itself keeps the lock.
void keep_lock_private();

// Removes the upgrader's variables, so that programs started by this process do not believe that
// they are agents.
void clean_environment();

// The most messages that are kept until the program asks for them. Further messages stay in the
// pipe.
inline constexpr std::size_t messages_waiting_max = 256;
// The most bytes of this agent's messages that are kept while the pipe to the upgrader is full.
// Further messages are refused. The upgrader has the same limit for the bytes that it keeps for an
// agent.
inline constexpr std::size_t output_bytes_max = 131'072;

class Channel {
 public:
  explicit Channel(Pipes pipes) : pipes_(std::move(pipes)) {}

  [[nodiscard]] const Pipes& pipes() const { return pipes_; }
  [[nodiscard]] int input() const { return pipes_.input.number(); }
  [[nodiscard]] int output() const { return pipes_.output.number(); }

  [[nodiscard]] bool has_room_for(std::string_view lines) const;
  void queue(std::string_view lines);
  [[nodiscard]] bool output_waits() const { return !unsent_.empty(); }

  // Writes and reads as much as is possible without waiting.
  void exchange();
  // Waits until all output has been written to the pipe, or the upgrader has gone. Meanwhile reads
  // the input: otherwise, if both pipes were full, each side would wait for the other. If
  // `messages_waiting_max` messages from the upgrader wait already, drops the `error` messages
  // among them.
  void flush();

  // Returns the next message. Skips messages that are unknown or malformed.
  [[nodiscard]] std::optional<UpgraderMessage> take();
  [[nodiscard]] bool input_waits() const { return !messages_.empty() || reader_.pending(); }

  // Returns true if the upgrader has gone: no more input will come, and nobody reads the output.
  [[nodiscard]] bool over() const { return over_; }

 private:
  // Polls both pipes once. Then reads the input once and writes the output once, if they are ready.
  // Returns true if anything was read or written.
  bool turn(int timeout_ms);
  void make_room();
  void write_some();
  void read_some();
  void cut_messages();
  [[nodiscard]] bool full() const { return messages_.size() >= messages_waiting_max; }

  Pipes pipes_;
  LineReader reader_;
  std::deque<UpgraderMessage> messages_;
  std::string unsent_;
  bool over_ = false;
};

}  // namespace agent_protocol
