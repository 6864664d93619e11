// The two pipes of one agent: lines in, lines out, bounded in both directions. Reads and writes
// only when told to, never blocks, and judges nothing that is said.
#pragma once

#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "agent-protocol/cpp/wire/line_reader.h"
#include "base/owned_fd.h"
#include "base/uv_handle.h"

namespace upgrader {

// Unsent output kept for an agent that is slow to read.
inline constexpr std::size_t unsent_bytes_max = 131'072;
// With so much unsent, further replies to what is refused are dropped: the rest of the room is for
// orders, the longest of which is `activate`.
inline constexpr std::size_t unsent_replies_bytes_max = 32'768;
// With more than this unsent, an agent is not read from: it must take its replies first.
inline constexpr std::size_t unsent_pause_bytes = 16'384;
// Read from an agent in one turn of the loop.
inline constexpr std::size_t read_bytes_a_turn = 16'384;

class Channel {
 public:
  // Told when the output may be read, or the input has taken more.
  using Wake = std::function<void()>;

  // Takes both descriptors, which must be non-blocking. Watches nothing before start().
  Channel(OwnedFd input, OwnedFd output, Wake readable, Wake writable);
  Channel(const Channel&) = delete;  // libuv keeps its address
  Channel& operator=(const Channel&) = delete;

  // Begins to watch. Returns 0 or a libuv error; then nothing is watched.
  [[nodiscard]] int start(uv_loop_t* loop);

  // Sends a line, now or when the agent reads. False if nobody will read it, or more would be
  // unsent than is kept: then the input is closed for good.
  [[nodiscard]] bool send(std::string_view line);
  [[nodiscard]] std::size_t unsent() const { return unsent_.size() - sent_; }
  [[nodiscard]] std::uint64_t written() const { return written_; }  // bytes, in all
  // Writes what can be written of the unsent output. False as above.
  [[nodiscard]] bool flush();
  // Closes the agent's input for good, and drops the unsent bytes.
  void close_input();

  enum class Read { bytes, nothing, end };
  // Reads once, at most `bytes_max`, into the line reader. Only while it has no line pending.
  [[nodiscard]] Read read(std::size_t bytes_max);
  // How many bytes the pipe holds now.
  [[nodiscard]] std::size_t held() const;
  [[nodiscard]] agent_protocol::LineReader& lines() { return lines_; }

  [[nodiscard]] bool output_open() const { return !output_closed_; }
  // Nothing is read any more. The descriptor is closed with the channel, not in an exit's way.
  void close_output() {
    output_poll_.reset();
    output_closed_ = true;
  }
  // Pauses or goes on with watching the output.
  void watch_output(bool wanted);

 private:
  void watch_input(bool wanted);

  OwnedFd input_;
  OwnedFd output_;
  UvHandle<uv_poll_t> input_poll_;
  UvHandle<uv_poll_t> output_poll_;
  bool output_closed_ = false;
  bool output_watched_ = false;
  bool input_watched_ = false;
  Wake readable_;
  Wake writable_;
  agent_protocol::LineReader lines_;
  std::string unsent_;
  std::size_t sent_ = 0;  // of unsent_, already written
  std::uint64_t written_ = 0;
};

}  // namespace upgrader
