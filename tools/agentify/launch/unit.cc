#include "tools/agentify/launch/unit.h"

#include <algorithm>
#include <string_view>

#include "base/argument.h"
#include "tools/agentify/launch/launch.h"

namespace agentify {
namespace {

using upgrader::Argument;

struct InitName {
  InitSystem init;
  std::string_view name;
};

constexpr InitName init_names[] = {
    {InitSystem::systemd, "systemd"}, {InitSystem::openrc, "openrc"},
    {InitSystem::runit, "runit"},     {InitSystem::s6, "s6"},
    {InitSystem::busybox, "busybox"}, {InitSystem::sysvinit, "sysvinit"},
    {InitSystem::finit, "finit"},     {InitSystem::procd, "procd"},
    {InitSystem::dinit, "dinit"}};

// Returns true if the text has control bytes. Not every init system allows control bytes in its
// service files.
bool has_control_byte(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char byte) {
    return static_cast<unsigned char>(byte) < ' ' || byte == '\x7f';
  });
}

bool is_service_byte(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= '0' && byte <= '9') || std::string_view("._-@+:").find(byte) != std::string::npos;
}

bool is_service_name(std::string_view text) {
  return !text.empty() && text[0] != '-' && std::all_of(text.begin(), text.end(), is_service_byte);
}

std::optional<UsageError> set_init(const Argument& argument, std::optional<InitSystem>& init) {
  std::string names;
  for (const InitName& known : init_names) {
    if (argument.value == known.name) init = known.init;
    names += (names.empty() ? "=" : " or =") + std::string(known.name);
  }
  if (init) return std::nullopt;
  return UsageError{upgrader::complaint_about(argument, "needs " + names)};
}

std::optional<UsageError> set_service_name(const Argument& argument, std::string& text) {
  if (!is_service_name(argument.value.value_or(""))) {
    return UsageError{
        upgrader::complaint_about(argument, "needs a name of letters, digits and . _ - @ + :")};
  }
  text = std::string(*argument.value);
  return std::nullopt;
}

std::optional<UsageError> set_unit_option(const std::string& word, Unit& unit,
                                          std::optional<InitSystem>& init) {
  const Argument argument = upgrader::take_apart(word);
  const std::string_view name = argument.name;
  if (has_control_byte(word)) {
    return UsageError{std::string(name) + ": a service file cannot hold a control character"};
  }
  if (name == "--init") return set_init(argument, init);
  if (name == "--user") return set_service_name(argument, unit.user);
  if (name == "--replaces") return set_service_name(argument, unit.replaces);
  if (name == "--prepare") {
    if (argument.value.value_or("").empty()) {
      return UsageError{upgrader::complaint_about(argument, "needs =COMMAND, as /bin/sh has it")};
    }
    unit.prepare = std::string(*argument.value);
    return std::nullopt;
  }
  return set_launch_option(word, unit.launch);
}

// Refuses relative paths of directories, since the working directory of the service differs from
// that of the caller.
std::optional<UsageError> judge_directories(const Launch& launch) {
  std::vector<std::string> options = launch.adapter;
  if (launch.releases) options.push_back("--releases=" + *launch.releases);
  for (const std::string& option : options) {
    const Argument argument = upgrader::take_apart(option);
    const bool is_directory =
        argument.name == "--releases" || argument.name.starts_with("--follow");
    if (!is_directory || argument.value.value_or("").starts_with('/')) continue;
    return UsageError{upgrader::complaint_about(argument, "has to begin with a slash here")};
  }
  return std::nullopt;
}

}  // namespace

UnitLine parse_unit(const std::vector<std::string>& words) {
  Unit unit;
  std::optional<InitSystem> init;
  std::size_t at = 0;
  for (; at < words.size() && !ends_options(words[at]); ++at) {
    const std::string& word = words[at];
    if (word == "--help" || word == "-h") return HelpWanted{};
    if (word == "--version") return VersionWanted{};
    const std::string_view name = upgrader::take_apart(word).name;
    if (name != "--upgrader" && given_before(words, at)) {
      return UsageError{word + ": is given twice"};
    }
    if (auto wrong = set_unit_option(word, unit, init)) return *std::move(wrong);
  }
  if (!init) return UsageError{"--init=INIT is missing: systemd, openrc, runit, ..."};
  unit.init = *init;
  if (auto wrong = finish_launch(words, at, "unit", unit.launch)) return *std::move(wrong);
  for (; at < words.size(); ++at) {
    if (has_control_byte(words[at])) {
      return UsageError{"a service file cannot hold an argument with a control character"};
    }
  }
  if (auto wrong = judge_directories(unit.launch)) return *std::move(wrong);
  return unit;
}

std::string unit_text(const Unit& unit) {
  switch (unit.init) {
    case InitSystem::systemd:
      return systemd_unit(unit);
    case InitSystem::openrc:
      return openrc_script(unit);
    case InitSystem::runit:
      return runit_script(unit);
    case InitSystem::s6:
      return s6_script(unit);
    case InitSystem::busybox:
      return busybox_script(unit);
    case InitSystem::sysvinit:
      return sysvinit_script(unit);
    case InitSystem::finit:
      return finit_script(unit);
    case InitSystem::procd:
      return procd_script(unit);
    case InitSystem::dinit:
      return dinit_service(unit);
  }
  return "";
}

std::string unit_help() {
  return R"(Usage: agentify unit --init=INIT [options] [--] DAEMON [ARG ...]
       agentify unit --init=INIT [options] --releases=DIR [--] [ARG ...]

Prints the service file with which an init system starts DAEMON by agentify run.

  --init=systemd|openrc|runit|s6|busybox|sysvinit|finit|procd|dinit
                            init system that reads the service file
  --user=USER               user as whom the daemon and the upgrader run (root)
  --replaces=SERVICE        distribution's own service of the daemon, which must not run
                            beside the printed service (NAME)
  --prepare=COMMAND         command that root runs before each start of the service
  --name=NAME               name of the upgrader; the service is called NAME-agent
  --releases=DIR            run DIR/current, and upgrade whenever a different release in
                            DIR, a directory of agent-releases, should run
  --upgrader=OPTION         option to pass to the upgrader; may be given several times
  -h, --help                print this help and exit

All other options are agentify's own: see agentify --help. More in agentify(1).
)";
}

}  // namespace agentify
