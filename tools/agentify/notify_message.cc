#include "tools/agentify/notify_message.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "base/utf8.h"

namespace agentify {
namespace {

constexpr std::size_t status_bytes_max = 256;
constexpr std::size_t reason_bytes_max = 1024;

std::optional<std::int64_t> number_in(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number <= 0) return std::nullopt;
  return number;
}

// Converts microseconds to milliseconds, rounded up so that nobody gets less time than requested.
// More than a day counts as a day.
std::optional<Duration> time_in(std::string_view microseconds) {
  const std::optional<std::int64_t> number = number_in(microseconds);
  if (!number) return std::nullopt;
  if (*number >= duration_max.count() * 1000) return duration_max;
  return Duration{(*number + 999) / 1000};
}

std::string fit(std::string_view text, std::size_t bytes_max) {
  return agent_protocol::fit_text(text, bytes_max, "?");
}

void take_line(std::string_view line, NotifyMessage& message) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return;
  const std::string_view name = line.substr(0, equals);
  const std::string_view value = line.substr(equals + 1);
  if (name == "READY" && value == "1") message.ready = true;
  if (name == "WATCHDOG" && value == "1") message.alive = true;
  if (name == "WATCHDOG" && value == "trigger") message.failed = true;
  if (name == "STATUS") message.status = fit_for_status(value);
  if (name == "EXTEND_TIMEOUT_USEC") message.extend = time_in(value);
  if (name == "MAINPID") {
    const std::optional<std::int64_t> number = number_in(value);
    if (number && *number <= INT32_MAX) message.main_process = static_cast<pid_t>(*number);
  }
}

}  // namespace

NotifyMessage parse_notify_message(std::string_view text) {
  NotifyMessage message;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    take_line(text.substr(0, end), message);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return message;
}

std::string fit_for_status(std::string_view text) {
  return fit(text, status_bytes_max);
}

std::string fit_for_version(std::string_view text) {
  return fit(text, version_bytes_max);
}

std::string fit_for_reason(std::string_view text) {
  return fit(text, reason_bytes_max);
}

}  // namespace agentify
