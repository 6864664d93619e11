#include "upgrader/core/log_limit.h"

#include <algorithm>

namespace upgrader {
namespace {

std::string count_in_words(std::uint64_t count, NoticeKind kind) {
  std::string number = std::to_string(count);
  const bool one = count == 1;
  switch (kind) {
    case NoticeKind::stray:
      return number + (one ? " more line" : " more lines") + " of stray output";
    case NoticeKind::status:
      return number + (one ? " more status" : " more statuses");
    case NoticeKind::error:
      return number + (one ? " more error" : " more errors");
    case NoticeKind::refusal:
      return number + (one ? " more refused upgrade" : " more refused upgrades");
    case NoticeKind::request:
      return number + (one ? " more refused request" : " more refused requests");
  }
  return number;
}

// The text with the count of those that have not been shown before it.
std::string with_count(std::string text, std::uint64_t count, NoticeKind kind) {
  if (count == 0) return text;
  return std::move(text) + " (" + count_in_words(count, kind) + " before it not shown)";
}

}  // namespace

LogLevel level_of(const Notice& notice) {
  const bool refused = notice.kind == NoticeKind::refusal || notice.kind == NoticeKind::request;
  return refused ? LogLevel::warning : LogLevel::info;
}

std::optional<std::string> LogLimit::admit(const Notice& notice, Time now) {
  Record* const record = find(notice.generation, notice.kind);
  if (record == nullptr) {
    records_.push_back({notice.generation, notice.kind, now, 0, std::nullopt});
    return notice.text;
  }
  if (now < record->shown + log_limit_period) {
    ++record->held_back;
    if (notice.kind == NoticeKind::status) record->latest = notice.text;
    return std::nullopt;
  }
  std::string text = with_count(notice.text, record->held_back, notice.kind);
  record->show(now);
  return text;
}

LogLimit::Record* LogLimit::find(Generation generation, NoticeKind kind) {
  for (Record& record : records_) {
    if (record.generation == generation && record.kind == kind) return &record;
  }
  return nullptr;
}

std::optional<Time> LogLimit::next_deadline() const {
  std::optional<Time> next;
  for (const Record& record : records_) {
    if (!record.latest) continue;
    const Time deadline = record.shown + log_limit_period;
    next = next ? std::min(*next, deadline) : deadline;
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
    record.show(now);
  }
  return notices;
}

std::vector<Notice> LogLimit::forget(Generation generation) {
  std::vector<Notice> notices;
  for (const Record& record : records_) {
    if (record.generation != generation || record.held_back == 0) continue;
    std::string text = record.latest ? with_count(*record.latest, record.held_back - 1, record.kind)
                                     : count_in_words(record.held_back, record.kind) + " not shown";
    notices.push_back({.generation = generation, .kind = record.kind, .text = std::move(text)});
  }
  std::erase_if(records_, [&](const Record& record) { return record.generation == generation; });
  return notices;
}

}  // namespace upgrader
