// Tests the start of processes while system calls fail, which is rare in reality:
// * Each error must be returned, and no child or descriptor may be left behind.
// * Interrupted calls must be repeated.
// * If a call fails that prepares the signals, descriptors or environment of an agent or of the
//   upgrader itself, no agent may be started. If the failure may be temporary, the upgrader must
//   repeat the call.
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptors.h"
#include "base/errno_name.h"
#include "base/process.h"
#include "tests/decisions/unit/failing_calls.h"
#include "tests/decisions/unit/init_socket.h"
#include "tests/decisions/unit/processes.h"
#include "upgrader/shell/channel.h"
#include "upgrader/shell/init_system.h"

namespace failing_process_test {

using namespace upgrader;

namespace {

// Tries to start the program, which must fail. Returns the error.
std::optional<StartFailed> failure_of(const Program& program, const ChildSetting& setting = {}) {
  auto result = start_process(program, setting);
  if (const auto* failed = std::get_if<StartFailed>(&result)) return *failed;
  ::waitpid(std::get<Started>(result).pid, nullptr, 0);
  return std::nullopt;
}

int error_of_checking(const std::string& path) {
  const auto checked = check_program(path, path, {});
  const auto* refusal = checked ? nullptr : &checked.refusal();
  return refusal != nullptr ? refusal->error_number : 0;
}

// Returns a script that was good when it was checked, but whose interpreter has been removed since
// then. So only the kernel notices, at the exec, that the interpreter is missing.
Program orphaned_script(const TemporaryDirectory& directory) {
  const std::string interpreter = directory.link("interpreter", "/bin/sh");
  Program script = program_of(directory.write("script", "#!" + interpreter + "\n"));
  std::filesystem::remove(interpreter);
  return script;
}

// As long as this object lives, `deed` is called before and after each stat().
struct AtStat {
  explicit AtStat(std::function<void(std::string_view path, bool done)> deed) {
    at_stat = std::move(deed);
  }
  ~AtStat() { at_stat = nullptr; }
  AtStat(const AtStat&) = delete;
  AtStat& operator=(const AtStat&) = delete;
};

bool is_other_process(std::string_view path) {
  return path.starts_with("/proc/") && !path.starts_with("/proc/self");
}

void exchange(const std::string& one, const std::string& other) {
  REQUIRE(::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0);
}

bool no_child_is_left() {
  return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
}

}  // namespace

TEST_CASE("a program that executes another one at once is started once, however busy all is") {
  const Program program = program_of("/usr/bin/env", {"cat"});
  // Makes the new process seem as fast as possible: if the upgrader inspects the process with
  // stat(), this stat() waits until the process has executed `cat`.
  const AtStat waiter([&](std::string_view looked_at, bool done) {
    if (done || !is_other_process(looked_at)) return;
    const std::string process(looked_at.substr(0, looked_at.rfind('/')));
    for (int look = 0; look < patience_ms && content_of(process + "/comm") != "cat\n"; ++look)
      ::poll(nullptr, 0, 1);
  });
  const Failing no_second_start(Call::clone, EAGAIN, 1);

  auto result = start_process(program, {});

  REQUIRE(std::holds_alternative<Started>(result));
  CHECK_FALSE(no_second_start.fired());
  CHECK(is_cat(std::get<Started>(result)));
  CHECK(no_child_is_left());
}

TEST_CASE("a program whose path was exchanged before its exec is executed as it was checked") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("agent", content_of("/bin/cat"));
  const std::string other = directory.write("other", content_of("/usr/bin/tail"));
  const Program program = program_of(path);
  const AtStat swapper([&](std::string_view looked_at, bool done) {
    if (!done && looked_at == path) exchange(path, other);
  });

  auto result = start_process(program, {});

  REQUIRE(std::holds_alternative<Started>(result));
  CHECK(is_cat(std::get<Started>(result)));
  CHECK(no_child_is_left());
}

TEST_CASE("a program whose path has gone is not started where no descriptor can be executed") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("agent", content_of("/bin/cat"));
  const Program program = program_of(path);
  std::filesystem::remove(path);
  const int error = GENERATE(ENOSYS, EPERM, ENOENT);
  constexpr int signals = 64;
  const Failing executing(Call::syscall, error, signals);

  CHECK(failure_of(program) == StartFailed{.error = error, .exec_failed = true});
  CHECK(executing.fired());
}

TEST_CASE("a start whose process cannot give a signal its default fails, but for two of them") {
  const Program program = program_of("/bin/true");
  const int signal_number = GENERATE(1, 2, 31, SIGKILL, SIGSTOP, 32, 64);
  const Failing failing(Call::syscall, EINVAL, signal_number - 1);
  const bool promised = signal_number <= 31 && signal_number != SIGKILL && signal_number != SIGSTOP;

  const auto failure = failure_of(program);

  CHECK(failing.fired());
  CHECK(failure.has_value() == promised);
  if (promised) CHECK(failure == StartFailed{EINVAL});
}

TEST_CASE("a start for which a pipe is not to be had fails, and leaves no descriptor behind") {
  const Program program = program_of("/bin/true");
  const auto before = descriptors_of(::getpid());
  const int after = GENERATE(0, 1, 2);
  const Failing failing(Call::pipe2, EMFILE, after);

  const auto failure = failure_of(program);

  CHECK(failing.fired());
  CHECK(failure == StartFailed{EMFILE});
  CHECK(descriptors_of(::getpid()) == before);
}

TEST_CASE("a start whose pipes cannot be made non-blocking fails") {
  const Program program = program_of("/bin/true");
  const int after = GENERATE(0, 1);
  const Failing failing(Call::fcntl, EPERM, after);

  CHECK(failure_of(program) == StartFailed{EPERM});
  CHECK(failing.fired());
}

TEST_CASE("a start for which there is no process fails") {
  const Program program = program_of("/bin/true");
  const Failing failing(Call::clone, EAGAIN);

  CHECK(failure_of(program) == StartFailed{EAGAIN});
  CHECK(failing.fired());
}

TEST_CASE("a start whose process cannot put its descriptors in place fails") {
  const Program program = program_of("/bin/true");
  const int after = GENERATE(0, 1);
  const Failing failing(Call::dup2, EBADF, after);

  CHECK(failure_of(program) == StartFailed{EBADF});
}

TEST_CASE("a start whose process cannot pass a descriptor on fails") {
  const Program program = program_of("/bin/true");
  const Failing failing(Call::fcntl, EBADF, 2);

  CHECK(failure_of(program, ChildSetting{.environment = {}, .passed = 1}) == StartFailed{EBADF});
}

TEST_CASE("a start fails whose process cannot pass the program on to its adapter") {
  const Program program = program_of("/bin/true");
  const ChildSetting setting{.environment = {}, .passed = 0, .adapter = program_of("/bin/cat")};
  const Failing failing(Call::fcntl, EBADF, 2);

  CHECK(failure_of(program, setting) == StartFailed{EBADF});
}

TEST_CASE("a process that cannot tell why it was not executed ends by itself") {
  const TemporaryDirectory directory;
  const Program program = orphaned_script(directory);
  const Failing failing(Call::write, EPIPE);

  auto result = start_process(program, {});

  REQUIRE(std::holds_alternative<Started>(result));
  const pid_t pid = std::get<Started>(result).pid;
  REQUIRE(ends(pid));
  CHECK(try_reap(pid) == Ending{Ending::How::exited, 2});
}

TEST_CASE("an interrupted wait for the exec, or for a child, goes on") {
  const TemporaryDirectory directory;
  const Program gone = orphaned_script(directory);
  const Failing reading(Call::read, EINTR);
  const Failing waiting(Call::waitpid, EINTR);

  CHECK(failure_of(gone) == StartFailed{.error = ENOENT, .exec_failed = true});

  CHECK(reading.fired());
  CHECK(waiting.fired());
  CHECK(::waitpid(-1, nullptr, 0) == -1);  // no child is left, neither running nor ended
}

TEST_CASE("a child that another has reaped is not waited for for ever") {
  const TemporaryDirectory directory;
  const Program gone = orphaned_script(directory);
  const Failing waiting(Call::waitpid, ECHILD);

  CHECK(failure_of(gone) == StartFailed{.error = ENOENT, .exec_failed = true});

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
  // The path is checked by two calls of stat(). Only the first fails, as if the file did not exist.
  const Failing failing(Call::stat, ENOENT);

  CHECK(failure_of(program) == StartFailed{.error = ENOENT, .exec_failed = true});
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
  CHECK(program_of(script).kind == ExecutableKind::script);
  CHECK(again.fired());
}

TEST_CASE("if the newer system call is refused, the older one says what may be executed") {
  const TemporaryDirectory directory;
  const std::string script = directory.write("script", "#!/bin/sh\n");
  // The upgrader asks the kernel twice: first whether the script may be executed, then whether the
  // script's interpreter may be executed. One of these two calls fails.
  const int before = GENERATE(0, 1);
  const int error = GENERATE(EINVAL, ENOSYS, EPERM, EACCES);
  {
    const Failing failing(Call::faccessat2, error, before);
    CHECK(error_of_checking(script) == 0);
    CHECK(failing.fired());
  }
  const Failing failing(Call::faccessat2, error);
  CHECK(error_of_checking(directory.write("plain", "#!/bin/sh\n", 0644)) == EACCES);
}

TEST_CASE("any other error of the call that asks for the right to execute is the refusal's") {
  const TemporaryDirectory directory;
  const Failing failing(Call::faccessat2, EIO, GENERATE(0, 1));

  CHECK(error_of_checking(directory.write("script", "#!/bin/sh\n")) == EIO);
  CHECK(failing.fired());
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

TEST_CASE("if one means of marking descriptors is missing, the next is used") {
  const int fd = ::open("/dev/null", O_RDONLY);
  REQUIRE((::fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0);
  const int missing = GENERATE(0, 1, 2, 3);
  const Failing no_call(Call::syscall, ENOSYS, 0, missing > 0 ? 1 : 0);
  const Failing no_directory(Call::opendir, ENOENT, 0, missing > 1 ? 1 : 0);
  const Failing no_limit(Call::getrlimit, EPERM, 0, missing > 2 ? 1 : 0);

  mark_close_on_exec_from(fd);

  CHECK(no_call.fired() == (missing > 0));
  CHECK(no_directory.fired() == (missing > 1));
  CHECK(no_limit.fired() == (missing > 2));
  CHECK((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
  ::close(fd);
}

TEST_CASE("a script that was rewritten as another kind of file is refused by the kernel") {
  const TemporaryDirectory directory;
  const Program program = program_of(directory.write("script", "#!/bin/sh\n"));
  directory.write("script", "no script");

  CHECK(failure_of(program) == StartFailed{.error = ENOEXEC, .exec_failed = true});
}

TEST_CASE("a script whose path cannot be looked at before its exec is not started") {
  const TemporaryDirectory directory;
  const Program program = program_of(directory.write("script", "#!/bin/sh\n"));
  const Failing failing(Call::stat, EIO);

  CHECK(failure_of(program) == StartFailed{.error = EIO, .exec_failed = true});
}

TEST_CASE("a program that may be executed but not opened for reading is one that is not read") {
  const Failing failing(Call::open, EPERM, 1);

  const Program program = program_of("/bin/sh");

  CHECK(failing.fired());
  CHECK(program.kind == ExecutableKind::unreadable);
}

TEST_CASE("an ELF file that is not to be executed is no program") {
  const TemporaryDirectory directory;
  std::string content = content_of("/bin/true");
  content[16] = 1;  // e_type: 1 is a relocatable object file

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
  const Failing failing(Call::getppid, 0);  // so the child believes that its parent has died

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

TEST_CASE("descriptors that are marked at once are not marked one by one, too") {
  const Failing failing(Call::fcntl, EBADF);

  mark_close_on_exec_from(1'000);

  CHECK_FALSE(failing.fired());
}

// ---- the signals, pipes and descriptors that are prepared for an agent and for the upgrader

namespace {

StartFailed failure_of_start() {
  const auto checked = check_program("/bin/true", "/bin/true", {});
  auto result = start_process(checked.value(), {});
  if (const auto* started = std::get_if<Started>(&result)) {
    ::waitpid(started->pid, nullptr, 0);
    FAIL("it was started");
  }
  return std::get<StartFailed>(result);
}

}  // namespace

TEST_CASE("without a session of its own there is no agent") {
  const Failing failing(Call::setsid, EPERM);

  const StartFailed failure = failure_of_start();

  CHECK(failure == StartFailed{EPERM});
}

TEST_CASE("without the signals that it is to get there is no agent") {
  const Failing failing(Call::sigprocmask, EPERM);

  const StartFailed failure = failure_of_start();

  CHECK(failure == StartFailed{EPERM});
  CHECK(ended_child() == std::nullopt);
}

TEST_CASE("signals that cannot be blocked are told") {
  const Failing failing(Call::sigprocmask, EPERM);

  CHECK(put_signals_right() == EPERM);
}

TEST_CASE("a pipe that has no memory for a message now gets it later") {
  int ends[2];
  int unused[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  REQUIRE(::pipe2(unused, O_CLOEXEC | O_NONBLOCK) == 0);
  const OwnedFd reader(ends[0]);
  const OwnedFd writer_of_unused(unused[1]);
  uv_loop_t loop{};
  REQUIRE(uv_loop_init(&loop) == 0);
  auto channel = std::make_unique<Channel>(
      &loop, OwnedFd(ends[1]), OwnedFd(unused[0]), [] {}, [] {});
  {
    const Failing failing(Call::write, ENOMEM);
    CHECK(channel->send("news\n"));
    CHECK(failing.fired());
  }
  CHECK(channel->unsent() == 5);

  CHECK(channel->flush());

  CHECK(channel->unsent() == 0);
  char text[8];
  CHECK(::read(reader.get(), text, sizeof text) == 5);
  channel.reset();
  uv_run(&loop, UV_RUN_DEFAULT);
  CHECK(uv_loop_close(&loop) == 0);
}

TEST_CASE("a descriptor for readiness that cannot be moved is told") {
  const int fd = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const Failing failing(Call::fcntl, EMFILE, 1);

  const auto taken = seize_for_readiness(fd, fd + 1);

  CHECK(failing.fired());
  CHECK(taken.reason() == in_words(SystemError{EMFILE}));
}

TEST_CASE("that something is short is not the program's fault") {
  const int error = GENERATE(EMFILE, ENFILE, ENOMEM, EAGAIN);
  CHECK(is_shortage(error));
  CHECK_FALSE(is_shortage(EACCES));
  CHECK_FALSE(is_shortage(ENOENT));
}

TEST_CASE("readiness that cannot be told without waiting is not told") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
  const OwnedFd reader(ends[0]);
  auto readiness = seize_for_readiness(ends[1], ends[1]);
  const int after = GENERATE(0, 1);
  const Failing failing(Call::fcntl, EPERM, after);

  InitSystem init(nullptr, Duration::zero(), std::move(readiness.value()));
  InitNews news;
  news.active = true;
  init.tell(news, Time{});

  CHECK_FALSE(init.next_deadline());
  CHECK(failing.fired());
  char byte = 0;
  // Reads the end of the stream, not a byte: the upgrader has closed the pipe without writing to
  // it.
  CHECK(::read(reader.get(), &byte, 1) == 0);
}

TEST_CASE("messages that init has no room for are sent later, and refused ones are dropped") {
  upgrader::test::InitSocket socket;
  InitSystem init(socket.path().c_str());
  const int error = GENERATE(EAGAIN, ENOBUFS, ENOMEM, EINTR, ECONNREFUSED);
  const Failing failing(Call::sendto, error);
  InitNews news;
  news.active = true;

  init.tell(news, Time{});

  CHECK(failing.fired());
  CHECK(socket.heard().empty());
  init.tell_what_is_due(full_retry_interval);
  CHECK(socket.heard().empty() == (error == ECONNREFUSED));
}

}  // namespace failing_process_test
