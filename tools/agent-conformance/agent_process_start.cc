// Prepares the start of an agent: its command, its environment, and strace.
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "tools/agent-conformance/agent_process.h"
#include "tools/agent-conformance/effects.h"

namespace conformance {

namespace {

// A directory for temporary files, which is removed when the program exits.
class Scratch {
 public:
  Scratch() {
    const char* const parent = std::getenv("TMPDIR");
    path_ = std::string(parent != nullptr && *parent != '\0' ? parent : "/tmp") +
            "/agent-conformance.XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~Scratch() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string found_in_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::istringstream directories(path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string directory; std::getline(directories, directory, ':');) {
    const std::string whole = (directory.empty() ? "." : directory) + "/" + name;
    if (::access(whole.c_str(), X_OK) == 0 && !std::filesystem::is_directory(whole)) return whole;
  }
  return {};
}

bool begins_like_a_program(const std::string& path) {
  std::array<char, 4> begin{};
  std::ifstream file(path, std::ios::binary);
  if (!file) return true;  // a file that cannot be read may still be executable
  file.read(begin.data(), begin.size());
  const std::string_view bytes(begin.data(), begin.size());
  return bytes.starts_with("#!") || bytes ==
                                        "\x7f"
                                        "ELF";
}

}  // namespace

std::string resolve(std::vector<std::string>& command) {
  std::string& program = command.front();
  if (program.find('/') == std::string::npos) {
    const std::string found = found_in_path(program);
    if (found.empty()) return program + " is not in PATH";
    program = found;
  }
  if (::access(program.c_str(), F_OK) != 0) return program + ": " + std::strerror(errno);
  if (std::filesystem::is_directory(program)) return program + ": is a directory";
  if (::access(program.c_str(), X_OK) != 0) return program + ": is not executable";
  if (begins_like_a_program(program)) return {};
  return program + ": begins neither as an ELF program nor with #!";
}

std::vector<std::string> environment(bool alone, int lock) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    bool is_kept = true;
    for (const std::string_view begin :
         {"AGENT_PROTOCOL", "NOTIFY_SOCKET=", "WATCHDOG_",
          "LISTEN_PID=", "LISTEN_FDS=", "LISTEN_FDNAMES=", "LIBAGENT_PROTOCOL_PROCESS="}) {
      is_kept = is_kept && !variable.starts_with(begin);
    }
    if (is_kept) result.emplace_back(variable);
  }
  if (alone) return result;
  result.emplace_back("AGENT_PROTOCOL=1");
  if (lock >= 0) result.push_back("AGENT_PROTOCOL_LOCK_FD=" + std::to_string(lock));
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// Returns the command that runs the agent under strace. With the option -DDD, strace is neither the
// agent's parent nor in its session, so the agent notices no difference.
std::vector<std::string> traced(const std::vector<std::string>& command, const std::string& fifo) {
  std::vector<std::string> result{
      "strace", "-DDD",        "-f", "-qq",
      "-e",     "signal=none", "-e", std::string("trace=") + traced_calls,
      "-o",     fifo,          "--"};
  result.insert(result.end(), command.begin(), command.end());
  return result;
}

std::string make_fifo() {
  static const Scratch scratch;
  static int count = 0;
  if (scratch.path().empty()) return {};
  const std::string path = scratch.path() + "/" + std::to_string(++count);
  return ::mkfifo(path.c_str(), 0600) == 0 ? path : std::string();
}

bool strace_works() {
  std::vector<std::string> words = {"strace", "-DDD", "-f", "-qq", "-o", "/dev/null", "true"};
  std::vector<char*> args = pointers(words);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int number : {0, 1, 2})
    posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0);
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, args[0], &actions, nullptr, args.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return false;
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace conformance
