// The second table: an independent second description of the supervisor, in
// tests/decisions/explore/second_*, with which an exploration compares the supervisor. It is a
// table in a text file, `second.table`, written from the protocol page alone. This file declares
// the code that reads the table. `second.table` explains the notation, and second_words.h explains
// the names.
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

// A row of the second table, as text.
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
  // The names of the stages of an upgrade, each with the supervisor's phase in that stage, such as
  // "hand" with "switching".
  std::vector<std::pair<std::string, std::string>> phases;
  // Names for groups of states, each with its members, such as "%works" for "works,works!".
  std::vector<std::pair<std::string, std::string>> groups;
};

// Reads the file `second.table` in this file's directory.
[[nodiscard]] Rows read_second_table();

// A situation of the second table (an independent second description of the supervisor) has three
// parts: the stage of the upgrade, the state of agent A, and the state of agent B. second.table
// gives each part a name, such as "hand" or "stopped"; word() turns such a name into a number.
using Situation = std::array<std::uint8_t, 3>;

class SecondTable {
 public:
  // Compiles the rows of `second.table`. Fails the running test if a row cannot be understood.
  explicit SecondTable(const Rows& rows);

  struct CompiledRow {
    int line = 0;
    // The guards (conditions) of the row, each with the value that it must return for the row to
    // apply.
    std::vector<std::pair<Guard, bool>> guards;
    std::vector<Effect> effects;
    std::optional<What> then;
    // The new situation: the upgrade's stage and the states of agents A and B. A part that is
    // nullopt does not change.
    std::array<std::optional<std::uint8_t>, 3> next;
    // The situations to which this row applies: the permitted values of the upgrade's stage, of
    // agent A's state and of agent B's state. An empty list permits every value.
    std::array<std::vector<std::uint8_t>, 3> words;
    std::vector<bool> whats;
    mutable std::size_t uses = 0;
  };

  [[nodiscard]] Situation start() const { return start_; }
  // Returns the rows for this situation and event, in the table's order. The caller must use the
  // first of these rows whose guards all return the demanded values.
  [[nodiscard]] const std::vector<const CompiledRow*>& rows_for(const Situation& situation,
                                                                What what) const;
  [[nodiscard]] Situation next_of(const CompiledRow& row, Situation situation) const;
  [[nodiscard]] std::string text_of(const Situation& situation) const;
  // Returns the phase in which the supervisor is in this situation of `second.table`.
  [[nodiscard]] const std::string& phase_of(const Situation& situation) const;
  // Returns the line numbers of those rows of `second.table` that no step has used.
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

class Companion;

// Runs the second table (an independent second description of the supervisor) beside the supervisor
// during an exploration, and compares each step: see Companion in explorer.h. Reports each
// difference in the actions, the running deadlines, the phase, and whether an active agent has
// missed a heartbeat. Texts for people are not compared.
[[nodiscard]] std::unique_ptr<Companion> second_opinion(std::shared_ptr<const SecondTable> table,
                                                        const Policy& policy);

}  // namespace upgrader::test
