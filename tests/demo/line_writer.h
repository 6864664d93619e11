// A program that writes a log: a process of its own that appends lines at speed, some of them in
// two writes, and rotates the log by rename. It may be late to go on to the new file, as a program
// is whose threads or processes learn of it one after the other.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace demo {

struct WriterSettings {
  std::string path;
  std::size_t lines_per_second = 2'000;
  std::size_t lines_per_file = 0;  // rotates after so many; 0 never
  std::size_t late_lines = 0;      // of each file, written when the new one has its first line
};

class LineWriter {
 public:
  // The file is there when this returns.
  explicit LineWriter(const WriterSettings& settings);
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Lets it finish its line and waits for its end.
  void stop();

 private:
  pid_t pid_;
};

}  // namespace demo
