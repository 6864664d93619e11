// The command line of agent-conformance as a structure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tools/agent-conformance/script.h"

namespace conformance {

inline constexpr int exit_conforms = 0;
inline constexpr int exit_does_not_conform = 1;
inline constexpr int exit_usage = 2;
inline constexpr int exit_cannot_be_made = 3;
inline constexpr int exit_signal_base = 128;

struct Options {
  enum class Deed : std::uint8_t { check, describe, help, version };
  enum class Form : std::uint8_t { text, tap, json };
  Deed deed = Deed::check;
  Form form = Form::text;
  std::string junit;              // the file for the report in the XML form of JUnit, or empty
  std::vector<std::string> only;  // the names of the checks to perform; if empty, all checks
  std::vector<std::string> skip;
  Terms terms;
  std::vector<std::string> command;  // the command line of the agent: AGENT and its arguments
  std::vector<std::string> typed;    // like `command`, but with AGENT as the user typed it
};

struct UsageError {
  std::string what;
};

[[nodiscard]] std::variant<Options, UsageError> parse_options(const std::vector<std::string>& args);

[[nodiscard]] std::string_view help_text();

}  // namespace conformance
