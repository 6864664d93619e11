// The conversation between a check and its agents, with times, for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/agent-conformance/script.h"

namespace conformance {

struct Entry {
  enum class Kind : std::uint8_t { said, told, error_output, happened };
  Time at{0};
  int agent = 0;
  Kind kind = Kind::happened;
  std::string text;  // the line without its newline, escaped; a long line is shortened
};

class Transcript {
 public:
  void add(Time at, int agent, Entry::Kind kind, std::string_view text);

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

  // Returns one line for each entry. For example, `0.012 1> {"type":"ready"}` means that after 12
  // ms the first agent has sent `ready`; `1<` is a message to this agent.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  std::vector<Entry> entries_;
  std::size_t left_out_ = 0;
};

// Returns `bytes` in a form that is safe for a terminal: printable UTF-8 stays, and all other bytes
// are escaped, as in \n and \x1b. If there are more than `most` bytes, returns only the beginning,
// followed by the total number of bytes.
[[nodiscard]] std::string shown(std::string_view bytes, std::size_t most = 400);

// Returns all of `text`, escaped as by shown(). Escaping a text twice changes nothing.
[[nodiscard]] inline std::string shown_whole(std::string_view text) {
  return shown(text, text.size());
}

}  // namespace conformance
