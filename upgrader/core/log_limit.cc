#include "upgrader/core/log_limit.h"

#include <algorithm>

#include "upgrader/core/words.h"

namespace upgrader {
namespace {

// The kinds of notice in log lines: singular and plural, in the order of NoticeKind.
constexpr const char* kinds[][2] = {{"line of stray output", "lines of stray output"},
                                    {"status", "statuses"},
                                    {"error", "errors"},
                                    {"refused upgrade", "refused upgrades"},
                                    {"refused request", "refused requests"}};

std::string count_in_words(std::uint64_t count, NoticeKind kind) {
  return "{} more {}"_with(count, kinds[static_cast<std::size_t>(kind)][count == 1 ? 0 : 1]);
}

// Returns the text of a notice. If earlier notices of the same kind were held back, appends how
// many.
std::string with_count(const std::string& text, std::uint64_t count, NoticeKind kind) {
  if (count == 0) return text;
  return "{} ({} before it not shown)"_with(text, count_in_words(count, kind));
}

}  // namespace

LogLevel level_of(const Notice& notice) {
  const bool refused = notice.kind == NoticeKind::refusal || notice.kind == NoticeKind::request;
  return refused ? LogLevel::warning : LogLevel::info;
}

std::optional<std::string> LogLimit::admit(const Notice& notice, Time now) {
  const auto record = std::find_if(records_.begin(), records_.end(), [&](const Record& one) {
    return one.generation == notice.generation && one.kind == notice.kind;
  });
  if (record == records_.end()) {
    records_.push_back({notice.generation, notice.kind, now});
    return notice.text;
  }
  if (now < record->shown + log_limit_period) {
    ++record->held_back;
    if (notice.kind == NoticeKind::status) record->latest = notice.text;
    return std::nullopt;
  }
  std::string text = with_count(notice.text, record->held_back, notice.kind);
  *record = {notice.generation, notice.kind, now};
  return text;
}

std::optional<Time> LogLimit::next_deadline() const {
  std::optional<Time> next;
  for (const Record& record : records_) {
    if (record.latest) next = earlier_of(next, record.shown + log_limit_period);
  }
  return next;
}

std::vector<Notice> LogLimit::due(Time now) {
  std::vector<Notice> notices;
  for (Record& record : records_) {
    if (!record.latest || now < record.shown + log_limit_period) continue;
    notices.push_back({.generation = record.generation,
                       .kind = record.kind,
                       .text = with_count(*record.latest, record.held_back - 1, record.kind)});
    record = {record.generation, record.kind, now};
  }
  return notices;
}

std::vector<Notice> LogLimit::forget(Generation generation) {
  std::vector<Notice> notices;
  for (const Record& record : records_) {
    if (record.generation != generation || record.held_back == 0) continue;
    std::string text = record.latest
                           ? with_count(*record.latest, record.held_back - 1, record.kind)
                           : "{} not shown"_with(count_in_words(record.held_back, record.kind));
    notices.push_back({.generation = generation, .kind = record.kind, .text = std::move(text)});
  }
  std::erase_if(records_, [&](const Record& record) { return record.generation == generation; });
  return notices;
}

}  // namespace upgrader
