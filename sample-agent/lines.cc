#include "sample-agent/lines.h"

#include <algorithm>
#include <utility>

namespace sample_agent {
namespace {

constexpr std::size_t read_bytes = 65'536;

// A file is recognized by this many of its bytes: those just before the next line (mark()), or just
// before the bytes to read next (read_more()). The number is large enough to tell two logs apart,
// and small enough that each read can include these bytes again.
constexpr std::size_t marked_bytes = 256;

std::string_view last_of(std::string_view bytes) {
  return bytes.substr(bytes.size() - std::min(bytes.size(), marked_bytes));
}

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

void Lines::start_again() {
  *this = Lines(std::move(file_), 0, bytes_max_);
}

// Returns a hash (FNV-1a) of the last bytes before the offset.
std::uint64_t Lines::mark() const {
  std::uint64_t mark = 14'695'981'039'346'656'037U;
  for (const char byte : last_of(std::string_view(buffer_).substr(0, begin_))) {
    mark = (mark ^ static_cast<unsigned char>(byte)) * 1'099'511'628'211U;
  }
  return mark;
}

Outcome Lines::read_back() {
  const std::uint64_t wanted = std::min<std::uint64_t>(offset_, marked_bytes);
  buffer_.resize(static_cast<std::size_t>(wanted));
  const Result<std::size_t> count = file_.read_at(offset_ - wanted, buffer_);
  if (!count) return Refusal{count.reason()};
  begin_ = buffer_.size();
  was_cut_ = count.value() < buffer_.size();
  return std::monostate{};
}

// Reads new bytes, and once more the bytes just before them. If the earlier bytes have changed, the
// file was truncated or overwritten, and the new bytes are not used.
Result<bool> Lines::read_more() {
  if (was_cut_) return false;
  const std::size_t forgotten = begin_ - std::min(begin_, marked_bytes);
  buffer_.erase(0, forgotten);
  begin_ -= forgotten;
  const std::string_view known = last_of(buffer_);
  std::string bytes(known.size() + read_bytes, '\0');
  const std::uint64_t end = offset_ + buffer_.size() - begin_;
  const Result<std::size_t> count = file_.read_at(end - known.size(), bytes);
  if (!count) return Refusal{count.reason()};
  bytes.resize(count.value());
  was_cut_ = !bytes.starts_with(known);
  if (was_cut_ || bytes.size() == known.size()) return false;
  buffer_.append(bytes, known.size());
  return true;
}

}  // namespace sample_agent
