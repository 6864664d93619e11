// Parses command lines of the form `PROGRAM [options] [--] REST`, in which an option is one word
// and may be given once. Each program defines its own options, and checks their values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/argument.h"

namespace upgrader {

struct HelpWanted {
  bool operator==(const HelpWanted&) const = default;
};

struct VersionWanted {
  bool operator==(const VersionWanted&) const = default;
};

struct UsageError {
  std::string reason;  // a text for people, which names the argument and says what is allowed

  bool operator==(const UsageError&) const = default;
};

// The result of parsing a command line: the program's `Options`, or what is wrong.
template <class Options>
using CommandLineOf = std::variant<Options, HelpWanted, VersionWanted, UsageError>;

// Parses a command line. Calls `set` for each option; `set` returns an error message, or an empty
// text. At REST, calls `finish` with REST's index in argv; `finish` returns the program's options.
// Stops at --help, -h, or --version without a value. Refuses an option that is given twice, because
// it is unclear which of the two values is meant. Only the option `repeatable` may be repeated.
template <class Options, class Set, class Finish>
[[nodiscard]] CommandLineOf<Options> parse_options(int argc, const char* const* argv,
                                                   const Set& set, const Finish& finish,
                                                   std::string_view repeatable = "") {
  for (int at = 1; at < argc; ++at) {
    const std::string_view text = argv[at];
    if (text == "--help" || text == "-h") return HelpWanted{};
    if (text == "--version") return VersionWanted{};
    if (text == "--") return finish(at + 1);
    if (text.size() < 2 || text[0] != '-') return finish(at);
    const Argument argument = take_apart(text);
    if (std::string wrong = set(argument); !wrong.empty()) return UsageError{std::move(wrong)};
    if (argument.name != repeatable && is_given(argument.name, argv, at)) {
      return UsageError{complaint_about(argument, "is given twice")};
    }
  }
  return finish(argc);
}

}  // namespace upgrader
