// Whether the upgrader under test was built with AddressSanitizer, which takes memory and
// descriptors of its own: what that makes meaningless is left out, and said to be.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "tests/together/integration/process_table.h"

namespace integration {

inline bool upgrader_is_sanitized() {
  const char* named = std::getenv("UPGRADER");
  const std::filesystem::path here = std::filesystem::canonical("/proc/self/exe").parent_path();
  const std::string path = named != nullptr ? named : (here / "../../../upgrader").string();
  return read_file(path).find("__asan_init") != std::string::npos;
}

// The same; if so, says in the report what is left out.
inline bool left_out_when_sanitized(const std::string& what) {
  if (!upgrader_is_sanitized()) return false;
  std::cout << "report: left out under AddressSanitizer: " << what << std::endl;
  return true;
}

// For an upgrader that is started without descriptors to spare, or traced: to look for leaks takes
// some, and traces it, too.
inline std::vector<std::string> environment_without_leak_check() {
  if (!left_out_when_sanitized("leaks of an upgrader that lacks descriptors or is traced"))
    return {};
  const char* options = std::getenv("ASAN_OPTIONS");
  return {"ASAN_OPTIONS=" + std::string(options == nullptr ? "" : options) + ":detect_leaks=0"};
}

}  // namespace integration
