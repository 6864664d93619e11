// Runs all code that reads records of the store on random records of every kind: the code of the
// controller, of its HTTP server, of fleet-agent and of fleetctl. No program may crash, write a
// record that the store or a reader refuses, show control characters, answer with invalid JSON, or
// delay the work on good records.
//
// A life is one run of all this code on random records. Each life has a seed, and a process of its
// own, so that a crash does not end the test. SEED=N sets the first seed, RUNS=N the number of
// lives, and SECONDS=N the time for all lives.
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <chrono>
#include <exception>

#include "tests/together/fleet/long_run.h"
#include "tests/together/fleet/record_world.h"

namespace fuzz_records_test {

namespace {

using namespace fleet_test;

// The maximum processor time of a life, that is, of one run in a child process. A life that needs
// more time counts as an endless loop: SIGPROF kills its process, and the test reports a fault.
constexpr time_t life_processor_seconds_max = 120;
// The maximum real time of a life (one run in a child process), in seconds, even on a busy machine.
// If a life waits for ever, SIGALRM kills its process.
constexpr unsigned life_seconds_max = 1'800;
// The maximum number of bytes that are shown of a text about a fault.
constexpr std::size_t wrong_bytes_max = 1'000;

std::string lived(std::uint64_t seed, Planted planted) {
  try {
    RecordWorld world(seed, planted);
    world.live();
    return world.wrong();
  } catch (const std::exception& error) {
    return std::string("an exception: ") + error.what();
  }
}

[[noreturn]] void live_as_child(int to_parent, std::uint64_t seed, Planted planted) {
  for (const int number : {SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGTERM, SIGINT})
    ::signal(number, SIG_DFL);
  const itimerval processor{{0, 0}, {life_processor_seconds_max, 0}};
  ::setitimer(ITIMER_PROF, &processor, nullptr);
  ::alarm(life_seconds_max);
  const std::string wrong = lived(seed, planted);
  static_cast<void>(::write(to_parent, wrong.data(), std::min(wrong.size(), wrong_bytes_max)));
  ::_exit(0);
}

// Runs the simulation with this seed in a child process. Returns the fault that it has found, or an
// empty text.
std::string wrong_of(std::uint64_t seed, Planted planted = Planted::none) {
  int ends[2];
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child == 0) live_as_child(ends[1], seed, planted);
  ::close(ends[1]);
  std::string wrong;
  std::array<char, 4'096> bytes;
  for (ssize_t count = 0; (count = ::read(ends[0], bytes.data(), bytes.size())) > 0;)
    wrong.append(bytes.data(), static_cast<std::size_t>(count));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) return "ended with " + std::to_string(WEXITSTATUS(status));
  return wrong;
}

TEST_CASE("canaries: planted faults are found") {
  CHECK(wrong_of(1, Planted::none).empty());
  CHECK(wrong_of(1, Planted::abort) == "ended by signal 6");
  CHECK(wrong_of(1, Planted::exception) == "an exception: planted");
  CHECK(wrong_of(1, Planted::raw_byte) == "fleetctl shows \\u{9b}");
  CHECK(wrong_of(1, Planted::long_record).find(" bytes; at most 65536") != std::string::npos);
  CHECK(wrong_of(1, Planted::endless) == "planted never rests");
  CHECK(wrong_of(1, Planted::forbidden_write).find("writes without a right to it: ") !=
        std::string::npos);
}

TEST_CASE("random records crash, deceive and hold up no program") {
  using Clock = std::chrono::steady_clock;
  const std::uint64_t first = number_of("SEED", 1);
  const auto seconds = static_cast<std::int64_t>(number_of("SECONDS", 0));
  const std::uint64_t runs = number_of("RUNS", seconds == 0 ? 30 : UINT64_MAX);
  const auto until = Clock::now() + std::chrono::seconds(seconds);
  std::uint64_t lives = 0;
  std::uint64_t wrong_lives = 0;
  for (; lives < runs && (seconds == 0 || Clock::now() < until) && wrong_lives < 20; ++lives) {
    const std::string wrong = wrong_of(first + lives);
    if (wrong.empty()) continue;
    ++wrong_lives;
    UNSCOPED_INFO("SEED=" << first + lives << " RUNS=1: " << wrong);
    CHECK(wrong.empty());
  }
  if (wrong_lives == 0) {
    report("make fuzz-records", std::to_string(lives) + " lives beside odd records",
           "nobody ended, fooled or held up");
  }
}

}  // namespace

}  // namespace fuzz_records_test
