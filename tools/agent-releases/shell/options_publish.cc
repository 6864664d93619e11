#include "tools/agent-releases/shell/options_publish.h"

#include <CLI/CLI.hpp>

#include "tools/agent-releases/shell/options.h"

namespace agent_releases {
namespace {

Refusal wrong(std::string reason) {
  return Refusal{std::move(reason), Trouble::usage};
}

// Returns the path of the public key for the path of a secret key, such as release.pub for
// release.key.
std::string public_path(const std::string& secret) {
  constexpr std::string_view ending = ".key";
  std::string path = secret;
  if (path.ends_with(ending)) path.resize(path.size() - ending.size());
  return path + ".pub";
}

}  // namespace

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

Outcome check_publishing(Options& options, const PublishWords& words) {
  PublishOptions& publishing = options.publishing;
  if (options.task == Task::pack && !publishing.check.empty()) {
    if (!publishing.source.empty()) return wrong("--check takes no other file");
    options.task = Task::check_published;
    return std::monostate{};
  }
  if (publishing.source.empty()) return wrong("pack and key need the path of a file");
  if (options.task == Task::key_make && publishing.public_key.empty()) {
    publishing.public_key = public_path(publishing.source);
  }
  if (options.task != Task::pack) return std::monostate{};
  if (publishing.npm && publishing.wheels) return wrong("pack takes one of --npm and --wheels");
  if (publishing.scripts && !publishing.npm && !publishing.wheels) {
    return wrong("--scripts needs --npm or --wheels");
  }
  // With --npm, the command line need not name the release and its version, because package.json
  // does.
  if (options.name.empty() && !publishing.npm) return wrong("pack needs --name=NAME");
  if (words.version.empty() && !publishing.npm) return wrong("pack needs --version=VERSION");
  options.version = Version::parse(words.version);
  if (!options.version && !words.version.empty())
    return wrong("`" + words.version + "` is no version such as 1.2.3");
  if (publishing.out.empty()) return wrong("--out needs a directory");
  if (words.expires.empty()) return std::monostate{};
  publishing.expires = parse_moment(words.expires);
  if (publishing.expires) return std::monostate{};
  return wrong("--expires needs a time such as 2030-01-31T00:00:00Z");
}

}  // namespace agent_releases
