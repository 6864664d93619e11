// The whole conversation of a check, with times, as a person reads it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/agent-conformance/terms.h"

namespace conformance {

struct Entry {
  enum class Kind : std::uint8_t { said, told, error_output, happened };
  Time at{0};
  int agent = 0;
  Kind kind = Kind::happened;
  std::string text;  // without a newline; escaped, and cut where it is long
};

class Transcript {
 public:
  void add(Time at, int agent, Entry::Kind kind, std::string_view text);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  // `0.012 1> {"type":"ready"}`, a line an entry.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  std::vector<Entry> entries_;
  std::size_t left_out_ = 0;
};

// Bytes that a terminal takes for text: anything else as \n, \x1b and so on, what is valid UTF-8 as
// it is; cut behind `most` bytes, with their number.
[[nodiscard]] std::string shown(std::string_view bytes, std::size_t most = 400);

}  // namespace conformance
