#include "sample-agent/self_test.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <utility>

#include "sample-agent/file.h"

namespace sample_agent {
namespace {

// More of what it says is not looked at.
constexpr std::size_t output_bytes_max = 512;

// A system can be taught other kinds of programs (binfmt_misc); the upgrader starts none of them.
bool begins_as_program(const std::string& path) {
  const Result<File> file = File::open(path, O_RDONLY | O_NONBLOCK);
  std::array<char, 4> bytes{};
  if (!file || !file.value().read_at(0, bytes)) return false;
  return std::memcmp(bytes.data(), "\177ELF", 4) == 0 || std::memcmp(bytes.data(), "#!", 2) == 0;
}

// What a new process gets: /dev/null, `output` and our standard error; a session of its own, so
// that it can be killed with all that it starts; signals as they are by default.
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

  // 0, or the error. posix_spawn ends where the kernel refuses; execvp, and with it posix_spawnp
  // and uv_spawn, would hand the file to a shell then, which runs whatever it finds in it.
  [[nodiscard]] int start(pid_t& process, const std::string& path, char* const* argv) const {
    return posix_spawn(&process, path.c_str(), &files_, &attributes_, argv, environ);
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

}  // namespace

SelfTest::SelfTest(uv_loop_t& loop, const std::string& path, std::vector<std::string> arguments,
                   const Version& version, std::chrono::milliseconds limit, Verdict verdict)
    : expected_(to_string(version) + " ok\n"),
      verdict_(std::move(verdict)),
      timer_(loop, [this] { process_ != 0 ? kill("it took too long") : end(); }),
      exits_(loop, SIGCHLD, [this] { take_exit(); }) {
  arguments.emplace_back("--self-test");
  failure_ = spawn(path, std::move(arguments));
  timer_.start(process_ != 0 ? static_cast<std::uint64_t>(limit.count()) : 0);
}

SelfTest::~SelfTest() {
  if (process_ != 0) ::kill(-process_, SIGKILL);
  if (output_ >= 0) close(output_);
}

// Says why it could not.
std::string SelfTest::spawn(const std::string& path, std::vector<std::string> arguments) {
  if (!begins_as_program(path)) return "it is no program";
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);

  std::array<int, 2> pipe_ends{-1, -1};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return "no pipe can be had";
  output_ = pipe_ends[0];
  pid_t process = 0;
  const int error = Surroundings(pipe_ends[1]).start(process, path, argv.data());
  close(pipe_ends[1]);
  if (error != 0) return std::string("it cannot be started: ") + std::strerror(error);
  process_ = process;
  return "";
}

void SelfTest::kill(const std::string& why) {
  failure_ = why;
  ::kill(-process_, SIGKILL);
}

void SelfTest::take_exit() {
  int status = 0;
  if (process_ == 0 || waitpid(process_, &status, WNOHANG) != process_) return;
  process_ = 0;
  judge(status);
}

void SelfTest::judge(int status) {
  fcntl(output_, F_SETFL, O_NONBLOCK);  // somebody else may hold the other end
  std::array<char, output_bytes_max> bytes;
  const ssize_t count = read(output_, bytes.data(), bytes.size());
  const std::string said(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  if (!failure_.empty()) return end();

  if (WIFSIGNALED(status)) {
    failure_ = "it was killed by signal " + std::to_string(WTERMSIG(status));
  } else if (WEXITSTATUS(status) != 0) {
    failure_ = "it exited with status " + std::to_string(WEXITSTATUS(status));
  } else if (said != expected_) {
    failure_ = "it did not say what is expected";
  }
  if (!failure_.empty() && !said.empty())
    failure_ += "; it said: " + said.substr(0, said.find('\n'));
  end();
}

void SelfTest::end() {
  const Verdict verdict = std::exchange(verdict_, nullptr);
  if (verdict) verdict(failure_.empty() ? std::nullopt : std::optional(failure_));
}

}  // namespace sample_agent
