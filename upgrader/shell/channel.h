// The two pipes of one agent, for lines to the agent and lines from the agent. The bytes that are
// kept in either direction are limited. A channel reads and writes only when called, never blocks,
// and does not interpret lines.
#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "agent-protocol/cpp/wire/line_reader.h"
#include "base/owned_fd.h"
#include "base/uv_handle.h"

namespace upgrader {

// The most bytes that are kept for an agent that is slow to read.
inline constexpr std::size_t unsent_bytes_max = 131'072;
// If this many bytes wait to be written to an agent, replies to its refused messages are dropped.
// The room between this limit and `unsent_bytes_max` is kept for more important messages, of which
// `activate` is the longest.
inline constexpr std::size_t unsent_replies_bytes_max = 32'768;
// If more than this many bytes wait to be written to an agent, the agent's messages are not read
// any more until the agent has read some of these bytes.
inline constexpr std::size_t unsent_pause_bytes = 16'384;
// The most bytes that are read from an agent in one turn of the loop.
inline constexpr std::size_t read_bytes_a_turn = 16'384;

class Channel {
 public:
  // Called when the agent's output can be read, or when the agent's input has room for more.
  using Wake = std::function<void()>;

  // Takes over both descriptors, which must be non-blocking, and begins to watch the output. If
  // libuv cannot watch the pipes, output_open() returns false.
  Channel(uv_loop_t* loop, OwnedFd input, OwnedFd output, Wake readable, Wake writable);
  Channel(const Channel&) = delete;  // libuv keeps the address of the channel
  Channel& operator=(const Channel&) = delete;

  // Sends a line, now or as soon as the pipe has room. If the agent no longer reads its input, or
  // too many bytes would wait, closes the input for good and returns false.
  [[nodiscard]] bool send(std::string_view line);
  [[nodiscard]] std::size_t unsent() const { return unsent_.size() - sent_; }
  // Returns the number of bytes written so far.
  [[nodiscard]] std::uint64_t written() const { return written_; }
  // Writes as many unsent bytes as the pipe takes. If the agent no longer reads its input, closes
  // the input for good and returns false.
  [[nodiscard]] bool flush();
  // Closes the agent's input for good, and drops the unsent bytes.
  void close_input();

  enum class Read { bytes, nothing, end };
  // Reads once, at most `bytes_max` bytes, and adds them to lines(). Must not be called while
  // lines() has a whole line that has not been taken out.
  [[nodiscard]] Read read(std::size_t bytes_max);
  // Returns how many bytes the pipe holds now.
  [[nodiscard]] std::size_t held() const;
  [[nodiscard]] agent_protocol::LineReader& lines() { return lines_; }

  [[nodiscard]] bool output_open() const { return output_poll_ != nullptr; }
  // Stops reading for good. The descriptor is closed only when the channel is destroyed, after the
  // agent's exit has been handled: closing it earlier would delay that handling.
  void close_output() { output_poll_.reset(); }
  // Pauses or continues the watching of the output.
  void watch_output(bool wanted);

 private:
  OwnedFd input_;
  OwnedFd output_;
  UvHandle<uv_poll_t> input_poll_;
  UvHandle<uv_poll_t> output_poll_;
  Wake readable_;
  Wake writable_;
  agent_protocol::LineReader lines_;
  std::string unsent_;
  std::size_t sent_ = 0;  // how many bytes at the beginning of unsent_ are written already
  std::uint64_t written_ = 0;
};

}  // namespace upgrader
