#include "sample-agent/configuration.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "sample-agent/words.h"

namespace sample_agent {
namespace {

struct PathOption {
  std::string_view name;
  std::string Configuration::*member;
  bool required;
};

constexpr std::array path_options{
    PathOption{"--input=", &Configuration::input, true},
    PathOption{"--output=", &Configuration::output, true},
    PathOption{"--state=", &Configuration::state_directory, true},
    PathOption{"--releases=", &Configuration::releases, false},
    PathOption{"--events=", &Configuration::events, false},
};

struct Unit {
  std::string_view name;
  std::uint64_t ms;
};

constexpr std::array units{Unit{"ms", 1}, Unit{"s", 1'000}, Unit{"m", 60'000},
                           Unit{"h", 3'600'000}};

bool take_flag(std::string_view argument, Configuration& configuration) {
  if (argument == "--gate=none" || argument == "--gate=confirm") {
    configuration.confirms_gate = argument == "--gate=confirm";
  } else if (argument == "--commit=survive" || argument == "--commit=healthy") {
    configuration.commits_healthy = argument == "--commit=healthy";
  } else if (argument == "--self-test") {
    configuration.task = Task::self_test;
  } else {
    return false;
  }
  return true;
}

constexpr std::string_view rotate_wait_name = "--rotate-wait=";

// Parses a duration: "0", or a whole number with the unit ms, s, m or h, at most a day. Returns the
// duration in milliseconds.
std::optional<std::uint64_t> parse_duration(std::string_view text) {
  constexpr std::uint64_t day_ms = 86'400'000;
  if (text == "0") return 0;
  const std::string_view unit =
      text.substr(std::min(text.find_first_not_of("0123456789"), text.size()));
  const auto known = std::ranges::find(units, unit, &Unit::name);
  const auto number = to_number<std::uint64_t>(text.substr(0, text.size() - unit.size()));
  if (known == units.end() || !number || *number > day_ms / known->ms) return std::nullopt;
  return *number * known->ms;
}

bool take_path(std::string_view argument, Configuration& configuration) {
  const auto option = std::ranges::find_if(path_options, [argument](const PathOption& known) {
    return argument.starts_with(known.name) && argument.size() > known.name.size();
  });
  if (option == path_options.end()) return false;
  configuration.*option->member = argument.substr(option->name.size());
  return true;
}

}  // namespace

std::string_view help_text() {
  return "usage: sample-agent --input=FILE --output=FILE --state=DIR [option ...]\n"
         "Follows a log file and appends each of its lines exactly once to an output.\n"
         "\n"
         "  --input=FILE        the log, rotated by rename; its directory is watched\n"
         "  --output=FILE       each record: SEQUENCE-NUMBER VERSION MICROSECONDS LINE\n"
         "  --state=DIR         holds the position\n"
         "  --releases=DIR      looks there for agent-v1.2.3 and asks to be replaced by it:\n"
         "                      the one that DIR/desired names, or else the newest\n"
         "  --rotate-wait=5s    how long nobody has written to a rotated log before it is left\n"
         "  --gate=confirm      an upgrade waits until somebody makes DIR/confirm\n"
         "  --commit=healthy    an upgrade is committed when the new version has worked\n"
         "  --events=FILE       appends there when this agent was active, and what happened\n"
         "  --self-test         checks all this, prints the version and ok, changes nothing\n"
         "  --version, --help\n";
}

Result<Configuration> parse_arguments(std::span<const std::string_view> arguments) {
  Configuration configuration;
  for (const std::string_view argument : arguments) {
    if (argument == "--help" || argument == "--version") {
      configuration.task = argument == "--help" ? Task::show_help : Task::show_version;
      return configuration;
    }
    if (take_flag(argument, configuration) || take_path(argument, configuration)) continue;
    if (argument.starts_with(rotate_wait_name)) {
      const auto duration_ms = parse_duration(argument.substr(rotate_wait_name.size()));
      if (!duration_ms) return Refusal{std::string(argument) + " is no duration such as 5s or 2m"};
      configuration.rotate_wait_ms = *duration_ms;
      continue;
    }
    return Refusal{"unknown argument " + std::string(argument)};
  }
  for (const PathOption& option : path_options) {
    if (!option.required || !(configuration.*option.member).empty()) continue;
    return Refusal{"missing argument " + std::string(option.name)};
  }
  if (configuration.confirms_gate && configuration.releases.empty()) {
    return Refusal{"--gate=confirm needs --releases="};
  }
  return configuration;
}

}  // namespace sample_agent
