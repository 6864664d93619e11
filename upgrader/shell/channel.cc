#include "upgrader/shell/channel.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "base/check.h"
#include "base/repeated.h"

namespace upgrader {
namespace {

// Calls a copy of the function, since the call may destroy the channel and the function with it.
void on_poll(uv_poll_t* handle, int, int) {
  const Channel::Wake wake = *static_cast<Channel::Wake*>(handle->data);
  wake();
}

void watch(const UvHandle<uv_poll_t>& poll, int events, bool wanted) {
  if (!poll) return;
  const bool watched = uv_is_active(reinterpret_cast<uv_handle_t*>(poll.get())) != 0;
  if (wanted == watched) return;
  const int error = wanted ? uv_poll_start(poll.get(), events, on_poll) : uv_poll_stop(poll.get());
  UPGRADER_CHECK(error == 0);
}

}  // namespace

Channel::Channel(uv_loop_t* loop, OwnedFd input, OwnedFd output, Wake readable, Wake writable)
    : input_(std::move(input)),
      output_(std::move(output)),
      input_poll_(make_handle(uv_poll_init, loop, &writable_, input_.get())),
      output_poll_(make_handle(uv_poll_init, loop, &readable_, output_.get())),
      readable_(std::move(readable)),
      writable_(std::move(writable)) {
  if (!input_poll_) close_output();
  watch_output(true);
}

bool Channel::send(std::string_view line) {
  if (!input_) return false;
  if (unsent() + line.size() > unsent_bytes_max) {
    close_input();
    return false;
  }
  unsent_.append(line);
  return flush();
}

bool Channel::flush() {
  if (!input_) return false;
  while (unsent() > 0) {
    const ssize_t count =
        repeated([&] { return ::write(input_.get(), unsent_.data() + sent_, unsent()); });
    if (count >= 0) {
      sent_ += static_cast<std::size_t>(count);
      written_ += static_cast<std::uint64_t>(count);
      continue;
    }
    // The pipe is full, or the kernel has no memory for the bytes: a later write may succeed.
    if (errno == EAGAIN || errno == ENOMEM) break;
    close_input();
    return false;
  }
  // Erase sent bytes only when they are at least half of the text. Then no more bytes are moved
  // than are erased, so each byte is moved at most once on average.
  if (sent_ * 2 >= unsent_.size()) {
    unsent_.erase(0, sent_);
    sent_ = 0;
  }
  watch(input_poll_, UV_WRITABLE, unsent() > 0);
  return true;
}

Channel::Read Channel::read(std::size_t bytes_max) {
  if (!output_open()) return Read::nothing;
  const std::span<char> space = lines_.space();
  const std::size_t bytes = std::min(space.size(), bytes_max);
  const ssize_t count = repeated([&] { return ::read(output_.get(), space.data(), bytes); });
  if (count <= 0) return count < 0 && errno == EAGAIN ? Read::nothing : Read::end;
  lines_.written(static_cast<std::size_t>(count));
  return Read::bytes;
}

std::size_t Channel::held() const {
  int count = 0;
  if (!output_open() || ::ioctl(output_.get(), FIONREAD, &count) != 0) return 0;
  return static_cast<std::size_t>(std::max(count, 0));
}

void Channel::close_input() {
  input_poll_.reset();
  input_.reset();
  unsent_.clear();
  sent_ = 0;
}

void Channel::watch_output(bool wanted) {
  watch(output_poll_, UV_READABLE, wanted);
}

}  // namespace upgrader
