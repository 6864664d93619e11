#include "base/argument.h"

#include <algorithm>
#include <cstddef>

namespace upgrader {

Argument take_apart(std::string_view whole) {
  const std::size_t equals = whole.find('=');
  if (equals == std::string_view::npos) return {whole, whole, std::nullopt};
  return {whole, whole.substr(0, equals), whole.substr(equals + 1)};
}

std::string complaint_about(const Argument& argument, std::string_view what) {
  // Does not use form.h, which is part of libagent-protocol: agent-conformance links this file, and
  // must not contain code of the library that it tests.
  return std::string(argument.whole) + ": " + std::string(what);
}

bool is_given(std::string_view name, const char* const* argv, int end) {
  return std::any_of(argv + 1, argv + end,
                     [name](const char* other) { return take_apart(other).name == name; });
}

}  // namespace upgrader
