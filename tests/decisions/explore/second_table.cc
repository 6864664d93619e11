#include "tests/decisions/explore/second_table.h"
#include "tests/support/source_directory.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

namespace upgrader::test {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);)
    parts.push_back(trimmed(part));
  return parts;
}

std::vector<std::string> three_words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  if (words.size() == 1 && words[0] == "=") return {"=", "=", "="};
  return words;
}

// Replaces the names of groups in a part of a row by the groups' members, such as "%works" by
// "works,works!".
std::string written_out(std::string text, const Rows& table) {
  for (const auto& [name, members] : table.groups) {
    for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;)
      text.replace(at, name.size(), members);
  }
  return text;
}

}  // namespace

Rows read_second_table() {
  std::ifstream file(source_directory() + "/tests/decisions/explore/second.table");
  REQUIRE(file);
  Rows table;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (trimmed(line).empty() || line[0] == '#') continue;
    const std::vector<std::string> cells = split(line, '|');
    INFO("second.table:" << number << ": " << line);
    if (cells.size() == 2) {
      table.phases.emplace_back(cells[0], cells[1]);
      continue;
    }
    if (cells.size() == 3) {
      table.groups.emplace_back(cells[0], cells[2]);
      continue;
    }
    REQUIRE(cells.size() == 6);
    CHECK_FALSE(cells[5].empty());  // the last column names a section of a manual page
    table.rows.push_back({number, cells[0], cells[1], cells[2], cells[3], cells[4]});
  }
  return table;
}

SecondTable::SecondTable(const Rows& table) {
  for (const auto& [course, phase] : table.phases) {
    const std::uint8_t its = word(course);
    phases_.resize(words_.size());
    phases_[its] = phase;
  }
  start_ = {word("new"), word("-"), word("-")};
  for (const Row& row : table.rows)
    rows_.push_back(compiled(row, table));
  phases_.resize(words_.size());
}

std::uint8_t SecondTable::word(const std::string& text) {
  const auto found = std::find(words_.begin(), words_.end(), text);
  if (found == words_.end()) {
    words_.push_back(text);
    return static_cast<std::uint8_t>(words_.size() - 1);
  }
  return static_cast<std::uint8_t>(found - words_.begin());
}

SecondTable::CompiledRow SecondTable::compiled(const Row& row, const Rows& table) {
  INFO("second.table:" << row.line << ": " << row.situation << " | " << row.events << " | "
                       << row.guards << " | " << row.effects << " | " << row.next);
  CompiledRow made;
  made.line = row.line;
  const std::vector<std::string> from = three_words(written_out(row.situation, table));
  const std::vector<std::string> to = three_words(row.next);
  REQUIRE(from.size() == 3);
  REQUIRE(to.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    if (from[i] != "*") {
      for (const std::string& one : split(from[i], ','))
        made.words[i].push_back(word(one));
    }
    if (to[i] != "=") made.next[i] = word(to[i]);
  }
  made.whats.resize(count_of_whats());
  for (const std::string& event : split(written_out(row.events, table), ',')) {
    INFO("event " << event);
    REQUIRE(what_named(event) != std::string::npos);
    made.whats[what_named(event)] = true;
  }
  for (const std::string& guard : split(row.guards, ',')) {
    const bool negated = guard[0] == '!';
    INFO("guard " << guard);
    REQUIRE(guard_named(guard.substr(negated ? 1 : 0)) != nullptr);
    made.guards.emplace_back(guard_named(guard.substr(negated ? 1 : 0)), !negated);
  }
  for (const std::string& effect : split(row.effects, ',')) {
    INFO("effect " << effect);
    if (effect.rfind("then ", 0) == 0) {
      made.then = what_named(effect.substr(5));
      REQUIRE(*made.then != std::string::npos);
      continue;
    }
    REQUIRE(effect_named(effect) != nullptr);
    made.effects.push_back(effect_named(effect));
  }
  return made;
}

const std::vector<const SecondTable::CompiledRow*>& SecondTable::rows_for(
    const Situation& situation, What what) const {
  const std::uint32_t key = (static_cast<std::uint32_t>(situation[0]) << 24) |
                            (static_cast<std::uint32_t>(situation[1]) << 16) |
                            (static_cast<std::uint32_t>(situation[2]) << 8) |
                            static_cast<std::uint32_t>(what);
  const auto [found, is_new] = found_.try_emplace(key);
  if (!is_new) return found->second;
  for (const CompiledRow& row : rows_) {
    bool fits = row.whats[what];
    for (std::size_t i = 0; i < 3 && fits; ++i) {
      const auto& words = row.words[i];
      fits = words.empty() || std::find(words.begin(), words.end(), situation[i]) != words.end();
    }
    if (fits) found->second.push_back(&row);
  }
  return found->second;
}

Situation SecondTable::next_of(const CompiledRow& row, Situation situation) const {
  for (std::size_t i = 0; i < 3; ++i) {
    situation[i] = row.next[i].value_or(situation[i]);
  }
  return situation;
}

std::string SecondTable::text_of(const Situation& situation) const {
  return words_[situation[0]] + " " + words_[situation[1]] + " " + words_[situation[2]];
}

const std::string& SecondTable::phase_of(const Situation& situation) const {
  return phases_[situation[0]];
}

std::vector<int> SecondTable::unused() const {
  std::vector<int> lines;
  for (const CompiledRow& row : rows_) {
    if (row.uses == 0) lines.push_back(row.line);
  }
  return lines;
}

}  // namespace upgrader::test
