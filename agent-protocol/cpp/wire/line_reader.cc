#include "agent-protocol/cpp/wire/line_reader.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace agent_protocol {

std::span<char> LineReader::space() {
  if (!buffer_) buffer_ = std::make_unique_for_overwrite<char[]>(size_);
  if (begin_ > 0) {
    std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    searched_ -= begin_;
    begin_ = 0;
  }
  return {buffer_.get() + end_, size_ - end_};
}

void LineReader::written(std::size_t count) {
  if (count > size_ - end_) std::abort();
  end_ += count;
}

std::optional<Line> LineReader::next() {
  const std::string_view unsearched(buffer_.get() + searched_, end_ - searched_);
  const std::size_t newline = unsearched.find('\n');
  if (newline == std::string_view::npos) {
    searched_ = end_;
    if (end_ - begin_ == size_) skip_what_is_there();
    return std::nullopt;
  }
  const std::string_view text(buffer_.get() + begin_, searched_ + newline - begin_);
  begin_ = searched_ = searched_ + newline + 1;
  if (!skipping_) return Line{.text = text, .complete = true};
  skipping_ = false;
  return Line{.text = skipped_prefix_, .complete = false};
}

std::optional<Line> LineReader::rest() {
  if (!skipping_ && begin_ == end_) return std::nullopt;
  skip_what_is_there();
  skipping_ = false;
  return Line{.text = skipped_prefix_, .complete = false};
}

void LineReader::skip_what_is_there() {
  if (!skipping_)
    skipped_prefix_.assign(buffer_.get() + begin_, std::min(end_ - begin_, incomplete_bytes_max));
  skipping_ = true;
  begin_ = end_ = searched_ = 0;
}

}  // namespace agent_protocol
