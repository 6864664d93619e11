// Notes in the test's directory when each puppet was active, and which rules were broken.
#pragma once

#include <string>

namespace puppet {

class Journal {
 public:
  explicit Journal(const char* directory);

  // Returns a descriptor of the directory.
  [[nodiscard]] int directory() const { return directory_; }

  // Holds `active.lock` until this process dies. Notes a violation if another puppet holds it.
  void become_active();

  void happened(const std::string& event) { append("events", event); }
  void violated(const std::string& rule) { append("violations", rule); }

 private:
  void append(const char* file, const std::string& text);

  int directory_;
};

// Returns the time of CLOCK_MONOTONIC.
long long microseconds();

}  // namespace puppet
