// Brings a release into this machine's directory of releases: fetches it, compares its manifest
// with the published one and its content with the manifest, and runs its self-test. Threads of
// libuv's pool do this work, so the event loop does not block.
#pragma once

#include <uv.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent-releases/releases.h"
#include "fleet/model/records/cell_records.h"

namespace fleet {

// Returns why this URL must not be fetched, or an empty string. A `file:` URL may lead only below
// one of these directories, with symbolic links resolved. Otherwise a person who can write URLs
// into the store could read any file of this machine.
[[nodiscard]] std::string why_not_allowed(const std::vector<std::string>& directories,
                                          const std::string& url);

class Fetcher {
 public:
  struct Settings {
    std::string directory = {};  // the path of the directory into which releases are fetched
    std::string name = {};       // the program's name in manifests
    std::string keys = {};       // a directory with the public keys of trusted publishers
    // The directories from which `file:` URLs may be fetched.
    std::vector<std::string> allowed_files = {};
    // How long to wait if another process is writing to the directory, as an operator's command may
    // do for minutes. The wait occupies a thread of libuv's pool, which other components need, so
    // it is short.
    std::chrono::milliseconds patience{10'000};
    // How many releases of the component stay on disk, including the new one. Releases that are
    // still needed stay in any case. With 0, all releases stay.
    std::size_t keep = 0;
    // The control directories with the status files of the component's upgrader. A release that a
    // status file names is not removed. If a status file cannot be read, no release is removed.
    std::vector<std::string> controls = {};
  };
  struct Order {
    std::string version = {};
    Release release = {};  // the release to fetch
    bool older_is_wanted = false;
    // The version that runs. A release older than this is refused unless `older_is_wanted` is true.
    // If the directory has no desired version yet, this version becomes the desired one.
    std::string running = {};
    // the version to which an undo would return, which is not removed; may be empty
    std::string before = {};
  };
  struct Result {
    std::string error = {};       // why the request failed; empty after a success
    std::string executable = {};  // the path of the release's executable
  };
  using Then = std::function<void(const Result& result)>;

  Fetcher(uv_loop_t& loop, Settings settings) : loop_(loop), settings_(std::move(settings)) {}

  // Drops all work, since this process ends: no `then` is called any more. A download aborts within
  // seconds, and the next process of fleet-agent continues it. The destructor does the same.
  void leave() { alive_.reset(); }

  // Fetches a release, and calls `then` when the fetch has ended. Several fetches may run at the
  // same time, and may end in any order.
  void fetch(Order order, Then then);
  // Finds a release that was fetched earlier, checks its content against the manifest, and calls
  // `then`.
  void locate(Order order, Then then);
  // Makes `version` the desired version of the directory of releases. Ignores a failure.
  void desire(
      const std::string& version, Then then = [](const Result&) {});
  // Runs the self-test of the fetched program: `executable` with `arguments` and `--self-test`.
  void test(const std::string& version, const std::string& executable,
            std::vector<std::string> arguments, Then then);

 private:
  struct Work;
  // Returns a copy of the settings, since a worker thread must not use this object.
  [[nodiscard]] agent_releases::Releases::Settings place(bool make = false) const;
  void run(std::function<Result()> deed, Then then);

  uv_loop_t& loop_;
  Settings settings_;
  // Worker threads hold weak pointers to this. When it is gone, after leave() or in the destructor,
  // their results are dropped.
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet
