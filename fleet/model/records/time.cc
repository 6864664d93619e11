#include "fleet/model/records/time.h"

#include <algorithm>
#include <chrono>

namespace fleet {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

// Reads big-endian numbers from bytes. If the bytes end too early, is_short() returns true.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  std::int64_t number(std::size_t size) {
    const std::string_view part = take(size);
    std::uint64_t value = !part.empty() && (part[0] & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    for (const char c : part)
      value = value << 8 | static_cast<unsigned char>(c);
    return static_cast<std::int64_t>(value);
  }

  std::string_view take(std::size_t size) {
    if (size > bytes_.size()) {
      short_ = true;
      size = bytes_.size();
    }
    const std::string_view part = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return part;
  }

  [[nodiscard]] bool is_short() const { return short_; }
  [[nodiscard]] std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
  bool short_ = false;
};

struct Header {
  char version = 0;
  std::size_t utc_marks = 0, standard_marks = 0, leaps = 0, times = 0, types = 0, letters = 0;

  [[nodiscard]] std::size_t body(std::size_t time_bytes) const {
    return times * (time_bytes + 1) + types * 6 + letters + leaps * (time_bytes + 4) +
           standard_marks + utc_marks;
  }
};

std::optional<Header> read_header(Bytes& bytes) {
  if (bytes.take(4) != "TZif") return std::nullopt;
  Header header;
  const std::string_view version = bytes.take(16);
  header.version = version.empty() ? '\0' : version[0];
  constexpr std::int64_t count_max = 65'535;  // larger than all counts in tzdata's files
  for (std::size_t* count : {&header.utc_marks, &header.standard_marks, &header.leaps,
                             &header.times, &header.types, &header.letters}) {
    const std::int64_t number = bytes.number(4);
    if (number < 0 || number > count_max) return std::nullopt;
    *count = static_cast<std::size_t>(number);
  }
  return bytes.is_short() ? std::nullopt : std::optional(header);
}

year year_of(UnixSeconds moment) {
  const auto day = std::chrono::floor<days>(std::chrono::seconds(moment));
  return year_month_day(sys_days(day)).year();
}

std::int64_t seconds_of(sys_days day) {
  return day.time_since_epoch().count() * day_seconds;
}

// Returns the local time that clocks show just before the change in the year `in`. The result is in
// seconds since 1970, as if local time were UTC.
std::int64_t change_in(year in, const ZoneChange& change) {
  using std::chrono::last;
  using std::chrono::weekday;
  const sys_days first(in / std::chrono::January / 1);
  sys_days day = first;
  switch (change.kind) {
    case ZoneChange::Kind::month_week_day: {
      const std::chrono::month month(static_cast<unsigned>(change.month));
      const weekday on(static_cast<unsigned>(change.day));
      day = change.week == 5 ? sys_days(in / month / on[last])
                             : sys_days(in / month / on[static_cast<unsigned>(change.week)]);
      break;
    }
    case ZoneChange::Kind::julian_without_leap:
      day = first + days(change.day - 1 + (in.is_leap() && change.day > 59 ? 1 : 0));
      break;
    case ZoneChange::Kind::day_of_year:
      day = first + days(change.day);
      break;
  }
  return seconds_of(day) + change.seconds;
}

std::int64_t offset_by(const ZoneRule& rule, UnixSeconds moment) {
  if (!rule.summer) return rule.standard;
  const year in = year_of(moment + rule.standard);
  const UnixSeconds begins = change_in(in, rule.begins) - rule.standard;
  const UnixSeconds ends = change_in(in, rule.ends) - *rule.summer;
  // South of the equator, summer time begins in one year and ends in the next.
  const bool summer =
      begins < ends ? moment >= begins && moment < ends : moment >= begins || moment < ends;
  return summer ? *rule.summer : rule.standard;
}

class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return text_.empty(); }
  [[nodiscard]] bool is_wrong() const { return wrong_; }

  bool take(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }

  void expect(char c) { wrong_ = !take(c) || wrong_; }

  // Parses the name of a time zone in a rule, such as `CET` or `<+03>`.
  void name() {
    std::size_t length = 0;
    if (take('<')) {
      const std::size_t end = text_.find('>');
      wrong_ = wrong_ || end == std::string_view::npos;
      text_.remove_prefix(end == std::string_view::npos ? text_.size() : end + 1);
      return;
    }
    while (length < text_.size() && is_letter(text_[length]))
      ++length;
    wrong_ = wrong_ || length < 3;
    text_.remove_prefix(length);
  }

  int number(int most) {
    int value = 0;
    bool any = false;
    while (!text_.empty() && text_[0] >= '0' && text_[0] <= '9' && value <= most) {
      value = value * 10 + (text_[0] - '0');
      any = true;
      text_.remove_prefix(1);
    }
    wrong_ = wrong_ || !any || value > most;
    return value;
  }

  // Parses a time of the form `[+-]H[:MM[:SS]]`. Returns it in seconds.
  std::int64_t seconds() {
    const bool negative = take('-');
    if (!negative) static_cast<void>(take('+'));
    std::int64_t value = number(167) * std::int64_t{3'600};
    if (take(':')) value += number(59) * std::int64_t{60};
    if (take(':')) value += number(59);
    return negative ? -value : value;
  }

  ZoneChange change() {
    ZoneChange change;
    expect(',');
    if (take('M')) {
      change.month = number(12);
      expect('.');
      change.week = number(5);
      expect('.');
      change.day = number(6);
      wrong_ = wrong_ || change.month < 1 || change.week < 1;
    } else if (take('J')) {
      change.kind = ZoneChange::Kind::julian_without_leap;
      change.day = number(365);
      wrong_ = wrong_ || change.day < 1;
    } else {
      change.kind = ZoneChange::Kind::day_of_year;
      change.day = number(365);
    }
    if (take('/')) change.seconds = seconds();
    return change;
  }

  [[nodiscard]] bool at_change() const { return text_.starts_with(','); }

 private:
  static bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

  std::string_view text_;
  bool wrong_ = false;
};

}  // namespace

Result<TimeZone> TimeZone::parse(std::string_view text) {
  const Refusal damaged{"is no time zone of tzdata, or damaged"};
  if (text.size() > time_zone_bytes_max) return damaged;
  Bytes bytes(text);
  const auto old = read_header(bytes);
  if (!old || old->version < '2') return damaged;
  static_cast<void>(bytes.take(old->body(4)));
  const auto header = read_header(bytes);
  if (!header || header->types == 0) return damaged;
  TimeZone zone;
  for (std::size_t i = 0; i < header->times; ++i)
    zone.transitions_.push_back({bytes.number(8), 0});
  const std::string_view kinds = bytes.take(header->times);
  std::vector<std::int64_t> offsets;
  for (std::size_t i = 0; i < header->types; ++i) {
    offsets.push_back(bytes.number(4));
    static_cast<void>(bytes.take(2));
  }
  static_cast<void>(bytes.take(header->letters + header->leaps * 12 + header->standard_marks +
                               header->utc_marks));
  if (bytes.is_short() || bytes.rest().size() < 2 || bytes.rest()[0] != '\n') return damaged;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto kind = static_cast<unsigned char>(kinds[i]);
    if (kind >= offsets.size()) return damaged;
    zone.transitions_[i].offset = offsets[kind];
  }
  const auto earlier = [](const Transition& a, const Transition& b) { return a.at < b.at; };
  if (!std::is_sorted(zone.transitions_.begin(), zone.transitions_.end(), earlier)) return damaged;
  zone.first_ = offsets[0];
  const std::string_view footer = bytes.rest().substr(1);
  zone.rule_ = parse_zone_rule(footer.substr(0, footer.find('\n')));
  return zone;
}

std::int64_t TimeZone::offset_at(UnixSeconds moment) const {
  if (rule_ && (transitions_.empty() || moment >= transitions_.back().at)) {
    return offset_by(*rule_, moment);
  }
  const auto after = std::upper_bound(
      transitions_.begin(), transitions_.end(), moment,
      [](UnixSeconds at, const Transition& transition) { return at < transition.at; });
  return after == transitions_.begin() ? first_ : std::prev(after)->offset;
}

UnixSeconds TimeZone::moment_of(std::int64_t local) const {
  // A zone's offset changes at most once in any two days. So the offset at this local time is that
  // of a day before or that of a day after.
  const std::int64_t before = offset_at(local - offset_at(local) - day_seconds);
  const std::int64_t after = offset_at(local - offset_at(local) + day_seconds);
  const UnixSeconds by_before = local - before;
  const UnixSeconds by_after = local - after;
  if (by_before + offset_at(by_before) == local) return by_before;
  if (by_after + offset_at(by_after) == local) return by_after;
  return by_before;
}

std::optional<ZoneRule> parse_zone_rule(std::string_view text) {
  RuleReader reader(text);
  ZoneRule rule;
  reader.name();
  rule.standard = -reader.seconds();  // in POSIX, a positive offset is west of UTC
  if (!reader.at_end()) {
    reader.name();
    rule.summer = rule.standard + 3'600;
    if (!reader.at_change()) rule.summer = -reader.seconds();
    rule.begins = reader.change();
    rule.ends = reader.change();
  }
  if (reader.is_wrong() || !reader.at_end()) return std::nullopt;
  return rule;
}

}  // namespace fleet
