// Brings a release into this machine's directory of releases, with its manifest as it was published
// and its bytes as the manifest says, and runs its self-test. Works in a thread of libuv's pool.
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

class Fetcher {
 public:
  struct Settings {
    std::string directory = {};  // the directory of releases
    std::string name = {};       // the program's name in manifests
    std::string keys = {};       // a directory with public keys
    // The directories from which `file:` URLs may be fetched.
    std::vector<std::string> allowed_files = {};
    // The time to wait for another process that writes to the directory. An operator's command may
    // hold it for minutes, while this machine's other components wait for the same few threads.
    std::chrono::milliseconds patience{10'000};
  };
  struct Order {
    std::string version = {};
    Release release = {};  // the release to fetch
    bool older_is_wanted = false;
    // The version that runs. An older release is refused unless `older_is_wanted`. A directory that
    // desires no version is made to desire this one before a release is added to it.
    std::string running = {};
  };
  struct Result {
    std::string error = {};       // empty if the release is there and verified
    std::string executable = {};  // the path of the release's executable
  };
  using Then = std::function<void(const Result& result)>;

  Fetcher(uv_loop_t& loop, Settings settings) : loop_(loop), settings_(std::move(settings)) {}

  // Drops all later answers. A download that is under way ends within seconds, and the
  // next process goes on with it. The destructor does the same.
  void leave() { alive_.reset(); }

  // Fetches a release. `then` is called when this order has ended; orders may end in another order
  // than they were given.
  void fetch(Order order, Then then);
  // Finds a release that was fetched before, and checks that it is complete.
  void locate(Order order, Then then);
  // Notes in the directory the version that should run. A failure changes nothing here.
  void desire(
      const std::string& version, Then then = [](const Result&) {});
  // Runs the fetched program with these arguments and `--self-test`.
  void test(const std::string& version, const std::string& executable,
            std::vector<std::string> arguments, Then then);

 private:
  struct Work;
  // Returns the settings of the directory for work in another thread, which must not use this
  // object.
  [[nodiscard]] agent_releases::Releases::Settings place(bool make = false) const;
  void run(std::function<Result()> deed, Then then);

  uv_loop_t& loop_;
  Settings settings_;
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');  // reset when this object ends
};

}  // namespace fleet
