#include "upgrader/shell/control_fifo.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "upgrader/shell/agents.h"

namespace upgrader {

int ControlFifo::open() {
  // The old descriptor is closed only when the new one is open, so that writers always find a
  // reader.
  OwnedFd fresh = directory_.open_fifo();
  const int error = errno;
  poll_.reset();
  descriptor_ = std::move(fresh);
  if (!descriptor_) return error;
  poll_ = make_handle<uv_poll_t>(
      [&](uv_poll_t* handle) { return uv_poll_init(loop_, handle, descriptor_.get()); });
  if (!poll_) {
    descriptor_.reset();  // writers must find no reader
    return ENOMEM;
  }
  poll_->data = this;
  return -uv_poll_start(poll_.get(), UV_READABLE, [](uv_poll_t* handle, int, int) {
    static_cast<ControlFifo*>(handle->data)->on_readable();
  });
}

void ControlFifo::on_readable() {
  if (!lines_.pending()) {
    const std::span<char> space = lines_.space();
    const ssize_t count = ::read(descriptor_.get(), space.data(), space.size());
    if (count == 0) return reopen();
    if (count < 0) return;
    lines_.written(static_cast<std::size_t>(count));
  }
  pass_lines();
}

void ControlFifo::pass_lines() {
  for (int taken = 0; taken < lines_a_turn; ++taken) {
    const std::optional<agent_protocol::Line> line = lines_.next();
    if (!line) break;
    sink_(*line);
  }
  turn_over_();
}

// The last writer has gone. If the FIFO cannot be opened again, that is retried after the turn.
void ControlFifo::reopen() {
  if (const auto rest = lines_.rest()) sink_(*rest);
  static_cast<void>(open());
  turn_over_();
}

}  // namespace upgrader
