#include "tests/demo/narrator.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "sample-agent/clock.h"
#include "sample-agent/words.h"

namespace demo {
namespace {

constexpr std::size_t columns = 60;

// One agent's time at work: its beginning and its end.
struct Span {
  std::string version;
  std::uint64_t from_us = 0;
  std::uint64_t to_us = 0;
};

// Returns the times in which the agents worked. An agent that crashed worked at the latest until
// the next one began.
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

}  // namespace

std::string in_ms(std::uint64_t time_us) {
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

// Returns the time at which the previous agent ended its work, or 0 if there was none. If the
// previous agent crashed, it has noted no end, so the time of its last record counts.
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

}  // namespace demo
