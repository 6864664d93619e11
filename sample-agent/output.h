// The output: records are appended, in few writes, and synced on demand.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sample-agent/file.h"
#include "sample-agent/record.h"

namespace sample_agent {

class Output {
 public:
  // Opens the output file, and makes it if it does not exist. The file then survives a power cut.
  [[nodiscard]] static Result<Output> open(const std::string& path);

  void add(const Record& record) { append_record(pending_, record); }
  [[nodiscard]] std::size_t pending_bytes() const { return pending_.size(); }

  // Writes the records that add() has collected.
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

}  // namespace sample_agent
