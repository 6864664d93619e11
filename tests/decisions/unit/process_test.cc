// Tests real processes: which resources a started process inherits, how a failed start is reported,
// and how the upgrader notices that a process has exited.
#include "base/process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "base/descriptors.h"
#include "tests/decisions/unit/processes.h"

namespace process_test {

using namespace upgrader;

namespace {

// A started process, which the destructor kills and reaps.
class Child {
 public:
  explicit Child(const Program& program, const ChildSetting& setting = {}) {
    std::variant<Started, StartFailed> result = start_process(program, setting);
    if (const StartFailed* failure = std::get_if<StartFailed>(&result)) {
      FAIL("not started: errno " << failure->error);
    }
    started_ = std::get<Started>(std::move(result));
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (reaped_) return;
    ::kill(started_.pid, SIGKILL);
    ::waitpid(started_.pid, nullptr, 0);
  }

  [[nodiscard]] pid_t pid() const { return started_.pid; }
  Started& operator*() { return started_; }
  Started* operator->() { return &started_; }

  void say(const std::string& bytes) {
    REQUIRE(::write(started_.input.get(), bytes.data(), bytes.size()) ==
            static_cast<ssize_t>(bytes.size()));
  }
  std::string hear(std::size_t size) { return read_from(started_.output.get(), size); }

  // Waits until the process has executed its program. Works only for a program that copies its
  // input to its output, such as `cat`: the copied byte shows that the program runs.
  void wait_until_executed() {
    say("x");
    REQUIRE(hear(1) == "x");
  }

  Ending end() {
    REQUIRE(ends(started_.pid));
    const std::optional<Ending> ending = try_reap(started_.pid);
    REQUIRE(ending);
    reaped_ = true;
    return *ending;
  }

 private:
  Started started_;
  bool reaped_ = false;
};

Ending ending_of(const std::string& shell_text) {
  return Child(program_of("/bin/sh", {"-c", shell_text})).end();
}

StartFailed failure_of(const Program& program, const ChildSetting& setting = {}) {
  std::variant<Started, StartFailed> result = start_process(program, setting);
  REQUIRE(std::holds_alternative<StartFailed>(result));
  return std::get<StartFailed>(result);
}

bool no_child_is_left() {
  return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD;
}

// Opens /dev/null as the descriptor `number` for the time of a test, and restores the descriptor's
// original file at the end.
class Place {
 public:
  explicit Place(int number) : number_(number), before_(::fcntl(number, F_DUPFD_CLOEXEC, 100)) {
    const OwnedFd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (null.get() != number) REQUIRE(::dup3(null.get(), number, O_CLOEXEC) == number);
    if (null.get() == number) static_cast<void>(const_cast<OwnedFd&>(null).release());
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() {
    ::close(number_);
    if (before_) ::dup2(before_.get(), number_);
  }

 private:
  int number_;
  OwnedFd before_;
};

}  // namespace

TEST_CASE("a started process reads what we write and we read what it writes") {
  Child cat(program_of("/bin/cat"));

  cat.say("hello\n");
  CHECK(cat.hear(6) == "hello\n");
  cat->input.reset();
  CHECK(cat.hear(1).empty());

  CHECK(cat.end() == Ending{Ending::How::exited, 0});
}

TEST_CASE("the ends of the pipes are real pipes: ours do not block, the agent's do") {
  mark_close_on_exec_from(first_passed_descriptor);
  Child cat(program_of("/bin/cat"));
  cat.wait_until_executed();
  const auto flags_of_child = [&](int fd) {
    const std::string info =
        content_of("/proc/" + std::to_string(cat.pid()) + "/fdinfo/" + std::to_string(fd));
    return std::stoi(info.substr(info.find("flags:") + 6), nullptr, 8);
  };

  const std::map<int, std::string> descriptors = descriptors_of(cat.pid());
  CHECK(descriptors.at(0).starts_with("pipe:"));
  CHECK(descriptors.at(1).starts_with("pipe:"));
  CHECK(descriptors.at(0) != descriptors.at(1));
  CHECK((flags_of_child(0) & O_NONBLOCK) == 0);
  CHECK((flags_of_child(1) & O_NONBLOCK) == 0);
  CHECK((flags_of_child(0) & O_ACCMODE) == O_RDONLY);
  CHECK((flags_of_child(1) & O_ACCMODE) == O_WRONLY);
  CHECK((::fcntl(cat->input.get(), F_GETFL) & O_NONBLOCK) != 0);
  CHECK((::fcntl(cat->output.get(), F_GETFL) & O_NONBLOCK) != 0);
  CHECK((::fcntl(cat->input.get(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK((::fcntl(cat->output.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("an agent has the descriptors 0 to 2 and those passed, and no other") {
  mark_close_on_exec_from(first_passed_descriptor);
  const Place three(3);
  const Place four(4);
  const OwnedFd other(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  const int passed = GENERATE(0, 1, 2);
  Child earlier(program_of("/bin/cat"), {.environment = {}, .passed = passed});
  Child cat(program_of("/bin/cat"), {.environment = {}, .passed = passed});
  cat.wait_until_executed();

  const std::map<int, std::string> descriptors = descriptors_of(cat.pid());

  CHECK(descriptors.size() == 3 + static_cast<std::size_t>(passed));
  for (int fd = 3; fd < 3 + passed; ++fd)
    CHECK(descriptors.at(fd) == "/dev/null");
  CHECK(descriptors.at(2) == descriptors_of(::getpid()).at(2));
  CHECK((::fcntl(3, F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("an agent's signals are at their defaults, whatever the upgrader's are") {
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  struct sigaction handle {};
  handle.sa_handler = [](int) {};
  struct sigaction before[3];
  ::sigaction(SIGHUP, &ignore, &before[0]);
  ::sigaction(SIGRTMIN + 3, &ignore, &before[1]);
  ::sigaction(SIGUSR1, &handle, &before[2]);
  struct {
    void* handler;
    unsigned long rest[7];
  } reserved{reinterpret_cast<void*>(SIG_IGN), {}};
  REQUIRE(::syscall(SYS_rt_sigaction, 32, &reserved, nullptr, 8) == 0);
  REQUIRE(::syscall(SYS_rt_sigaction, 64, &reserved, nullptr, 8) == 0);
  sigset_t blocked;
  sigset_t mask_before;
  ::sigfillset(&blocked);
  ::sigprocmask(SIG_SETMASK, &blocked, &mask_before);
  REQUIRE(status_of(::getpid(), "SigIgn") != "0000000000000000");

  Child cat(program_of("/bin/cat"));
  cat.wait_until_executed();

  CHECK(status_of(cat.pid(), "SigBlk") == "0000000000000000");
  CHECK(status_of(cat.pid(), "SigIgn") == "0000000000000000");
  CHECK(status_of(cat.pid(), "SigCgt") == "0000000000000000");
  sigset_t mask_after;
  ::sigprocmask(SIG_SETMASK, &mask_before, &mask_after);
  CHECK(::sigismember(&mask_after, SIGTERM) == 1);
  ::sigaction(SIGHUP, &before[0], nullptr);
  ::sigaction(SIGRTMIN + 3, &before[1], nullptr);
  ::sigaction(SIGUSR1, &before[2], nullptr);
  reserved.handler = nullptr;
  REQUIRE(::syscall(SYS_rt_sigaction, 32, &reserved, nullptr, 8) == 0);
  REQUIRE(::syscall(SYS_rt_sigaction, 64, &reserved, nullptr, 8) == 0);
}

TEST_CASE("an agent leads a session of its own, in our directory and with our umask") {
  const mode_t before = ::umask(0137);
  Child cat(program_of("/bin/cat"));
  cat.wait_until_executed();

  CHECK(::getsid(cat.pid()) == cat.pid());
  CHECK(::getpgid(cat.pid()) == cat.pid());
  CHECK(status_of(cat.pid(), "Umask") == "0137");
  CHECK(std::filesystem::read_symlink("/proc/" + std::to_string(cat.pid()) + "/cwd") ==
        std::filesystem::current_path());
  ::umask(before);
}

TEST_CASE("an agent's environment is the one given, with its own pid in LISTEN_PID") {
  const ChildSetting setting{
      .environment = {.entries = {"A=1", "LISTEN_PID=7", "", "odd", "B=\xff x"},
                      .listen_pid = 1,
                      .lock_descriptor = 5},
      .passed = 0};
  for (int i = 0; i < 2; ++i) {
    Child cat(program_of("/bin/cat"), setting);
    cat.wait_until_executed();

    CHECK(texts_of(cat.pid(), "environ") ==
          std::vector<std::string>{"A=1", "LISTEN_PID=" + std::to_string(cat.pid()), "", "odd",
                                   "B=\xff x", "AGENT_PROTOCOL_LOCK_FD=5"});
  }
}

TEST_CASE("the child that comes second leaves nothing of the first one's longer number") {
  const ChildSetting setting{
      .environment = {.entries = {"LISTEN_PID=7"}, .listen_pid = 0, .lock_descriptor = {}}};
  const Program program = program_of("/bin/cat");
  Vectors vectors(program, setting);

  vectors.write_pid(4'194'303);
  CHECK(std::string(vectors.envp()[0]) == "LISTEN_PID=4194303");
  vectors.write_pid(301);

  CHECK(std::string(vectors.envp()[0]) == "LISTEN_PID=301");
}

TEST_CASE("an environment ends with a null, also where every variable of ours is added to it") {
  // Two variables of the test and three variables of the upgrader make five pointers, which exactly
  // fill a block of malloc() (40 bytes). The array must also have a null pointer at its end. If
  // this pointer were missing, envp()[5] would be the size of malloc()'s next block, which is not
  // 0.
  const ChildSetting setting{
      .environment = {.entries = {"A=1", "B=2"}, .listen_pid = {}, .lock_descriptor = 5},
      .adapter = program_of("/bin/cat")};
  const Program program = program_of("/bin/cat");
  const Vectors vectors(program, setting);

  CHECK(std::string(vectors.envp()[2]) == "AGENT_PROTOCOL_LOCK_FD=5");
  CHECK(std::string(vectors.envp()[3]).starts_with("AGENT_PROTOCOL_PROGRAM="));
  CHECK(std::string(vectors.envp()[4]).starts_with("AGENT_PROTOCOL_PROGRAM_FD="));
  CHECK(vectors.envp()[5] == nullptr);
}

TEST_CASE("arguments arrive byte for byte, a thousand of them") {
  std::vector<std::string> args{"-c", "read x", "", "a b", "\xc3\xa4", "\xff\xfe\x80", "'\"$\\\n"};
  args.resize(1000, "filler");
  Child shell(program_of("/bin/sh", args));

  std::vector<std::string> expected{"/bin/sh"};
  expected.insert(expected.end(), args.begin(), args.end());
  CHECK(texts_of(shell.pid(), "cmdline") == expected);
}

TEST_CASE("argv[0] is the name as given, and what runs is the resolved file") {
  const TemporaryDirectory directory;
  const std::string link = directory.link("link", "/bin/cat");
  agent_protocol::Result<Program> checked = check_program(link, "the name", {});
  Child cat(checked.value());

  CHECK(texts_of(cat.pid(), "cmdline") == std::vector<std::string>{"the name"});
  CHECK(std::filesystem::read_symlink("/proc/" + std::to_string(cat.pid()) + "/exe") ==
        std::filesystem::canonical("/bin/cat"));
}

TEST_CASE("a process is named after its file while the path names it") {
  const TemporaryDirectory directory;
  const Program program = program_of(directory.write("feline", content_of("/bin/cat")));

  Child cat(program);

  CHECK(content_of("/proc/" + std::to_string(cat.pid()) + "/comm") == "feline\n");
}

TEST_CASE("a program whose file was replaced or deleted is started as it was") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("feline", content_of("/bin/cat"));
  const Program program = program_of(path);
  if (GENERATE(true, false)) {
    std::filesystem::rename(directory.write("new", content_of("/bin/false")), path);
  } else {
    std::filesystem::remove_all(directory.path());
  }

  Child cat(program);
  cat.wait_until_executed();
  cat->input.reset();

  CHECK(cat.end() == Ending{Ending::How::exited, 0});
}

TEST_CASE("a program that may be executed but not read is started, deleted or not") {
  const TemporaryDirectory directory;
  REQUIRE(::chmod(directory.path().c_str(), 0755) == 0);
  const std::string path = directory.write("feline", content_of("/bin/cat"), 0111);
  const bool root = ::geteuid() == 0;
  if (root) REQUIRE(::seteuid(65534) == 0);
  const Program program = program_of(path);
  if (root) REQUIRE(::seteuid(0) == 0);
  REQUIRE(program.kind == ExecutableKind::unreadable);
  if (GENERATE(true, false)) std::filesystem::remove(path);

  Child cat(program);
  cat.wait_until_executed();
}

TEST_CASE("a script is started by its path") {
  const TemporaryDirectory directory;
  const Program script =
      program_of(directory.write("script", "#!/bin/sh\necho \"$0\" \"$1\"\n"), {"x"});

  Child child(script);

  CHECK(read_to_end(child->output.get()) == directory / "script" + " x\n");
}

TEST_CASE("a script whose path no longer names it is not started") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("script", "#!/bin/sh\n");
  const Program script = program_of(path);

  std::filesystem::remove(path);
  CHECK(failure_of(script) == StartFailed{.error = ENOENT, .exec_failed = true});
  std::filesystem::rename(directory.write("new", "#!/bin/sh\n"), path);
  CHECK(failure_of(script) == StartFailed{.error = ESTALE, .exec_failed = true});
  CHECK(no_child_is_left());
}

TEST_CASE("a program that the kernel refuses is reported with its errno, and leaves nothing") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("file", content_of("/bin/true"));
  const Program program = program_of(path);
  const std::map<int, std::string> before = descriptors_of(::getpid());

  SECTION("never handed to a shell") {
    std::ofstream(path, std::ios::trunc) << "touch " << directory / "marker"
                                         << "\n";
    CHECK(failure_of(program) == StartFailed{.error = ENOEXEC, .exec_failed = true});
    CHECK_FALSE(std::filesystem::exists(directory / "marker"));
  }
  SECTION("being written to") {
    const OwnedFd writer(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    CHECK(failure_of(program) == StartFailed{.error = ETXTBSY, .exec_failed = true});
  }
  SECTION("no longer executable") {
    REQUIRE(::chmod(path.c_str(), 0644) == 0);
    CHECK(failure_of(program) == StartFailed{.error = EACCES, .exec_failed = true});
  }
  SECTION("an argument that is too long") {
    const Program verbose = program_of(path, {std::string(1 << 20, 'x')});
    CHECK(failure_of(verbose) == StartFailed{.error = E2BIG, .exec_failed = true});
  }

  CHECK(no_child_is_left());
  CHECK(descriptors_of(::getpid()) == before);
}

TEST_CASE("a passed descriptor that is not open is a failure of resources") {
  const Program program = program_of("/bin/true");
  const std::map<int, std::string> before = descriptors_of(::getpid());

  const StartFailed failure = failure_of(program, {.environment = {}, .passed = 500});

  CHECK(failure == StartFailed{EBADF});
  CHECK(no_child_is_left());
  CHECK(descriptors_of(::getpid()) == before);
}

TEST_CASE("running out of descriptors at any moment is a failure that leaves nothing behind") {
  const Program program = program_of("/bin/true");
  const std::map<int, std::string> before = descriptors_of(::getpid());
  const OwnedFd lowest(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  // Occupies all low descriptor numbers, so that only numbers just below the limit of the process
  // are free.
  std::vector<OwnedFd> filled;
  while (filled.empty() || filled.back().get() < 80) {
    filled.emplace_back(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  rlimit limit{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  const rlim_t all = limit.rlim_cur;

  for (rlim_t spare = 0; spare < 6; ++spare) {
    limit.rlim_cur = static_cast<rlim_t>(filled.back().get()) + 1 + spare;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    const std::variant<Started, StartFailed> result = start_process(program, {});
    limit.rlim_cur = all;
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
    INFO(spare);
    REQUIRE(std::holds_alternative<StartFailed>(result));
    CHECK(std::get<StartFailed>(result) == StartFailed{EMFILE});
    CHECK(no_child_is_left());
  }

  filled.clear();
  const_cast<OwnedFd&>(lowest).reset();
  CHECK(descriptors_of(::getpid()) == before);
}

TEST_CASE("a child holds no end of another one's pipes") {
  Child first(program_of("/bin/cat"));
  Child second(program_of("/bin/cat"));
  first.wait_until_executed();
  second.wait_until_executed();

  first->input.reset();

  CHECK(first.end() == Ending{Ending::How::exited, 0});
  CHECK_FALSE(try_reap(second.pid()));
}

TEST_CASE("endings are learnt once they have come") {
  Child cat(program_of("/bin/cat"));
  CHECK_FALSE(try_reap(cat.pid()));
  CHECK(send_signal(cat.pid(), SIGSTOP) == 0);
  CHECK_FALSE(try_reap(cat.pid()));
  CHECK(send_signal(cat.pid(), SIGKILL) == 0);
  CHECK(cat.end() == Ending{Ending::How::signalled, SIGKILL});

  CHECK(ending_of("exit 0") == Ending{Ending::How::exited, 0});
  CHECK(ending_of("exit 255") == Ending{Ending::How::exited, 255});
  CHECK(ending_of("kill -SEGV $$") == Ending{Ending::How::signalled, SIGSEGV});
}

TEST_CASE("a child that the kernel does not know ended in an unknown way") {
  CHECK(try_reap(::getpid()) == Ending{Ending::How::unknown, 0});
}

TEST_CASE("signals go to one process or none") {
  CHECK(send_signal(0, SIGTERM) == ESRCH);
  CHECK(send_signal(-1, SIGTERM) == ESRCH);
  CHECK(send_signal(::getpid(), 0) == 0);
  CHECK(send_signal(::getpid(), 1000) == EINVAL);
}

TEST_CASE("endings in words and as exit statuses") {
  CHECK(in_words(Ending{Ending::How::exited, 3}) == "exited with status 3");
  CHECK(in_words(Ending{Ending::How::signalled, 11}) == "was killed by signal 11 (SIGSEGV)");
  CHECK(in_words(Ending{Ending::How::signalled, 40}) == "was killed by signal 40");
  CHECK(in_words(Ending{}) == "ended in an unknown way");
  CHECK(exit_status_of({Ending::How::exited, 3}) == 3);
  CHECK(exit_status_of({Ending::How::signalled, 9}) == 137);
  CHECK(exit_status_of({}) == 125);
}

TEST_CASE("an agent gets SIGTERM when the upgrader dies, and comes to a subreaper above it") {
  REQUIRE(become_subreaper() == 0);
  int ends_of_pipe[2];
  REQUIRE(::pipe2(ends_of_pipe, O_CLOEXEC) == 0);
  const Program sleep = program_of("/bin/sleep", {"1000"});
  const pid_t upgrader = ::fork();
  if (upgrader == 0) {
    auto result = start_process(sleep, {});
    const auto* started = std::get_if<Started>(&result);
    const pid_t agent = started != nullptr ? started->pid : -1;
    static_cast<void>(::write(ends_of_pipe[1], &agent, sizeof agent));
    ::raise(SIGKILL);
  }
  pid_t agent = -1;
  REQUIRE(::read(ends_of_pipe[0], &agent, sizeof agent) == sizeof agent);
  ::close(ends_of_pipe[0]);
  ::close(ends_of_pipe[1]);
  REQUIRE(ends(upgrader));
  CHECK(try_reap(upgrader) == Ending{Ending::How::signalled, SIGKILL});

  REQUIRE(ends(agent));
  CHECK(try_reap(agent) == Ending{Ending::How::signalled, SIGTERM});
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 0) == 0);
}

}  // namespace process_test
