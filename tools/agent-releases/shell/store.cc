#include "tools/agent-releases/shell/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <thread>
#include <utility>

#include "tools/agent-releases/core/names.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/trust.h"

namespace agent_releases {
namespace {

constexpr std::size_t small_file_bytes_max = 4'096;
constexpr std::chrono::milliseconds claim_pause{100};

Outcome make_directory(const std::string& path) {
  const Result<bool> made = make_reachable(path);
  if (!made) return made.refusal();
  if (!made.value()) return std::monostate{};
  const std::size_t slash = path.find_last_of('/');
  const auto parent = Directory::open(slash == std::string::npos ? "."
                                      : slash == 0               ? "/"
                                                                 : path.substr(0, slash));
  if (!parent) return parent.refusal();
  return parent.value().sync();
}

std::string first_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r'))
    line.pop_back();
  return line;
}

// Returns an identifier for the current state of a file. The identifier changes when the file is
// written or replaced.
std::string writing_of(const struct stat& status) {
  return std::to_string(status.st_ino) + "-" + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec) + "-" + std::to_string(status.st_size);
}

}  // namespace

Store::Store(Releases::Settings settings, Directory directory)
    : settings_(std::move(settings)), directory_(std::move(directory)) {}

Result<std::shared_ptr<Store>> Store::open(const Releases::Settings& settings) {
  std::string path = settings.directory;
  while (path.size() > 1 && path.ends_with('/'))
    path.pop_back();
  if (settings.make && !settings.name.empty()) {
    if (const Outcome made = make_directory(path); !made) return made.refusal();
  }
  const auto real = real_path(path);
  if (!real) {
    Refusal refusal = refusal_from_errno("find the directory", path);
    if (settings.make) refusal.reason += "; it is made where --name says what it is for";
    return refusal;
  }
  Result<Directory> directory = Directory::open(*real);
  if (!directory) return directory.refusal();
  struct stat status {};
  if (::fstat(directory.value().descriptor(), &status) != 0)
    return refusal_from_errno("read", path);
  if (const Outcome trusted = check_caller(status, *real); !trusted) return trusted.refusal();
  if (const Outcome trusted = check_parents(*real); !trusted) return trusted.refusal();
  auto store = std::shared_ptr<Store>(new Store(settings, std::move(directory.value())));
  if (const Outcome learnt = store->learn_name(); !learnt) return learnt.refusal();
  return store;
}

Outcome Store::learn_name() {
  const auto text = directory_.read(std::string(name_name), small_file_bytes_max);
  if (!text) return text.refusal();
  name_is_written_ = text.value().has_value();
  name_ = name_is_written_ ? first_line(*text.value()) : settings_.name;
  if (name_.empty() && !name_is_written_) {
    return Refusal{directory_.path() + " does not say what it is for: --name is needed",
                   Trouble::usage};
  }
  if (const Outcome sound = check_name(name_); !sound) {
    return Refusal{"`" + name_ + "`: " + sound.reason(), Trouble::usage};
  }
  if (!settings_.name.empty() && settings_.name != name_) {
    return Refusal{directory_.path() + " is for releases of " + name_ + ", and not of " +
                   settings_.name};
  }
  return std::monostate{};
}

Result<std::vector<PublicKey>> Store::read_keys_again() const {
  return read_keys(settings_.keys);
}

std::string Store::name_of(const Version& version) const {
  return release_name(name_, version);
}

Result<std::optional<std::string>> Store::manifest_text(const Version& version) const {
  return directory_.read(name_of(version) + std::string(manifest_ending), manifest_bytes_max);
}

Result<std::optional<Release>> Store::find(const Version& version) const {
  const std::string name = name_of(version);
  const auto found = directory_.status(name);
  if (!found) return found.refusal();
  if (!found.value()) return std::optional<Release>{};
  const struct stat& status = *found.value();
  Release release{.version = version, .path = directory_.path_of(name)};
  release.executable = release.path;
  release.is_directory = S_ISDIR(status.st_mode);
  release.bytes = status.st_blocks * disk_block_bytes;
  release.added = status.st_ctim.tv_sec;
  release.writing = writing_of(status);
  const bool is_program = S_ISREG(status.st_mode) && (status.st_mode & executable_bits) != 0;
  if (!release.is_directory && !is_program) return std::optional<Release>{};

  const auto text = manifest_text(version);
  const bool has_manifest = text && text.value();
  const auto manifest = has_manifest ? parse_manifest(*text.value()) : Result<Manifest>(Refusal{});
  const bool fits = manifest && manifest.value().version == version &&
                    (manifest.value().kind == Kind::tar) == release.is_directory;
  // If a release is a directory, only its manifest says which file in the directory is the program.
  // So a directory is a release only if it has a manifest with the same version and with the kind
  // `tar`.
  if (release.is_directory && !fits) return std::optional<Release>{};
  if (!fits) return std::optional(std::move(release));
  for (const std::string_view ending : {manifest_ending, signature_ending}) {
    const auto beside = directory_.status(name + std::string(ending));
    if (beside && beside.value()) release.writing += " " + writing_of(*beside.value());
  }
  release.sha256 = manifest.value().sha256;
  release.version.build = manifest.value().version.build;
  if (!release.is_directory) return std::optional(std::move(release));
  release.executable += "/" + manifest.value().entry;
  // For a directory, `bytes` is the size of its archive. The size of the unpacked files is not
  // recorded.
  release.bytes = manifest.value().size;
  return std::optional(std::move(release));
}

Result<std::vector<Release>> Store::list() const {
  const Result<std::vector<std::string>> names = directory_.names();
  if (!names) return names.refusal();
  std::vector<Release> releases;
  for (const std::string& name : names.value()) {
    const auto known = recognise(name, name_);
    if (!known || known->kind != Known::Kind::release) continue;
    auto release = find(known->version);
    if (!release) return release.refusal();
    if (release.value()) releases.push_back(std::move(*release.value()));
  }
  std::ranges::sort(releases, std::ranges::less{}, &Release::version);
  return releases;
}

Result<std::optional<Manifest>> Store::trusted_manifest(const Version& version) const {
  const std::string name = name_of(version) + std::string(manifest_ending);
  const auto text = manifest_text(version);
  if (!text) return text.refusal();
  if (!text.value()) {
    if (!has_keys()) return std::optional<Manifest>{};
    return Refusal{directory_.path_of(name) + " is missing, so nobody has signed this release"};
  }
  if (has_keys()) {
    const Result<std::vector<PublicKey>> trusted = keys();
    if (!trusted) return trusted.refusal();
    const auto signature =
        directory_.read(name_of(version) + std::string(signature_ending), signature_bytes_max);
    if (!signature) return signature.refusal();
    if (!signature.value()) return Refusal{directory_.path_of(name) + " is not signed"};
    const auto good = verify_signature(*text.value(), *signature.value(), trusted.value());
    if (!good) return Refusal{directory_.path_of(name) + ": " + good.reason()};
  }
  Result<Manifest> manifest = parse_manifest(*text.value());
  if (!manifest) return Refusal{directory_.path_of(name) + ": " + manifest.reason()};
  if (manifest.value().version != version || manifest.value().name != name_) {
    return Refusal{directory_.path_of(name) + " is the manifest of another release"};
  }
  return std::optional(std::move(manifest.value()));
}

std::optional<Wish> Store::wish() const {
  const std::string name{desired_name};
  const Wish unreadable{.version = std::nullopt, .writing = "unreadable"};
  const auto text = directory_.read(name, small_file_bytes_max);
  if (!text) return unreadable;
  if (!text.value()) return std::nullopt;
  const auto status = directory_.status(name);
  if (!status || !status.value()) return unreadable;
  return Wish{.version = Version::parse(first_line(*text.value())),
              .writing = writing_of(*status.value())};
}

Result<std::optional<Version>> Store::version_of_link(std::string_view name) const {
  const std::string path = directory_.path_of(name);
  const auto real = real_path(path);
  const bool leads_nowhere = !real && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
  if (!real && !leads_nowhere) return refusal_from_errno("follow", path);
  const std::string below = directory_.path_of("");
  if (!real || !real->starts_with(below)) return std::optional<Version>{};
  const std::string rest = real->substr(below.size());
  const auto known = recognise(rest.substr(0, rest.find('/')), name_);
  if (!known || known->kind != Known::Kind::release) return std::optional<Version>{};
  return std::optional(known->version);
}

Result<Writing> Store::begin_writing(const std::string& wanted) const {
  Result<upgrader::OwnedFd> lock = wait_for_lock(directory_, std::string(lock_name), patience());
  if (!lock) return lock.refusal();
  const std::string staging_path{staging_name};
  if (const Outcome made = directory_.make_directory(staging_path, 0700); !made) {
    return made.refusal();
  }
  Result<Directory> staging = directory_.subdirectory(staging_path);
  if (!staging) return staging.refusal();
  if (const Outcome cleaned = clean(staging.value(), wanted); !cleaned) return cleaned.refusal();
  if (const Outcome named = write_name(staging.value()); !named) return named.refusal();
  return Writing{std::move(lock.value()), std::move(staging.value())};
}

bool Store::is_claimed(const Directory& staging, const Version& version) const {
  return is_locked(staging, claim_name(name_, version));
}

// Claims a release's file names in .staging: locks a file that belongs to these names, for as long
// as this process makes the release. Takes the directory's writer lock for a moment, so that no
// other process removes files of the release at the same time.
Result<Claim> Store::claim(const Version& version, const std::string& wanted) const {
  const std::string name = claim_name(name_, version);
  const auto deadline = std::chrono::steady_clock::now() + settings_.patience;
  while (true) {
    Result<Writing> writing = begin_writing(wanted);
    if (!writing) return writing.refusal();
    Directory& staging = writing.value().staging;
    auto lock = try_lock(staging, name);
    if (!lock) return lock.refusal();
    if (lock.value()) return Claim{std::move(staging), std::move(*lock.value())};
    if (is_cancelled(patience())) return cancelled_refusal();
    if (std::chrono::steady_clock::now() >= deadline) {
      return Refusal{"another process is adding version " + version.text(), Trouble::system};
    }
    writing.value().lock = upgrader::OwnedFd();
    std::this_thread::sleep_for(claim_pause);
  }
}

void Store::end_claim(Claim claim, const Version& version) const {
  static_cast<void>(claim.staging.remove(claim_name(name_, version)));
}

Outcome Store::clean(const Directory& staging, const std::string& wanted) const {
  const auto entries = directory_.names();
  if (!entries) return entries.refusal();
  for (const std::string& name : orphans(entries.value(), name_)) {
    if (const Outcome gone = directory_.remove(name); !gone) return gone;
  }
  const auto staged = staging.names();
  if (!staged) return staged.refusal();
  for (const std::string& name : leavings(staged.value(), wanted)) {
    const auto known = recognise(name, name_);
    if (known ? is_claimed(staging, known->version) : is_locked(staging, name)) continue;
    if (const Outcome gone = staging.remove(name); !gone) return gone;
  }
  return std::monostate{};
}

Outcome Store::write_name(const Directory& staging) const {
  if (name_is_written_) return std::monostate{};
  if (const auto text = directory_.read(std::string(name_name), small_file_bytes_max);
      text && text.value()) {
    if (first_line(*text.value()) == name_) return std::monostate{};
    return Refusal{directory_.path() + " is for releases of " + first_line(*text.value())};
  }
  if (const Outcome written = staging.write("name", name_ + "\n"); !written) return written;
  const Outcome moved = staging.rename("name", directory_, std::string(name_name));
  if (!moved) return moved;
  return directory_.sync();
}

}  // namespace agent_releases
