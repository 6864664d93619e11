// Brings a release to this machine's directory, its manifest as it was published and its bytes as
// the manifest says, and runs its self-test. Works in a thread of libuv's pool.
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
    std::string directory = {};                   // of releases
    std::string name = {};                        // of the program
    std::string keys = {};                        // a directory of public keys
    std::vector<std::string> allowed_files = {};  // directories from which files are taken, too
    // How long to wait for another process that writes to the directory. An operator's command may
    // hold it for minutes, and this machine's other components wait for the same few threads.
    std::chrono::milliseconds patience{10'000};
  };
  struct Order {
    std::string version = {};
    Release release = {};  // to fetch
    bool older_is_wanted = false;
    // The version that runs. An older one is refused unless it is wanted, and a directory that does
    // not say what it desires is made to desire this one before anything is added to it.
    std::string running = {};
  };
  struct Result {
    std::string error = {};       // empty: it is there, and verified
    std::string executable = {};  // of the release
  };
  using Then = std::function<void(const Result& result)>;

  Fetcher(uv_loop_t& loop, Settings settings) : loop_(loop), settings_(std::move(settings)) {}

  // Nobody is told of anything from now on, and what is being fetched ends within seconds, so that
  // the next process goes on with it. So does the destructor.
  void leave() { alive_.reset(); }

  // Each asker is told of its own order, in the order in which they end.
  void fetch(Order order, Then then);
  // The same release as it was fetched before, and whether it is whole.
  void locate(Order order, Then then);
  // Notes in the directory what should run. Whether that could be noted moves nothing here.
  void desire(
      const std::string& version, Then then = [](const Result&) {});
  // Runs what was fetched with these arguments and `--self-test`.
  void test(const std::string& version, const std::string& executable,
            std::vector<std::string> arguments, Then then);

 private:
  struct Work;
  // The settings of the directory for a deed in a thread, which must not look at this object.
  [[nodiscard]] agent_releases::Releases::Settings place(bool make = false) const;
  void run(std::function<Result()> deed, Then then);

  uv_loop_t& loop_;
  Settings settings_;
  std::shared_ptr<char> alive_ = std::make_shared<char>('\0');  // until we end
};

}  // namespace fleet
