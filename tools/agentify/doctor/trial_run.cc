#include "tools/agentify/doctor/trial_run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <system_error>

#include "base/descriptors.h"
#include "base/errno_name.h"
#include "base/interruption.h"
#include "base/pointers.h"
#include "base/temporary_path.h"
#include "tools/agentify/family.h"

namespace agentify {
namespace {

constexpr std::string_view speakers[] = {"agentify: ", "upgrader: "};
// The most bytes that are kept of one line that agentify or the upgrader has written.
constexpr std::size_t kept_line_bytes = 1'024;

// Returns those lines of the text that agentify and the upgrader have written. Searches the text
// for "agentify: " and "upgrader: " instead of cutting it into lines, because a daemon may write
// millions of lines.
std::string told_in(std::string_view text) {
  std::string told;
  std::array<std::size_t, std::size(speakers)> next{};
  for (std::size_t end = 0;;) {
    for (std::size_t i = 0; i < next.size(); ++i)
      if (next[i] <= end) next[i] = text.find(speakers[i], end);
    const std::size_t at = *std::min_element(next.begin(), next.end());
    if (at == text.npos) return told;
    end = std::min(text.find('\n', at), text.size());
    told.append(text.substr(at, std::min(end - at, kept_line_bytes))).append("\n");
  }
}

using upgrader::Duration;
using upgrader::Interruption;

constexpr Duration look_interval{20};
constexpr Duration upgrader_end_max{20'000};

constexpr SignalStep signal_steps[] = {{SIGTERM, Duration{10'000}},
                                       {SIGINT, Duration{5'000}},
                                       {SIGQUIT, Duration{5'000}},
                                       {SIGKILL, Duration{5'000}}};

std::string read_text(const std::string& path) {
  const std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string name_of(pid_t pid) {
  std::string name = read_text("/proc/" + std::to_string(pid) + "/comm");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

bool is_alive(const std::vector<Process>& all, pid_t pid) {
  return std::any_of(all.begin(), all.end(),
                     [pid](const Process& one) { return one.pid == pid && !one.ended; });
}

// Adds the inodes of all sockets of a process to the set.
void add_sockets(pid_t pid, std::set<std::uint64_t>& inodes) {
  constexpr std::string_view mark = "socket:[";
  std::error_code ignored;
  const std::string directory = "/proc/" + std::to_string(pid) + "/fd";
  for (std::filesystem::directory_iterator at(directory, ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(at->path(), gone).string();
    if (!gone && target.starts_with(mark)) {
      inodes.insert(std::strtoull(target.c_str() + mark.size(), nullptr, 10));
    }
  }
}

// Returns true if the path of a unix socket no longer exists. The kernel's table shows the path at
// which a daemon has bound its socket, even after the daemon has renamed the socket.
bool has_moved(const Listener& listener) {
  std::error_code unknown;
  return listener.kind == Listener::Kind::unix_stream &&
         !std::filesystem::exists(listener.address, unknown) && !unknown;
}

[[noreturn]] void become_upgrader(const std::vector<std::string>& words, int output, int socket) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // stops the upgrader if the doctor is killed
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, STDIN_FILENO);
  ::dup2(output, STDOUT_FILENO);
  ::dup2(output, STDERR_FILENO);
  const int first = upgrader::first_passed_descriptor;
  if (socket >= 0) {
    if (socket == first) {
      ::fcntl(socket, F_SETFD, 0);
    } else {
      ::dup2(socket, first);
    }
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    ::setenv("LISTEN_FDS", "1", 1);
  }
  const std::vector<char*> argv = upgrader::pointers_to(words);
  ::execv(argv[0], argv.data());
  ::_exit(127);
}

}  // namespace

void RunLog::add(std::string_view bytes) {
  end_ += bytes;
  if (end_.size() <= 2 * run_log_bytes_max) return;
  std::size_t cut = end_.size() - run_log_bytes_max;
  // Move `cut` forward to the end of a line, so that no line is cut in two. If the rest of the text
  // has no newline, cut within the line.
  if (const std::size_t line = end_.find('\n', cut); line != end_.npos) cut = line + 1;
  told_ += told_in(std::string_view(end_).substr(0, cut));
  end_.erase(0, cut);
  if (told_.size() > run_log_bytes_max) told_.erase(0, told_.size() - run_log_bytes_max);
}

Duration steady_now() {
  return std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch());
}

void pause_for(Duration time) {
  ::poll(nullptr, 0, static_cast<int>(time.count()));
}

std::vector<Listener> all_listeners() {
  std::vector<Listener> all;
  const std::pair<Listener::Kind, const char*> files[] = {
      {Listener::Kind::tcp, "/proc/net/tcp"},
      {Listener::Kind::tcp6, "/proc/net/tcp6"},
      {Listener::Kind::udp, "/proc/net/udp"},
      {Listener::Kind::udp6, "/proc/net/udp6"},
      {Listener::Kind::unix_stream, "/proc/net/unix"}};
  for (const auto& [kind, path] : files) {
    const std::vector<Listener> found = parse_listeners(kind, read_text(path));
    all.insert(all.end(), found.begin(), found.end());
  }
  return all;
}

TrialRun::~TrialRun() {
  kill_upgrader();
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

std::optional<std::string> TrialRun::begin(const Places& places,
                                           const std::vector<std::string>& daemon, int socket) {
  if (::access(places.upgrader.c_str(), X_OK) != 0) {
    return "cannot execute " + places.upgrader + ": " + in_words(upgrader::SystemError{errno});
  }
  directory_ = upgrader::temporary_path("agentify-doctor");
  if (::mkdtemp(directory_.data()) == nullptr) {
    return std::exchange(directory_, "") + ": " + in_words(upgrader::SystemError{errno});
  }
  std::vector<std::string> words = {places.upgrader,
                                    "--lock=" + directory_ + "/lock",
                                    "--start-timeout=0",
                                    "--adapter=" + places.agentify,
                                    "--adapter=--ready=notify",
                                    "--adapter=--last-words",
                                    "--"};
  words.insert(words.end(), daemon.begin(), daemon.end());
  const std::string log = directory_ + "/log";
  output_.reset(::open(log.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!output_) return log + ": " + in_words(upgrader::SystemError{errno});
  upgrader_ = ::fork();
  if (upgrader_ == 0) become_upgrader(words, output_.get(), socket);
  if (upgrader_ < 0) return "cannot fork: " + in_words(upgrader::SystemError{errno});
  return std::nullopt;
}

bool TrialRun::lives() {
  if (upgrader_ > 0 && ::waitpid(upgrader_, nullptr, WNOHANG) == upgrader_) upgrader_ = -1;
  return upgrader_ > 0;
}

pid_t TrialRun::keeper(const std::vector<Process>& all) const {
  if (upgrader_ <= 0) return 0;
  for (const Process& process : descendants(all, upgrader_)) {
    if (!process.ended && name_of(process.pid) == "agentify-keeper") return process.pid;
  }
  return 0;
}

std::vector<Process> TrialRun::family() const {
  const std::vector<Process> all = list_processes();
  const pid_t kept_by = keeper(all);
  return kept_by == 0 ? std::vector<Process>{} : descendants(all, kept_by);
}

pid_t TrialRun::main_process() const {
  const std::vector<Process> all = list_processes();
  const pid_t kept_by = keeper(all);
  return kept_by == 0 ? 0 : heir(all, kept_by);
}

bool TrialRun::is_busy() const {
  const std::vector<Process> all = family();
  return std::any_of(all.begin(), all.end(), [](const Process& one) { return one.busy; });
}

std::vector<Listener> TrialRun::listeners() const {
  std::set<std::uint64_t> inodes;
  for (const Process& process : family())
    add_sockets(process.pid, inodes);
  std::vector<Listener> found = all_listeners();
  std::erase_if(found, [&inodes](const Listener& one) {
    return !inodes.contains(one.inode) || has_moved(one);
  });
  for (Listener& listener : found)
    listener.waiting = 0;
  return found;
}

std::string TrialRun::log() {
  // The most bytes that one call reads. Without this limit, log() would not return if a daemon
  // writes faster than log() reads.
  constexpr off_t read_max = 67'108'864;
  std::vector<char> piece(1'048'576);
  const off_t limit = read_ + read_max;
  ssize_t count = 0;
  while (read_ < limit && (count = ::pread(output_.get(), piece.data(), piece.size(), read_)) > 0) {
    log_.add({piece.data(), static_cast<std::size_t>(count)});
    read_ += count;
  }
  // Frees the disk space of the bytes that have been read. If the file system does not support
  // this, the space stays in use until the file is removed.
  static_cast<void>(
      ::fallocate(output_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, read_));
  return log_.text();
}

SignalledEnd TrialRun::end() {
  SignalledEnd made;
  const pid_t main = main_process();
  for (const SignalStep& step : signal_steps) {
    const Duration begun = steady_now();
    if (main > 0) ::kill(main, step.signal);
    while (is_alive(list_processes(), main) && steady_now() < begun + step.time &&
           !Interruption::has_come())
      pause_for(Duration{1});
    made.signal = step.signal;
    made.time = steady_now() - begun;
    if (!is_alive(list_processes(), main) || Interruption::has_come()) break;
    made.ignored.push_back(step);
  }
  const Duration limit = steady_now() + upgrader_end_max;
  while (lives() && steady_now() < limit && !Interruption::has_come())
    pause_for(look_interval);
  made.left = left_in(log());
  return made;
}

// Kills the upgrader with SIGQUIT or, if it does not exit in time, with SIGKILL. This also ends
// agentify, and agentify's keeper (the daemon's parent process) then kills all remaining processes
// of the daemon.
void TrialRun::kill_upgrader() {
  if (!lives()) return;
  ::kill(upgrader_, SIGQUIT);
  const Duration limit = steady_now() + upgrader_end_max;
  while (lives() && steady_now() < limit)
    pause_for(look_interval);
  if (lives()) ::kill(upgrader_, SIGKILL);
  if (upgrader_ > 0) ::waitpid(upgrader_, nullptr, 0);
  upgrader_ = -1;
}

}  // namespace agentify
