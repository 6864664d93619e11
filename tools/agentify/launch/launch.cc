#include "tools/agentify/launch/launch.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/argument.h"

namespace agentify {

// ---- parsing the options of `agentify run` and `agentify unit`

namespace {

using upgrader::Argument;
using upgrader::complaint_about;
using upgrader::take_apart;

std::string set_text(const Argument& argument, std::string& text, std::string_view form) {
  if (argument.value.value_or("").empty()) return complaint_about(argument, form);
  text = std::string(*argument.value);
  return "";
}

std::string add_upgrader_option(const Argument& argument, Launch& launch) {
  const std::string option(argument.value.value_or(""));
  if (!option.starts_with("--")) {
    return complaint_about(
        argument, "needs =OPTION, an option of the upgrader, such as --upgrader=--trial=1m");
  }
  constexpr std::string_view adapter_option = "--adapter";
  if (take_apart(option).name == adapter_option) {
    return complaint_about(argument, "the adapter is agentify; its options are given as they are");
  }
  launch.upgrader.push_back(option);
  return "";
}

std::vector<const char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<const char*> pointers;
  for (const std::string& word : words)
    pointers.push_back(word.c_str());
  return pointers;
}

// Checks the options that are meant for agentify, with the parser that agentify uses when the
// upgrader starts it.
std::string judge_adapter_options(const Launch& launch) {
  std::vector<std::string> words = {"agentify"};
  words.insert(words.end(), launch.adapter.begin(), launch.adapter.end());
  if (launch.releases) words.push_back("--follow=" + *launch.releases);
  words.insert(words.end(), {"--", launch.daemon});
  const std::vector<const char*> argv = pointers_to(words);
  const CommandLine judged = parse_command_line(static_cast<int>(argv.size()), argv.data());
  const auto* wrong = std::get_if<UsageError>(&judged);
  return wrong == nullptr ? "" : wrong->reason;
}

}  // namespace

std::string set_launch_option(const Argument& argument, Launch& launch) {
  const std::string_view name = argument.name;
  if (name == "--name") return set_text(argument, launch.name, "needs =NAME");
  if (name == "--releases") {
    return set_text(argument, launch.releases.emplace(),
                    "needs =DIR, where DIR is a directory of agent-releases");
  }
  if (name == "--upgrader") return add_upgrader_option(argument, launch);
  launch.adapter.emplace_back(argument.whole);
  return "";
}

std::string finish_launch(std::vector<std::string> words, const std::string& command,
                          Launch& launch) {
  if (launch.releases) {
    launch.daemon = *launch.releases + "/current";
  } else if (!words.empty()) {
    launch.daemon = words.front();
    words.erase(words.begin());
  } else {
    return "DAEMON is missing: agentify " + command +
           " [options] -- DAEMON [ARG ...]; with --releases=DIR it is DIR/current";
  }
  launch.args = std::move(words);
  return judge_adapter_options(launch);
}

bool holds_option(const std::vector<std::string>& options, std::string_view name) {
  return std::any_of(options.begin(), options.end(),
                     [name](const std::string& option) { return take_apart(option).name == name; });
}

// ---- the command lines of `agentify run` and of the upgrader

namespace {

// The longest NAME of an upgrader. NAME is a part of paths of sockets, whose length is limited.
constexpr std::size_t name_bytes_max = 64;

bool is_name_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || std::string_view("._-@+:").find(byte) != std::string::npos;
}

bool can_name_directory(const std::string& name) {
  return !name.empty() && name.size() <= name_bytes_max && name[0] != '.' && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), is_name_byte);
}

// Returns the last component of a path. Slashes at the end are ignored.
std::string base_name(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

LaunchLine parse_run(int argc, const char* const* argv) {
  Launch launch;
  const auto set = [&launch](const Argument& argument) -> std::string {
    const bool is_print = argument.name == "--print" && !argument.value;
    if (!is_print) return set_launch_option(argument, launch);
    launch.print = true;
    return "";
  };
  const auto finish = [&](int at) -> LaunchLine {
    if (auto wrong = finish_launch({argv + at, argv + argc}, "run", launch); !wrong.empty())
      return UsageError{std::move(wrong)};
    return launch;
  };
  return upgrader::parse_options<Launch>(argc, argv, set, finish, "--upgrader");
}

std::variant<Launch, UsageError> with_name(Launch launch, const std::string& name_of_releases) {
  const bool given = !launch.name.empty();
  if (!given) launch.name = name_of_releases;
  if (launch.name.empty()) launch.name = base_name(launch.releases.value_or(launch.daemon));
  if (can_name_directory(launch.name)) return launch;
  return UsageError{(given ? "--name=" + launch.name + ": "
                           : "\"" + launch.name + "\" cannot be the NAME; give --name=NAME: ") +
                    "a NAME has 1 to 64 letters, digits and . _ - @ + :, and begins with none of "
                    ". and -"};
}

bool needs_directory(const Launch& launch) {
  return !holds_option(launch.upgrader, "--control") || !holds_option(launch.upgrader, "--lock");
}

namespace {

// Returns the beginning of the upgrader's command line: the path of the upgrader, and all options
// except --adapter. upgrader_command() adds one --adapter for agentify and one for each option of
// agentify.
std::vector<std::string> upgrader_options(const Launch& launch, const Places& places) {
  std::vector<std::string> words = {places.upgrader};
  const auto add_default = [&](std::string_view name, const std::string& value) {
    if (holds_option(launch.upgrader, name)) return;
    words.push_back(value.empty() ? std::string(name) : std::string(name) + "=" + value);
  };
  add_default("--commit", "healthy");
  if (!places.directory.empty()) {
    add_default("--lock", places.directory + "/lock");
    add_default("--control", places.directory);
  }
  if (launch.releases) {
    add_default("--relink", "");
    add_default("--previous", *launch.releases + "/previous");
    add_default("--attempts", "3");
  }
  words.insert(words.end(), launch.upgrader.begin(), launch.upgrader.end());
  return words;
}

}  // namespace

std::vector<std::string> judging_command(const Launch& launch, const Places& places) {
  std::vector<std::string> words = upgrader_options(launch, places);
  // If --help is the last option, the upgrader starts no agent. It checks the options that stand
  // before --help, and reports an error if one of them is wrong.
  words.emplace_back("--help");
  return words;
}

std::vector<std::string> upgrader_command(const Launch& launch, const Places& places) {
  std::vector<std::string> words = upgrader_options(launch, places);
  words.push_back("--adapter=" + places.agentify);
  if (!holds_option(launch.adapter, "--last-words")) {
    const std::string& directory = places.directory;
    words.push_back("--adapter=--last-words" +
                    (directory.empty() ? "" : "=" + directory + "/last-words"));
  }
  for (const std::string& option : launch.adapter)
    words.push_back("--adapter=" + option);
  if (launch.releases) words.push_back("--adapter=--follow=" + *launch.releases);
  words.insert(words.end(), {"--", launch.daemon});
  words.insert(words.end(), launch.args.begin(), launch.args.end());
  return words;
}

std::string shell_word(const std::string& word) {
  const auto is_plain = [](char byte) {
    return is_name_byte(byte) || std::string_view("/=,%").find(byte) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return word;
  std::string text = "'";
  for (const char byte : word)
    text += byte == '\'' ? std::string("'\\''") : std::string(1, byte);
  return text + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words)
    line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

std::string run_help() {
  return R"(Usage: agentify run [options] [--] DAEMON [ARG ...]
       agentify run [options] --releases=DIR [--] [ARG ...]

Executes the upgrader that is installed beside agentify. The upgrader runs DAEMON by
agentify, upgrades DAEMON, and falls back to the old version if an upgrade fails.

  --name=NAME               name by which upgraderctl finds this upgrader (the base name
                            of DAEMON)
  --releases=DIR            run DIR/current, and upgrade whenever a different release in
                            DIR, a directory of agent-releases, should run
  --upgrader=OPTION         option to pass to the upgrader; may be given several times
  --print                   print the upgrader's command line and exit
  -h, --help                print this help and exit

All other options are agentify's own: see agentify --help. More in agentify(1).
)";
}

}  // namespace agentify
