// Tests which programs pass a release's self-test, and that a self-test leaves no process behind.
#include "agent-releases/self_test.h"

#include <poll.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>

#include "tests/support/temporary_directory.h"

namespace self_test_test {

using namespace agent_releases;
using namespace std::chrono_literals;

namespace {

struct SelfTestBench {
  // Runs the self-test of the release whose program is `path`. Returns the reason of the failure,
  // or "" if the self-test has passed.
  std::string run(const std::string& path, std::chrono::milliseconds limit = 20s,
                  const std::vector<std::string>& arguments = {"--input=a b"}) {
    SelfTest test(path, arguments, *Version::parse("1.2.3+b4"));
    const auto deadline = std::chrono::steady_clock::now() + limit;
    while (true) {
      const auto verdict = test.verdict();
      if (verdict) {
        last = *verdict;
        CHECK((last == SelfTest::Verdict::passed) == test.failure().empty());
        return test.failure();
      }
      if (std::chrono::steady_clock::now() > deadline) test.kill("it took too long");
      pollfd exits{.fd = test.exit_descriptor(), .events = POLLIN, .revents = 0};
      poll(&exits, 1, 10);
    }
  }
  std::string run_script(const std::string& commands, std::chrono::milliseconds limit = 20s) {
    return run(directory.write("release", "#!/bin/sh\n" + commands), limit);
  }

  TemporaryDirectory directory;
  SelfTest::Verdict last = SelfTest::Verdict::passed;
};

// Waits until the process has died. The process may live for a moment after it was sent a signal.
bool is_gone_soon(const std::string& pid) {
  const auto deadline = std::chrono::steady_clock::now() + 20s;
  while (std::chrono::steady_clock::now() < deadline) {
    const std::string state = content_of("/proc/" + pid + "/stat");
    if (state.empty() || state.find(") Z ") != std::string::npos) return true;
    poll(nullptr, 0, 1);
  }
  return false;
}

}  // namespace

TEST_CASE("a release passes if it says its version and ok, and exits with 0") {
  SelfTestBench bench;

  CHECK(bench.run_script("echo 1.2.3 ok") == "");
}

TEST_CASE("a release is tested with the arguments of the agent and --self-test") {
  SelfTestBench bench;

  const std::string verdict = bench.run_script(
      "[ $# = 2 ] && [ \"$1\" = '--input=a b' ] && "
      "[ \"$2\" = --self-test ] && echo 1.2.3 ok");

  CHECK(verdict == "");
}

TEST_CASE("a release that says something else, or nothing, fails") {
  SelfTestBench bench;

  CHECK(bench.run_script("echo 1.2.4 ok") == "it did not say what is expected; it said: 1.2.4 ok");
  CHECK(bench.run_script("echo 1.2.3 ok; echo more") ==
        "it did not say what is expected; it said: 1.2.3 ok");
  CHECK(bench.run_script(":") == "it did not say what is expected");
}

TEST_CASE("a release that exits badly fails, with what it has said") {
  SelfTestBench bench;

  CHECK(bench.run_script("echo 1.2.3 failed: input; exit 1") ==
        "it exited with status 1; it said: 1.2.3 failed: input");
  CHECK(bench.run_script("kill -9 $$") == "it was killed by signal 9");
}

TEST_CASE("a release that could not tell says so by its exit status") {
  SelfTestBench bench;

  CHECK(bench.run_script("echo 1.2.3 failed: connection; exit 75").starts_with("it exited with"));
  CHECK(bench.last == SelfTest::Verdict::could_not_tell);
  bench.run_script("exit 74");
  CHECK(bench.last == SelfTest::Verdict::failed);
}

TEST_CASE("a release may say its build, too") {
  SelfTestBench bench;

  CHECK(bench.run_script("echo 1.2.3+b4 ok") == "");
}

TEST_CASE("a release that hangs is killed with all that it has started") {
  SelfTestBench bench;
  const std::string pid_file = bench.directory / "pid";

  const std::string verdict =
      bench.run_script("sh -c 'echo $$ >" + pid_file + ".new; mv " + pid_file + ".new " + pid_file +
                           "; kill -STOP $$' & wait",
                       300ms);

  CHECK(verdict == "it took too long");
  const std::string pid = content_of(pid_file);
  CHECK((pid.empty() || is_gone_soon(pid.substr(0, pid.size() - 1))));
}

TEST_CASE("a self-test is judged by its own exit, even if a child keeps its output open") {
  SelfTestBench bench;

  const std::string verdict = bench.run_script(
      "echo 1.2.3 ok\n"
      "{ read never; } </dev/null &\n"
      "exit 0");

  CHECK(verdict == "");
}

TEST_CASE("a self-test that floods its output fails, and does not last for ever") {
  SelfTestBench bench;

  CHECK(bench.run_script("while :; do echo 1.2.3 ok; done", 300ms) == "it took too long");
}

TEST_CASE("a file without a known beginning is never run, by a shell least of all") {
  SelfTestBench bench;
  const std::string path =
      bench.directory.write("release", "echo 1.2.3 ok; touch " + (bench.directory / "run") + "\n");

  CHECK(bench.run(path) == "it is no program");
  CHECK_FALSE(std::filesystem::exists(bench.directory / "run"));
}

// Requirements (tests/judging/rows): H-34
TEST_CASE("a program for another machine, and one whose library is missing, are told as that") {
  SelfTestBench bench;
  const std::string sound = content_of("/bin/true");
  REQUIRE(sound.starts_with("\177ELF"));
  constexpr std::size_t machine_at = 18;  // the offset of e_machine
  std::string foreign = sound;
  foreign[machine_at] = static_cast<char>(foreign[machine_at] ^ 1);
  std::string lonely = sound;
  const std::string library = "libc.so.6";
  REQUIRE(lonely.find(library) != std::string::npos);
  lonely.replace(lonely.find(library), library.size(), "libq.so.6");

  CHECK(bench.run(bench.directory.write("foreign", foreign)) ==
        "it cannot be started: Exec format error");
  CHECK(bench.run(bench.directory.write("lonely", lonely)).find("status 127") != std::string::npos);
}

// Requirements (tests/judging/rows): H-34
TEST_CASE("a file that only begins like a program is refused by the kernel, and run by nobody") {
  SelfTestBench bench;
  const std::string commands = "\necho 1.2.3 ok; touch " + (bench.directory / "run") + "\n";
  const std::string refused = "it cannot be started: Exec format error";

  const std::string program = bench.directory.write("release", "\177ELF" + commands);
  CHECK(bench.run(program) == refused);
  CHECK_FALSE(std::filesystem::exists(bench.directory / "run"));

  const std::string interpreter = bench.directory.write("interpreter", commands);
  CHECK(bench.run(bench.directory.write("script", "#!" + interpreter + commands)) == refused);
  CHECK_FALSE(std::filesystem::exists(bench.directory / "run"));

  CHECK(bench.run(bench.directory.write("nameless", "#!" + commands)) == refused);
  CHECK_FALSE(std::filesystem::exists(bench.directory / "run"));
}

TEST_CASE("a self-test that cannot be started fails with the reason") {
  SelfTestBench bench;

  CHECK(bench.run(bench.directory / "missing") == "it is no program");
  CHECK(bench.run(bench.directory.write("release", "#!/missing/interpreter\n")) ==
        "it cannot be started: No such file or directory");
  CHECK(bench.run(bench.directory.write("release", "#!/bin/sh\n", 0644)) ==
        "it cannot be started: Permission denied");
}

}  // namespace self_test_test
