// Reads lines from the FIFO of the control directory. Bounded and fair: one turn of the loop reads
// no more of it than of an agent. Does not interpret a line.
#pragma once

#include <uv.h>

#include <functional>

#include "agent-protocol/cpp/wire/line_reader.h"
#include "base/uv_handle.h"
#include "upgrader/shell/control_directory.h"
#include "upgrader/wire/control_request.h"

namespace upgrader {

class ControlFifo {
 public:
  using Sink = std::function<void(const agent_protocol::Line&)>;
  using TurnOver = std::function<void()>;

  // `directory` must outlive this object. `turn_over` is called once after the lines of a turn.
  ControlFifo(uv_loop_t* loop, const ControlDirectory& directory, Sink sink, TurnOver turn_over)
      : loop_(loop),
        directory_(directory),
        sink_(std::move(sink)),
        turn_over_(std::move(turn_over)) {}

  // Opens the FIFO and waits for lines. Returns 0, or an errno value if the FIFO is not open.
  [[nodiscard]] int open();
  [[nodiscard]] bool is_open() const { return poll_ != nullptr; }

  // Returns true if lines are left over from a turn: pass_lines() must then be called in the next
  // turn.
  [[nodiscard]] bool pending() const { return lines_.pending(); }
  void pass_lines();

 private:
  void on_readable();
  void reopen();

  uv_loop_t* loop_;
  const ControlDirectory& directory_;
  Sink sink_;
  TurnOver turn_over_;
  agent_protocol::LineReader lines_{control_line_bytes_max};
  OwnedFd descriptor_;
  UvHandle<uv_poll_t> poll_;
};

}  // namespace upgrader
