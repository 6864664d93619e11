// Shows live upgrades of an agent at work, good ones and bad ones, and proves at the end that no
// line was lost.
//
// usage: live_demo UPGRADER VARIANTS
//
// Exits with 1 if the proof fails.

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sample-agent/copier.h"
#include "sample-agent/words.h"
#include "tests/demo/line_proof.h"
#include "tests/demo/stage.h"

namespace demo {
namespace {

// Prints the demo's events as they happen. At the end, draws a chart of when each version was
// active.
class Narrator {
 public:
  // `output` is the file into which the agents copy lines. The narrator prints in color only on a
  // terminal.
  explicit Narrator(std::string output);

  // Prints an action of the person who runs the demo.
  void tell(const std::string& text) const;

  // Prints an event that an agent has written into its event log. Some kinds of events are left
  // out.
  void tell(const SeenEvent& event);

  // Prints a line of text without the time, which tell() puts before its lines.
  void say(const std::string& text = "") const;

  // Draws when each version was active, with one row for each.
  void draw(const std::vector<SeenEvent>& events, std::uint64_t end_us) const;

 private:
  enum class Mood { plain, good, bad };
  void print(std::uint64_t time_us, Mood mood, const std::string& text) const;

  [[nodiscard]] std::uint64_t end_of_work_before(std::string_view works) const;

  std::string output_;
  std::uint64_t begin_us_;
  bool colours_;
  std::uint64_t stopped_us_ = 0;  // when the last agent stopped; 0 if none has stopped
};

constexpr std::size_t columns = 60;

// The time for which one agent worked: its beginning and its end.
struct Span {
  std::string version;
  std::uint64_t from_us = 0;
  std::uint64_t to_us = 0;
};

// Returns the periods in which the agents worked, one for each agent. The period of an agent that
// crashed, and so did not stop, ends when the next agent is activated.
std::vector<Span> spans_of(const std::vector<SeenEvent>& events, std::uint64_t end_us) {
  std::vector<Span> spans;
  for (const SeenEvent& event : events) {
    if (event.text == "activated") {
      if (!spans.empty() && spans.back().to_us == end_us) spans.back().to_us = event.time_us;
      spans.push_back({event.version, event.time_us, end_us});
    }
    if (event.text.starts_with("stopped") && !spans.empty()) spans.back().to_us = event.time_us;
  }
  return spans;
}

// Returns a time as "1.2 ms".
[[nodiscard]] std::string in_ms(std::uint64_t time_us) {
  return std::to_string(time_us / 1'000) + "." + std::to_string(time_us / 100 % 10) + " ms";
}

Narrator::Narrator(std::string output)
    : output_(std::move(output)),
      begin_us_(sample_agent::now_us()),
      colours_(isatty(STDOUT_FILENO) == 1) {}

void Narrator::print(std::uint64_t time_us, Mood mood, const std::string& text) const {
  const double seconds = static_cast<double>(time_us - begin_us_) / 1e6;
  const char* colour = mood == Mood::good ? "\033[32m" : mood == Mood::bad ? "\033[31m" : "";
  const bool coloured = colours_ && mood != Mood::plain;
  std::printf("%6.2f s  %s%s%s\n", seconds, coloured ? colour : "", text.c_str(),
              coloured ? "\033[0m" : "");
  std::fflush(stdout);
}

void Narrator::say(const std::string& text) const {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void Narrator::tell(const std::string& text) const {
  print(sample_agent::now_us(), Mood::plain, "> " + text);
}

void Narrator::tell(const SeenEvent& event) {
  const std::string& text = event.text;
  std::string_view rest = text;
  const std::string_view word = sample_agent::cut_off(rest, ' ');
  if (word == "asks") {
    print(event.time_us, Mood::plain, event.version + " has tested it, and asks to be replaced");
  } else if (word == "started" && rest.find("first") == std::string_view::npos) {
    print(event.time_us, Mood::plain, event.version + " has " + text + ", and is held");
  } else if (word == "stopped") {
    stopped_us_ = event.time_us;
  } else if (word == "works") {
    const std::uint64_t before_us = end_of_work_before(rest);
    print(event.time_us, Mood::good,
          event.version + " is active" +
              (before_us == 0 ? "" : "; nobody was for " + in_ms(event.time_us - before_us)));
    stopped_us_ = 0;
  } else if (word == "committed") {
    print(event.time_us, Mood::good, event.version + " has passed its trial: committed");
  } else if (word == "upgrade_failed") {
    sample_agent::cut_off(rest, ' ');
    print(event.time_us, Mood::bad, event.version + " is told: failed, " + std::string(rest));
  } else if (word == "release") {
    print(event.time_us, Mood::plain, event.version + " remembers: " + text);
  }
}

// Returns the time at which the previous agent ended its work, or 0 if there was no previous agent.
// A crashed agent has no event for the end of its work, so the time of its last record is used.
std::uint64_t Narrator::end_of_work_before(std::string_view works) const {
  if (stopped_us_ != 0) return stopped_us_;
  sample_agent::cut_off(works, '=');
  const auto next = sample_agent::to_number<std::size_t>(works).value_or(1);
  const std::vector<SeenRecord> output = read_output(output_);
  return next > 1 && next <= output.size() + 1 ? output[next - 2].time_us : 0;
}

void Narrator::draw(const std::vector<SeenEvent>& events, std::uint64_t end_us) const {
  const std::vector<Span> spans = spans_of(events, end_us);
  std::vector<std::string> versions;
  for (const Span& span : spans) {
    if (std::ranges::find(versions, span.version) == versions.end()) {
      versions.push_back(span.version);
    }
  }
  const std::uint64_t column_us = (end_us - begin_us_) / columns + 1;
  const auto column = [&](std::uint64_t time_us) {
    return static_cast<std::size_t>((std::max(time_us, begin_us_) - begin_us_) / column_us);
  };
  say("who was active, a column is " + in_ms(column_us) + ":");
  for (const std::string& version : versions) {
    std::string row(columns + 1, '.');
    for (const Span& span : spans) {
      if (span.version != version) continue;
      for (std::size_t i = column(span.from_us); i <= column(span.to_us); ++i)
        row[i] = '#';
    }
    say("  " + version + "  " + row);
  }
}

}  // namespace

}  // namespace demo

namespace {

using namespace std::chrono_literals;
using demo::Narrator;
using demo::SeenEvent;
using demo::Stage;

constexpr auto patience = 10s;
constexpr auto breath = 700ms;  // the pause between two actions, so that people can follow

// A part of the demo, with the times of its beginning and its end. The summary at the end shows,
// for each part, the longest time in which no line was copied.
struct Act {
  std::string title;
  std::uint64_t from_us = 0;
  std::uint64_t to_us = 0;
};

class Demo {
 public:
  Demo(const std::string& upgrader, const std::string& variants)
      // Makes a stage whose writer writes no lines to the old file after a rotation, and whose
      // agents do not wait for such lines. So only upgrades cause pauses in the copying.
      : stage_({.upgrader = upgrader, .variants = variants, .late_lines = 0, .rotate_wait = "0"}),
        narrator_(stage_.path("output")) {}

  [[nodiscard]] int run();

 private:
  void open();
  void run_alone();
  void upgrade_well(const std::string& version, const std::string& title);
  void upgrade_badly(const std::string& variant, const std::string& active,
                     const std::string& title);
  void restart();
  [[nodiscard]] bool close();
  bool watch(const std::string& version, const std::string& beginning);
  void pass(std::chrono::milliseconds time);
  void start(const std::string& mode);
  void end_act(const std::string& title, std::uint64_t from_us);

  Stage stage_;
  Narrator narrator_;
  std::vector<Act> acts_;
  bool as_expected_ = true;
};

// Prints each event until `version` has written an event that begins with `beginning`. Returns
// false if this event does not come in time.
bool Demo::watch(const std::string& version, const std::string& beginning) {
  const auto seen = stage_.wait_for(
      [&](const SeenEvent& event) {
        narrator_.tell(event);
        return event.version == version && event.text.starts_with(beginning);
      },
      patience);
  if (!seen) {
    narrator_.say("NOT AS EXPECTED: " + version + " has not said: " + beginning);
    as_expected_ = false;
  }
  return seen.has_value();
}

void Demo::pass(std::chrono::milliseconds time) {
  const auto tell = [this](const SeenEvent& event) {
    narrator_.tell(event);
    return false;
  };
  static_cast<void>(stage_.wait_for(tell, time));
}

void Demo::start(const std::string& mode) {
  stage_.start_upgrader({"--start-timeout=2s", "--trial=1s", "--stop-timeout=5s", "--mode=" + mode},
                        {});
}

void Demo::end_act(const std::string& title, std::uint64_t from_us) {
  acts_.push_back({title, from_us, sample_agent::now_us()});
  pass(breath);
}

void Demo::open() {
  narrator_.say("A program writes 2,000 lines a second into a log and rotates it. An agent copies");
  narrator_.say(
      "each line exactly once, and is upgraded meanwhile. What stands after > is done to");
  narrator_.say(
      "it; the rest is what the versions of the agent have written into their event log.");
  narrator_.say();
  stage_.release("1.0.0");
  stage_.install("1.0.0");
  narrator_.tell("the upgrader is started with version 1.0.0");
  start("parallel");
  watch("1.0.0", "works");
}

void Demo::run_alone() {
  const std::uint64_t from_us = sample_agent::now_us();
  pass(1'500ms);
  end_act("no upgrade, for comparison", from_us);
}

void Demo::upgrade_well(const std::string& version, const std::string& title) {
  const std::uint64_t from_us = sample_agent::now_us();
  narrator_.tell(version + " is put into the releases: " + title);
  stage_.release(version);
  watch(version, "committed");
  end_act(version + " " + title, from_us);
}

void Demo::upgrade_badly(const std::string& variant, const std::string& active,
                         const std::string& title) {
  const std::uint64_t from_us = sample_agent::now_us();
  const std::string version = variant.substr(0, variant.find('-'));
  narrator_.tell(version + " is put into the releases: it " + title);
  stage_.release(variant);
  watch(active, "release " + version);
  end_act(version + " " + title, from_us);
}

void Demo::restart() {
  const std::uint64_t from_us = sample_agent::now_us();
  narrator_.tell("the upgrader is told to end, and started again for sequential upgrades");
  stage_.signal_upgrader(SIGTERM);
  if (stage_.wait_for_upgrader(patience) != 0) as_expected_ = false;
  start("sequential");
  watch("6.0.0", "works");
  end_act("the upgrader itself is restarted", from_us);
}

bool Demo::close() {
  narrator_.tell("the writer ends, then the upgrader is told to");
  stage_.stop_writing();
  const bool copied = stage_.wait_until_copied(patience);
  const std::uint64_t end_us = sample_agent::now_us();
  stage_.signal_upgrader(SIGTERM);
  const bool ended_well = stage_.wait_for_upgrader(patience) == 0;
  const bool current_is_right = stage_.current() == "agent-v7.0.0";

  narrator_.say();
  narrator_.draw(demo::read_events(stage_.path("events")), end_us);
  narrator_.say();
  narrator_.say("the longest pause between two lines of the output:");
  const auto output = demo::read_output(stage_.path("output"));
  for (const Act& act : acts_) {
    const std::uint64_t pause_us = demo::longest_pause_us(output, act.from_us, act.to_us);
    std::printf("  %-36s %10s\n", act.title.c_str(), demo::in_ms(pause_us).c_str());
  }
  narrator_.say();
  const demo::Proof proof = stage_.proof();
  std::fputs(proof.text().c_str(), stdout);
  const bool holds = as_expected_ && copied && ended_well && current_is_right && proof.holds();
  narrator_.say(holds ? "The proof holds." : "THE PROOF FAILS. The upgrader's log:");
  if (!holds) std::fputs(stage_.upgrader_log().c_str(), stdout);
  return holds;
}

int Demo::run() {
  open();
  run_alone();
  upgrade_well("2.0.0", "takes over");
  upgrade_badly("3.0.0-crash_at_start", "2.0.0", "crashes at start");
  upgrade_badly("4.0.0-hang_at_start", "2.0.0", "hangs at start");
  upgrade_badly("5.0.0-crash_on_trial", "2.0.0", "dies on trial");
  upgrade_well("6.0.0", "takes over");
  restart();
  upgrade_well("7.0.0", "takes over, sequentially");
  return close() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: live_demo UPGRADER VARIANTS\n", stderr);
    return 2;
  }
  return Demo(argv[1], argv[2]).run();
}
