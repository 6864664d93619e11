// The agent's two pipes: lines out, messages in. Never changes O_NONBLOCK, which is shared with
// whoever else holds a pipe: looks first, reads what is there, and writes no more than the pipe is
// known to take. Knows nothing of what a message means.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "agent-protocol/cpp/agent/agent_surroundings.h"
#include "agent-protocol/cpp/wire/line_reader.h"
#include "agent-protocol/cpp/wire/message.h"

namespace agent_protocol {

// Messages that the program has not asked for: more of them wait in the pipe.
inline constexpr std::size_t messages_waiting_max = 256;
// Bytes that the upgrader has not taken, as much as it keeps for us: more is refused.
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

  // Writes and reads what can be without waiting.
  void exchange();
  // Waits until the upgrader has taken all output, or has gone. Goes on reading meanwhile, so that
  // two full pipes never wait for each other; if need be at the cost of `error` messages.
  void flush();

  // The next message; unknown and malformed ones have been passed over.
  [[nodiscard]] std::optional<UpgraderMessage> take();
  [[nodiscard]] bool input_waits() const { return !messages_.empty() || reader_.pending(); }

  // The upgrader has gone: there will be no more input, and nobody reads the output.
  [[nodiscard]] bool over() const { return over_; }

 private:
  // One look at both pipes, and one read or write each. True if anything has moved.
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
