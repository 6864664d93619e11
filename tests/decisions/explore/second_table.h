// A second version of the whole decision logic: a table in text, written from the protocol page
// alone, and the code that reads it. second.table explains the notation, second_words.h the names.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/decisions/explore/second_words.h"

namespace upgrader::test {

// A row of the table, as text. Canaries change some rows.
struct Row {
  int line = 0;
  std::string situation;
  std::string events;
  std::string guards;
  std::string effects;
  std::string next;
};

struct Rows {
  std::vector<Row> rows;
  // The names of the stages of an upgrade, each with the supervisor's phase: "hand", "switching".
  std::vector<std::pair<std::string, std::string>> phases;
  // Names for groups of states, each with the group's members: "%works", "works,works!".
  std::vector<std::pair<std::string, std::string>> groups;
};

// Reads second.table, which lies beside this file.
[[nodiscard]] Rows read_second_table();

// A situation has three parts: the stage of the upgrade, the state of agent A, and the state of
// agent B. Each part has a name in second.table. Here word() has replaced the name by a number.
using Situation = std::array<std::uint8_t, 3>;

class SecondTable {
 public:
  // Fails the running test if a row cannot be understood.
  explicit SecondTable(const Rows& rows);

  struct CompiledRow {
    int line = 0;
    // Each guard, and the value that it must return for the row to apply.
    std::vector<std::pair<Guard, bool>> guards;
    std::vector<Effect> effects;
    std::optional<What> then;
    // The new situation; nullopt: this part does not change.
    std::array<std::optional<std::uint8_t>, 3> next;
    // The values that fit in each part; if empty, any value fits.
    std::array<std::vector<std::uint8_t>, 3> words;
    std::vector<bool> whats;
    mutable std::size_t uses = 0;
  };

  [[nodiscard]] Situation start() const { return start_; }
  // Returns the rows for this situation and event, in the table's order. The first row that applies
  // is used: all its guards return the values that it demands.
  [[nodiscard]] const std::vector<const CompiledRow*>& rows_for(const Situation& situation,
                                                                What what) const;
  [[nodiscard]] Situation next_of(const CompiledRow& row, Situation situation) const;
  [[nodiscard]] std::string text_of(const Situation& situation) const;
  // Returns the phase to which this situation belongs.
  [[nodiscard]] const std::string& phase_of(const Situation& situation) const;
  // Returns the line numbers of rows that no step has used.
  [[nodiscard]] std::vector<int> unused() const;

 private:
  std::uint8_t word(const std::string& text);
  CompiledRow compiled(const Row& row, const Rows& table);

  std::vector<std::string> words_;
  std::vector<std::string> phases_;  // the phase of each name in words_ that is a stage
  std::vector<CompiledRow> rows_;
  Situation start_{};
  mutable std::unordered_map<std::uint32_t, std::vector<const CompiledRow*>> found_;
};

// Follows a run through the table: keeps the present situation and the present notes, and changes
// them at each step.
class Reading {
 public:
  Reading(std::shared_ptr<const SecondTable> table, const Policy& policy);

  struct Answer {
    bool row = true;  // false if the table had no row for the last step
    Actions actions;
  };
  Answer step(const Event& event, Time now);

  [[nodiscard]] Notes& notes() { return notes_; }
  [[nodiscard]] const std::string& phase() const { return table_->phase_of(situation_); }
  // Returns the last step, such as "hand yields ready, A stopped -> hand stopped ready".
  [[nodiscard]] std::string latest() const;
  [[nodiscard]] std::string print() const;
  // Returns whether `other` has the same situation and the same notes.
  [[nodiscard]] bool equals(const Reading& other) const {
    return situation_ == other.situation_ && notes_ == other.notes_;
  }

 private:
  std::shared_ptr<const SecondTable> table_;
  Situation situation_;
  Situation before_;
  std::optional<What> latest_;
  Notes notes_;
};

}  // namespace upgrader::test
