// The work itself: each line of the input becomes exactly one record of the output, whatever ends
// the agent and whenever. Why that holds stands at the head of copier.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sample-agent/durable_file.h"
#include "sample-agent/file.h"
#include "sample-agent/follower.h"
#include "sample-agent/output.h"
#include "sample-agent/position.h"

namespace sample_agent {

inline constexpr std::string_view position_file_name = "position";

// One write's worth; the agent looks after its conversation between two turns.
inline constexpr std::size_t turn_bytes = 65'536;

struct CopierSettings {
  std::string input;
  std::string output;
  std::string state_directory;
  std::string version;           // goes into each record
  unsigned position_format = 1;  // the newest that this version knows
  std::uint64_t rotate_wait_us = 0;
};

class Copier {
 public:
  // Takes the work over. A `state` left by an agent that confirmed its stop is believed if it
  // agrees with the output; otherwise the durable position decides, and the output after it.
  [[nodiscard]] static Result<Copier> take_over(const CopierSettings& settings,
                                                const std::optional<std::string>& state,
                                                std::uint64_t now_us);

  // Writes the records of the lines that are there, up to a turn's worth. True if there are more.
  [[nodiscard]] Result<bool> copy(std::uint64_t now_us);

  // How long after the last copy() a file that was rotated may be left; nothing if none waits.
  [[nodiscard]] std::optional<std::uint64_t> wait_us() const { return follower_.wait_us(); }

  // Makes what was written durable: the output first, then the position.
  [[nodiscard]] Outcome save();

  [[nodiscard]] bool has_unsaved() const { return next_ != saved_.next; }

  // Until then the position is written in the format in which it was found, so that the version
  // before this one can take the work back.
  void use_newest_format() { format_ = settings_.position_format; }

  // Of the last save, as a hand-over carries it.
  [[nodiscard]] std::string state() const { return encode_position(saved_, format_); }

  [[nodiscard]] std::uint64_t next() const { return next_; }

  // Reports that people should read, each of them once.
  [[nodiscard]] std::vector<std::string> take_reports();

 private:
  Copier(const CopierSettings& settings, Output output);

  [[nodiscard]] Outcome find_position(const std::optional<std::string>& state);
  [[nodiscard]] Outcome recover(std::uint64_t now_us);
  [[nodiscard]] Result<std::uint64_t> match_records(bool following, std::uint64_t now_us);
  [[nodiscard]] Result<bool> copy_line(std::uint64_t now_us);

  CopierSettings settings_;
  DurableFile position_file_;
  Follower follower_;
  Output output_;
  unsigned format_ = 1;
  std::uint64_t next_ = 1;
  Position saved_;
  std::uint64_t files_begun_ = 0;            // at the last save
  std::optional<std::string> durable_text_;  // what the position file holds
  std::vector<std::string> reports_;
};

}  // namespace sample_agent
