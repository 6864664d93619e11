// Brings a release into this machine's directory of releases. Fetches the release, compares its
// manifest with the published manifest and its content with the manifest, and runs its self-test.
// All this is done in threads of libuv's pool, so the event loop does not block.
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

// Returns why this URL must not be fetched, or an empty string if it may be fetched. A `file:` URL
// may be fetched only from one of these directories, after symbolic links have been resolved.
// Otherwise a person who can write URLs to the store could read any file of this machine.
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
    // How long to wait while another process writes to the directory. An operator's command may
    // write for minutes. But the limit is only 10 s, since the wait occupies a thread of libuv's
    // pool, which the other components need.
    std::chrono::milliseconds patience{10'000};
    // How many releases of the component stay on disk, including the fetched one. More releases
    // stay if more are needed, such as the running one and the one that an undo would bring back.
    // If `keep` is 0, no release is removed.
    std::size_t keep = 0;
    // The control directories in which the component's upgrader writes its status. A release that
    // one of these statuses names is not removed. If one of the statuses cannot be read, no release
    // is removed.
    std::vector<std::string> controls = {};
  };
  struct Order {
    std::string version = {};
    Release release = {};  // the release to fetch
    bool older_is_wanted = false;
    // The version that runs. A release older than `running` is refused unless `older_is_wanted` is
    // true. If the directory has no desired version yet, `running` becomes the desired version
    // before the release is added.
    std::string running = {};
    // The version that an undo would bring back, or empty. This release is not removed.
    std::string before = {};
  };
  struct Result {
    std::string error = {};       // why the request failed; empty after a success
    std::string executable = {};  // the path of the release's executable
  };
  using Then = std::function<void(const Result& result)>;

  Fetcher(uv_loop_t& loop, Settings settings) : loop_(loop), settings_(std::move(settings)) {}

  // Abandons all work, since this process ends: no callback `then` is called any more. A running
  // download is aborted within seconds; the next process of fleet-agent continues it. The
  // destructor does the same.
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
  // Returns the settings of the directory as a copy, since a worker thread must not use this
  // object.
  [[nodiscard]] agent_releases::Releases::Settings place(bool make = false) const;
  void run(std::function<Result()> deed, Then then);

  uv_loop_t& loop_;
  Settings settings_;
  // The work in each worker thread holds a weak pointer to `alive_`, which expires after leave() or
  // when this object is destroyed. The result of such work is then dropped.
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet
