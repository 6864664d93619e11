// A process that writes a log. It appends lines at a fixed rate, some of them in two writes, and
// rotates the log by renaming files. After a rotation, some of its lines may still go to the old
// file, as from a program whose threads change to the new file one after the other.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace demo {

struct WriterSettings {
  std::string path;
  std::size_t lines_per_second = 2'000;
  std::size_t lines_per_file = 0;  // the number of lines between two rotations; 0: no rotation
  std::size_t late_lines = 0;      // how many lines still go to the old file after a rotation
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
