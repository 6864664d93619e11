#include "tools/agent-releases/shell/options.h"

#include <CLI/CLI.hpp>
#include <chrono>

#include "base/duration.h"
#include "base/empty_value.h"

namespace agent_releases {
namespace {

constexpr std::size_t keep_max = 1'000'000;

// Adds a command that performs `task`.
CLI::App& add_command(CLI::App& parent, Options& options, const std::string& name, Task task) {
  CLI::App& command = *parent.add_subcommand(name);
  command.callback([&options, task] { options.task = task; });
  return command;
}

CLI::Option* add_version(CLI::App& command, const std::string& name,
                         std::optional<Version>& version) {
  return command.add_option_function<std::string>(name, [&version](const std::string& text) {
    version = Version::parse(text);
    if (!version) throw CLI::ValidationError("`" + text + "` is no version such as 1.2.3");
  });
}

// Adds an option with a number, which `parse` reads from the value. If `parse` fails, the error
// message says that the option needs `wanted`.
void add_number(CLI::App& command, const std::string& name, std::optional<std::int64_t>& number,
                std::optional<std::int64_t> (*parse)(std::string_view), const std::string& wanted) {
  command.add_option_function<std::string>(
      name, [name, &number, parse, wanted](const std::string& text) {
        number = parse(text);
        if (!number) throw CLI::ValidationError(name + " needs " + wanted);
      });
}

void add_publishing(CLI::App& app, Options& options) {
  PublishOptions& publishing = options.publishing;
  CLI::App& pack = add_command(app, options, "pack", Task::pack);
  pack.add_option("FILE", publishing.source);
  add_version(pack, "--version", options.version);
  pack.add_option("--arch", publishing.arch);
  pack.add_option("--entry", publishing.entry);
  pack.add_option("--min-protocol", publishing.min_protocol);
  add_number(pack, "--expires", publishing.expires, &parse_moment,
             "a time such as 2030-01-31T00:00:00Z");
  pack.add_flag("--no-undo", publishing.no_undo);
  pack.add_option("--out", publishing.out);
  pack.add_option("--sign", publishing.secret_key);
  pack.add_option("--check", publishing.check);
  pack.add_flag("--npm", publishing.npm);
  pack.add_flag("--wheels", publishing.wheels);
  pack.add_flag("--scripts", publishing.scripts);

  CLI::App& key = *app.add_subcommand("key");
  key.require_subcommand(1);
  CLI::App& make = add_command(key, options, "make", Task::key_make);
  make.add_option("SECRET", publishing.source)->required();
  make.add_option("--public", publishing.public_key);
  make.add_flag("--no-password", publishing.no_password);
  CLI::App& show_public = add_command(key, options, "public", Task::key_public);
  show_public.add_option("SECRET", publishing.source)->required();
}

void add_releases(CLI::App& app, Options& options) {
  const auto command = [&](const std::string& name, Task task) -> CLI::App& {
    return add_command(app, options, name, task);
  };
  CLI::App& add = command("add", Task::add);
  add.add_option("MANIFEST", options.source)->required();
  add.add_option("--sha256", options.sha256);
  add.add_option("--cacert", options.cacert);
  add.add_flag("--unsigned", options.unsigned_is_wanted);
  add.add_flag("--older", options.older_is_wanted);
  command("list", Task::list);
  add_version(command("show", Task::show), "VERSION", options.version)->required();
  CLI::App& verify = command("verify", Task::verify);
  add_version(verify, "VERSION", options.version);
  verify.add_flag("--all", options.all);
  CLI::App& desire = command("desire", Task::desire);
  add_version(desire, "VERSION", options.version);
  desire.add_flag("--newest", options.newest);
  CLI::App& adopt = command("adopt", Task::adopt);
  adopt.add_option("LINK", options.source)->required();
  add_version(adopt, "--as", options.version)->required();
  add_version(command("forget", Task::forget), "VERSION", options.version)->required();
  add_version(command("try", Task::begin_attempt), "--running", options.version)->required();
  CLI::App& fail = command("fail", Task::end_attempt);
  fail.add_option("ID", options.failure.id)->required();
  fail.add_option("--stage", options.failure.stage)->required();
  fail.add_option("--reason", options.failure.reason)->required();
  fail.add_option("--errno", options.failure.errno_name);
  add_version(command("remove", Task::remove), "VERSION", options.version)->required();
  CLI::App& prune = command("prune", Task::prune);
  prune.add_option("--keep", options.keep)->required();
  add_number(prune, "--older", options.older_s, &parse_age, "an age such as 30d, 12h, 90m or 10s");
}

void declare(CLI::App& app, Options& options) {
  app.set_help_flag("-h,--help");
  app.set_version_flag("--version", "");
  app.add_option("--dir", options.directory);
  app.add_option("--keys", options.keys);
  app.add_option("--name", options.name);
  app.add_option("--control", options.controls)->take_all()->allow_extra_args(false);
  app.add_flag("--json", options.json);
  app.require_subcommand(1);
  app.fallthrough();
  add_releases(app, options);
  add_publishing(app, options);
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

// Checks that the publishers' options can be used together.
Outcome check_publishing(Options& options) {
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
  if (!options.version && !publishing.npm) return usage("pack needs --version=VERSION");
  if (publishing.out.empty()) return usage("--out needs a directory");
  return std::monostate{};
}

bool publishes(Task task) {
  return task == Task::pack || task == Task::key_make || task == Task::key_public;
}

Outcome check(Options& options) {
  if (publishes(options.task)) return check_publishing(options);
  if (options.task == Task::desire && options.version.has_value() == options.newest) {
    return usage("desire needs a version or --newest");
  }
  if (options.task == Task::verify && options.version && options.all) {
    return usage("verify takes a version or --all");
  }
  if (options.task == Task::prune && (options.keep < 1 || options.keep > keep_max)) {
    return usage("--keep needs a number from 1 to 1,000,000");
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

// Returns the message for a command line that lacks a required part. If no known command is given,
// the message names the first unknown argument, which may be a misspelled command.
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
  CLI::App app;
  declare(app, options);
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
  if (const Outcome sound = check(options); !sound) return sound.refusal();
  return options;
}

std::string_view help_text() {
  return help;
}

}  // namespace agent_releases
