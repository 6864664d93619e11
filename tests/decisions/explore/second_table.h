// The whole decision logic a second time: a table in text, written from the protocol page alone,
// and what reads it. See second.table for its notation and second_words.h for its words.
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

// A line of the table, as text. Canaries spoil some.
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
  std::vector<std::pair<std::string, std::string>> phases;  // of a course: "hand", "switching"
  std::vector<std::pair<std::string, std::string>> groups;  // "%works", "works,works!"
};

// The table beside this file.
[[nodiscard]] Rows read_second_table();

// Course, A and B, as numbers of words.
using Situation = std::array<std::uint8_t, 3>;

class SecondTable {
 public:
  // Fails the test that asks for it if a row cannot be understood.
  explicit SecondTable(const Rows& rows);

  struct CompiledRow {
    int line = 0;
    std::vector<std::pair<Guard, bool>> guards;  // and what each must answer
    std::vector<Effect> effects;
    std::optional<What> then;
    std::array<std::optional<std::uint8_t>, 3> next;  // none: as it was
    std::array<std::vector<std::uint8_t>, 3> words;   // empty: any
    std::vector<bool> whats;
    mutable std::size_t uses = 0;
  };

  [[nodiscard]] Situation start() const { return start_; }
  // The rows that may answer this, in order.
  [[nodiscard]] const std::vector<const CompiledRow*>& rows_for(const Situation& situation,
                                                                What what) const;
  [[nodiscard]] Situation next_of(const CompiledRow& row, Situation situation) const;
  [[nodiscard]] std::string text_of(const Situation& situation) const;
  // The phase that the course belongs to.
  [[nodiscard]] const std::string& phase_of(const Situation& situation) const;
  // Lines of rows that nothing has used.
  [[nodiscard]] std::vector<int> unused() const;

 private:
  std::uint8_t word(const std::string& text);
  CompiledRow compiled(const Row& row, const Rows& table);

  std::vector<std::string> words_;
  std::vector<std::string> phases_;  // by word
  std::vector<CompiledRow> rows_;
  Situation start_{};
  mutable std::unordered_map<std::uint32_t, std::vector<const CompiledRow*>> found_;
};

// Where the table stands.
class Reading {
 public:
  Reading(std::shared_ptr<const SecondTable> table, const Policy& policy);

  struct Answer {
    bool row = true;  // there is one that answers
    Actions actions;
  };
  Answer step(const Event& event, Time now);

  [[nodiscard]] Notes& notes() { return notes_; }
  [[nodiscard]] const std::string& phase() const { return table_->phase_of(situation_); }
  // The last step: "hand yields ready, A stopped -> hand stopped ready".
  [[nodiscard]] std::string latest() const;
  [[nodiscard]] std::string print() const;
  // Both stand in the same situation with the same notes.
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
