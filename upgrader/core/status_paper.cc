#include "upgrader/core/status_paper.h"

#include <chrono>

#include "base/escape.h"
#include "base/utf8.h"

namespace upgrader {

using agent_protocol::fit_text;

void StatusPaper::element(std::string_view text) {
  put_comma();
  agent_protocol::append_quoted(text_, fit_text(text, std::string_view::npos));
}

void StatusPaper::put_always(const char* name, std::string_view text, std::size_t bytes_max) {
  std::string shown = fit_text(text, std::string_view::npos);
  if (agent_protocol::escaped_bytes(shown) > bytes_max) {
    shown = agent_protocol::fit_escaped(shown, bytes_max);
    cut_ |= 1;
  }
  put_name(name);
  agent_protocol::append_quoted(text_, shown);
}

// Writes a time in UTC in the form of RFC 3339.
void StatusPaper::put_wall_time(const char* name, std::int64_t wall_ms) {
  using namespace std::chrono;
  const sys_time<milliseconds> time{milliseconds(wall_ms)};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const std::int64_t ms = (time - day).count();
  put_name(name);
  text_ += '"';
  put_digits(static_cast<int>(date.year()), 4, '-');
  put_digits(static_cast<unsigned>(date.month()), 2, '-');
  put_digits(static_cast<unsigned>(date.day()), 2, 'T');
  put_digits(ms / 3'600'000, 2, ':');
  put_digits(ms / 60'000 % 60, 2, ':');
  put_digits(ms / 1'000 % 60, 2, '.');
  put_digits(ms % 1'000, 3, 'Z');
  text_ += '"';
}

}  // namespace upgrader
