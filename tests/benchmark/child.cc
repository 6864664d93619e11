#include "tests/benchmark/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

#include "base/pointers.h"

namespace benchmark {
namespace {

constexpr std::chrono::milliseconds look_interval{2};

std::vector<std::string> environment_with(const std::vector<std::string>& settings) {
  std::vector<std::string> entries;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (!text.starts_with("STAMP_") && !text.starts_with("AGENT_PROTOCOL")) {
      entries.emplace_back(text);
    }
  }
  entries.insert(entries.end(), settings.begin(), settings.end());
  return entries;
}

void put_descriptors_in_place(int log) {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0) ::_exit(127);
  if (::dup2(log, STDOUT_FILENO) < 0 || ::dup2(log, STDERR_FILENO) < 0) ::_exit(127);
}

}  // namespace

void give_up(const std::string& reason) {
  std::fflush(stdout);
  std::fprintf(stderr, "bench: %s\n", reason.c_str());
  std::exit(1);
}

void wait_until(const std::function<bool()>& condition, const std::string& what) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) give_up("waited in vain for " + what);
    std::this_thread::sleep_for(look_interval);
  }
}

std::optional<std::string> find_installed(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path == nullptr ? "" : path);
  std::string directory;
  while (std::getline(directories, directory, ':')) {
    std::string candidate = directory + "/" + program;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return std::nullopt;
}

std::int64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

Child::Child(const Command& command) : name_(command.argv.at(0)), log_(command.log) {
  std::vector<std::string> argv_texts = command.argv;
  std::vector<std::string> envp_texts = environment_with(command.settings);
  const std::vector<char*> argv = upgrader::pointers_to(argv_texts);
  const std::vector<char*> envp = upgrader::pointers_to(envp_texts);
  const int log = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) give_up("cannot open " + log_);

  start_ns_ = now_ns();
  // Uses vfork(), because fork() would copy the memory tables of this process, and the measured
  // time would include this copying.
  pid_ = ::vfork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    put_descriptors_in_place(log);
    ::execve(argv[0], argv.data(), envp.data());
    ::_exit(127);
  }
  ::close(log);
  if (pid_ < 0) give_up("cannot fork");
}

Child::Child(Child&& other) noexcept
    : name_(std::move(other.name_)),
      log_(std::move(other.log_)),
      pid_(std::exchange(other.pid_, -1)),
      start_ns_(other.start_ns_) {}

Child::~Child() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void Child::wait_for_success() {
  const int status = wait();
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  std::ifstream log(log_);
  const std::string said(std::istreambuf_iterator<char>(log), {});
  give_up(name_ + " ended with status " + std::to_string(status) + " and said:\n" + said);
}

void Child::end() {
  ::kill(pid_, SIGTERM);
  ::kill(pid_, SIGCONT);
  wait();
}

int Child::wait() {
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  if (handle < 0) give_up("cannot watch " + name_);
  pollfd one{.fd = handle, .events = POLLIN, .revents = 0};
  const int seen = ::poll(&one, 1, static_cast<int>(std::chrono::milliseconds(patience).count()));
  ::close(handle);
  if (seen != 1) give_up(name_ + " does not end");
  int status = 0;
  if (::waitpid(std::exchange(pid_, -1), &status, 0) < 0) give_up("cannot wait for " + name_);
  return status;
}

}  // namespace benchmark
