// The agent's work: each line of the input becomes exactly one record of the output, however and
// whenever the agent ends. The head of copier.cc explains how that is achieved.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sample-agent/file.h"
#include "sample-agent/follower.h"
#include "sample-agent/position.h"

namespace sample_agent {

// Returns the time in microseconds since the epoch.
inline std::uint64_t now_us() {
  using std::chrono::duration_cast, std::chrono::microseconds, std::chrono::system_clock;
  const auto since_epoch = system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(duration_cast<microseconds>(since_epoch).count());
}

// One line of the output: "SEQUENCE-NUMBER VERSION MICROSECONDS LINE". VERSION is the version of
// the agent that wrote the record. MICROSECONDS is the time of the write, since the epoch.
struct Record {
  std::uint64_t number = 0;
  std::string_view version;
  std::uint64_t time_us = 0;
  std::string_view line;
};

// Appends the record and a newline to `text`.
void append_record(std::string& text, const Record& record);

// Parses a record without its newline. The members of the result point into `text`.
[[nodiscard]] std::optional<Record> parse_record(std::string_view text);

// The output file. Records are appended, many in one write. Only sync() makes them durable.
class Output {
 public:
  // Opens the output file, or makes it if it does not exist. Syncs the directory that contains the
  // file, so that a new file survives a power cut.
  [[nodiscard]] static Result<Output> open(const std::string& path);

  void add(const Record& record) { append_record(pending_, record); }
  [[nodiscard]] std::size_t pending_bytes() const { return pending_.size(); }

  // Writes the records that add() has collected to the output file.
  [[nodiscard]] Outcome flush();

  // Writes the records that add() has collected, and makes all records durable.
  [[nodiscard]] Outcome sync();

  [[nodiscard]] Result<std::uint64_t> size() const { return file_.size(); }
  [[nodiscard]] Outcome cut(std::uint64_t size) const { return file_.cut(size); }

 private:
  explicit Output(File file) : file_(std::move(file)) {}

  File file_;
  std::string pending_;
};

inline constexpr std::string_view position_file_name = "position";

// About how many bytes are copied in one turn of the event loop, mostly by a single write. Between
// two turns the agent reads the upgrader's messages.
inline constexpr std::size_t turn_bytes = 65'536;

struct CopierSettings {
  std::string input;
  std::string output;
  std::string state_directory;
  std::string version;           // the agent's version, which is written into each record
  unsigned position_format = 1;  // the newest format of the position that this version knows
  std::uint64_t rotate_wait_us = 0;
};

class Copier {
 public:
  // Makes a copier that continues the work of the last active agent. `state` is the position that
  // this agent has sent with `stopped`, if it has. If `state` is absent, or does not agree with the
  // size of the output, the position file is used, and later records are compared with the input.
  [[nodiscard]] static Result<Copier> take_over(const CopierSettings& settings,
                                                const std::optional<std::string>& state,
                                                std::uint64_t now_us);

  // Copies lines of the input as records, until there are no more lines or about turn_bytes bytes
  // have been copied. Returns true if there may be more lines.
  [[nodiscard]] Result<bool> copy(std::uint64_t now_us);

  // Returns how long after the last copy() the agent must wait before it leaves a rotated file for
  // the next file. Returns nothing if the agent need not wait.
  [[nodiscard]] std::optional<std::uint64_t> wait_us() const { return follower_.wait_us(); }

  // Makes the written records durable, and then writes the position file durably.
  [[nodiscard]] Outcome save();

  [[nodiscard]] bool has_unsaved() const { return next_ != saved_.next; }

  // Makes later saves use the newest format of the position. Until then, they use the format of the
  // position file, so that the previous version can read it if the upgrade fails.
  void use_newest_format() { format_ = settings_.position_format; }

  // Returns the position of the last save, as the `state` for the next agent.
  [[nodiscard]] std::string state() const { return encode_position(saved_, format_); }

  [[nodiscard]] std::uint64_t next() const { return next_; }

  // Returns reports for people, such as that lines of the input may be missing. Leaves out reports
  // that an earlier call has returned.
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
  std::uint64_t files_begun_ = 0;            // follower_.files_begun() at the last save
  std::optional<std::string> durable_text_;  // the content of the position file
  std::vector<std::string> reports_;
};

}  // namespace sample_agent
