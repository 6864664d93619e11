// Finds out whether the tested upgrader was built with AddressSanitizer, which uses memory and
// descriptors of its own. Some checks of memory and descriptors prove nothing about such an
// upgrader. These checks are left out, and the report names them.
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

// Returns true if the tested upgrader was built with AddressSanitizer. In this case, also prints a
// line for the report: the check `what` is left out.
inline bool left_out_when_sanitized(const std::string& what) {
  if (!upgrader_is_sanitized()) return false;
  std::cout << "report: left out under AddressSanitizer: " << what << std::endl;
  return true;
}

// Returns environment variables for an upgrader that is traced, or that has no spare descriptors.
// If the upgrader is sanitized, the variables switch off the sanitizer's search for leaks. That
// search needs descriptors, and must itself trace the process.
inline std::vector<std::string> environment_without_leak_check() {
  if (!left_out_when_sanitized("leaks of an upgrader that lacks descriptors or is traced"))
    return {};
  const char* options = std::getenv("ASAN_OPTIONS");
  return {"ASAN_OPTIONS=" + std::string(options == nullptr ? "" : options) + ":detect_leaks=0"};
}

}  // namespace integration
