#include "tools/agentify/launch/launch_options.h"

#include <algorithm>
#include <string_view>

#include "base/argument.h"

namespace agentify {
namespace {

using upgrader::Argument;
using upgrader::take_apart;

std::optional<UsageError> set_text(const Argument& argument, std::string& text,
                                   std::string_view form) {
  if (argument.value.value_or("").empty()) {
    return UsageError{upgrader::complaint_about(argument, form)};
  }
  text = std::string(*argument.value);
  return std::nullopt;
}

std::optional<UsageError> add_upgrader_option(const Argument& argument, Launch& launch) {
  const std::string option(argument.value.value_or(""));
  if (!option.starts_with("--")) {
    return UsageError{upgrader::complaint_about(
        argument, "needs =OPTION, an option of the upgrader, such as --upgrader=--trial=1m")};
  }
  constexpr std::string_view adapter_option = "--adapter";
  if (take_apart(option).name == adapter_option) {
    return UsageError{upgrader::complaint_about(
        argument, "the adapter is agentify; its options are given as they are")};
  }
  launch.upgrader.push_back(option);
  return std::nullopt;
}

std::vector<const char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<const char*> pointers;
  for (const std::string& word : words)
    pointers.push_back(word.c_str());
  return pointers;
}

// Checks the options for agentify by the rules that agentify applies when the upgrader starts it.
std::optional<UsageError> judge_adapter_options(const Launch& launch) {
  std::vector<std::string> words = {"agentify"};
  words.insert(words.end(), launch.adapter.begin(), launch.adapter.end());
  if (launch.releases) words.push_back("--follow=" + *launch.releases);
  words.insert(words.end(), {"--", launch.daemon});
  const std::vector<const char*> argv = pointers_to(words);
  const CommandLine judged = parse_command_line(static_cast<int>(argv.size()), argv.data());
  if (const auto* wrong = std::get_if<UsageError>(&judged)) return *wrong;
  return std::nullopt;
}

}  // namespace

std::optional<UsageError> set_launch_option(const std::string& word, Launch& launch) {
  const Argument argument = take_apart(word);
  const std::string_view name = argument.name;
  if (name == "--name") return set_text(argument, launch.name, "needs =NAME");
  if (name == "--releases") {
    return set_text(argument, launch.releases.emplace(),
                    "needs =DIR, where DIR is a directory of agent-releases");
  }
  if (name == "--upgrader") return add_upgrader_option(argument, launch);
  launch.adapter.push_back(word);
  return std::nullopt;
}

std::optional<UsageError> finish_launch(const std::vector<std::string>& words, std::size_t at,
                                        const std::string& command, Launch& launch) {
  if (at < words.size() && words[at] == "--") ++at;
  if (launch.releases) {
    launch.daemon = *launch.releases + "/current";
  } else if (at < words.size()) {
    launch.daemon = words[at++];
  } else {
    return UsageError{"DAEMON is missing: agentify " + command +
                      " [options] -- DAEMON [ARG ...]; with --releases=DIR it is DIR/current"};
  }
  launch.args.assign(words.begin() + static_cast<std::ptrdiff_t>(at), words.end());
  return judge_adapter_options(launch);
}

bool ends_options(const std::string& word) {
  return word.size() < 2 || word[0] != '-' || word == "--";
}

bool holds_option(const std::vector<std::string>& options, std::string_view name) {
  return std::any_of(options.begin(), options.end(),
                     [name](const std::string& option) { return take_apart(option).name == name; });
}

bool given_before(const std::vector<std::string>& words, std::size_t end) {
  const std::string_view name = take_apart(words[end]).name;
  return std::any_of(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(end),
                     [name](const std::string& other) { return take_apart(other).name == name; });
}

}  // namespace agentify
