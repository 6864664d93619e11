#include "tools/agent-conformance/options.h"

#include <optional>

#include "base/argument.h"
#include "base/duration.h"
#include "tools/agent-conformance/checks.h"

namespace conformance {

namespace {

using upgrader::Argument;

std::string set_duration(const Argument& argument, Duration& target) {
  const std::optional<Duration> duration = upgrader::parse_duration(argument.value.value_or(""));
  const bool is_some = duration && *duration > Duration{0};
  if (!is_some) return std::string(argument.name) + " takes a duration such as 500ms, 30s or 5m";
  target = *duration;
  return {};
}

std::string add_check(const Argument& argument, std::vector<std::string>& target) {
  const std::string_view name = argument.value.value_or("");
  if (name.empty()) {
    return std::string(argument.name) + " takes the name of a check; --describe lists all checks";
  }
  if (find_check(name) == nullptr) {
    return std::string(argument.name) + "=" + std::string(name) +
           ": no check has this name; --describe lists all checks";
  }
  target.emplace_back(name);
  return {};
}

std::string set_flag(const Argument& argument, Options& options) {
  const std::string_view name = argument.name;
  if (argument.value) return std::string(name) + " takes no value";
  using Form = Options::Form;
  if (name == "--tap" || name == "--json") {
    const Form form = name == "--tap" ? Form::tap : Form::json;
    if (options.form != Form::text && options.form != form) {
      return "--tap and --json: give the one or the other";
    }
    options.form = form;
  }
  if (name == "--describe") options.deed = Options::Deed::describe;
  if (name == "--help") options.deed = Options::Deed::help;
  if (name == "--version") options.deed = Options::Deed::version;
  return {};
}

// Sets the member for one option. Returns what is wrong with the option, or an empty string.
std::string set_option(std::string_view text, Options& options) {
  const Argument argument = upgrader::take_apart(text);
  const std::string_view name = argument.name;
  if (name == "--start-timeout") return set_duration(argument, options.terms.start_timeout);
  if (name == "--stop-timeout") return set_duration(argument, options.terms.stop_timeout);
  if (name == "--exit-grace") return set_duration(argument, options.terms.exit_grace);
  if (name == "--watch") return set_duration(argument, options.terms.watch);
  if (name == "--only") return add_check(argument, options.only);
  if (name == "--skip") return add_check(argument, options.skip);
  if (name == "--junit") {
    options.junit = argument.value.value_or("");
    return options.junit.empty() ? "--junit takes a file" : "";
  }
  const bool is_flag = name == "--tap" || name == "--json" || name == "--describe" ||
                       name == "--help" || name == "--version";
  if (is_flag) return set_flag(argument, options);
  return "there is no option " + std::string(name);
}

}  // namespace

std::variant<Options, UsageError> parse_options(const std::vector<std::string>& args) {
  Options options;
  std::size_t at = 0;
  for (; at < args.size() && args[at].starts_with('-'); ++at) {
    if (args[at] == "--") {
      ++at;
      break;
    }
    if (const std::string wrong = set_option(args[at], options); !wrong.empty()) {
      return UsageError{wrong};
    }
    using Deed = Options::Deed;
    if (options.deed == Deed::help || options.deed == Deed::version) return options;
  }
  options.command.assign(args.begin() + static_cast<std::ptrdiff_t>(at), args.end());
  options.typed = options.command;
  if (options.deed == Options::Deed::check && options.command.empty()) {
    return UsageError{"AGENT is missing"};
  }
  return options;
}

std::string_view help_text() {
  return "usage: agent-conformance [OPTION ...] AGENT [ARG ...]\n"
         "\n"
         "Plays the upgrader and init to AGENT, one check at a time, and reports each fault.\n"
         "AGENT is started some fifty times: give AGENT data that nothing else uses.\n"
         "\n"
         "  --describe          describe the actions of each check and its expectations,\n"
         "                      and start no agent\n"
         "  --only=NAME         run only the check NAME; may be given several times\n"
         "  --skip=NAME         leave out the check NAME; may be given several times\n"
         "  --tap               print the report as TAP, version 13\n"
         "  --json              print the report or the description as one JSON object\n"
         "  --junit=FILE        also write the report into FILE as JUnit XML\n"
         "  --start-timeout=D   longest time until AGENT says hello and ready (30s)\n"
         "  --stop-timeout=D    longest time that AGENT may take from stop to stopped (30s)\n"
         "  --exit-grace=D      longest time that AGENT may take for a required exit (30s)\n"
         "  --watch=D           time to watch AGENT when nothing should happen (300ms)\n"
         "  --help, --version   print this help or the version, and exit\n"
         "\n"
         "D is a whole number with ms, s, m or h.\n"
         "Exit status: 0 if AGENT conforms, 1 if AGENT does not conform, 2 for a wrong command\n"
         "line, 3 if AGENT cannot be started or the report cannot be written.\n"
         "See agent-conformance(1), and agent-protocol(7) for the rules for agents.\n";
}

}  // namespace conformance
