#include "tests/demo/line_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace demo {
namespace {

volatile std::sig_atomic_t told_to_stop = 0;

// One in this number of lines is written in two halves. The number is a prime, so that the position
// of these lines differs from rotation to rotation.
constexpr std::size_t lines_per_half_line = 97;

class Log {
 public:
  explicit Log(const WriterSettings& settings) : settings_(settings) { open(); }

  void write_line(std::size_t number) {
    const std::string line = "line " + std::to_string(number) + " of a log that is being written\n";
    const int file = is_late() ? old_ : descriptor_;
    if (number % lines_per_half_line != 0) return write(file, line);
    const std::string_view text = line;
    write(file, text.substr(0, text.size() / 2));
    poll(nullptr, 0, 1);
    write(file, text.substr(text.size() / 2));
  }

  // Renames the files as logrotate does, the oldest first, so that no file is overwritten. The next
  // line goes to the new file, and the `late_lines` after it to the old one.
  void rotate() {
    const int old = descriptor_;
    for (std::size_t i = ++rotations_; i > 1; --i)
      rename(name(i - 1).c_str(), name(i).c_str());
    rename(settings_.path.c_str(), name(1).c_str());
    open();
    if (old_ >= 0) close(old_);
    old_ = old;
    late_ = settings_.late_lines + 1;
  }

 private:
  bool is_late() {
    if (late_ == 0) return false;
    return --late_ < settings_.late_lines;
  }
  void open() {
    descriptor_ = ::open(settings_.path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (descriptor_ < 0) std::abort();
  }
  void write(int descriptor, std::string_view text) const {
    if (::write(descriptor, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
      std::abort();
    }
  }
  [[nodiscard]] std::string name(std::size_t age) const {
    return settings_.path + "." + std::to_string(age);
  }

  WriterSettings settings_;
  int descriptor_ = -1;
  int old_ = -1;
  std::size_t late_ = 0;  // how many lines have still to go to the old file
  std::size_t rotations_ = 0;
};

[[noreturn]] void write_lines(const WriterSettings& settings) {
  using namespace std::chrono;
  Log log(settings);
  const auto begin = steady_clock::now();
  std::size_t written = 0;
  while (told_to_stop == 0) {
    const auto passed = duration_cast<microseconds>(steady_clock::now() - begin).count();
    const auto due = static_cast<std::size_t>(passed) * settings.lines_per_second / 1'000'000;
    while (written < due) {
      log.write_line(++written);
      if (settings.lines_per_file != 0 && written % settings.lines_per_file == 0) log.rotate();
    }
    poll(nullptr, 0, 1);
  }
  _exit(0);
}

}  // namespace

LineWriter::LineWriter(const WriterSettings& settings) {
  const int file = open(settings.path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0) std::abort();
  close(file);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  std::signal(SIGTERM, [](int) { told_to_stop = 1; });
  write_lines(settings);
}

LineWriter::~LineWriter() {
  stop();
}

void LineWriter::stop() {
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
}

}  // namespace demo
