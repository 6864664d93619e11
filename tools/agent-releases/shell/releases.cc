// The functions of the class Releases that need neither a network nor an archive.
#include "agent-releases/releases.h"

#include <algorithm>
#include <utility>

#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/shell/ledger_file.h"
#include "tools/agent-releases/shell/store.h"
#include "tools/agent-releases/shell/verification.h"

namespace agent_releases {
namespace {

Outcome write_desired(const Store& store, const Version& version, bool only_if_absent) {
  const std::string name{desired_name};
  const Result<Writing> writing = store.begin_writing();
  if (!writing) return writing.refusal();
  const Directory& directory = store.directory();
  if (only_if_absent) {
    const auto there = directory.status(name);
    if (!there) return there.refusal();
    if (there.value()) return std::monostate{};
  }
  const Directory& staging = writing.value().staging;
  if (const Outcome written = staging.write(name, version.text() + "\n"); !written) return written;
  if (const Outcome moved = staging.rename(name, directory, name); !moved) return moved;
  return directory.sync();
}

}  // namespace

Result<Releases> Releases::open(const Settings& settings) {
  Result<std::shared_ptr<Store>> store = Store::open(settings);
  if (!store) return store.refusal();
  return Releases(std::move(store.value()));
}

const std::string& Releases::directory() const {
  return store_->directory().path();
}

const std::string& Releases::name() const {
  return store_->name();
}

Result<std::vector<Release>> Releases::list() const {
  return store_->list();
}

Result<Release> Releases::find(const Version& version) const {
  auto release = store_->find(version);
  if (!release) return release.refusal();
  if (release.value()) return std::move(*release.value());
  return Refusal{"there is no version " + version.text() + " in " + directory(), Trouble::absent};
}

std::optional<Version> Releases::desired() const {
  const auto wish = store_->wish();
  return wish ? wish->version : std::nullopt;
}

std::optional<Version> Releases::current() const {
  const auto version = store_->version_of_link(current_name);
  return version ? version.value() : std::nullopt;
}

std::optional<Version> Releases::previous() const {
  const auto version = store_->version_of_link(previous_name);
  return version ? version.value() : std::nullopt;
}

// Writes the desired version into the file `desired`, or removes the file if `version` is absent.
// Writes the file even if the version stays the same: the operator then asks for this version once
// more, even if an upgrade to it has failed.
Outcome Releases::desire(const std::optional<Version>& version) {
  if (version) {
    if (const Result<Release> there = find(*version); !there) return there.refusal();
    return write_desired(*store_, *version, false);
  }
  const Result<Writing> writing = store_->begin_writing();
  if (!writing) return writing.refusal();
  const Directory& directory = store_->directory();
  if (const Outcome gone = directory.remove(std::string(desired_name)); !gone) return gone;
  return directory.sync();
}

Outcome Releases::hold(const Version& running) {
  return write_desired(*store_, running, true);
}

Outcome Releases::forget(const Version& version, std::int64_t now) {
  const auto ledger = read_ledger(store_->directory());
  if (!ledger) return ledger.refusal();
  const bool known = std::ranges::any_of(
      ledger.value(), [&](const Entry& entry) { return entry.version == version; });
  if (!known) {
    return Refusal{
        "version " + version.text() + " has never been tried: there is nothing to forget",
        Trouble::absent};
  }
  Entry entry;
  entry.when = now;
  entry.version = version;
  entry.ending = Ending::forgotten;
  return append_to_ledger(store_->directory(), entry, store_->patience());
}

Outcome Releases::verify(const Release& release) const {
  const Result<std::string> verified = verify_whole(*store_, release);
  if (!verified) return verified.refusal();
  return std::monostate{};
}

}  // namespace agent_releases
