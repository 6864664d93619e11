#include "tools/agentify/launch/unit.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/argument.h"
#include "tools/agentify/launch/launch.h"

namespace agentify {
namespace {

using upgrader::Argument;
using upgrader::complaint_about;

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
bool has_control_byte(std::string_view text) {
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

std::string set_init(const Argument& argument, std::optional<InitSystem>& init) {
  std::string names;
  for (const InitName& known : init_names) {
    if (argument.value == known.name) init = known.init;
    names += (names.empty() ? "=" : " or =") + std::string(known.name);
  }
  return init ? "" : complaint_about(argument, "needs " + names);
}

std::string set_service_name(const Argument& argument, std::string& text) {
  if (!is_service_name(argument.value.value_or(""))) {
    return complaint_about(argument, "needs a name of letters, digits and . _ - @ + :");
  }
  text = std::string(*argument.value);
  return "";
}

std::string set_unit_option(const Argument& argument, Unit& unit, std::optional<InitSystem>& init) {
  const std::string_view name = argument.name;
  if (has_control_byte(argument.whole)) {
    return std::string(name) + ": a service file cannot hold a control character";
  }
  if (name == "--init") return set_init(argument, init);
  if (name == "--user") return set_service_name(argument, unit.user);
  if (name == "--replaces") return set_service_name(argument, unit.replaces);
  if (name == "--prepare") {
    unit.prepare = std::string(argument.value.value_or(""));
    return unit.prepare.empty() ? complaint_about(argument, "needs =COMMAND, as /bin/sh has it")
                                : "";
  }
  return set_launch_option(argument, unit.launch);
}

// Refuses relative paths, since the working directory of the service differs from that of the
// caller, and from those of upgraderctl and of apt. Returns what is wrong, or an empty text.
std::string judge_paths(const Launch& launch) {
  const std::vector<std::string> paths = {"--releases", "--lock", "--control"};
  std::vector<std::string> options = launch.adapter;
  options.insert(options.end(), launch.upgrader.begin(), launch.upgrader.end());
  if (launch.releases) options.push_back("--releases=" + *launch.releases);
  for (const std::string& option : options) {
    const Argument argument = upgrader::take_apart(option);
    const bool is_path =
        holds_option(paths, argument.name) || argument.name.starts_with("--follow");
    if (!is_path || argument.value.value_or("").starts_with('/')) continue;
    return complaint_about(argument, "has to begin with a slash here");
  }
  return "";
}

// Sets the init system, the daemon and the daemon's arguments, and then checks that all options fit
// together. Returns what is wrong, or an empty text.
std::string finish_unit(const std::vector<std::string>& words,
                        const std::optional<InitSystem>& init, Unit& unit) {
  if (!init) return "--init=INIT is missing: systemd, openrc, runit, ...";
  unit.init = *init;
  if (std::string wrong = finish_launch(words, "unit", unit.launch); !wrong.empty()) return wrong;
  if (std::any_of(words.begin(), words.end(), has_control_byte))
    return "a service file cannot hold an argument with a control character";
  return judge_paths(unit.launch);
}

}  // namespace

UnitLine parse_unit(int argc, const char* const* argv) {
  Unit unit;
  std::optional<InitSystem> init;
  const auto set = [&](const Argument& argument) { return set_unit_option(argument, unit, init); };
  const auto finish = [&](int at) -> UnitLine {
    if (auto wrong = finish_unit({argv + at, argv + argc}, init, unit); !wrong.empty())
      return UsageError{std::move(wrong)};
    return unit;
  };
  return upgrader::parse_options<Unit>(argc, argv, set, finish, "--upgrader");
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
