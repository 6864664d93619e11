// Tests the code that reads small texts written by people: the command lines of the upgrader and of
// the sample agent, and the agent's position. An accepted text must obey the rules of the manual
// pages. If its parsed value is written out as text again, the new text must have the same meaning.
// If a text is refused, there must be a reason.
#include <limits>
#include <vector>

#include "agent-protocol/cpp/wire/message.h"
#include "sample-agent/configuration.h"
#include "sample-agent/position.h"
#include "tests/adversity/fuzz/target.h"
#include "upgrader/core/options.h"

namespace fuzz {

namespace {

using upgrader::Duration;

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  for (;;) {
    const std::size_t end = text.find('\n');
    words.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return words;
    text.remove_prefix(end + 1);
  }
}

// Parses a duration by the rule of the manual page: "D is a whole number and ms, s, m or h, at most
// 24 h; or 0". Returns milliseconds, or -1.
std::int64_t simple_duration(std::string_view text) {
  if (text == "0") return 0;
  const std::size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return -1;
  std::string_view number = text.substr(0, digits);
  while (number.size() > 1 && number.front() == '0')
    number.remove_prefix(1);
  if (number.size() > 9) return -1;  // ten digits are over a day, even in milliseconds
  std::int64_t value = 0;
  for (const char digit : number)
    value = value * 10 + (digit - '0');
  const std::string_view unit = text.substr(digits);
  const std::int64_t factor = unit == "ms"  ? 1
                              : unit == "s" ? 1'000
                              : unit == "m" ? 60'000
                              : unit == "h" ? 3'600'000
                                            : -1;
  const std::int64_t longest = planted("longer-day") ? 90'000'000 : 86'400'000;
  return factor < 0 || value * factor > longest ? -1 : value * factor;
}

upgrader::CommandLine parse(const std::vector<std::string>& words) {
  std::vector<const char*> argv{"upgrader"};
  for (const std::string& word : words)
    argv.push_back(word.c_str());
  return upgrader::parse_command_line(static_cast<int>(argv.size()), argv.data());
}

std::string written(Duration duration) {
  return std::to_string(duration.count()) + "ms";
}

std::vector<std::string> written(const upgrader::Options& options) {
  using agent_protocol::Mode;
  using agent_protocol::UncleanStop;
  using upgrader::LogLevel;
  const bool parallel = options.defaults.mode == Mode::parallel;
  const bool fallback = options.defaults.on_unclean_stop == UncleanStop::fall_back;
  const bool error = options.log_level == LogLevel::error;
  const bool warning = options.log_level == LogLevel::warning;
  const bool info = options.log_level == LogLevel::info;
  std::vector<std::string> words{
      std::string("--mode=") + (parallel ? "parallel" : "sequential"),
      "--start-timeout=" + written(options.defaults.start_timeout),
      "--stop-timeout=" + written(options.defaults.stop_timeout),
      "--exit-grace=" + written(options.exit_grace),
      "--trial=" + written(options.defaults.trial),
      std::string("--on-unclean-stop=") + (fallback ? "fallback" : "continue"),
      "--fallback=" + std::string(agent_protocol::name_of(options.defaults.fallback)),
      "--gate=" + std::string(agent_protocol::name_of(options.defaults.gate)),
      "--commit=" + std::string(agent_protocol::name_of(options.defaults.commit)),
      std::string("--log-level=") + (error     ? "error"
                                     : warning ? "warning"
                                     : info    ? "info"
                                               : "debug")};
  words.push_back("--confirm-timeout=" + written(options.defaults.confirm_timeout));
  if (options.relink) words.push_back("--relink");
  if (options.previous) words.push_back("--previous=" + *options.previous);
  if (options.attempts != 0) words.push_back("--attempts=" + std::to_string(options.attempts));
  if (options.control_directory) words.push_back("--control=" + *options.control_directory);
  if (options.subreaper) words.push_back("--subreaper");
  if (options.notify_fd) words.push_back("--notify-fd=" + std::to_string(*options.notify_fd));
  if (options.lock_file) words.push_back("--lock=" + *options.lock_file);
  if (options.lock_timeout) words.push_back("--lock-timeout=" + written(*options.lock_timeout));
  for (const std::string& word : options.adapter)
    words.push_back("--adapter=" + word);
  words.push_back("--");
  words.push_back(options.agent);
  words.insert(words.end(), options.args.begin(), options.args.end());
  return words;
}

void check_command_line(const std::vector<std::string>& words) {
  const upgrader::CommandLine line = parse(words);
  if (const auto* error = std::get_if<upgrader::UsageError>(&line)) {
    must(!error->reason.empty(), "a usage error without a reason");
  }
  const auto* options = std::get_if<upgrader::Options>(&line);
  if (options == nullptr) return;
  must(options->defaults.stop_timeout > Duration(0), "no stop timeout");
  must(!options->agent.empty(), "no agent");
  must(!options->lock_file || !options->lock_file->empty(), "no lock file");
  must(options->adapter.empty() || !options->adapter.front().empty(), "no adapter");
  must(!options->lock_timeout || options->lock_file, "a time to wait for no lock");
  const upgrader::CommandLine again = parse(written(*options));
  const auto* same = std::get_if<upgrader::Options>(&again);
  must(same != nullptr && *same == *options, "read, written and read are other options");
}

void check_duration(const std::string& word) {
  const std::vector<std::string> words{"--trial=" + word, "agent"};
  const upgrader::CommandLine line = parse(words);
  const auto* options = std::get_if<upgrader::Options>(&line);
  const std::int64_t expected = simple_duration(word.c_str());
  must((options ? options->defaults.trial.count() : -1) == expected, "another duration", word);
  ++comparisons;
}

void check_position(std::string_view text) {
  for (const unsigned known : {1U, sample_agent::position_format_max}) {
    const auto position = sample_agent::decode_position(text, known);
    if (!position) {
      must(!position.reason().empty(), "a position refused without a reason");
      continue;
    }
    const sample_agent::PositionText& found = position.value();
    must(found.format >= 1 && found.format <= known, "a format that nobody knows");
    const std::string again = encode_position(found.position, found.format);
    const auto same = sample_agent::decode_position(again, known);
    must(same && same.value().position == found.position, "another position", again);
  }
}

void check_configuration(const std::vector<std::string>& words) {
  const std::vector<std::string_view> arguments(words.begin(), words.end());
  const auto parsed = sample_agent::parse_arguments(arguments);
  must(parsed || !parsed.reason().empty(), "an argument refused without a reason");
  if (!parsed || parsed.value().task == sample_agent::Task::show_help ||
      parsed.value().task == sample_agent::Task::show_version) {
    return;
  }
  const sample_agent::Configuration& configuration = parsed.value();
  must(!configuration.input.empty() && !configuration.output.empty() &&
           !configuration.state_directory.empty(),
       "what is required is not there");
}

// Injects a bug if PLANTED_FAULT is `overflow` or `hang`. A sanitizer must find the overflow, and
// libFuzzer's time limit must find the endless loop of `hang`.
void plant(std::string_view input) {
  if (planted("overflow") && input.size() > 20) {
    volatile int largest = std::numeric_limits<int>::max();
    largest = largest + static_cast<int>(input.size());
  }
  if (planted("hang") && input.starts_with("--t")) {
    volatile bool for_ever = true;
    while (for_ever)
      continue;
  }
}

}  // namespace

void take_words(std::string_view input) {
  plant(input);
  const std::string text = unfold(input, 10'000);
  const std::vector<std::string> words = split(text);
  check_command_line(words);
  check_duration(words.front());
  check_position(text);
  check_configuration(words);
}

}  // namespace fuzz
