// Reads from and writes to the agent's two pipes.

#include "agent-protocol/cpp/agent/agent_channel.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "agent-protocol/cpp/wire/codec.h"

extern char** environ;

namespace agent_protocol {
namespace {

constexpr const char* presence_variable = "AGENT_PROTOCOL";
constexpr const char* lock_variable = "AGENT_PROTOCOL_LOCK_FD";

bool put(int from, int to) {
  while (::dup2(from, to) < 0) {
    if (errno != EINTR && errno != EBUSY) return false;
  }
  return true;
}

}  // namespace

bool upgrader_is_there() {
  return std::getenv(presence_variable) != nullptr;
}

std::optional<Pipes> take_pipes() {
  Pipes pipes{.input = Descriptor::private_copy_of(STDIN_FILENO),
              .output = Descriptor::private_copy_of(STDOUT_FILENO)};
  if (!pipes.input.open() || !pipes.output.open()) return std::nullopt;
  const Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.open()) return std::nullopt;
  if (!put(null.number(), STDIN_FILENO)) return std::nullopt;
  if (!put(STDERR_FILENO, STDOUT_FILENO) && !put(null.number(), STDOUT_FILENO)) {
    put(pipes.input.number(), STDIN_FILENO);
    return std::nullopt;
  }
  return pipes;
}

void give_back(const Pipes& pipes) {
  const int error = errno;
  put(pipes.input.number(), STDIN_FILENO);
  put(pipes.output.number(), STDOUT_FILENO);
  errno = error;
}

void keep_lock_private() {
  const char* text = std::getenv(lock_variable);
  if (text == nullptr) return;
  int number = -1;
  const char* end = text + std::strlen(text);
  // If the text is not a number or is too large, from_chars() leaves `number` at -1.
  if (std::from_chars(text, end, number).ptr != end || number <= STDERR_FILENO) return;
  ::fcntl(number, F_SETFD, FD_CLOEXEC);
}

void clean_environment() {
  std::vector<std::string> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (text.starts_with(presence_variable)) names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names)
    ::unsetenv(name.c_str());
}

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

// Makes room for more messages from the upgrader: drops `error` messages that the program has not
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
  // The upgrader has closed the pipe to which the agent writes, so unsent messages are dropped. The
  // upgrader's last messages may still be unread in the other pipe: the conversation ends only
  // after they have been read.
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
