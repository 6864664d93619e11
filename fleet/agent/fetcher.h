// Brings a release into this machine's directory of releases: fetches it, compares its manifest
// with the published one and its content with the manifest, and runs its self-test. Works in a
// thread of libuv's pool.
#pragma once

#include <uv.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "agent-releases/releases.h"
#include "fleet/model/cell_records.h"

namespace fleet {

// Returns why this URL must not be fetched, or an empty text if it may. `directories` are those
// from which `file:` URLs may be fetched; symbolic links are followed first. URLs come from the
// store, and a person who can write to the store must not be able to read this machine's files.
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
    // How long to wait for another process that writes to the directory. An operator's command may
    // write for minutes, but this wait blocks a thread of libuv's pool, which the other components
    // need. So this limit is only 10 s.
    std::chrono::milliseconds patience{10'000};
  };
  struct Order {
    std::string version = {};
    Release release = {};  // the release to fetch
    bool older_is_wanted = false;
    // The version that runs. A release older than `running` is refused unless `older_is_wanted`. If
    // the directory desires no version yet, `running` is made its desired version before the
    // release is added.
    std::string running = {};
  };
  struct Result {
    std::string error = {};       // why the release is not on disk and verified; empty if it is
    std::string executable = {};  // the path of the release's executable
  };
  using Then = std::function<void(const Result& result)>;

  Fetcher(uv_loop_t& loop, Settings settings) : loop_(loop), settings_(std::move(settings)) {}

  // Called when this process ends. After this call, no `then` is called any more. A running
  // download breaks off within seconds, and the next process continues it. The destructor does the
  // same.
  void leave() { alive_.reset(); }

  // Fetches a release, and calls `then` when the fetch has ended. Several fetches may run at once,
  // and end in any order.
  void fetch(Order order, Then then);
  // Finds a release that was fetched before, and checks that it is complete.
  void locate(Order order, Then then);
  // Makes `version` the desired version of the directory. Ignores a failure.
  void desire(
      const std::string& version, Then then = [](const Result&) {});
  // Runs the self-test of the fetched program: `executable` with `arguments` and `--self-test`.
  void test(const std::string& version, const std::string& executable,
            std::vector<std::string> arguments, Then then);

 private:
  struct Work;
  // Returns a copy of the directory's settings for a worker thread, since that thread must not use
  // this object.
  [[nodiscard]] agent_releases::Releases::Settings place(bool make = false) const;
  void run(std::function<Result()> deed, Then then);

  uv_loop_t& loop_;
  Settings settings_;
  // Reset when this object ends, so that the results of worker threads that end later are dropped.
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');
};

}  // namespace fleet
