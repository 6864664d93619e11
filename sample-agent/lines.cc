#include "sample-agent/lines.h"

#include <utility>

namespace sample_agent {
namespace {

constexpr std::size_t read_bytes = 65'536;

}  // namespace

Lines::Lines(File file, std::uint64_t offset, std::size_t bytes_max)
    : file_(std::move(file)), offset_(offset), bytes_max_(bytes_max) {}

std::string_view Lines::unread() const {
  return std::string_view(buffer_).substr(begin_);
}

Result<std::optional<std::string_view>> Lines::peek() {
  while (true) {
    const std::size_t end = unread().find('\n', looked_);
    const bool whole = end != std::string_view::npos && end <= bytes_max_;
    if (whole || unread().size() > bytes_max_) {
      const std::string_view line = unread().substr(0, whole ? end : bytes_max_);
      looked_ = line.size();
      shown_ = whole ? line.size() + 1 : line.size();
      return std::optional(line);
    }
    looked_ = unread().size();
    const Result<bool> more = read_more();
    if (!more) return Refusal{more.reason()};
    if (!more.value()) return std::optional<std::string_view>{};
  }
}

std::optional<std::string_view> Lines::peek_rest() {
  if (unread().empty()) return std::nullopt;
  shown_ = unread().size();
  return unread();
}

void Lines::take() {
  begin_ += shown_;
  offset_ += shown_;
  shown_ = 0;
  looked_ = 0;
}

Result<bool> Lines::read_more() {
  buffer_.erase(0, std::exchange(begin_, 0));
  const std::size_t held = buffer_.size();
  buffer_.resize(held + read_bytes);
  const auto free_part = std::span(buffer_).subspan(held);
  const Result<std::size_t> count = file_.read_at(offset_ + held, free_part);
  buffer_.resize(held + (count ? count.value() : 0));
  if (!count) return Refusal{count.reason()};
  return count.value() > 0;
}

}  // namespace sample_agent
