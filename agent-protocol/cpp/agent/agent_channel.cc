// Reads from and writes to the agent's two pipes.
#include "agent-protocol/cpp/agent/agent_channel.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <span>
#include <utility>
#include <variant>

#include "agent-protocol/cpp/wire/codec.h"

namespace agent_protocol {

bool Channel::has_room_for(std::string_view lines) const {
  return unsent_.size() + lines.size() <= output_bytes_max;
}

void Channel::queue(std::string_view lines) {
  unsent_ += lines;
}

void Channel::exchange() {
  while (turn(0)) {
  }
}

void Channel::flush() {
  while (!over_ && output_waits()) {
    make_room();
    turn(-1);
  }
}

// Makes room for the lines that have been read: drops `error` messages that the program has not
// asked for yet.
void Channel::make_room() {
  const auto is_error = [](const auto& message) { return std::holds_alternative<Error>(message); };
  do {
    cut_messages();
  } while (full() && std::erase_if(messages_, is_error) > 0);
}

std::optional<UpgraderMessage> Channel::take() {
  cut_messages();
  if (messages_.empty()) return std::nullopt;
  std::optional<UpgraderMessage> message = std::move(messages_.front());
  messages_.pop_front();
  return message;
}

bool Channel::turn(int timeout_ms) {
  cut_messages();
  if (over_) return false;
  pollfd ends[] = {
      {.fd = full() ? -1 : input(), .events = POLLIN, .revents = 0},
      {.fd = output(), .events = static_cast<short>(output_waits() ? POLLOUT : 0), .revents = 0}};
  const int count = ::poll(ends, 2, timeout_ms);
  if (count < 0) return errno == EINTR;
  if (count == 0) return false;
  if (ends[0].revents != 0) read_some();
  if ((ends[1].revents & (POLLERR | POLLHUP | POLLNVAL)) == 0) {
    if (ends[1].revents != 0) write_some();
    return true;
  }
  // The upgrader has closed the pipe to which the agent writes. The upgrader's last messages may
  // still be unread in the other pipe, so the conversation ends only after they have been handled.
  unsent_.clear();
  if (ends[0].revents == 0 && !full()) over_ = true;
  return ends[0].revents != 0;
}

// Writes at most PIPE_BUF bytes. A pipe that poll() reports as writable has room for PIPE_BUF
// bytes; a larger write could block.
void Channel::write_some() {
  const std::size_t size = std::min<std::size_t>(unsent_.size(), PIPE_BUF);
  const ssize_t written = ::write(output(), unsent_.data(), size);
  if (written >= 0) {
    unsent_.erase(0, static_cast<std::size_t>(written));
  } else if (errno != EINTR && errno != EAGAIN) {
    unsent_.clear();
  }
}

void Channel::read_some() {
  const std::span<char> space = reader_.space();
  const ssize_t count = ::read(input(), space.data(), space.size());
  if (count > 0) {
    reader_.written(static_cast<std::size_t>(count));
  } else if (count == 0 || (errno != EINTR && errno != EAGAIN)) {
    over_ = true;
  }
}

void Channel::cut_messages() {
  while (!full()) {
    const std::optional<Line> line = reader_.next();
    if (!line) return;
    if (!line->complete) continue;
    Decoded<UpgraderMessage> decoded = decode_upgrader_message(line->text);
    if (auto* message = std::get_if<UpgraderMessage>(&decoded)) {
      messages_.push_back(std::move(*message));
    }
  }
}

}  // namespace agent_protocol
