#include "tools/agent-releases/shell/commands.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <optional>
#include <string>
#include <utility>

#include "agent-releases/releases.h"
#include "base/shown.h"
#include "tools/agent-releases/core/json_object.h"
#include "tools/agent-releases/shell/attempt.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/ledger_file.h"
#include "tools/agent-releases/shell/report.h"
#include "tools/agent-releases/shell/store.h"
#include "tools/agent-releases/shell/verification.h"

namespace agent_releases {
namespace {

Result<Fact> fact_of(const Releases& releases, Release release) {
  // The ledger records how the upgrades to the releases ended. A user who may not read the ledger
  // still gets the list of releases, but without these outcomes.
  const Directory& place = releases.store().directory();
  const auto ledger = may_read_ledger(place) ? read_ledger(place) : std::vector<Entry>{};
  if (!ledger) return ledger.refusal();
  // An entry in the ledger is found by the hash of the release. If there is no manifest that states
  // the hash, the file is hashed.
  std::string sha256 = release.sha256;
  const bool was_tried = std::ranges::any_of(
      ledger.value(), [&](const Entry& entry) { return entry.version == release.version; });
  if (was_tried && sha256.empty() && !release.is_directory) {
    if (const auto hashed = hash_release(releases.store(), release)) sha256 = hashed.value();
  }
  const Entry* last = last_of(ledger.value(), release.version, sha256);
  Fact fact{.release = std::move(release)};
  fact.current = releases.current() == fact.release.version;
  fact.previous = releases.previous() == fact.release.version;
  fact.desired = releases.desired() == fact.release.version;
  if (last != nullptr) fact.last = *last;
  if (!fact.release.is_directory) return fact;
  const auto directory = Directory::open(fact.release.path);
  if (directory) fact.release.bytes = bytes_on_disk(directory.value());
  return fact;
}

Outcome add(Releases& releases, const Options& options) {
  auto line = std::make_optional<ProgressLine>(options.json);
  const Releases::Adding adding{
      .source = options.source,
      .sha256 = options.sha256,
      .cacert = options.cacert,
      .unsigned_is_wanted = options.unsigned_is_wanted,
      .older_is_wanted = options.older_is_wanted,
      .now = std::time(nullptr),
      .progress = [&](const Progress& progress) { line->show(progress); }};
  auto added = releases.add(adding);
  line.reset();  // ends the line of the progress bar
  if (!added) return added.refusal();
  const bool there = added.value().was_there;
  const std::string comment = added.value().trusted_comment;
  Result<Fact> fact = fact_of(releases, std::move(added.value().release));
  if (!fact) return fact.refusal();
  if (options.json) {
    JsonWriter json;
    json.add("event", there ? "was there" : "added");
    if (!comment.empty()) json.add("trusted_comment", comment);
    print(json.add_raw("release", json_of(fact.value())).line() + "\n");
    return std::monostate{};
  }
  const Release& release = fact.value().release;
  print("version " + release.version.text() + (there ? " was there already: " : " is there: ") +
        release.path + (comment.empty() ? "" : " (signed: " + comment + ")") + "\n");
  return std::monostate{};
}

Outcome list(const Releases& releases, const Options& options) {
  auto found = releases.list();
  if (!found) return found.refusal();
  Overview overview{.directory = releases.directory(),
                    .name = releases.name(),
                    .newest_is_desired = !releases.store().wish(),
                    .facts = {}};
  for (Release& release : found.value()) {
    Result<Fact> fact = fact_of(releases, std::move(release));
    if (!fact) return fact.refusal();
    overview.facts.push_back(std::move(fact.value()));
  }
  print(options.json ? json_of(overview) : text_of(overview));
  return std::monostate{};
}

Outcome show(const Releases& releases, const Options& options) {
  auto release = releases.find(*options.version);
  if (!release) return release.refusal();
  const Result<Fact> fact = fact_of(releases, std::move(release.value()));
  if (!fact) return fact.refusal();
  print(options.json ? json_of(fact.value()) + "\n" : text_of(fact.value()));
  return std::monostate{};
}

Outcome verify(const Releases& releases, const Options& options) {
  auto found = releases.list();
  if (!found) return found.refusal();
  const auto wanted = options.version ? options.version : releases.current();
  if (!options.all && !wanted) {
    return Refusal{"no version is current: name one, or say --all", Trouble::usage};
  }
  Outcome outcome = std::monostate{};
  bool any = false;
  for (const Release& release : found.value()) {
    if (!options.all && release.version != *wanted) continue;
    any = true;
    const Outcome sound = releases.verify(release);
    const std::string version = release.version.text();
    if (options.json) {
      JsonWriter json;
      json.add("version", version).add("sound", static_cast<bool>(sound));
      if (!sound) json.add("reason", sound.reason());
      print(json.line() + "\n");
    } else {
      print(version +
            (sound ? " is sound" : " is not sound: " + upgraderctl::shown(sound.reason())) + "\n");
    }
    if (!sound && outcome) outcome = sound;
  }
  if (any || options.all) return outcome;
  return Refusal{"there is no version " + wanted->text() + " in " + releases.directory(),
                 Trouble::absent};
}

Outcome desire(Releases& releases, const Options& options) {
  const Outcome done = releases.desire(options.version);
  if (done && !options.json) {
    print(options.version ? "version " + options.version->text() + " is desired\n"
                          : "the newest version is desired\n");
  }
  return done;
}

Outcome adopt(Releases& releases, const Options& options) {
  const Result<Release> adopted = releases.adopt(options.source, *options.version);
  if (!adopted) return adopted.refusal();
  if (!options.json) print(options.source + " is a link now, to " + adopted.value().path + "\n");
  return std::monostate{};
}

Outcome forget(Releases& releases, const Options& options) {
  const Outcome done = releases.forget(*options.version, std::time(nullptr));
  if (done && !options.json) {
    print("what became of version " + options.version->text() + " is forgotten\n");
  }
  return done;
}

Outcome begin_attempt(const Releases& releases, const Options& options) {
  const auto begun = begin_attempt(releases, *options.version, std::time(nullptr));
  if (!begun) return begun.refusal();
  const std::string running = options.version->text();
  const auto [id, release, left_out] = begun.value();
  if (!left_out.empty()) {
    std::fprintf(stderr, "agent-releases: left out: %s\n", upgraderctl::shown(left_out).c_str());
  }
  JsonWriter json;
  json.add("running", running);
  std::string text = "no release is to replace version " + running + "\n";
  if (release) {
    const Result<Fact> fact = fact_of(releases, *release);
    if (!fact) return fact.refusal();
    json.add("id", id).add_raw("release", json_of(fact.value()));
    text = "id          " + id + "\n" + text_of(fact.value());
  }
  if (!left_out.empty()) json.add("left_out", left_out);
  print(options.json ? json.line() + "\n" : text);
  return std::monostate{};
}

Outcome end_attempt(const Releases& releases, const Options& options) {
  const Result<Entry> ended = end_attempt(releases, options.failure, std::time(nullptr));
  if (!ended) return ended.refusal();
  if (!options.json) {
    print("upgrade " + ended.value().id + " to version " + ended.value().version.text() + ": " +
          std::string(name_of(ended.value().ending)) + "\n");
  }
  return std::monostate{};
}

Outcome remove(Releases& releases, const Options& options) {
  const Outcome done = releases.remove(*options.version);
  if (done && !options.json) print("version " + options.version->text() + " is removed\n");
  return done;
}

Outcome prune(Releases& releases, const Options& options) {
  const std::int64_t now = std::time(nullptr);
  const auto before = options.older_s ? std::optional(now - *options.older_s) : std::nullopt;
  const auto pruned = releases.prune(options.keep, before);
  if (!pruned) return pruned.refusal();
  std::string names;
  for (const Version& version : pruned.value()) {
    if (options.json) {
      names += (names.empty() ? "\"" : ",\"") + version.text() + "\"";
    } else {
      print("version " + version.text() + " is removed\n");
    }
  }
  if (options.json) print("{\"removed\":[" + names + "]}\n");
  return std::monostate{};
}

}  // namespace

int exit_status_of(Trouble trouble) {
  switch (trouble) {
    case Trouble::usage:
      return exit_usage;
    case Trouble::absent:
      return exit_absent;
    case Trouble::refused:
      return exit_refused;
    case Trouble::cut_off:
      return exit_cut_off;
    case Trouble::system:
      return exit_system;
    case Trouble::damaged:
      return exit_damaged;
  }
  return exit_system;
}

namespace {

Outcome perform_in_directory(const Options& options) {
  const bool makes = options.task == Task::add || options.task == Task::adopt;
  Result<Releases> opened = Releases::open({.directory = options.directory,
                                            .name = options.name,
                                            .keys = options.keys,
                                            .make = makes,
                                            .controls = options.controls});
  if (!opened) return opened.refusal();
  Releases& releases = opened.value();
  switch (options.task) {
    case Task::add:
      return add(releases, options);
    case Task::list:
      return list(releases, options);
    case Task::show:
      return show(releases, options);
    case Task::verify:
      return verify(releases, options);
    case Task::desire:
      return desire(releases, options);
    case Task::adopt:
      return adopt(releases, options);
    case Task::forget:
      return forget(releases, options);
    case Task::begin_attempt:
      return begin_attempt(releases, options);
    case Task::end_attempt:
      return end_attempt(releases, options);
    case Task::remove:
      return remove(releases, options);
    case Task::prune:
      return prune(releases, options);
    case Task::show_help:
    case Task::show_version:
    case Task::pack:
    case Task::check_published:
    case Task::key_make:
    case Task::key_public:
      break;
  }
  return std::monostate{};
}

}  // namespace

Outcome perform(const Options& options) {
  if (options.task == Task::pack) return perform_pack(options);
  if (options.task == Task::check_published) return perform_check(options);
  if (options.task == Task::key_make) return perform_key_make(options);
  if (options.task == Task::key_public) return perform_key_public(options);
  return perform_in_directory(options);
}

}  // namespace agent_releases
