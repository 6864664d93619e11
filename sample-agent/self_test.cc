#include "sample-agent/self_test.h"

#include <fcntl.h>
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

// Whatever the system does not know it would have run by a shell, which would run what it finds.
bool begins_as_program(const std::string& path) {
  const Result<File> file = File::open(path, O_RDONLY | O_NONBLOCK);
  std::array<char, 4> bytes{};
  if (!file || !file.value().read_at(0, bytes)) return false;
  return std::memcmp(bytes.data(), "\177ELF", 4) == 0 || std::memcmp(bytes.data(), "#!", 2) == 0;
}

}  // namespace

SelfTest::SelfTest(uv_loop_t& loop, const std::string& path, std::vector<std::string> arguments,
                   const Version& version, std::chrono::milliseconds limit, Verdict verdict)
    : expected_(to_string(version) + " ok\n"),
      verdict_(std::move(verdict)),
      timer_(loop, [this] { running_ ? kill("it took too long") : end(); }) {
  arguments.emplace_back("--self-test");
  failure_ = spawn(loop, path, std::move(arguments));
  timer_.start(running_ ? static_cast<std::uint64_t>(limit.count()) : 0);
}

SelfTest::~SelfTest() {
  if (running_) uv_kill(-process_->pid, SIGKILL);
  if (output_ >= 0) close(output_);
}

// Says why it could not.
std::string SelfTest::spawn(uv_loop_t& loop, const std::string& path,
                            std::vector<std::string> arguments) {
  if (!begins_as_program(path)) return "it is no program";
  std::vector<char*> argv{const_cast<char*>(path.c_str())};
  for (std::string& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);

  std::array<int, 2> pipe_ends{-1, -1};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) return "no pipe can be had";
  output_ = pipe_ends[0];
  std::array<uv_stdio_container_t, 3> streams{};
  streams[0].flags = UV_IGNORE;
  streams[1].flags = UV_INHERIT_FD;
  streams[1].data.fd = pipe_ends[1];
  streams[2].flags = UV_INHERIT_FD;
  streams[2].data.fd = STDERR_FILENO;
  uv_process_options_t options{};
  options.file = path.c_str();
  options.args = argv.data();
  options.stdio = streams.data();
  options.stdio_count = static_cast<int>(streams.size());
  options.flags = UV_PROCESS_DETACHED;  // a group of its own, to be killed as a whole
  options.exit_cb = [](uv_process_t* process, std::int64_t status, int signal) {
    static_cast<SelfTest*>(process->data)->judge(status, signal);
  };
  process_.reset(new uv_process_t);
  const int error = uv_spawn(&loop, process_.get(), &options);
  close(pipe_ends[1]);
  process_->data = this;
  running_ = error == 0;
  return running_ ? "" : std::string("it cannot be started: ") + uv_strerror(error);
}

void SelfTest::kill(const std::string& why) {
  failure_ = why;
  uv_kill(-process_->pid, SIGKILL);
}

void SelfTest::judge(std::int64_t status, int signal) {
  running_ = false;
  fcntl(output_, F_SETFL, O_NONBLOCK);  // somebody else may hold the other end
  std::array<char, output_bytes_max> bytes;
  const ssize_t count = read(output_, bytes.data(), bytes.size());
  const std::string said(bytes.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  if (!failure_.empty()) return end();

  if (signal != 0) {
    failure_ = "it was killed by signal " + std::to_string(signal);
  } else if (status != 0) {
    failure_ = "it exited with status " + std::to_string(status);
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
