#include "tests/demo/line_proof.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <unordered_map>

#include "sample-agent/copier.h"
#include "sample-agent/follower.h"
#include "sample-agent/words.h"

namespace demo {
namespace {

using sample_agent::cut_off;
using sample_agent::to_number;

// Reads the lines of a file. If `whole_only` is true, leaves out the text after the last newline.
std::vector<std::string> read_lines(const std::string& path, bool whole_only) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  const std::string text = content.str();
  std::string_view rest = text;
  std::vector<std::string> lines;
  while (!rest.empty()) {
    if (whole_only && rest.find('\n') == std::string_view::npos) break;
    lines.emplace_back(cut_off(rest, '\n'));
  }
  return lines;
}

// The time in which one agent writes records. It begins with the agent's event `works`. `first` is
// the number of the agent's first record.
struct Shift {
  SeenEvent begin;
  std::uint64_t first = 0;
};

std::optional<std::uint64_t> number_after(std::string_view text, std::string_view beginning) {
  if (!text.starts_with(beginning)) return std::nullopt;
  return to_number<std::uint64_t>(text.substr(beginning.size()));
}

std::string name_of(const SeenEvent& event) {
  return event.version + " (pid " + std::to_string(event.pid) + ")";
}

// Finds records that a version wrote while a different version was active.
void find_foreign_records(const std::vector<SeenRecord>& output,
                          const std::vector<SeenEvent>& events, Proof& proof) {
  std::vector<Shift> shifts;
  for (const SeenEvent& event : events) {
    if (const auto first = number_after(event.text, "works next="))
      shifts.push_back({event, *first});
  }
  std::uint64_t number = 0;
  std::size_t begun = 0;  // how many agents have begun to work so far
  for (const SeenRecord& record : output) {
    ++number;
    while (begun < shifts.size() && shifts[begun].first <= number)
      ++begun;
    const SeenEvent* turn = begun == 0 ? nullptr : &shifts[begun - 1].begin;
    if (turn != nullptr && turn->version == record.version && turn->time_us <= record.time_us) {
      continue;
    }
    proof.trespasses.push_back("record " + std::to_string(number) + " is by " + record.version +
                               ", whose turn it was not: " + (turn ? name_of(*turn) : "nobody") +
                               " was active");
  }
}

// Finds agents that write events after the next agent was activated. Such an event proves an error,
// since the upgrader must reap the old agent before it activates the next one.
void find_two_active(const std::vector<SeenEvent>& events, Proof& proof) {
  // Maps the pid of each agent that is no longer active to the event by which the next agent was
  // activated.
  std::map<int, const SeenEvent*> succeeded;
  int active = 0;
  for (const SeenEvent& event : events) {
    if (event.text.starts_with("started")) {  // a new agent may get an old one's pid
      succeeded.erase(event.pid);
      if (active == event.pid) active = 0;
    }
    const auto by = succeeded.find(event.pid);
    if (by != succeeded.end()) {
      proof.trespasses.push_back(name_of(event) + " was alive after " + name_of(*by->second) +
                                 " was activated: " + event.text);
    }
    if (event.text != "activated") continue;
    if (active != 0) succeeded[active] = &event;
    active = event.pid;
  }
}

}  // namespace

SeenEvent parse_event(std::string_view line) {
  std::string_view rest = line;
  const auto time_us = to_number<std::uint64_t>(cut_off(rest, ' '));
  const auto pid = to_number<std::uint32_t>(cut_off(rest, ' '));
  const std::string_view version = cut_off(rest, ' ');
  if (!time_us || !pid) return {.time_us = 0, .pid = 0, .version = "", .text = std::string(line)};
  return {.time_us = *time_us,
          .pid = static_cast<int>(*pid),
          .version = std::string(version),
          .text = std::string(rest)};
}

bool Proof::holds() const {
  return lines_in == lines_out && missing + doubled + strange + disordered + misnumbered == 0 &&
         trespasses.empty();
}

std::string Proof::text() const {
  std::string text = "lines in " + std::to_string(lines_in) + ", lines out " +
                     std::to_string(lines_out) + ": " + std::to_string(missing) + " missing, " +
                     std::to_string(doubled) + " doubled, " + std::to_string(disordered) +
                     " out of order, " + std::to_string(misnumbered) + " misnumbered, " +
                     std::to_string(strange) + " from nowhere, " +
                     std::to_string(trespasses.size()) + " by an agent that was not active\n";
  constexpr std::size_t shown_max = 10;
  for (std::size_t i = 0; i < std::min(shown_max, trespasses.size()); ++i) {
    text += "  " + trespasses[i] + "\n";
  }
  return text;
}

std::vector<std::string> read_input(const std::string& path) {
  std::vector<std::string> input;
  for (const sample_agent::RotatedFile& file : sample_agent::rotated_files(path)) {
    const std::string name = std::filesystem::path(path).replace_filename(file.name);
    const bool present = name == path;
    std::vector<std::string> lines = read_lines(name, present);
    std::ranges::move(lines, std::back_inserter(input));
  }
  return input;
}

std::vector<SeenRecord> read_output(const std::string& path) {
  std::vector<SeenRecord> output;
  for (const std::string& line : read_lines(path, false)) {
    const auto record = sample_agent::parse_record(line);
    if (!record) {
      output.push_back({.number = 0, .version = "nobody", .time_us = 0, .line = line});
      continue;
    }
    output.push_back({.number = record->number,
                      .version = std::string(record->version),
                      .time_us = record->time_us,
                      .line = std::string(record->line)});
  }
  return output;
}

std::vector<SeenEvent> read_events(const std::string& path) {
  std::vector<SeenEvent> events;
  for (const std::string& line : read_lines(path, true))
    events.push_back(parse_event(line));
  return events;
}

Proof prove(const std::vector<std::string>& input, const std::vector<SeenRecord>& output,
            const std::vector<SeenEvent>& events) {
  Proof proof;
  proof.lines_in = input.size();
  proof.lines_out = output.size();

  // The facts about one line of text: all its positions in the input, and how often it has occurred
  // in the output so far.
  struct Places {
    std::vector<std::size_t> at;
    std::size_t found = 0;
  };
  std::unordered_map<std::string, Places> places;
  for (std::size_t i = 0; i < input.size(); ++i)
    places[input[i]].at.push_back(i);

  std::uint64_t number = 0;
  std::optional<std::size_t> last;
  for (const SeenRecord& record : output) {
    if (record.number != ++number) ++proof.misnumbered;
    number = record.number;
    const auto known = places.find(record.line);
    if (known == places.end()) {
      ++proof.strange;
      continue;
    }
    Places& line = known->second;
    if (line.found == line.at.size()) {
      ++proof.doubled;
      continue;
    }
    const std::size_t place = line.at[line.found++];
    if (last && place < *last) ++proof.disordered;
    last = place;
  }
  for (const auto& [text, line] : places)
    proof.missing += line.at.size() - line.found;
  if (!events.empty()) {
    find_foreign_records(output, events, proof);
    find_two_active(events, proof);
  }
  return proof;
}

std::uint64_t longest_pause_us(const std::vector<SeenRecord>& output, std::uint64_t from_us,
                               std::uint64_t to_us) {
  std::uint64_t longest = 0;
  for (std::size_t i = 1; i < output.size(); ++i) {
    const std::uint64_t begin = output[i - 1].time_us;
    const std::uint64_t end = output[i].time_us;
    if (end > begin && end >= from_us && begin <= to_us) longest = std::max(longest, end - begin);
  }
  return longest;
}

}  // namespace demo
