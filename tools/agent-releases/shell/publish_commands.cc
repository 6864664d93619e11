#include "tools/agent-releases/shell/publish_commands.h"

#include <cstdio>
#include <ctime>
#include <string>

#include "base/shown.h"
#include "tools/agent-releases/core/json_object.h"
#include "tools/agent-releases/shell/check_published.h"
#include "tools/agent-releases/shell/interruption.h"
#include "tools/agent-releases/shell/key_files.h"
#include "tools/agent-releases/shell/pack.h"
#include "tools/agent-releases/shell/project_tree.h"
#include "tools/agent-releases/shell/report.h"

namespace agent_releases {
namespace {

void tell(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

std::string json_of(const Packed& packed, const Wanted& wanted) {
  JsonWriter json;
  json.add("name", wanted.name).add("version", wanted.version.text()).add("arch", packed.arch);
  json.add("manifest", packed.manifest).add("file", packed.file);
  if (!packed.signature.empty()) json.add("signature", packed.signature);
  if (!packed.entry.empty()) json.add("entry", packed.entry);
  json.add("size", packed.bytes).add("sha256", packed.sha256);
  return json.line() + "\n";
}

std::string text_of(const Packed& packed, const Wanted& wanted) {
  return packed.manifest + ": " + wanted.name + " " + wanted.version.text() + " for " +
         packed.arch + ", " + shown_bytes(packed.bytes) +
         (packed.signature.empty() ? ", not signed\n" : ", signed\n");
}

std::string json_of(const CheckedManifest& checked) {
  JsonWriter json;
  json.add("manifest", checked.name).add("sound", static_cast<bool>(checked.sound));
  if (!checked.sound) json.add("reason", checked.sound.reason());
  if (!checked.notes.empty()) json.add("notes", checked.notes);
  return json.line() + "\n";
}

std::string text_of(const CheckedManifest& checked) {
  return upgraderctl::shown(checked.name) +
         (checked.sound ? " is sound"
                        : " would be refused: " + upgraderctl::shown(checked.sound.reason())) +
         (checked.notes.empty() ? "" : " (" + checked.notes + ")") + "\n";
}

std::string json_of(const std::string& secret, const std::string& open, const PublicKey& key) {
  JsonWriter json;
  json.add("secret", secret).add("public", open).add("number", shown_key_number(key.number));
  return json.line() + "\n";
}

}  // namespace

namespace {

Result<ProjectTree> make_tree(const Options& options) {
  const PublishOptions& words = options.publishing;
  if (const Outcome apart = check_apart(words.source, words.out); !apart) return apart.refusal();
  const Project project{.directory = words.source,
                        .name = options.name,
                        .entry = words.entry,
                        .run_scripts = words.scripts};
  return words.npm ? make_node_tree(project) : make_python_tree(project);
}

Outcome pack_order(PackOrder& order, const Options& options) {
  if (!options.publishing.secret_key.empty()) {
    auto key = read_secret_key(options.publishing.secret_key);
    if (!key) return key.refusal();
    order.key = key.value();
  }
  const Result<Packed> packed = pack(order);
  if (!packed) return packed.refusal();
  tell(options.json ? json_of(packed.value(), order.wanted)
                    : text_of(packed.value(), order.wanted));
  return std::monostate{};
}

// Packs a project of Node.js or Python. Uses the name and version that the project states, unless
// the command line gives others.
Outcome pack_project(PackOrder& order, const Options& options) {
  Wanted early = order.wanted;
  if (early.name.empty()) early.name = "name";
  if (const Outcome sound = check_wanted(early, order.now); !sound) return sound;
  const Result<ProjectTree> tree = make_tree(options);
  if (!tree) return tree.refusal();
  order.source = tree.value().path;
  order.wanted.name = tree.value().name;
  order.wanted.entry = tree.value().entry;
  if (!options.version) {
    const auto version = Version::parse(tree.value().version);
    if (!version) {
      return Refusal{"the version of package.json, `" + tree.value().version +
                         "`, is none such as 1.2.3: say --version=VERSION",
                     Trouble::usage};
    }
    order.wanted.version = *version;
  }
  return pack_order(order, options);
}

}  // namespace

Outcome perform_pack(const Options& options) {
  const Interruption interruption;
  const PublishOptions& words = options.publishing;
  PackOrder order{.wanted = {.name = options.name,
                             .version = options.version.value_or(Version{}),
                             .arch = words.arch,
                             .entry = words.entry,
                             .min_protocol = words.min_protocol,
                             .expires = words.expires,
                             .undo = !words.no_undo},
                  .source = words.source,
                  .out = words.out,
                  .key = std::nullopt,
                  .now = std::time(nullptr)};
  return words.npm || words.wheels ? pack_project(order, options) : pack_order(order, options);
}

Outcome perform_check(const Options& options) {
  const Interruption interruption;
  const auto all = check_published(options.publishing.check, options.keys, std::time(nullptr));
  if (!all) return all.refusal();
  std::size_t refused = 0;
  for (const CheckedManifest& checked : all.value()) {
    refused += checked.sound ? 0 : 1;
    tell(options.json ? json_of(checked) : text_of(checked));
  }
  if (all.value().empty()) {
    return Refusal{"there is no manifest in " + options.publishing.check, Trouble::absent};
  }
  if (refused == 0) return std::monostate{};
  return Refusal{std::to_string(refused) + " of " + std::to_string(all.value().size()) +
                 " manifests would be refused"};
}

Outcome perform_key_make(const Options& options) {
  const Interruption interruption;
  const PublishOptions& words = options.publishing;
  const Result<PublicKey> made = make_key_files(words.source, words.public_key, !words.no_password);
  if (!made) return made.refusal();
  tell(options.json ? json_of(words.source, words.public_key, made.value())
                    : words.source + " is the secret key, which stays here; " + words.public_key +
                          " is its public key, for every machine\n");
  return std::monostate{};
}

Outcome perform_key_public(const Options& options) {
  const Interruption interruption;
  const Result<SecretKey> key = read_secret_key(options.publishing.source);
  if (!key) return key.refusal();
  tell(public_key_text(public_key_of(key.value())));
  return std::monostate{};
}

}  // namespace agent_releases
