// Parses the command line with CLI11 into the structures of core/options.h. This file is not in
// core/, because CLI11 uses files and streams.
#include "tools/upgraderctl/core/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "base/version.h"
#include "tools/upgraderctl/core/sentences.h"

namespace upgraderctl {
namespace {

// Prints the options in the help in the form that the upgrader's own help has: --trial=D.
class HelpFormat : public CLI::Formatter {
 public:
  HelpFormat() {
    constexpr std::size_t column = 34;
    column_width(column);
    label("SUBCOMMAND", "COMMAND");
  }

  // Returns the usage line of a command. Leaves [--dir=DIR | NAME] out of the usage of `list`,
  // which shows all upgraders. Adds EXECUTABLE and its arguments to the usage of `upgrade` and
  // `rehearse`: this program takes these arguments off the command line before CLI11 sees the
  // options.
  std::string make_usage(const CLI::App* app, std::string name) const override {
    const std::string& command = app->get_name();
    if (command == "list") name = "upgraderctl list";
    std::string usage = CLI::Formatter::make_usage(app, name);
    if (command == "upgrade" || command == "rehearse")
      usage.insert(usage.find_last_not_of('\n') + 1, " [EXECUTABLE [ARG ...]]");
    return usage;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    if (option->get_type_name().empty()) return "";
    return (option->get_positional() ? " " : "=") + option->get_type_name();
  }
};

std::string joined(const std::vector<std::string>& words) {
  std::string form;
  for (const std::string& word : words)
    form += (form.empty() ? "" : "|") + word;
  return form;
}

CLI::Validator one_of(std::vector<std::string> words) {
  const auto judge = [words = std::move(words)](std::string& word) -> std::string {
    if (std::find(words.begin(), words.end(), word) != words.end()) return "";
    return "needs =" + joined(words) + ", not =" + word;
  };
  return {judge, "", "words"};
}

CLI::Validator duration_form() {
  const auto judge = [](std::string& text) -> std::string {
    if (parse_duration(text)) return "";
    return "needs =D, " + std::string(upgrader::duration_form) + "; not =" + text;
  };
  return {judge, "", "duration"};
}

void add_choice(CLI::App& app, const std::string& name, std::optional<std::string>& value,
                std::vector<std::string> words, const std::string& about) {
  app.add_option_function<std::string>(
         name, [&value](const std::string& word) { value = word; }, about)
      ->type_name(joined(words))
      ->check(one_of(std::move(words)));
}

void add_duration(CLI::App& app, const std::string& name, const std::string& about,
                  std::function<void(Duration)> take) {
  app.add_option_function<std::string>(
         name,
         [take = std::move(take)](const std::string& text) {
           if (const std::optional<Duration> duration = parse_duration(text)) take(*duration);
         },
         about)
      ->type_name("D")
      ->check(duration_form());
}

void add_text(CLI::App& app, const std::string& name, std::optional<std::string>& value,
              const std::string& about, const std::string& form) {
  app.add_option_function<std::string>(
         name, [&value](const std::string& text) { value = text; }, about)
      ->type_name(form);
}

void add_term(CLI::App& app, const std::string& name, std::optional<std::int64_t>& term,
              const std::string& about) {
  add_duration(app, name, about, [&term](Duration duration) { term = duration.count(); });
}

void add_terms(CLI::App& app, Options& options, bool rehearsal) {
  Terms& terms = options.terms;
  add_term(app, "--start-timeout", terms.start_timeout_ms,
           "longest time from the start of the new version until it is ready; 0: no limit");
  add_term(app, "--confirm-timeout", terms.confirm_timeout_ms,
           "longest time that the ready new version waits for confirm; 0: no limit");
  app.add_flag("--no-args", options.no_args,
               "start the new version without arguments, not with the active agent's arguments");
  app.add_flag("--previous", options.previous,
               "use the previously committed executable in place of EXECUTABLE");
  if (rehearsal) return;
  add_choice(app, "--mode", terms.mode, {"parallel", "sequential"},
             "start the new version beside the active agent, or after the active agent's stop");
  add_choice(app, "--gate", terms.gate, {"none", "confirm"},
             "whether the ready new version waits for upgraderctl confirm");
  add_choice(app, "--commit", terms.commit, {"survive", "healthy"},
             "how to pass the trial: survive the trial, or say healthy");
  add_term(app, "--stop-timeout", terms.stop_timeout_ms,
           "longest time that the old agent may take to stop; not 0");
  add_term(app, "--trial", terms.trial_ms, "length of the new version's trial; 0: commit at once");
  add_choice(app, "--on-unclean-stop", terms.on_unclean_stop, {"fallback", "continue"},
             "what to do after an unclean stop of the old agent");
  add_choice(app, "--fallback", terms.fallback, {"cold", "warm"},
             "start the old version after a failed trial, or keep it ready during the trial");
  add_text(app, "--id", options.id,
           "name of the upgrade; an upgrade with the same ID is begun only once", "ID");
  app.add_flag("--no-wait", options.no_wait,
               "exit when the upgrade has been accepted, and do not wait for its end");
}

void add_occasion(CLI::App& app, Options& options) {
  const auto take = [&options](const std::string& word) {
    options.occasion = word == "good"     ? Occasion::good
                       : word == "commit" ? Occasion::commit
                                          : Occasion::fallback;
  };
  app.add_option_function<std::string>("EVENT", take,
                                       "good: an agent has proved itself; commit: an upgrade was "
                                       "committed;\nfallback: an upgrade fell back")
      ->type_name("")
      ->check([](const std::string& word) -> std::string {
        if (word == "good" || word == "commit" || word == "fallback") return "";
        return "needs good, commit or fallback, not " + word;
      });
  add_text(app, "--exec", options.exec, "command that /bin/sh runs at each event", "COMMAND");
  add_duration(app, "--after", "time for which an agent must be active to be good (30s)",
               [&options](Duration duration) { options.after = duration; });
}

std::vector<std::string> phases() {
  return {phase_names.begin(), phase_names.end()};
}

void add_own_options(CLI::App& app, Command command, Options& options) {
  switch (command) {
    case Command::status:
      app.add_flag("--watch", options.watch, "keep running and show every change");
      [[fallthrough]];
    case Command::history:
    case Command::list:
      if (command == Command::list) app.footer("More in upgraderctl(1).");
      app.add_flag("--json", options.json, "print the data of the upgrader unchanged, as JSON");
      return;
    case Command::upgrade:
    case Command::rehearse:
      add_terms(app, options, command == Command::rehearse);
      app.footer(
          "EXECUTABLE [ARG ...], the program to upgrade to and its arguments, follow the options.\n"
          "Without EXECUTABLE and without --previous, the program is the file that the upgrader's\n"
          "command line names now.");
      break;
    case Command::cancel:
    case Command::rollback:
      add_text(app, "--reason", options.reason,
               "reason for the request, for the log and the status", "TEXT");
      [[fallthrough]];
    case Command::confirm:
    case Command::commit:
      add_text(app, "ID", options.id, "id of the upgrade; without ID, the upgrade under way", "");
      break;
    case Command::wait:
      add_choice(app, "--for", options.phase, phases(), "phase of the upgrader to wait for");
      break;
    case Command::on:
      add_occasion(app, options);
      return;
    case Command::why:
      return;
    case Command::shutdown:
      break;
  }
  add_duration(app, "--timeout", "longest time to wait in all; 0: no limit",
               [&options](Duration duration) { options.timeout = duration; });
}

void set_up(CLI::App& app, Options& options) {
  app.formatter(std::make_shared<HelpFormat>());
  app.set_help_flag("-h,--help", "print this help and exit");
  app.set_version_flag("--version", version_text(), "print the version and exit");
  add_text(app, "--dir", options.directory, "control directory of the upgrader", "DIR");
  app.require_subcommand(1);
  app.footer(
      "NAME is a directory below /run/upgrader or $XDG_RUNTIME_DIR/upgrader. NAME may be omitted if"
      "\nthere is only one such directory."
      "\nMore in upgraderctl(1).");
  for (const CommandName& command : command_names) {
    CLI::App* sub = app.add_subcommand(command.name, command.about);
    sub->fallthrough();
    sub->group("Commands");
    sub->callback([&options, which = command.command] { options.command = which; });
    add_own_options(*sub, command.command, options);
  }
}

// Returns what is wrong with the combination of options, or nothing.
std::optional<UsageError> judge_together(const Options& options) {
  if (options.directory && options.name) {
    return UsageError{"--dir=" + *options.directory + " and " + *options.name +
                      ": give the one or the other"};
  }
  if (options.command == Command::list && (options.directory || options.name)) {
    return UsageError{"list: takes neither --dir nor NAME"};
  }
  if (options.command == Command::on && !options.occasion) {
    return UsageError{"on: EVENT is missing: good, commit or fallback"};
  }
  if (options.command == Command::on && !options.exec) {
    return UsageError{"on: --exec=COMMAND is missing"};
  }
  if (options.after && options.occasion != Occasion::good) {
    return UsageError{"--after: is for `on good` alone"};
  }
  if (options.name && (options.name->empty() || *options.name == "." || *options.name == ".." ||
                       options.name->find('/') != std::string::npos)) {
    return UsageError{*options.name + ": a NAME has no slash; for a path there is --dir"};
  }
  if (options.executable && options.executable->empty()) {
    return UsageError{"EXECUTABLE is empty"};
  }
  if (options.previous && options.executable) {
    return UsageError{"--previous and " + *options.executable + ": give the one or the other"};
  }
  if (options.no_args && (!options.args.empty() || (!options.executable && !options.previous))) {
    return UsageError{"--no-args: needs EXECUTABLE or --previous, and no ARG"};
  }
  if (options.terms.stop_timeout_ms == 0) return UsageError{"--stop-timeout: must not be 0"};
  if (options.terms.gate == "confirm" && options.terms.mode == "sequential") {
    return UsageError{"--gate=confirm: there is no gate with --mode=sequential"};
  }
  if (options.terms.commit == "healthy" && options.terms.trial_ms == 0) {
    return UsageError{"--commit=healthy: needs a --trial that is not 0"};
  }
  return std::nullopt;
}

// Returns the name of the option in an argument, or an empty string if the argument is not an
// option.
std::string option_in(const std::string& word) {
  return word.starts_with("--") && word.size() > 2 ? word.substr(0, word.find('=')) : "";
}

// Finds two errors that CLI11 does not report. One is an empty value, in place of which CLI11 would
// use the next argument. The other is an option that is given twice. An empty --reason= is not an
// error, and is removed.
std::optional<UsageError> take_apart_options(std::vector<std::string>& words) {
  std::vector<std::string> seen;
  std::erase(words, "--reason=");
  for (const std::string& word : words) {
    const std::string option = option_in(word);
    if (option.empty()) continue;
    if (word == option + "=") return UsageError{option + ": its value is empty"};
    if (std::find(seen.begin(), seen.end(), option) != seen.end()) {
      return UsageError{option + ": given twice"};
    }
    seen.push_back(option);
  }
  return std::nullopt;
}

// Returns the message for arguments that the command does not accept. CLI11 names only these
// arguments, so the message adds the command, and how to see which arguments the command accepts.
std::string complaint_of_extras(std::string text, const std::string& command) {
  if (text.starts_with("The ")) text[0] = 't';
  return command + ": " + text + "; see upgraderctl " + command + " --help";
}

// Returns the message for an error that CLI11 has reported. If the command line has a NAME but no
// command, the NAME may be an unknown command, or the command may be missing. The message names
// both possible errors.
UsageError complaint_of(const CLI::ParseError& error, const Words& words) {
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string text = error.what();
    return UsageError{text.substr(0, text.find(':')) + ": its value is missing"};
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !words.command.empty()) {
    return UsageError{complaint_of_extras(error.what(), words.command)};
  }
  if (dynamic_cast<const CLI::RequiredError*>(&error) == nullptr) return UsageError{error.what()};
  if (!words.name) return UsageError{"COMMAND is missing; --help names them all"};
  if (!words.command.empty()) {
    return UsageError{words.command + ": no such command; --help names all commands"};
  }
  return UsageError{*words.name +
                    ": no such command; or, if it is a NAME, COMMAND is missing; "
                    "--help names all commands"};
}

}  // namespace

CommandLine parse_command_line(const std::vector<std::string>& all_words) {
  Words words = take_apart(all_words);
  if (std::optional<UsageError> error = take_apart_options(words.options)) return *std::move(error);
  Options options;
  options.name = words.name;
  if (!words.tail.empty()) {
    options.executable = words.tail.front();
    options.args.assign(words.tail.begin() + 1, words.tail.end());
  }
  CLI::App app(
      "Shows the state of an upgrader, and sends it requests, through its control directory.",
      "upgraderctl [--dir=DIR | NAME]");
  try {
    set_up(app, options);
    std::vector<std::string> reversed(words.options.rbegin(), words.options.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return HelpWanted{app.help()};
  } catch (const CLI::CallForVersion&) {
    return VersionWanted{};
  } catch (const CLI::ParseError& error) {
    return complaint_of(error, words);
  }
  if (std::optional<UsageError> error = judge_together(options)) return *std::move(error);
  return options;
}

std::string version_text() {
  return "upgraderctl " + std::string(upgrader::upgrader_version) + "\n";
}

}  // namespace upgraderctl
