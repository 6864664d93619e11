// Tests programs while system calls fail. The first tests show when the upgrader executes a program
// by its path, and when by its open descriptor. The last tests show how the upgrader judges a
// program whose disk fails.
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/executable.h"
#include "base/owned_fd.h"
#include "base/process.h"
#include "tests/decisions/unit/failing_calls.h"
#include "tests/decisions/unit/processes.h"
#include "tests/support/temporary_directory.h"

namespace failing_program_test {

using namespace upgrader;

// ---- which file is executed: the file at the path, or the one that the open descriptor refers to
//
// In each test the file at the path changes before the exec, or the kernel refuses the exec by path
// or the exec by descriptor.

namespace {

// A copy of the program `cat`, and the result of check_program() for it.
struct Cat {
  TemporaryDirectory directory;
  std::string path = directory.write("agent", content_of("/bin/cat"));
  agent_protocol::Result<Program> checked = check_program(path, path, {});

  [[nodiscard]] const Program& program() const { return checked.value(); }
};

// The result of a test that runs in a child process as a user other than root. `cannot_be` means
// that the test was not run, because this user may not execute the program.
enum class AsOther { passed, failed, cannot_be };

// Makes a process that runs as root run as the user nobody. The process cannot become root again.
bool drop_root() {
  constexpr unsigned nobody = 65534;
  if (::geteuid() != 0) return true;
  return ::setgroups(0, nullptr) == 0 && ::setgid(nobody) == 0 && ::setuid(nobody) == 0;
}

// Runs the function `passes` in a child that does not run as root. Returns whether it passed, or
// `cannot_be` if the child may not execute `path`.
AsOther as_other_user(const std::string& path, const std::function<bool()>& passes) {
  const pid_t child = ::fork();
  if (child == 0) {
    AsOther outcome = AsOther::cannot_be;
    if (drop_root() && ::access(path.c_str(), X_OK) == 0)
      outcome = passes() ? AsOther::passed : AsOther::failed;
    ::_exit(static_cast<int>(outcome));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? static_cast<AsOther>(WEXITSTATUS(status)) : AsOther::failed;
}

}  // namespace

TEST_CASE("a program whose path is gone at its exec is executed by what was opened") {
  const Cat cat;
  at_stat = [&](std::string_view path, bool done) {
    if (done && path == cat.path) std::filesystem::remove(cat.path);
  };

  const auto result = start_process(cat.program(), {});
  at_stat = nullptr;

  CHECK(is_cat(std::get<Started>(result)));
}

TEST_CASE("a program that the kernel refuses when it is open is refused, whatever its path names") {
  const Cat cat;
  std::filesystem::remove(cat.path);
  const int error = GENERATE(EACCES, EPERM);
  // The child calls syscall() NSIG - 1 times to reset one signal after the other to its default.
  // These calls succeed. The next call of syscall() is the exec, and fails.
  const Failing failing(Call::syscall, error, NSIG - 1);

  const auto result = start_process(cat.program(), {});

  CHECK(std::get<StartFailed>(result).error == error);
  CHECK(std::get<StartFailed>(result).exec_failed);
}

TEST_CASE("a program that only root may read is started once by others, and keeps its name") {
  const Cat cat;
  REQUIRE(::chmod(cat.directory.path().c_str(), 0755) == 0);
  REQUIRE(::chmod(cat.path.c_str(), 0711) == 0);
  std::string name;

  const AsOther outcome = as_other_user(cat.path, [&] {
    const auto checked = check_program(cat.path, cat.path, {});
    const Failing no_second_start(Call::clone, EAGAIN, 1);
    const auto result = start_process(checked.value(), {});
    const auto* const started = std::get_if<Started>(&result);
    if (started == nullptr) return false;
    const bool named = status_of(started->pid, "Name") == "agent";
    return named && is_cat(std::get<Started>(result)) && !no_second_start.fired();
  });

  if (outcome == AsOther::cannot_be) {
    WARN("skipped: cannot become a user here who is not root");
    return;
  }
  CHECK(outcome == AsOther::passed);
}

// ---- the judgement of a program whose disk fails
//
// The error must say that the program cannot be read, and not that the program is bad.

namespace {

// Judges the program at `path`. The first `reads_before` reads succeed, and all later reads fail
// with EIO. Returns the refusal.
agent_protocol::Refusal refusal_of(const std::string& path, int reads_before) {
  const OwnedFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  const Failing failing(Call::pread, EIO, reads_before);
  const auto judged = judge_executable(fd.get());
  INFO("after " << reads_before << " reads");
  CHECK(failing.fired());
  const auto* const refusal = judged ? nullptr : &judged.refusal();
  if (refusal == nullptr) FAIL("it is no program that can be read, and was taken");
  return *refusal;
}

const std::string unreadable = "cannot be read: Input/output error (EIO)";

}  // namespace

TEST_CASE("a program that cannot be read is not called truncated, wherever reading fails") {
  // The upgrader judges this program with four reads: of the first bytes, the header, the table of
  // segments and the loader's name.
  for (int reads = 0; reads < 4; ++reads) {
    const agent_protocol::Refusal refusal = refusal_of("/proc/self/exe", reads);
    CHECK(refusal.error_number == EIO);
    CHECK(refusal.reason == unreadable);
  }
}

TEST_CASE("a loader that cannot be read is not called a bad one") {
  const agent_protocol::Refusal refusal = refusal_of("/proc/self/exe", 4);

  CHECK(refusal.error_number == EIO);
  CHECK(refusal.reason.starts_with("its loader /"));
  CHECK(refusal.reason.ends_with(unreadable));
}

TEST_CASE("an interpreter that cannot be read is told as such") {
  const TemporaryDirectory directory;
  const std::string script = directory.write("script", "#!/bin/sh\n");

  // Two reads of the script succeed: the first gets its text, the second finds its end.
  const agent_protocol::Refusal refusal = refusal_of(script, 2);

  CHECK(refusal.error_number == EIO);
  CHECK(refusal.reason == "its interpreter /bin/sh " + unreadable);
}

}  // namespace failing_program_test
