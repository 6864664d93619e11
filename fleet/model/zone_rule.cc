// Parses the rule in the format of POSIX's variable TZ that stands at the end of a time zone's
// file.
#include "fleet/model/time_zone.h"

namespace fleet {
namespace {

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

  // Parses the name of a zone in a rule, such as `CET` or `<+03>`.
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

  // Reads a time of the form `[+-]H[:MM[:SS]]`. Returns it in seconds.
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
