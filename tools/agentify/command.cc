#include "tools/agentify/command.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "base/errno_name.h"
#include "tools/agentify/journal.h"
#include "tools/agentify/surroundings.h"

namespace agentify {
namespace {

using upgrader::OwnedFd;

// The most reads in one turn of the loop. Without this limit, a command that writes without pause
// would delay everything else.
constexpr int reads_in_turn = 16;

// The exit statuses of a shell that cannot run its command.
constexpr int not_executable = 126;
constexpr int not_found = 127;

// Returns why a command failed: the last lines of its output. If the shell could not run the
// command, the text begins with the exit status: "exit status 127: sh: 1: pg_isredy: not found".
std::string words_of_failure(const DaemonEnding& ending, const std::string& lines) {
  const bool exited = ending.how == DaemonEnding::How::exited;
  const bool not_run = exited && (ending.value == not_found || ending.value == not_executable);
  if (lines.empty()) return "it " + in_words(ending);
  return not_run ? "exit status " + std::to_string(ending.value) + ": " + lines : lines;
}

}  // namespace

void LastLines::add(std::string_view bytes) {
  for (const char byte : bytes) {
    if (byte != '\n') {
      if (current_.size() < last_line_bytes_max) current_ += byte;
    } else if (!current_.empty()) {
      ended_.push_back(std::exchange(current_, {}));
      if (ended_.size() > last_lines_max) ended_.pop_front();
    }
  }
}

std::deque<std::string> LastLines::all() const {
  std::deque<std::string> lines = ended_;
  if (!current_.empty()) lines.push_back(current_);
  if (lines.size() > last_lines_max) lines.pop_front();
  return lines;
}

std::string LastLines::last() const {
  const std::deque<std::string> lines = all();
  return lines.empty() ? "" : lines.back();
}

std::string LastLines::joined() const {
  std::deque<std::string> lines = all();
  std::string text;
  for (; !lines.empty(); lines.pop_back()) {
    if (text.empty()) {
      text = lines.back();
    } else if (text.size() + lines.back().size() + 2 <= last_lines_bytes_max) {
      text = lines.back() + "; " + text;
    } else {
      break;
    }
  }
  return text;
}

bool Command::begin(const std::string& command, const Options& options, ChildSetting setting,
                    bool shown) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return false;
  output_.reset(ends[0]);
  const OwnedFd write(ends[1]);
  const int flags = ::fcntl(output_.get(), F_GETFL);
  if (::fcntl(output_.get(), F_SETFL, flags | O_NONBLOCK) != 0) return false;
  const upgrader::Program shell = shell_program(command, options);
  KeeperPlan plan;
  plan.program = &shell;
  plan.child = std::move(setting);
  plan.output = write.get();
  plan.name = "agentify-runs";
  shown_ = shown;
  if (!keeper_.fork_keeper(std::move(plan))) return false;
  keeper_.order({.kind = Order::Kind::start});
  return true;
}

void Command::read_output() {
  for (int i = 0; i < reads_in_turn && output_; ++i) {
    char bytes[4096];
    const ssize_t count = ::read(output_.get(), bytes, sizeof bytes);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) return output_.reset();
    const std::string_view text(bytes, static_cast<std::size_t>(count));
    lines_.add(text);
    if (shown_) show(text);
  }
}

std::optional<CommandOutcome> Command::look() {
  read_output();
  std::optional<CommandOutcome> outcome;
  while (const std::optional<News> news = keeper_.take()) {
    switch (news->kind) {
      case News::Kind::waits:
      case News::Kind::started:
        break;
      case News::Kind::refused:
        outcome = {.words = "cannot run /bin/sh: " + in_words(upgrader::SystemError{news->value})};
        break;
      case News::Kind::ended:
        ending_ = {static_cast<DaemonEnding::How>(news->how), news->value};
        keeper_.order({.kind = Order::Kind::kill_family});
        break;
      case News::Kind::family_gone: {
        read_output();
        const bool good = ending_ == DaemonEnding{DaemonEnding::How::exited, 0};
        outcome = {.good = good, .last_line = lines_.last()};
        if (!good) outcome->words = words_of_failure(*ending_, lines_.joined());
        break;
      }
    }
  }
  if (!outcome && keeper_.over()) outcome = {.words = "the process that runs it was killed"};
  if (outcome) keeper_.dismiss();
  return outcome;
}

CommandOutcome run_command(const std::string& command, const Options& options,
                           const std::vector<std::string>& environment, Duration limit) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + limit;
  Command running;
  if (!running.begin(command, options, {.environment = environment}, false)) {
    return {.words = in_words(upgrader::SystemError{errno})};
  }
  for (;;) {
    if (std::optional<CommandOutcome> outcome = running.look()) return *outcome;
    const auto left = std::chrono::duration_cast<Duration>(end - Clock::now());
    if (left <= Duration{0}) break;
    pollfd watched[2] = {{.fd = running.news_descriptor(), .events = POLLIN, .revents = 0},
                         {.fd = running.output_descriptor(), .events = POLLIN, .revents = 0}};
    ::poll(watched, 2, static_cast<int>(left.count()));
  }
  running.give_up();
  return {.words = "it has not ended in time"};
}

}  // namespace agentify
