// Finds an error in a command line that CLI11 does not report: an option with an empty value, such
// as `--name=`, as scripts write it when a variable is not set. CLI11 would use the next argument
// as the value, even if that is another option.
#pragma once

#include <string>
#include <string_view>

namespace upgrader {

// Returns the name of the first option with an empty value, or an empty text.
[[nodiscard]] inline std::string option_with_empty_value(int argc, const char* const* argv) {
  for (int at = 1; at < argc; ++at) {
    const std::string_view word = argv[at];
    if (word == "--") break;
    if (word.starts_with("--") && word.find('=') == word.size() - 1) {
      return std::string(word.substr(0, word.size() - 1));
    }
  }
  return "";
}

}  // namespace upgrader
