#include "fleet/agent/fetcher.h"

#include <poll.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <utility>

#include "agent-releases/manifest.h"
#include "agent-releases/processor.h"
#include "agent-releases/self_test.h"
#include "base/check.h"
#include "fleet/common/text_file.h"

namespace fleet {
namespace {

using Place = agent_releases::Releases::Settings;

const ReleaseManifest* manifest_for_this_processor(const Release& release) {
  for (const ReleaseManifest& manifest : release.manifests) {
    if (agent_releases::is_for_this_processor(manifest.arch)) return &manifest;
  }
  return nullptr;
}

// Returns an error if the fetched manifest differs from the published one, or an empty string if
// they are equal. They differ if somebody has replaced the file at the URL.
std::string why_not_published(const agent_releases::Release& added,
                              const ReleaseManifest& published) {
  const std::string path = added.path + std::string(agent_releases::manifest_ending);
  if (content_of_file(path) == published.manifest) return "";
  return "the manifest at " + published.url + " is not the one that was published";
}

// The time limit for a self-test. A self-test that takes longer has failed.
constexpr int self_test_ms_max = 10'000;

Fetcher::Result refused(const std::string& why) {
  return {.error = why};
}

// Returns an error if the ordered version is older than the running one and the order forbids this,
// or an empty string. If the running version cannot be parsed, accepts any version.
std::string why_too_old(const Fetcher::Order& order, const agent_releases::Version& version) {
  const auto running = agent_releases::Version::parse(order.running);
  if (!running || order.older_is_wanted || !(version < *running)) return "";
  return order.version + " is older than " + order.running +
         ", which runs here: going down needs --downgrade";
}

bool is_from_a_server(const std::string& url) {
  return url.starts_with("https://") || url.starts_with("http://");
}

bool is_below(const std::filesystem::path& file, const std::string& directory) {
  std::error_code error;
  const auto allowed = std::filesystem::weakly_canonical(directory, error);
  if (error || !allowed.is_absolute()) return false;
  return std::mismatch(allowed.begin(), allowed.end(), file.begin(), file.end()).first ==
         allowed.end();
}

// Marks this version as the desired one in the directory of releases, if the directory contains it.
// Programs that upgrade themselves to the desired version then stay at this version.
void desire_now(const Place& place, const std::string& version) {
  const auto parsed = agent_releases::Version::parse(version);
  auto releases = agent_releases::Releases::open(place);
  if (!parsed || !releases || !releases.value().find(*parsed)) return;
  static_cast<void>(releases.value().desire(*parsed));
}

// Removes the oldest releases, to make room for the ordered one: at most `keep` releases then stay.
// Never removes the running release, or the one to which an undo would return. Removes none if the
// running version is not known. Ignores failures: too many releases do no harm.
void remove_oldest(agent_releases::Releases& releases, const Fetcher::Order& order,
                   const agent_releases::Version& ordered, std::size_t keep) {
  const auto running = agent_releases::Version::parse(order.running);
  if (keep == 0 || !running) return;
  std::vector<agent_releases::Version> spared{ordered, *running};
  if (const auto before = agent_releases::Version::parse(order.before)) spared.push_back(*before);
  const bool is_there = static_cast<bool>(releases.find(ordered));
  static_cast<void>(releases.make_room(is_there ? keep : keep - 1, spared));
}

Fetcher::Result fetch_now(const Fetcher::Settings& settings, const Place& place,
                          const Fetcher::Order& order) {
  const auto version = agent_releases::Version::parse(order.version);
  if (!version) return refused(order.version + " is no version");
  const ReleaseManifest* manifest = manifest_for_this_processor(order.release);
  if (manifest == nullptr) {
    return refused(order.version + " has no manifest for " +
                   std::string(agent_releases::processor_built_for()));
  }
  if (auto why = why_too_old(order, *version); !why.empty()) return refused(why);
  if (auto why = why_not_allowed(settings.allowed_files, manifest->url); !why.empty())
    return refused(why);
  auto releases = agent_releases::Releases::open(place);
  if (!releases) return refused(releases.reason());
  // If the directory has no desired version, programs that follow it upgrade themselves to the
  // newest release. So mark the running version as the desired one before a newer release is added.
  if (const auto running = agent_releases::Version::parse(order.running)) {
    if (const auto held = releases.value().hold(*running); !held) return refused(held.reason());
  }
  remove_oldest(releases.value(), order, *version, settings.keep);
  const auto added = releases.value().add({.source = manifest->url,
                                           .allow_files = !is_from_a_server(manifest->url),
                                           .older_is_wanted = order.older_is_wanted,
                                           .running = agent_releases::Version::parse(order.running),
                                           .now = static_cast<std::int64_t>(std::time(nullptr))});
  if (!added) return refused(added.reason());
  const agent_releases::Release& release = added.value().release;
  if (release.version != *version) return refused(manifest->url + " is " + release.version.text());
  if (auto why = why_not_published(release, *manifest); !why.empty()) return refused(why);
  if (const auto whole = releases.value().verify(release); !whole) return refused(whole.reason());
  return {.executable = release.executable};
}

Fetcher::Result locate_now(const Place& place, const Fetcher::Order& order) {
  const auto parsed = agent_releases::Version::parse(order.version);
  if (!parsed) return refused(order.version + " is no version");
  if (auto why = why_too_old(order, *parsed); !why.empty()) return refused(why);
  auto releases = agent_releases::Releases::open(place);
  if (!releases) return refused(releases.reason());
  const auto release = releases.value().find(*parsed);
  if (!release) return refused(release.reason());
  if (const auto whole = releases.value().verify(release.value()); !whole)
    return refused(whole.reason());
  return {.executable = release.value().executable};
}

Fetcher::Result test_now(const std::string& version, const std::string& executable,
                         const std::vector<std::string>& arguments) {
  using Test = agent_releases::SelfTest;
  const auto wanted = agent_releases::Version::parse(version);
  if (!wanted) return refused(version + " is no version");
  Test test(executable, arguments, *wanted);
  auto verdict = test.verdict();
  if (!verdict && test.exit_descriptor() >= 0) {
    pollfd exits{test.exit_descriptor(), POLLIN, 0};
    if (poll(&exits, 1, self_test_ms_max) == 0) test.kill("it took too long");
    poll(&exits, 1, self_test_ms_max);
    verdict = test.verdict();
  }
  if (verdict == Test::Verdict::passed) return {.executable = executable};
  return refused("its self-test failed: " + test.failure());
}

}  // namespace

std::string why_not_allowed(const std::vector<std::string>& directories, const std::string& url) {
  if (is_from_a_server(url)) return "";
  const std::string scheme = "file://";
  std::error_code error;
  const auto file = std::filesystem::weakly_canonical(
      url.starts_with(scheme) ? url.substr(scheme.size()) : url, error);
  const auto has_file = [&file](const std::string& directory) { return is_below(file, directory); };
  if (!error && std::any_of(directories.begin(), directories.end(), has_file)) return "";
  return "neither http nor https, nor a file below what --allow-file names: " + url;
}

struct Fetcher::Work {
  uv_work_t request{};
  std::function<Result()> deed;
  Then then;
  std::weak_ptr<char> alive;
  Result result = {};
};

agent_releases::Releases::Settings Fetcher::place(bool make) const {
  return {.directory = settings_.directory,
          .name = settings_.name,
          .keys = settings_.keys,
          .make = make,
          .controls = settings_.controls,
          .patience = settings_.patience,
          .cancelled = [alive = std::weak_ptr<char>(alive_)] { return alive.expired(); }};
}

void Fetcher::fetch(Order order, Then then) {
  run([settings = settings_, place = place(true),
       order = std::move(order)] { return fetch_now(settings, place, order); },
      std::move(then));
}

void Fetcher::locate(Order order, Then then) {
  run([place = place(), order = std::move(order)] { return locate_now(place, order); },
      std::move(then));
}

void Fetcher::desire(const std::string& version, Then then) {
  run(
      [place = place(), version] {
        desire_now(place, version);
        return Result();
      },
      std::move(then));
}

void Fetcher::test(const std::string& version, const std::string& executable,
                   std::vector<std::string> arguments, Then then) {
  run([version, executable,
       arguments = std::move(arguments)] { return test_now(version, executable, arguments); },
      std::move(then));
}

void Fetcher::run(std::function<Result()> deed, Then then) {
  auto work = std::make_unique<Work>();
  work->deed = std::move(deed);
  work->then = std::move(then);
  work->alive = alive_;
  work->request.data = work.get();
  const auto perform = [](uv_work_t* request) {
    Work& mine = *static_cast<Work*>(request->data);
    mine.result = mine.deed();
  };
  const auto ended = [](uv_work_t* request, int /*status*/) {
    const std::unique_ptr<Work> mine(static_cast<Work*>(request->data));
    if (!mine->alive.expired()) mine->then(mine->result);
  };
  UPGRADER_CHECK(uv_queue_work(&loop_, &work->request, perform, ended) == 0);
  work.release();
}

}  // namespace fleet
