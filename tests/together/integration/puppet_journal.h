// What a puppet leaves in the test's directory: who was active when, and what must not have been.
#pragma once

#include <string>

namespace puppet {

class Journal {
 public:
  explicit Journal(const char* directory);

  // A descriptor of the directory.
  [[nodiscard]] int directory() const { return directory_; }

  // Holds `active.lock` until this process dies; that another holds it is a violation.
  void become_active();

  void happened(const std::string& event) { append("events", event); }
  void violated(const std::string& rule) { append("violations", rule); }

 private:
  void append(const char* file, const std::string& text);

  int directory_;
};

// The time of CLOCK_MONOTONIC.
long long microseconds();

}  // namespace puppet
