// Processes and programs, where the kernel refuses what it hardly ever does: each refusal is told,
// and nothing is left behind; a call that was only interrupted is made again.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "tests/unit/failing_calls.h"
#include "tests/unit/processes.h"
#include "upgrader/descriptors.h"
#include "upgrader/process.h"

using namespace upgrader;
using Where = StartFailed::Where;

namespace {

Program program_of(const std::string& path, std::vector<std::string> args = {}) {
  std::variant<Program, ProgramRefused> checked = check_program(path, path, std::move(args));
  if (const ProgramRefused* refusal = std::get_if<ProgramRefused>(&checked)) FAIL(refusal->reason);
  return std::get<Program>(std::move(checked));
}

// How the start of /bin/true failed.
std::optional<StartFailed> failure_of(const Program& program, const ChildSetting& setting = {}) {
  auto result = start_process(program, setting);
  if (const auto* failed = std::get_if<StartFailed>(&result)) return *failed;
  ::waitpid(std::get<Started>(result).pid, nullptr, 0);
  return std::nullopt;
}

int error_of_checking(const std::string& path) {
  const auto checked = check_program(path, path, {});
  const auto* refusal = std::get_if<ProgramRefused>(&checked);
  return refusal != nullptr ? refusal->error : 0;
}

}  // namespace

TEST_CASE("a start for which a pipe is not to be had fails, and leaves no descriptor behind") {
  const Program program = program_of("/bin/true");
  const auto before = descriptors_of(::getpid());
  const int after = GENERATE(0, 1, 2);
  const Failing failing(Call::pipe2, EMFILE, after);

  const auto failure = failure_of(program);

  CHECK(failing.fired());
  CHECK(failure == StartFailed{.where = Where::resources, .error = EMFILE});
  CHECK(descriptors_of(::getpid()) == before);
}

TEST_CASE("a start whose pipes cannot be made non-blocking fails") {
  const Program program = program_of("/bin/true");
  const int after = GENERATE(0, 1, 2, 3);
  const Failing failing(Call::fcntl, EPERM, after);

  CHECK(failure_of(program) == StartFailed{.where = Where::resources, .error = EPERM});
  CHECK(failing.fired());
}

TEST_CASE("a start for which there is no process fails") {
  const Program program = program_of("/bin/true");
  const Failing failing(Call::clone, EAGAIN);

  CHECK(failure_of(program) == StartFailed{.where = Where::resources, .error = EAGAIN});
  CHECK(failing.fired());
}

TEST_CASE("a start whose process cannot put its descriptors in place fails") {
  const Program program = program_of("/bin/true");
  const int after = GENERATE(0, 1);
  const Failing failing(Call::dup2, EBADF, after);

  CHECK(failure_of(program) == StartFailed{.where = Where::resources, .error = EBADF});
}

TEST_CASE("a start whose process cannot pass a descriptor on fails") {
  const Program program = program_of("/bin/true");
  const Failing failing(Call::fcntl, EBADF, 4);

  CHECK(failure_of(program, ChildSetting{.environment = {}, .passed = 1}) ==
        StartFailed{.where = Where::resources, .error = EBADF});
}

TEST_CASE("a process that cannot tell why it was not executed ends by itself") {
  const TemporaryDirectory directory;
  const Program program = program_of(directory.write("script", "#!/bin/sh\n"));
  std::filesystem::remove(directory / "script");
  const Failing failing(Call::write, EPIPE);

  auto result = start_process(program, {});

  REQUIRE(std::holds_alternative<Started>(result));
  const pid_t pid = std::get<Started>(result).pid;
  REQUIRE(ends(pid));
  CHECK(try_reap(pid) == Ending{Ending::How::exited, 2});
}

TEST_CASE("an interrupted wait for the exec, or for a child, goes on") {
  const TemporaryDirectory directory;
  const Program gone = program_of(directory.write("script", "#!/bin/sh\n"));
  std::filesystem::remove(directory / "script");
  const Failing reading(Call::read, EINTR);
  const Failing waiting(Call::waitpid, EINTR);

  CHECK(failure_of(gone) == StartFailed{.where = Where::exec, .error = ENOENT});

  CHECK(reading.fired());
  CHECK(waiting.fired());
  CHECK(::waitpid(-1, nullptr, 0) == -1);  // there is no child any more, ended or not
}

TEST_CASE("a child that another has reaped is not waited for for ever") {
  const TemporaryDirectory directory;
  const Program gone = program_of(directory.write("script", "#!/bin/sh\n"));
  std::filesystem::remove(directory / "script");
  const Failing waiting(Call::waitpid, ECHILD);

  CHECK(failure_of(gone) == StartFailed{.where = Where::exec, .error = ENOENT});

  CHECK(waiting.fired());
  CHECK(::waitpid(-1, nullptr, 0) > 0);
}

TEST_CASE("an interrupted look at a child is made again") {
  auto result = start_process(program_of("/bin/true"), {});
  const pid_t pid = std::get<Started>(result).pid;
  REQUIRE(ends(pid));
  const Failing failing(Call::waitpid, EINTR, 0, 2);

  CHECK(try_reap(pid) == Ending{Ending::How::exited, 0});
  CHECK(failing.fired());
}

TEST_CASE("a path that comes to name the same file again while it is executed is told as refused") {
  const TemporaryDirectory directory;
  const Program program = program_of(directory.write("script", "#!/bin/sh\n"));
  // Only the first of the two looks at the path sees another file, or none.
  const Failing failing(Call::stat, ENOENT);

  CHECK(failure_of(program) == StartFailed{.where = Where::exec, .error = ENOENT});
}

TEST_CASE("a program is refused when it cannot be looked at") {
  const auto [call, after] = GENERATE(table<Call, int>(
      {{Call::fstat, 0}, {Call::fstat, 1}, {Call::fstat, 2}, {Call::open, 1}, {Call::pread, 0}}));
  const Failing failing(call, EIO, after);

  CHECK(error_of_checking("/bin/sh") == EIO);
  CHECK(failing.fired());
}

TEST_CASE("an interrupted read of a program is made again") {
  const TemporaryDirectory directory;
  const bool reaches_the_end = GENERATE(false, true);
  const std::string path =
      reaches_the_end ? directory.write("script", "#!/bin/sh\n") : std::string("/bin/sh");
  const Failing failing(Call::pread, EINTR);

  CHECK(error_of_checking(path) == 0);
  CHECK(failing.fired());
}

TEST_CASE("an interrupted wait for an exec that works goes on to its end, and no further") {
  const Failing failing(Call::read, EINTR);

  CHECK_FALSE(failure_of(program_of("/bin/true")));

  CHECK(failing.fired());
}

TEST_CASE("a loader or an interpreter that may not be read is taken as it is") {
  const Failing failing(Call::open, EACCES, 2);

  CHECK(error_of_checking("/bin/sh") == 0);
  CHECK(failing.fired());
  const TemporaryDirectory directory;
  const std::string script = directory.write("script", "#!/bin/sh\n");
  const Failing again(Call::open, EACCES, 2);
  CHECK(program_of(script).kind() == ExecutableKind::script);
  CHECK(again.fired());
}

TEST_CASE("where the kernel cannot judge an open file, its path is judged") {
  const int error = GENERATE(EINVAL, ENOSYS, EPERM);
  const Failing failing(Call::faccessat, error);

  CHECK(error_of_checking("/bin/sh") == 0);

  const TemporaryDirectory directory;
  const Failing twice(Call::faccessat, error, 0, 2);
  CHECK(error_of_checking(directory.write("script", "#!/bin/sh\n")) == error);

  const Failing once_more(Call::faccessat, error);
  CHECK(error_of_checking(directory.write("plain", "#!/bin/sh\n", 0644)) == EACCES);
}

TEST_CASE("a file that is gone at the second look is looked at again, but not for ever") {
  {
    const Failing once(Call::open, ENOENT, 1);
    CHECK(error_of_checking("/bin/sh") == 0);
    CHECK(once.fired());
  }
  const Failing always(Call::open, ENOENT, 1, 1'000);
  CHECK(error_of_checking("/bin/sh") == EAGAIN);
}

TEST_CASE("a standard descriptor that cannot be opened is told") {
  const Failing closed(Call::fcntl, EBADF);
  const Failing failing(Call::open, ENOENT);

  CHECK(open_standard_descriptors() == ENOENT);
}

TEST_CASE("descriptors are marked without /proc, and without a limit to their number") {
  const int fd = ::open("/dev/null", O_RDONLY);
  REQUIRE((::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0);
  const Failing no_directory(Call::opendir, ENOENT);
  const Failing no_limit(Call::getrlimit, EPERM);

  CHECK_FALSE(mark_by_proc(fd));
  mark_one_by_one(fd);

  CHECK((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  ::close(fd);
}

TEST_CASE("where one means of marking descriptors is missing, the next is taken") {
  const int fd = ::open("/dev/null", O_RDONLY);
  REQUIRE((::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0);
  const int missing = GENERATE(0, 1, 2);
  const Failing no_call(Call::syscall, ENOSYS, 0, missing > 0 ? 1 : 0);
  const Failing no_directory(Call::opendir, ENOENT, 0, missing > 1 ? 1 : 0);

  mark_close_on_exec_from(fd);

  CHECK(no_call.fired() == (missing > 0));
  CHECK(no_directory.fired() == (missing > 1));
  CHECK((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  ::close(fd);
}

TEST_CASE("a script that has become none, and whose path then cannot be looked at, is refused") {
  const TemporaryDirectory directory;
  const Program program = program_of(directory.write("script", "#!/bin/sh\n"));
  directory.write("script", "no script");
  const Failing failing(Call::stat, EIO, 1);

  CHECK(failure_of(program) == StartFailed{.where = Where::exec, .error = ENOEXEC});
}

TEST_CASE("a program that may be executed but not opened for reading is one that is not read") {
  const Failing failing(Call::open, EPERM, 1);

  const Program program = program_of("/bin/sh");

  CHECK(failing.fired());
  CHECK(program.kind() == ExecutableKind::unreadable);
}

TEST_CASE("an ELF file that is not to be executed is no program") {
  const TemporaryDirectory directory;
  std::string content = content_of("/bin/true");
  content[16] = 1;  // e_type: relocatable

  CHECK(error_of_checking(directory.write("object", content)) == ENOEXEC);
}

TEST_CASE("a start of which nothing can be learnt counts as done") {
  const Program program = program_of("/bin/true");
  const Failing failing(Call::read, EIO);

  CHECK_FALSE(failure_of(program));
  CHECK(failing.fired());
}

TEST_CASE("an agent is started also where the kernel tells nobody of the upgrader's death") {
  const Program program = program_of("/bin/true");
  const Failing failing(Call::prctl, EINVAL);

  auto result = start_process(program, {});

  REQUIRE(std::holds_alternative<Started>(result));
  const pid_t pid = std::get<Started>(result).pid;
  REQUIRE(ends(pid));
  CHECK(try_reap(pid) == Ending{Ending::How::exited, 0});
}

TEST_CASE("a child whose upgrader had died before the kernel was asked to tell runs nothing") {
  const Program program = program_of("/bin/true");
  const Failing failing(Call::getppid, 0);  // -1: it is another's child by now

  auto result = start_process(program, {});

  REQUIRE(std::holds_alternative<Started>(result));
  const pid_t pid = std::get<Started>(result).pid;
  REQUIRE(ends(pid));
  CHECK(try_reap(pid) == Ending{Ending::How::exited, 2});
}

TEST_CASE("a kernel that knows no subreapers says so") {
  const Failing failing(Call::prctl, EINVAL);

  CHECK(become_subreaper() == EINVAL);
}
