// What passes as the self-test of a release, and what does not.
#include <poll.h>

#include <catch2/catch.hpp>

#include "sample-agent/self_test.h"
#include "tests/unit/temporary_directory.h"

using namespace sample_agent;
using namespace std::chrono_literals;

namespace {

struct Bench {
  Bench() { uv_loop_init(&loop); }
  ~Bench() {
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  // What the test of this file says: "" if it has passed.
  std::string run(const std::string& path, std::chrono::milliseconds limit = 20s,
                  const std::vector<std::string>& arguments = {"--input=a b"}) {
    std::string verdict = "none";
    int verdicts = 0;
    {
      const SelfTest test(loop, path, arguments, {.numbers = {1, 2, 3}}, limit,
                          [&](const std::optional<std::string>& failure) {
                            verdict = failure.value_or("");
                            ++verdicts;
                            uv_stop(&loop);
                          });
      uv_run(&loop, UV_RUN_DEFAULT);
    }
    CHECK(verdicts == 1);
    return verdict;
  }
  std::string run_script(const std::string& commands, std::chrono::milliseconds limit = 20s) {
    return run(directory.write("release", "#!/bin/sh\n" + commands), limit);
  }

  TemporaryDirectory directory;
  uv_loop_t loop;
};

// Whether the process dies: a signal takes effect a moment after it was sent.
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
  Bench bench;

  CHECK(bench.run_script("echo 1.2.3 ok") == "");
}

TEST_CASE("a release is tested with the arguments of the agent and --self-test") {
  Bench bench;

  const std::string verdict = bench.run_script(
      "[ $# = 2 ] && [ \"$1\" = '--input=a b' ] && "
      "[ \"$2\" = --self-test ] && echo 1.2.3 ok");

  CHECK(verdict == "");
}

TEST_CASE("a release that says something else, or nothing, fails") {
  Bench bench;

  CHECK(bench.run_script("echo 1.2.4 ok") == "it did not say what is expected; it said: 1.2.4 ok");
  CHECK(bench.run_script("echo 1.2.3 ok; echo more") ==
        "it did not say what is expected; it said: 1.2.3 ok");
  CHECK(bench.run_script(":") == "it did not say what is expected");
}

TEST_CASE("a release that exits badly fails, with what it has said") {
  Bench bench;

  CHECK(bench.run_script("echo 1.2.3 failed: input; exit 1") ==
        "it exited with status 1; it said: 1.2.3 failed: input");
  CHECK(bench.run_script("kill -9 $$") == "it was killed by signal 9");
}

TEST_CASE("a release that hangs is killed with all that it has started") {
  Bench bench;
  const std::string pid_file = bench.directory / "pid";

  const std::string verdict =
      bench.run_script("sh -c 'echo $$ >" + pid_file + ".new; mv " + pid_file + ".new " + pid_file +
                           "; kill -STOP $$' & wait",
                       300ms);

  CHECK(verdict == "it took too long");
  const std::string pid = content_of(pid_file);
  CHECK((pid.empty() || is_gone_soon(pid.substr(0, pid.size() - 1))));
}

TEST_CASE("what says ok but leaves its output to another is judged by its own exit") {
  Bench bench;

  const std::string verdict = bench.run_script(
      "echo 1.2.3 ok\n"
      "{ read never; } </dev/null &\n"
      "exit 0");

  CHECK(verdict == "");
}

TEST_CASE("what floods its output fails and does not block the test for ever") {
  Bench bench;

  CHECK(bench.run_script("while :; do echo 1.2.3 ok; done", 300ms) == "it took too long");
}

TEST_CASE("a file without a known beginning is never run, by a shell least of all") {
  Bench bench;
  const std::string path =
      bench.directory.write("release", "echo 1.2.3 ok; touch " + (bench.directory / "run") + "\n");

  CHECK(bench.run(path) == "it is no program");
  CHECK_FALSE(std::filesystem::exists(bench.directory / "run"));
}

TEST_CASE("a file that only begins like a program is refused by the kernel, and run by nobody") {
  Bench bench;
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

TEST_CASE("what cannot be started is told") {
  Bench bench;

  CHECK(bench.run(bench.directory / "missing") == "it is no program");
  CHECK(bench.run(bench.directory.write("release", "#!/missing/interpreter\n")) ==
        "it cannot be started: No such file or directory");
  CHECK(bench.run(bench.directory.write("release", "#!/bin/sh\n", 0644)) ==
        "it cannot be started: Permission denied");
}
