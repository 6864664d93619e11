#include "upgrader/core/attempts.h"

#include <algorithm>
#include <array>

#include "base/form.h"
#include "base/number.h"

namespace upgrader {
namespace {

// A record is padded with zeros to whole sectors, so that the file rarely changes its size.
constexpr std::size_t sector_bytes = 512;

// Returns the checksum of a record (FNV-1a, 32 bits). A record that was written only in part has a
// wrong checksum.
std::int64_t check_of(std::string_view text) {
  std::uint32_t sum = 2'166'136'261U;
  for (const char byte : text)
    sum = (sum ^ static_cast<unsigned char>(byte)) * 16'777'619U;
  return sum;
}

// Reads "COUNT PATH", a newline, how the last start ended, and a newline. The path may contain
// newlines, so the ending follows the second-to-last newline.
Attempts read_text(std::string_view text) {
  Attempts attempts;
  const std::optional<std::int64_t> count = take_number(text);
  const bool good = count && *count >= 0 && *count <= 2 * attempts_max && text.starts_with(' ');
  if (!good) return {};
  attempts.count = static_cast<int>(*count);
  text = text.substr(1, text.size() - 2);
  const std::size_t newline = text.rfind('\n');
  if (newline == std::string_view::npos) return {};
  attempts.executable = text.substr(0, newline);
  attempts.ending = text.substr(newline + 1);
  return attempts;
}

struct Record {
  // the number of the record: the newest record has the highest; 0 if the record is damaged
  std::int64_t turn = 0;
  std::string_view text;  // the text for read_text(); empty, or ends with a newline
};

// Reads the record at the beginning of `file`: its text, and then a line "TURN CHECK". TURN is the
// number of the record, and CHECK is its checksum. The record ends before the first zero byte.
Record read_record(std::string_view file) {
  std::string_view record = file.substr(0, file.find('\0'));
  if (!record.ends_with('\n')) return {};
  const std::size_t check = record.rfind(' ') + 1;
  const std::string_view sum = record.substr(check, record.size() - check - 1);
  record = record.substr(0, check);
  if (whole_number(sum) != check_of(record)) return {};
  const std::size_t turn = record.rfind('\n') + 1;
  return {whole_number(record.substr(turn, check - 1 - turn)).value_or(0), record.substr(0, turn)};
}

using Records = std::array<Record, attempts_records>;

// Reads the records of the file, in the order of their offsets. If the file ends before a record
// begins, that record gets the number 0, like a damaged record.
Records read_records(std::string_view file) {
  Records records;
  for (Record& record : records) {
    record = read_record(file);
    file.remove_prefix(std::min(attempts_record_bytes, file.size()));
  }
  return records;
}

}  // namespace

Attempts read_attempts(std::string_view file) {
  return read_text(std::ranges::max(read_records(file), {}, &Record::turn).text);
}

NextRecord next_record(std::string_view file, const Attempts& attempts) {
  const Records records = read_records(file);
  const auto [oldest, newest] = std::ranges::minmax_element(records, {}, &Record::turn);
  const std::string text =
      "{} {}\n{}\n{} "_with(attempts.count, attempts.executable, attempts.ending, newest->turn + 1);
  std::string record = "{}{}\n"_with(text, check_of(text));
  record.resize((record.size() / sector_bytes + 1) * sector_bytes);
  return {static_cast<std::size_t>(oldest - records.begin()) * attempts_record_bytes, record,
          records.size() - static_cast<std::size_t>(std::ranges::count(records, 0, &Record::turn))};
}

NextAttempt next_attempt(const Attempts& before, const std::string& executable, int limit,
                         bool way_back) {
  int count = before.executable == executable ? before.count : 0;
  if (count >= 2 * limit) count = 0;
  NextAttempt next{{count + 1, executable, ""}, std::nullopt};
  if (count < limit) return next;
  std::string_view ending = before.ending;
  if (ending.empty()) ending = "nobody was left to say how the last one ended";
  next.attempts_exhausted = "{} did not last in {} {}: {}"_with(
      executable, count, count == 1 ? "start" : "starts in a row", ending);
  if (!way_back) next.attempts = before;
  return next;
}

}  // namespace upgrader
