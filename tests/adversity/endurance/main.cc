// `make endurance` runs many upgrades under a single upgrader process and under load. Three of ten
// upgrades are bad. At the end the upgrader must hold the same resources as after the first few
// hundred upgrades, and must not have logged any unexpected line.
//
// usage: endurance TABLE      UPGRADES=N, LONG=1; the file TABLE lists the permitted log lines
//
// LONG=1 makes ten times as many upgrades as usual. Every run makes the same upgrades in the same
// order. In the end, the program prints the lines for the table of results. It exits with 0 if all
// checks have passed and every canary (an injected bug) was found.
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/adversity/endurance/kinds.h"
#include "tests/adversity/endurance/troupe.h"
#include "tests/support/figures.h"
#include "tests/together/integration/process_table.h"

namespace {

using namespace endurance;
using upgrader::test::with_commas;

// ---- the log of a run: each line must match a shape, which is a pattern of permitted lines

std::size_t digits_at(std::string_view line) {
  std::size_t count = 0;
  while (count < line.size() && std::isdigit(static_cast<unsigned char>(line[count])) != 0)
    ++count;
  return count;
}

bool matches(std::string_view line, std::string_view shape);

// Returns whether a log line matches a shape (a pattern of log lines) that begins with `@`. The
// line must begin with `generation N` or `generation N (version V)`, and the rest of the line must
// match `rest`, the rest of the shape.
bool matches_agent(std::string_view line, std::string_view rest) {
  constexpr std::string_view generation = "generation ";
  if (!line.starts_with(generation)) return false;
  line.remove_prefix(generation.size());
  const std::size_t digits = digits_at(line);
  if (digits == 0) return false;
  line.remove_prefix(digits);
  if (matches(line, rest)) return true;
  const std::size_t end = line.find(')');
  return line.starts_with(" (version ") && end != std::string_view::npos &&
         matches(line.substr(end + 1), rest);
}

// Returns whether a log line matches a shape, which is a pattern for permitted lines. In a shape
// `#` stands for a number, `*` for a non-empty text, and `@` for a generation, with its version if
// the version is known.
bool matches(std::string_view line, std::string_view shape) {
  while (!shape.empty()) {
    const char sign = shape[0];
    const std::string_view rest = shape.substr(1);
    if (sign == '@') return matches_agent(line, rest);
    if (sign == '*') {
      for (std::size_t taken = 1; taken <= line.size(); ++taken) {
        if (matches(line.substr(taken), rest)) return true;
      }
      return false;
    }
    const std::size_t taken = sign == '#' ? digits_at(line) : !line.empty() && line[0] == sign;
    if (taken == 0) return false;
    line.remove_prefix(taken);
    shape = rest;
  }
  return line.empty();
}

class LogShapes {
 public:
  // Reads the shapes, which are patterns of permitted log lines, from a table such as
  // log_lines.table.
  explicit LogShapes(const std::string& table_path);

  [[nodiscard]] bool has(std::string_view line) const;

 private:
  std::vector<std::string> shapes_;
};

LogShapes::LogShapes(const std::string& table_path) {
  std::ifstream table(table_path);
  for (std::string line; std::getline(table, line);) {
    if (!line.empty() && !line.starts_with("# ")) shapes_.push_back(line);
  }
}

bool LogShapes::has(std::string_view line) const {
  return std::any_of(shapes_.begin(), shapes_.end(),
                     [line](const std::string& shape) { return matches(line, shape); });
}

// ---- the resources of a process, as /proc shows them

struct Measure {
  std::vector<std::string> descriptors;  // the kinds of the open descriptors, sorted
  std::size_t children = 0;
  std::size_t zombies = 0;
  std::size_t threads = 0;
  long rss_kb = 0;
  long private_kb = 0;

  [[nodiscard]] std::string text() const;
};

// Returns the sum in kB of the lines that begin with `beginning` in the text of
// /proc/PID/smaps_rollup.
long rollup_kb(const std::string& text, const std::string& beginning) {
  long sum = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(beginning)) sum += std::atol(line.c_str() + line.find(':') + 1);
  }
  return sum;
}

// Returns the kind of an open descriptor: "pipe", "socket", a name such as
// "anon_inode:[eventpoll]", or "file" if the descriptor has a path.
std::string kind_of(const std::string& descriptor) {
  std::error_code gone;
  const std::string target = std::filesystem::read_symlink(descriptor, gone);
  if (target.starts_with("/")) return "file";
  return target.starts_with("anon_inode:") ? target : target.substr(0, target.find(':'));
}

std::size_t entries_of(const std::string& directory) {
  std::error_code gone;
  std::size_t count = 0;
  for (std::filesystem::directory_iterator entry(directory, gone), end; !gone && entry != end;
       entry.increment(gone)) {
    ++count;
  }
  return count;
}

Measure measure(pid_t pid) {
  const std::string directory = "/proc/" + std::to_string(pid);
  Measure found;
  for (const int descriptor : integration::descriptors_of(pid))
    found.descriptors.push_back(kind_of(directory + "/fd/" + std::to_string(descriptor)));
  std::sort(found.descriptors.begin(), found.descriptors.end());
  for (const pid_t child : integration::children_of(pid)) {
    ++found.children;
    if (integration::state_of(child) == 'Z') ++found.zombies;
  }
  found.threads = entries_of(directory + "/task");
  const std::string rollup = integration::read_file(directory + "/smaps_rollup");
  found.rss_kb = rollup_kb(rollup, "Rss:");
  found.private_kb = rollup_kb(rollup, "Private_Clean:") + rollup_kb(rollup, "Private_Dirty:");
  return found;
}

std::string Measure::text() const {
  std::ostringstream text;
  text << descriptors.size() << " descriptors, " << children << " children, " << zombies
       << " zombies, " << threads << " threads, RSS " << rss_kb << " KiB, private " << private_kb
       << " KiB";
  return text.str();
}

constexpr long drift_kb_max = 64;

// Compares two measurements. Returns as text the resources that have grown or changed from `base`
// to `end`, or "" if there are none.
std::string growth(const Measure& base, const Measure& end) {
  std::string found;
  const auto note = [&found](const std::string& what) {
    found += (found.empty() ? "" : ", ") + what;
  };
  if (end.descriptors != base.descriptors) {
    note(std::to_string(end.descriptors.size()) + " descriptors, not the " +
         std::to_string(base.descriptors.size()) + " of the base");
  }
  if (end.zombies != 0) note(std::to_string(end.zombies) + " zombies");
  if (end.children != base.children) note(std::to_string(end.children) + " children");
  if (end.threads != base.threads) note(std::to_string(end.threads) + " threads");
  if (end.rss_kb - base.rss_kb > drift_kb_max) {
    note("RSS grown by " + std::to_string(end.rss_kb - base.rss_kb) + " KiB");
  }
  if (end.private_kb - base.private_kb > drift_kb_max) {
    note("private memory grown by " + std::to_string(end.private_kb - base.private_kb) + " KiB");
  }
  return found;
}

// ---- the run of an upgrader through many upgrades

constexpr std::size_t short_upgrades = 1'000;
constexpr std::size_t long_upgrades = 10'000;
constexpr std::size_t canary_upgrades = 120;

// The upgrader's resources are measured for the first time after this number of upgrades, since the
// allocator's memory still grows until then. In a run of fewer than 600 upgrades, they are first
// measured after half of the upgrades.
constexpr std::size_t base_of_long_runs = 300;
constexpr std::size_t measured_every = 50;
constexpr auto rest_patience = std::chrono::seconds(5);

struct Outcome {
  std::string wrong;  // the first broken rule, in words; empty if none was broken
  std::size_t done = 0;
  std::size_t bad = 0;
  std::size_t served = 0;
  std::size_t log_lines = 0;
  std::size_t unexpected_lines = 0;
  Measure base;
  Measure last;
};

// Runs one upgrader, and runs upgrades on it until the wanted number is reached or a violation is
// found.
class Run {
 public:
  Run(const Programs& programs, const std::string& table, const Variables& variables)
      : troupe_(programs, variables), shapes_(table) {}

  Outcome run(std::size_t upgrades, std::size_t base_after);

 private:
  void endure(std::size_t upgrades, std::size_t base_after);
  void upgrade(std::size_t number);
  void judge_log(std::size_t number);
  void take_measure(bool base);
  [[nodiscard]] bool has_ended(const Agent& before, std::size_t failures, End& end) const;
  void fail(const std::string& what) {
    if (outcome_.wrong.empty()) outcome_.wrong = what;
  }

  Troupe troupe_;
  LogShapes shapes_;
  Outcome outcome_;
};

Outcome Run::run(std::size_t upgrades, std::size_t base_after) {
  endure(upgrades, base_after);
  if (outcome_.wrong.empty() && troupe_.end() != 0) fail("told to stop, it did not exit with 0");
  judge_log(outcome_.done);
  outcome_.served = troupe_.served();
  return outcome_;
}

void Run::endure(std::size_t upgrades, std::size_t base_after) {
  const auto begun = [this] {
    return troupe_.only_agent() != nullptr && troupe_.only_agent()->active;
  };
  if (!troupe_.wait_until(begun)) return fail("the first agent did not become active");
  for (std::size_t number = 1; number <= upgrades; ++number) {
    upgrade(number);
    judge_log(number);
    const bool base = number == base_after;
    const bool measured = number == upgrades || number % measured_every == 0;
    if (base || (measured && number > base_after)) take_measure(base);
    if (measured && number > base_after && outcome_.wrong.empty()) {
      const std::string grown = growth(outcome_.base, outcome_.last);
      if (!grown.empty()) fail("after upgrade " + std::to_string(number) + ": " + grown);
    }
    if (!outcome_.wrong.empty()) return;
  }
}

void Run::upgrade(std::size_t number) {
  const Upgrade next = upgrade_of(number);
  const Agent* const active = troupe_.only_agent();
  const Agent before = *active;
  troupe_.say(*active, next.request(troupe_.agents()));
  End end{};
  const bool ended = troupe_.wait_until([&] { return has_ended(before, before.failures, end); });
  ++outcome_.done;
  outcome_.bad += next.bad() ? 1 : 0;
  if (!troupe_.upgrader_runs()) return fail("upgrade " + next.id + " ended the upgrader");
  if (!ended) return fail("upgrade " + next.id + " never ended");
  if (end != next.end()) {
    fail("upgrade " + next.id + " ended as " + words(end) + ", not " + words(next.end()));
  }
  if (!troupe_.violations().empty()) fail(troupe_.violations().front());
}

// Returns true if the upgrade is over: only one agent is left, and this agent has been told how the
// upgrade ended. Sets `end` to the way in which the upgrade ended; if the upgrade is not over,
// `end` has no meaning.
bool Run::has_ended(const Agent& before, std::size_t failures, End& end) const {
  const Agent* const only = troupe_.only_agent();
  if (only == nullptr || !only->active) return false;
  if (only->pid == before.pid) {
    end = End::kept;
    return only->failures > failures;
  }
  end = only->role == "candidate" ? End::committed : End::fallback;
  return only->committed || only->role == "fallback";
}

void Run::judge_log(std::size_t number) {
  for (const std::string& line : troupe_.new_log_lines()) {
    ++outcome_.log_lines;
    if (shapes_.has(line)) continue;
    ++outcome_.unexpected_lines;
    fail("about upgrade " + std::to_string(number) + " the log has an unexpected line: " + line);
  }
}

// Measures the upgrader's resources when the upgrader is at rest. For the first measurement, which
// is the base for all later ones, measures until two consecutive results agree. If a later result
// exceeds the base, measures again for some seconds: the kernel and the upgrader may need a moment
// to free the resources of an agent that has ended.
void Run::take_measure(bool base) {
  Measure before;
  const auto rests = [&] {
    before = std::exchange(outcome_.last, measure(troupe_.upgrader()));
    const bool alone = outcome_.last.children == 1 && outcome_.last.zombies == 0;
    if (!alone || integration::state_of(troupe_.upgrader()) != 'S') return false;
    const Measure& wanted = base ? before : outcome_.base;
    return growth(wanted, outcome_.last).empty();
  };
  const bool rested = troupe_.wait_until(rests, rest_patience);
  if (base && !rested) return fail("it never rests: " + outcome_.last.text());
  if (base) outcome_.base = outcome_.last;
}

// ---- canaries (runs with an injected bug), and the lines for the table of results

struct Canary {
  std::string seeded;
  std::string reason;  // a part of the error with which the run must fail
  std::function<std::string()> found;
};

std::vector<Canary> canaries(const Programs& programs, const std::string& table,
                             const std::string& leak) {
  const auto seeded = [=](const Variables& variables) {
    return Run(programs, table, variables).run(canary_upgrades, canary_upgrades / 3).wrong;
  };
  return {
      {"an upgrader that loses a descriptor at every agent", "descriptors, not the",
       [=] {
         return seeded({"LD_PRELOAD=" + leak, "LEAK=descriptor"});
       }},
      {"an upgrader that loses 2 KiB at every agent", "grown by",
       [=] {
         return seeded({"LD_PRELOAD=" + leak, "LEAK=memory"});
       }},
      {"a line in the log that no page knows of", "unexpected line",
       [=] { return seeded({"ACTOR_GOSSIPS=1"}); }},
      {"a zombie of the process that is measured", "zombies",
       [] {
         const Measure base = measure(getpid());
         const pid_t child = fork();
         if (child == 0) _exit(0);
         siginfo_t ended{};
         waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
         const std::string found = growth(base, measure(getpid()));
         waitpid(child, nullptr, 0);
         return found;
       }},
  };
}

bool report(const Outcome& outcome, std::size_t wanted, bool long_run) {
  const bool met = outcome.wrong.empty() && outcome.done == wanted;
  std::printf("base: %s\nend:  %s\n", outcome.base.text().c_str(), outcome.last.text().c_str());
  std::printf(
      "result: V12 | make endurance%s | %s upgrades, %s bad, %s requests served; descriptors %zu, "
      "were %zu; zombies %zu; RSS drift %ld KiB, private %ld KiB; %s log lines, %zu unexpected | "
      "descriptors, zombies at base; RSS drift <= 64 KiB; 0 unexpected log lines | %s\n",
      long_run ? " LONG=1" : "", with_commas(outcome.done).c_str(),
      with_commas(outcome.bad).c_str(), with_commas(outcome.served).c_str(),
      outcome.last.descriptors.size(), outcome.base.descriptors.size(), outcome.last.zombies,
      outcome.last.rss_kb - outcome.base.rss_kb, outcome.last.private_kb - outcome.base.private_kb,
      with_commas(outcome.log_lines).c_str(), outcome.unexpected_lines,
      met ? "met" : ("not met: " + outcome.wrong).c_str());
  std::fflush(stdout);
  return met;
}

bool all_caught(const std::vector<Canary>& all) {
  bool caught = true;
  for (const Canary& canary : all) {
    const std::string found = canary.found();
    const bool this_one = found.find(canary.reason) != std::string::npos;
    std::printf("canary: V12 | %s | %s\n", canary.seeded.c_str(),
                this_one ? "caught" : ("MISSED: " + found).c_str());
    caught = caught && this_one;
  }
  return caught;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::filesystem::path here = std::filesystem::canonical("/proc/self/exe").parent_path();
  const char* const upgrader = std::getenv("UPGRADER");
  const Programs programs = {
      .upgrader = upgrader == nullptr ? (here / "../../../upgrader").string() : upgrader,
      .actor = here / "../kill/actor"};
  const char* const set = std::getenv("LONG");
  const bool long_run = set != nullptr && *set != '\0';
  const char* const count = std::getenv("UPGRADES");
  const std::size_t upgrades = count != nullptr && *count != '\0' ? std::strtoul(count, nullptr, 10)
                               : long_run                         ? long_upgrades
                                                                  : short_upgrades;
  const Outcome outcome =
      Run(programs, argv[1], {}).run(upgrades, std::min(base_of_long_runs, upgrades / 2));
  const bool met = report(outcome, upgrades, long_run);
  const bool caught = all_caught(canaries(programs, argv[1], here / "leak.so"));
  return met && caught ? 0 : 1;
}
