#include "agent-releases/self_test.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "agent-releases/follower.h"
#include "base/owned_fd.h"

namespace agent_releases {
namespace {

// The most bytes that are read from a self-test's output.
constexpr std::size_t output_bytes_max = 512;

// Returns true if the file begins like a script or an ELF program. The upgrader starts only these
// two kinds of programs, even if the system is set up to run more kinds (binfmt_misc).
bool begins_as_program(const std::string& path) {
  const upgrader::OwnedFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  std::array<char, 4> bytes{};
  if (!file || ::pread(file.get(), bytes.data(), bytes.size(), 0) < 0) return false;
  return std::memcmp(bytes.data(), "\177ELF", 4) == 0 || std::memcmp(bytes.data(), "#!", 2) == 0;
}

// The attributes of the self-test's process. Its input is /dev/null, its output is `output`, and
// its standard error is that of this process. All signals have their default actions. The process
// leads a session, so that it can be killed together with every process that it starts.
class Surroundings {
 public:
  explicit Surroundings(int output) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, output, STDOUT_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  ~Surroundings() {
    posix_spawnattr_destroy(&attributes_);
    posix_spawn_file_actions_destroy(&files_);
  }
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

  // Starts the process. Returns 0, or an errno value. Uses posix_spawn, which fails if the kernel
  // cannot execute the file. In that case, execvp, posix_spawnp and uv_spawn would let a shell run
  // the file.
  [[nodiscard]] int start(pid_t& process, const std::string& path, char* const* argv) const {
    return posix_spawn(&process, path.c_str(), &files_, &attributes_, argv, environ);
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

}  // namespace

SelfTest::SelfTest(const std::string& path, std::vector<std::string> arguments,
                   const Version& version)
    : expected_{version.text() + " ok\n", version.text() + "+" + version.build + " ok\n"} {
  arguments.emplace_back("--self-test");
  failure_ = spawn(path, std::move(arguments));
}

SelfTest::~SelfTest() {
  if (process_ != 0) {
    ::kill(-process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  for (const int descriptor : {output_, exit_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

// Starts the self-test. Returns the reason if it cannot be started, otherwise an empty string.
std::string SelfTest::spawn(const std::string& path, std::vector<std::string> arguments) {
  if (!begins_as_program(path)) return "it is no program";
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);

  std::array<int, 2> pipe_ends{-1, -1};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return "no pipe can be had";
  output_ = pipe_ends[0];
  const upgrader::OwnedFd their_end(pipe_ends[1]);
  pid_t process = 0;
  const int error = Surroundings(their_end.get()).start(process, path, argv.data());
  if (error != 0) return std::string("it cannot be started: ") + std::strerror(error);
  process_ = process;
  exit_ = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  return "";
}

void SelfTest::kill(const std::string& why) {
  failure_ = why;
  if (process_ != 0) ::kill(-process_, SIGKILL);
}

std::optional<SelfTest::Verdict> SelfTest::verdict() {
  if (process_ == 0) return failure_.empty() ? Verdict::passed : Verdict::failed;
  int status = 0;
  const pid_t ended = ::waitpid(process_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  const bool known = ended == process_;
  process_ = 0;
  if (known) return judge(status);
  if (failure_.empty()) failure_ = "somebody else has taken its exit status";
  return Verdict::could_not_tell;
}

SelfTest::Verdict SelfTest::judge(int status) {
  // The read must not block: a process that the self-test has started may still have the writing
  // end of the pipe open.
  fcntl(output_, F_SETFL, O_NONBLOCK);
  std::array<char, output_bytes_max> bytes;
  const ssize_t count = ::read(output_, bytes.data(), bytes.size());
  const std::string said(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  if (!failure_.empty()) return Verdict::failed;

  if (WIFSIGNALED(status)) {
    failure_ = "it was killed by signal " + std::to_string(WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    failure_ = "it exited with status " + std::to_string(WEXITSTATUS(status));
  } else if (std::ranges::find(expected_, said) == expected_.end()) {
    failure_ = "it did not say what is expected";
  }
  if (failure_.empty()) return Verdict::passed;
  if (!said.empty()) failure_ += "; it said: " + said.substr(0, said.find('\n'));
  const bool could_not_tell = WIFEXITED(status) && WEXITSTATUS(status) == self_test_could_not_tell;
  return could_not_tell ? Verdict::could_not_tell : Verdict::failed;
}

}  // namespace agent_releases
