// Names new temporary directories.
#pragma once

#include <cstdlib>
#include <string>

namespace upgrader {

// Returns a path in the directory that TMPDIR names, or in /tmp if TMPDIR is not set. The path is a
// pattern for mkdtemp(): it ends with `name` and `.XXXXXX`, and mkdtemp() replaces each X.
[[nodiscard]] inline std::string temporary_path(const std::string& name) {
  const char* const directory = std::getenv("TMPDIR");
  const bool is_set = directory != nullptr && *directory != '\0';
  return (is_set ? directory : "/tmp") + ("/" + name) + ".XXXXXX";
}

}  // namespace upgrader
