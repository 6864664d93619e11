// By which way a program is executed, where its path changes or the kernel refuses one of the two.
#include <signal.h>
#include <sys/wait.h>

#include "tests/unit/failing_calls.h"
#include "tests/unit/processes.h"
#include "upgrader/shell/execution.h"
#include "upgrader/shell/process.h"

using namespace upgrader;
using Where = StartFailed::Where;

namespace {

// A copy of `cat` that is checked as a program.
struct Cat {
  TemporaryDirectory directory;
  std::string path = directory.write("agent", content_of("/bin/cat"));
  std::string other = directory.write("other", content_of("/bin/cat"));
  std::variant<Program, ProgramRefused> checked = check_program(path, path, {});

  [[nodiscard]] const Program& program() const { return std::get<Program>(checked); }
};

// Whether what was started copies its input to its output; it is ended.
bool is_cat(const std::variant<Started, StartFailed>& result) {
  const auto& started = std::get<Started>(result);
  static_cast<void>(::write(started.input.get(), "x", 1));
  const bool answers = read_from(started.output.get(), 1) == "x";
  ::kill(started.pid, SIGKILL);
  ::waitpid(started.pid, nullptr, 0);
  return answers;
}

}  // namespace

TEST_CASE("a program whose path is gone at its exec is executed by what was opened") {
  const Cat cat;
  at_stat = [&](std::string_view path, bool done) {
    if (done && path == cat.path) std::filesystem::remove(cat.path);
  };

  const auto result = start_process(cat.program(), {});
  at_stat = nullptr;

  CHECK(is_cat(result));
}

TEST_CASE("a program is executed by what was opened where nobody sees what a process runs") {
  const Cat cat;
  const Failing failing(Call::lstat, ENOENT);

  CHECK(is_cat(start_process(cat.program(), {})));
  CHECK(failing.fired());
}

TEST_CASE("a program that the kernel refuses when it is open is refused, whatever its path names") {
  const Cat cat;
  std::filesystem::remove(cat.path);
  const int error = GENERATE(EACCES, EPERM);
  const Failing failing(Call::syscall, error, NSIG - 1);  // behind what is done about signals

  const auto result = start_process(cat.program(), {});

  CHECK(std::get<StartFailed>(result).error == error);
  CHECK(std::get<StartFailed>(result).where == Where::exec);
}

TEST_CASE("a process that was started wrongly and may not be killed is not waited for") {
  const Cat cat;
  at_stat = [&](std::string_view path, bool done) {
    if (done && path == cat.path) std::filesystem::rename(cat.other, cat.path);
    if (done) at_stat = nullptr;
  };
  const Failing failing(Call::kill, EPERM);

  const auto result = start_process(cat.program(), {});
  at_stat = nullptr;

  CHECK(failing.fired());
  CHECK(std::get<StartFailed>(result) == StartFailed{.where = Where::exec, .error = ESTALE});
  CHECK(::waitpid(-1, nullptr, 0) > 0);  // it has ended by itself, as its input has
}

TEST_CASE("what a process runs that is gone, or cannot be looked at, is not known") {
  const Cat cat;
  const Failing failing(Call::stat, ENOENT, 0, 2);

  CHECK(what_runs(::getpid(), cat.program()) == Runs::unknown);
}
