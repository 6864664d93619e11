// Cuts a stream into lines. Does not interpret a line.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "tools/agent-conformance/said.h"

namespace conformance {

class LineCutter {
 public:
  // Adds bytes, and passes every line that is complete to `take`. Of a line that is too long,
  // `take` gets only the beginning.
  void add(std::string_view bytes, const std::function<void(const Line&)>& take) {
    while (!bytes.empty()) {
      const std::size_t newline = bytes.find('\n');
      const std::string_view part = bytes.substr(0, newline);
      if (!skips_) begun_ += part;
      bytes.remove_prefix(part.size() + (newline == std::string_view::npos ? 0 : 1));
      // The size limit of a line includes its newline, so a line of that size without a newline is
      // too long.
      if (!skips_ && begun_.size() >= line_bytes_max) {
        take({.bytes = std::exchange(begun_, {}).substr(0, shown_max), .end = Line::End::too_long});
        skips_ = true;
      }
      if (newline == std::string_view::npos) continue;
      if (!std::exchange(skips_, false)) take({.bytes = std::exchange(begun_, {})});
    }
  }

  // Ends the stream. A last line without a newline is passed on with the mark Line::End::output.
  void end(const std::function<void(const Line&)>& take) {
    if (!begun_.empty()) take({.bytes = std::exchange(begun_, {}), .end = Line::End::output});
  }

 private:
  static constexpr std::size_t shown_max = 1'000;

  std::string begun_;
  bool skips_ = false;  // the rest of a line that is too long is being skipped
};

}  // namespace conformance
