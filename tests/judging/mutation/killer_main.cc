// The main() of every test program in the instrumented build, which contains all mutants. Without
// `--serve`, the program behaves like every program with Catch2's main(). With `--serve`, it reads
// orders from standard input, one on each line, and forks a child for each run of a test case. So
// the program is started and set up only once. After each run, it kills the processes that the run
// has left behind.
//
//   list                        the test cases, as `case NUMBER NAME` lines, then `end`
//   run MUTANT CPU WALL NUMBER  runs the test case with this mutant switched on, and prints
//                               `passed MS`, `failed MS` or `late MS`. -1: switches no mutant on,
//                               but records which mutants are reached
//
// CPU limits the processor time, in seconds. WALL limits the elapsed time, in milliseconds.
#define CATCH_CONFIG_RUNNER
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>

namespace {

// A reporter for Catch2 that prints nothing. If the reporter wrote text into the buffer of standard
// output, each process that a test forks would print this text again.
struct Silent : Catch::StreamingReporterBase<Silent> {
  using StreamingReporterBase::StreamingReporterBase;
  static std::string getDescription() { return "says nothing"; }
  void assertionStarting(const Catch::AssertionInfo&) override {}
  bool assertionEnded(const Catch::AssertionStats&) override { return true; }
};
CATCH_REGISTER_REPORTER("silent", Silent)

using Clock = std::chrono::steady_clock;

std::vector<std::string> names_of_cases() {
  std::vector<std::string> names;
  for (const Catch::TestCase& test : Catch::getRegistryHub().getTestCaseRegistry().getAllTests()) {
    if (!test.isHidden()) names.push_back(test.name);
  }
  return names;
}

// Returns the name of a test case with escapes, as Catch2's command line needs it.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (std::string("\\,[\"").find(c) != std::string::npos) text += '\\';
    text += c;
  }
  return text;
}

void limit_processor(int seconds) {
  rlimit limit{};
  ::getrlimit(RLIMIT_CPU, &limit);
  limit.rlim_cur = static_cast<rlim_t>(seconds);
  ::setrlimit(RLIMIT_CPU, &limit);
}

[[noreturn]] void run_case(Catch::Session& session, int mutant, int seconds,
                           const std::string& name) {
  // Hides the test's output: the caller reads only the results from standard output.
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, 0);
  if (std::getenv("MUTATION_SHOW") == nullptr) {
    session.configData().reporterName = "silent";
    ::dup2(null, 1);
    ::dup2(null, 2);
  } else {
    ::dup2(2, 1);
  }
  ::close(null);
  limit_processor(seconds);
  ::setsid();  // since a mutant may send a signal to its whole process group
  mutation::active = mutant;
  mutation::control->active = mutant;
  session.configData().testsOrTags = {escaped(name)};
  session.configData().abortAfter = 1;
  const int failures = session.run();
  std::fflush(nullptr);
  ::_exit(failures == 0 ? 0 : 1);
}

int milliseconds_since(Clock::time_point begin) {
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin);
  return static_cast<int>(passed.count());
}

// Kills all processes that a test run has left. Each of them is a child of this process, or becomes
// a child when its parent is killed.
void end_what_is_left() {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%d/children", ::getpid());
  for (;;) {
    std::FILE* const file = std::fopen(path, "re");
    int pid = 0;
    while (file != nullptr && std::fscanf(file, "%d", &pid) == 1)
      ::kill(pid, SIGKILL);
    if (file != nullptr) std::fclose(file);
    if (::waitpid(-1, nullptr, 0) < 0 && errno == ECHILD) return;
  }
}

const char* outcome_of(pid_t child, int wall_ms) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  pollfd waited{.fd = fd, .events = POLLIN, .revents = 0};
  const bool ended = ::poll(&waited, 1, wall_ms) == 1;
  ::close(fd);
  if (!ended) ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!ended) return "late";
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) return "late";
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? "passed" : "failed";
}

void serve(Catch::Session& session) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const std::vector<std::string> names = names_of_cases();
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string order;
    words >> order;
    if (order == "list") {
      for (std::size_t at = 0; at < names.size(); ++at)
        std::cout << "case " << at << ' ' << names[at] << '\n';
      std::cout << "end" << std::endl;
      continue;
    }
    int mutant = 0, seconds = 0, wall_ms = 0;
    std::size_t number = 0;
    words >> mutant >> seconds >> wall_ms >> number;
    const auto begin = Clock::now();
    const pid_t child = ::fork();
    if (child == 0) run_case(session, mutant, seconds, names.at(number));
    const char* const outcome = outcome_of(child, wall_ms);
    end_what_is_left();
    std::cout << outcome << ' ' << milliseconds_since(begin) << std::endl;
  }
}

}  // namespace

int main(int argc, char** argv) {
  Catch::Session session;
  if (argc != 2 || std::string(argv[1]) != "--serve") return session.run(argc, argv);
  if (mutation::control == nullptr) {
    std::cerr << argv[0] << ": there is no mutants.control above it\n";
    return 2;
  }
  serve(session);
  return 0;
}
