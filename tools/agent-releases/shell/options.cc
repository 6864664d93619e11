#include "tools/agent-releases/shell/options.h"

#include <CLI/CLI.hpp>
#include <chrono>

#include "base/duration.h"
#include "base/empty_value.h"

namespace agent_releases {
namespace {

constexpr std::size_t keep_max = 1'000'000;

// The values of publishers' options that CLI11 does not parse itself.
struct PublishWords {
  std::string version;
  std::string expires;
};

struct PublishCommands {
  CLI::App* pack;
  CLI::App* key_make;
  CLI::App* key_public;
};

// The values of all options that CLI11 does not parse itself. check() parses these values.
struct Words {
  std::string version;
  std::string as;
  std::string running;
  std::string older;
  PublishWords publishing;
};

struct Commands {
  CLI::App* add;
  CLI::App* list;
  CLI::App* show;
  CLI::App* verify;
  CLI::App* desire;
  CLI::App* adopt;
  CLI::App* forget;
  CLI::App* begin_attempt;
  CLI::App* end_attempt;
  CLI::App* remove;
  CLI::App* prune;
  PublishCommands publishing;
};

PublishCommands declare_publishing(CLI::App& app, PublishOptions& options, PublishWords& words) {
  PublishCommands commands{};
  commands.pack = app.add_subcommand("pack");
  commands.pack->add_option("FILE", options.source);
  commands.pack->add_option("--version", words.version);
  commands.pack->add_option("--arch", options.arch);
  commands.pack->add_option("--entry", options.entry);
  commands.pack->add_option("--min-protocol", options.min_protocol);
  commands.pack->add_option("--expires", words.expires);
  commands.pack->add_flag("--no-undo", options.no_undo);
  commands.pack->add_option("--out", options.out);
  commands.pack->add_option("--sign", options.secret_key);
  commands.pack->add_option("--check", options.check);
  commands.pack->add_flag("--npm", options.npm);
  commands.pack->add_flag("--wheels", options.wheels);
  commands.pack->add_flag("--scripts", options.scripts);

  CLI::App* key = app.add_subcommand("key");
  key->require_subcommand(1);
  commands.key_make = key->add_subcommand("make");
  commands.key_make->add_option("SECRET", options.source)->required();
  commands.key_make->add_option("--public", options.public_key);
  commands.key_make->add_flag("--no-password", options.no_password);
  commands.key_public = key->add_subcommand("public");
  commands.key_public->add_option("SECRET", options.source)->required();
  return commands;
}

Commands declare(CLI::App& app, Options& options, Words& words) {
  app.set_help_flag("-h,--help");
  app.set_version_flag("--version", "");
  app.add_option("--dir", options.directory);
  app.add_option("--keys", options.keys);
  app.add_option("--name", options.name);
  app.add_option("--control", options.controls)->take_all()->allow_extra_args(false);
  app.add_flag("--json", options.json);
  app.require_subcommand(1);
  app.fallthrough();

  Commands commands{};
  commands.add = app.add_subcommand("add");
  commands.add->add_option("MANIFEST", options.source)->required();
  commands.add->add_option("--sha256", options.sha256);
  commands.add->add_option("--cacert", options.cacert);
  commands.add->add_flag("--unsigned", options.unsigned_is_wanted);
  commands.add->add_flag("--older", options.older_is_wanted);
  commands.list = app.add_subcommand("list");
  commands.show = app.add_subcommand("show");
  commands.show->add_option("VERSION", words.version)->required();
  commands.verify = app.add_subcommand("verify");
  commands.verify->add_option("VERSION", words.version);
  commands.verify->add_flag("--all", options.all);
  commands.desire = app.add_subcommand("desire");
  commands.desire->add_option("VERSION", words.version);
  commands.desire->add_flag("--newest", options.newest);
  commands.adopt = app.add_subcommand("adopt");
  commands.adopt->add_option("LINK", options.source)->required();
  commands.adopt->add_option("--as", words.as)->required();
  commands.forget = app.add_subcommand("forget");
  commands.forget->add_option("VERSION", words.version)->required();
  commands.begin_attempt = app.add_subcommand("try");
  commands.begin_attempt->add_option("--running", words.running)->required();
  commands.end_attempt = app.add_subcommand("fail");
  commands.end_attempt->add_option("ID", options.failure.id)->required();
  commands.end_attempt->add_option("--stage", options.failure.stage)->required();
  commands.end_attempt->add_option("--reason", options.failure.reason)->required();
  commands.end_attempt->add_option("--errno", options.failure.errno_name);
  commands.remove = app.add_subcommand("remove");
  commands.remove->add_option("VERSION", words.version)->required();
  commands.prune = app.add_subcommand("prune");
  commands.prune->add_option("--keep", options.keep)->required();
  commands.prune->add_option("--older", words.older);
  commands.publishing = declare_publishing(app, options.publishing, words.publishing);
  return commands;
}

Task task_of(const Commands& commands) {
  const std::pair<CLI::App*, Task> tasks[] = {{commands.add, Task::add},
                                              {commands.list, Task::list},
                                              {commands.show, Task::show},
                                              {commands.verify, Task::verify},
                                              {commands.desire, Task::desire},
                                              {commands.adopt, Task::adopt},
                                              {commands.forget, Task::forget},
                                              {commands.begin_attempt, Task::begin_attempt},
                                              {commands.end_attempt, Task::end_attempt},
                                              {commands.remove, Task::remove},
                                              {commands.prune, Task::prune},
                                              {commands.publishing.pack, Task::pack},
                                              {commands.publishing.key_make, Task::key_make},
                                              {commands.publishing.key_public, Task::key_public}};
  for (const auto& [command, task] : tasks) {
    if (command->parsed()) return task;
  }
  return Task::show_help;
}

Refusal usage(std::string reason) {
  return Refusal{std::move(reason), Trouble::usage};
}

// Returns the path of the public key file for the path of a secret key file: release.pub for
// release.key.
std::string public_path(const std::string& secret) {
  constexpr std::string_view ending = ".key";
  std::string path = secret;
  if (path.ends_with(ending)) path.resize(path.size() - ending.size());
  return path + ".pub";
}

// Checks that the publishers' options can be used together, and parses the values in `words`.
Outcome check_publishing(Options& options, const PublishWords& words) {
  PublishOptions& publishing = options.publishing;
  if (options.task == Task::pack && !publishing.check.empty()) {
    if (!publishing.source.empty()) return usage("--check takes no other file");
    options.task = Task::check_published;
    return std::monostate{};
  }
  if (publishing.source.empty()) return usage("pack and key need the path of a file");
  if (options.task == Task::key_make && publishing.public_key.empty()) {
    publishing.public_key = public_path(publishing.source);
  }
  if (options.task != Task::pack) return std::monostate{};
  if (publishing.npm && publishing.wheels) return usage("pack takes one of --npm and --wheels");
  if (publishing.scripts && !publishing.npm && !publishing.wheels) {
    return usage("--scripts needs --npm or --wheels");
  }
  // With --npm, package.json states a name and a version, so the command line need not.
  if (options.name.empty() && !publishing.npm) return usage("pack needs --name=NAME");
  if (words.version.empty() && !publishing.npm) return usage("pack needs --version=VERSION");
  options.version = Version::parse(words.version);
  if (!options.version && !words.version.empty())
    return usage("`" + words.version + "` is no version such as 1.2.3");
  if (publishing.out.empty()) return usage("--out needs a directory");
  if (words.expires.empty()) return std::monostate{};
  publishing.expires = parse_moment(words.expires);
  if (publishing.expires) return std::monostate{};
  return usage("--expires needs a time such as 2030-01-31T00:00:00Z");
}

bool publishes(Task task) {
  return task == Task::pack || task == Task::key_make || task == Task::key_public;
}

bool needs_version(Task task) {
  return task == Task::show || task == Task::adopt || task == Task::forget ||
         task == Task::remove || task == Task::begin_attempt;
}

const std::string& version_text(Task task, const Words& words) {
  if (task == Task::adopt) return words.as;
  return task == Task::begin_attempt ? words.running : words.version;
}

Outcome check(Options& options, const Words& words) {
  if (publishes(options.task)) return check_publishing(options, words.publishing);
  const std::string& text = version_text(options.task, words);
  if (!text.empty() || needs_version(options.task)) {
    options.version = Version::parse(text);
    if (!options.version) return usage("`" + text + "` is no version such as 1.2.3");
  }
  if (options.task == Task::desire && options.version.has_value() == options.newest) {
    return usage("desire needs a version or --newest");
  }
  if (options.task == Task::verify && options.version && options.all) {
    return usage("verify takes a version or --all");
  }
  if (options.task == Task::prune && (options.keep < 1 || options.keep > keep_max)) {
    return usage("--keep needs a number from 1 to 1,000,000");
  }
  if (!words.older.empty()) {
    options.older_s = parse_age(words.older);
    if (!options.older_s) return usage("--older needs an age such as 30d, 12h, 90m or 10s");
  }
  return std::monostate{};
}

constexpr std::string_view help = R"(usage: agent-releases [--dir=DIR] [--keys=DIR] COMMAND ...
Keeps the releases of a program in a directory: fetches and verifies releases, never
changes them, and records which upgrades have failed.

  add MANIFEST          fetch and verify a release by the URL or path of its manifest
      --sha256=HEX      without keys: SHA-256 hash that the release's file must have
      --cacert=FILE     PEM file of the certificates that https trusts instead of the
                        system's certificates
      --unsigned        without keys: accept the manifest without a signature
      --older           also accept a version that is older than the current version
  list                  list all releases, with sizes, links and results of upgrades
  show VERSION          show one release, as list does
  verify [VERSION]      hash the files of a release again, and compare the hashes;
                        without VERSION, the current release
      --all             verify every release
  desire VERSION        set the version that should run from now on
      --newest          without VERSION: set the newest version except pre-releases
  adopt LINK --as=VERSION
                        turn the installed file LINK into a release, and replace
                        LINK with a link to the release
  forget VERSION        allow a failed release to be tried again
  try --running=VERSION
                        for an agent that requests its upgrades: choose the release that
                        should replace VERSION, and record that the release is tried
  fail ID --stage=STAGE record that the upgrade with the id ID has failed at STAGE
      --reason=TEXT     reason why the upgrade failed; required
      --errno=NAME      system error that made the upgrade fail, such as ENOEXEC
  remove VERSION        remove a release, unless it is needed
  prune --keep=N        remove all releases except the newest N and the needed ones
      --older=D         keep releases that were added less than D ago (30d, 12h, 90m)

  pack FILE|DIRECTORY   make the files of a release that a publisher puts on a server;
                        --name and --version are required, except with --npm
      --version=VERSION version of the release
      --arch=ARCH       processor on which the release runs; by default, the processor
                        for which the program was built
      --entry=PATH      path within DIRECTORY of the program that is executed
      --min-protocol=N  least version of the agent protocol that the release needs
      --expires=TIME    time after which add refuses the release, such as
                        2030-01-31T00:00:00Z
      --no-undo         declare that no rollout of the release in a fleet can be undone
      --out=DIR         directory that gets the files; by default, the current directory
      --sign=FILE       file of the secret key that signs the manifest; its password is
                        asked for, or read from the file MINISIGN_PASSWORD_FILE names
      --npm             pack a DIRECTORY that is a Node.js project, with its packages
      --wheels          pack a DIRECTORY that is a Python project, with its packages
      --scripts         let the packages run programs when they are installed
      --check=DIR       pack nothing; print which files in DIR add would refuse, and why
  key make SECRET       make a secret key to sign with, and its public key
      public SECRET     print the public key of the secret key in the file SECRET
      --public=FILE     with make: file that gets the public key
      --no-password     with make: do not encrypt the secret key

  --dir=DIR             directory of releases; by default, the current directory
  --keys=DIR            directory of minisign's public keys; a release must be signed by
                        one of these keys
  --name=NAME           name of the program; needed when a directory of releases is made
  --control=DIR         control directory of an upgrader that is not in /run/upgrader
  --json                print facts as JSON, one object on each line
  --help, --version     print this help or the version, and exit
)";

}  // namespace

std::optional<std::int64_t> parse_age(std::string_view text) {
  const auto age = upgrader::parse_length(text);
  if (!age || text == "0") return std::nullopt;
  return std::chrono::floor<std::chrono::seconds>(*age).count();
}

// Returns the message for a command line that lacks a required part. If the command is missing, and
// an argument stands in its place, the message names the argument.
std::string complaint_of(const CLI::App& app, const CLI::RequiredError& error) {
  const CLI::App* key = app.get_subcommand("key");
  const bool is_half = key->parsed() && key->get_subcommands().empty();
  if (!app.get_subcommands().empty() && !is_half) return error.what();
  const std::vector<std::string> unknown = app.remaining(true);
  if (unknown.empty()) return "a command is needed";
  return unknown[0] + ": no such " + (unknown[0].starts_with('-') ? "option" : "command");
}

// Parses the command line. Catches the exceptions by which CLI11 reports errors.
Result<Options> parse_options(int argc, const char* const* argv) {
  if (const std::string option = upgrader::option_with_empty_value(argc, argv); !option.empty()) {
    return usage(option + ": its value is empty");
  }
  Options options;
  Words words;
  CLI::App app;
  const Commands commands = declare(app, options, words);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    options.task = Task::show_help;
    return options;
  } catch (const CLI::CallForVersion&) {
    options.task = Task::show_version;
    return options;
  } catch (const CLI::RequiredError& error) {
    return usage(complaint_of(app, error));
  } catch (const CLI::Error& error) {
    return usage(error.what());
  }
  options.task = task_of(commands);
  if (const Outcome sound = check(options, words); !sound) return sound.refusal();
  return options;
}

std::string_view help_text() {
  return help;
}

}  // namespace agent_releases
