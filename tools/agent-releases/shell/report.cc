#include "tools/agent-releases/shell/report.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/shown.h"
#include "base/terminal_size.h"
#include "tools/agent-releases/core/json_object.h"
#include "tools/agent-releases/core/moment.h"

namespace agent_releases {
namespace {

using upgraderctl::shown;

constexpr std::int64_t percent_of_a_line = 10;

std::string with_build(const Version& version) {
  return version.text() + (version.build.empty() ? "" : "+" + version.build);
}

// Returns the newest entry in the ledger about a release in words, such as "committed at" and the
// time. Returns an empty string if there is no entry.
std::string words_of(const std::optional<Entry>& last) {
  if (!last) return "";
  const std::string when = " at " + to_text(last->when);
  switch (last->ending) {
    case Ending::trying:
      return "tried" + when + ", without an ending";
    case Ending::committed:
      return "committed" + when;
    case Ending::failed: {
      const bool own = blames_release(last->stage, last->errno_name);
      return "failed" + when + ", stage " + shown(last->stage) + ": " + shown(last->reason) +
             (own ? "; it is not tried again until it is forgotten" : "");
    }
    case Ending::forgotten:
      return "forgotten" + when;
  }
  return "";
}

std::string marks_of(const Fact& fact) {
  std::string marks;
  const auto add = [&](bool is, const char* word) {
    if (is) marks += (marks.empty() ? "" : ", ") + std::string(word);
  };
  add(fact.current, "current");
  add(fact.previous, "previous");
  add(fact.desired, "desired");
  return marks;
}

std::string padded(std::string text, std::size_t width) {
  text.append(width - std::min(width, text.size()), ' ');
  return text;
}

}  // namespace

void print(const std::string& text) {
  const std::string safe = upgraderctl::shown_json(text);
  std::fwrite(safe.data(), 1, safe.size(), stdout);
}

std::string shown_bytes(std::int64_t bytes) {
  constexpr std::int64_t kilo = 1'000;
  if (bytes < kilo) return std::to_string(bytes) + " bytes";
  const char* unit = "kB";
  std::int64_t tenths = bytes * 10 / kilo;
  for (const char* next : {"MB", "GB"}) {
    if (tenths < 10 * kilo) break;
    tenths /= kilo;
    unit = next;
  }
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " " + unit;
}

std::string json_of(const Fact& fact) {
  const Release& release = fact.release;
  JsonWriter json;
  json.add("version", with_build(release.version)).add("path", release.path);
  json.add("executable", release.executable).add("kind", release.is_directory ? "tar" : "file");
  if (!release.sha256.empty()) json.add("sha256", release.sha256);
  json.add("bytes", release.bytes).add("added", to_text(release.added));
  json.add("current", fact.current).add("previous", fact.previous).add("desired", fact.desired);
  if (!fact.last) return json.line();
  const Entry& last = *fact.last;
  JsonWriter entry;
  entry.add("ending", name_of(last.ending)).add("when", to_text(last.when));
  if (!last.id.empty()) entry.add("id", last.id);
  if (!last.stage.empty()) entry.add("stage", last.stage).add("reason", last.reason);
  if (last.ending == Ending::failed) {
    entry.add("tried_again", !blames_release(last.stage, last.errno_name));
  }
  return json.add_raw("last", entry.line()).line();
}

std::string json_of(const Overview& overview) {
  std::string releases = "[";
  std::int64_t bytes = 0;
  for (const Fact& fact : overview.facts) {
    releases += (releases.size() > 1 ? "," : "") + json_of(fact);
    bytes += fact.release.bytes;
  }
  JsonWriter json;
  json.add("directory", overview.directory).add("name", overview.name);
  json.add("newest_is_desired", overview.newest_is_desired).add("bytes", bytes);
  return json.add_raw("releases", releases + "]").line() + "\n";
}

std::string text_of(const Overview& overview) {
  std::int64_t bytes = 0;
  for (const Fact& fact : overview.facts)
    bytes += fact.release.bytes;
  std::string text = "releases of " + overview.name + " in " + shown(overview.directory) + ": " +
                     std::to_string(overview.facts.size()) + ", " + shown_bytes(bytes) +
                     (overview.newest_is_desired ? "; the newest is desired" : "") + "\n";
  for (const Fact& fact : overview.facts) {
    constexpr std::size_t version_width = 12;
    constexpr std::size_t size_width = 10;
    std::string line = "  " + padded(with_build(fact.release.version), version_width) + " " +
                       padded(shown_bytes(fact.release.bytes), size_width) + " " +
                       to_text(fact.release.added);
    for (const std::string& words : {marks_of(fact), words_of(fact.last)}) {
      if (!words.empty()) line += "  " + words;
    }
    text += line + "\n";
  }
  return text;
}

std::string text_of(const Fact& fact) {
  const Release& release = fact.release;
  std::string text = "version     " + with_build(release.version) + "\n";
  text += "path        " + shown(release.path) + "\n";
  text += "executable  " + shown(release.executable) + "\n";
  text += "sha256      " + (release.sha256.empty() ? "no manifest says it" : release.sha256) + "\n";
  text += "on disk     " + shown_bytes(release.bytes) + ", added " + to_text(release.added) + "\n";
  if (const std::string marks = marks_of(fact); !marks.empty())
    text += "it is       " + marks + "\n";
  if (const std::string words = words_of(fact.last); !words.empty()) {
    text += "ledger      " + words + "\n";
  }
  return text;
}

ProgressLine::~ProgressLine() {
  if (drawn_) std::fputc('\n', stderr);
}

void ProgressLine::show(const Progress& progress) {
  constexpr std::int64_t whole = 100;
  const std::int64_t percent = progress.of > 0 ? progress.bytes * whole / progress.of : 0;
  const bool terminal = !json_ && ::isatty(STDERR_FILENO) == 1;
  const std::int64_t step = terminal ? percent : percent / percent_of_a_line;
  if (step == shown_) return;
  shown_ = step;
  if (terminal) return draw(progress, percent);
  if (json_) {
    JsonWriter json;
    json.add("event", "progress").add("release", progress.what).add("bytes", progress.bytes);
    json.add("of", progress.of).add("resumed_at", progress.from);
    std::printf("%s\n", json.line().c_str());
    std::fflush(stdout);
    return;
  }
  std::fprintf(stderr, "%s: %ld %% of %s\n", progress.what.c_str(), static_cast<long>(percent),
               shown_bytes(progress.of).c_str());
}

// Draws the line of the progress bar, shorter than the terminal is wide. A longer line would scroll
// the terminal each time it is drawn.
void ProgressLine::draw(const Progress& progress, std::int64_t percent) {
  constexpr std::int64_t percent_of_a_mark = 4;
  std::string bar = " [";
  for (std::int64_t at = 0; at < 100; at += percent_of_a_mark)
    bar += at < percent ? '#' : '.';
  std::string number = std::to_string(percent);
  number.insert(0, number.size() < 3 ? 3 - number.size() : 0, ' ');
  const std::string rest = " " + number + " % of " + shown_bytes(progress.of);
  const std::size_t columns = upgrader::terminal_size(STDERR_FILENO).columns;
  std::string text = progress.what + bar + "]" + rest;
  if (text.size() >= columns) text = progress.what + rest;
  std::fprintf(stderr, "\r%s", text.substr(0, columns - 1).c_str());
  drawn_ = true;
}

}  // namespace agent_releases
