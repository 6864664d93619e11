// A program that writes a log: a process that appends lines at a fixed rate, some of them in two
// writes, and rotates the log by rename. It may continue for some lines in the old file, like a
// program whose threads or processes change to the new file one after the other.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace demo {

struct WriterSettings {
  std::string path;
  std::size_t lines_per_second = 2'000;
  std::size_t lines_per_file = 0;  // the lines between two rotations; 0: no rotation
  std::size_t late_lines = 0;      // lines that still go to the old file after a rotation
};

class LineWriter {
 public:
  // Starts the writer. When this returns, the file exists.
  explicit LineWriter(const WriterSettings& settings);
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Lets the writer finish its line, and waits until it has ended.
  void stop();

 private:
  pid_t pid_;
};

}  // namespace demo
