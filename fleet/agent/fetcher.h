// Brings a release to this machine's directory, its manifest as it was published and its bytes as
// the manifest says, and runs its self-test. Works in a thread of libuv's pool.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/cell_records.h"

namespace fleet {

class Fetcher {
 public:
  struct Settings {
    std::string directory = {};  // of releases
    std::string name = {};       // of the program
    std::string keys = {};       // a directory of public keys
  };
  struct Order {
    std::string version = {};
    Release release = {};
    bool older_is_wanted = false;
    std::string running = {};  // stays what the directory desires until the new one is committed
  };
  struct Result {
    std::string error = {};       // empty: it is there, and verified
    std::string executable = {};  // of the release
  };
  using Then = std::function<void(const Result& result)>;

  Fetcher(uv_loop_t& loop, Settings settings) : loop_(loop), settings_(std::move(settings)) {}

  // Whatever was ordered before is finished, and not told.
  void fetch(Order order, Then then);
  // What was fetched before, and whether it is whole.
  void locate(const std::string& version, Then then);
  // Notes in the directory what should run. Whether that could be noted moves nothing here.
  void desire(const std::string& version);
  // Runs what was fetched with these arguments and `--self-test`.
  void test(const std::string& version, const std::string& executable,
            std::vector<std::string> arguments, Then then);

 private:
  struct Work;
  void run(std::function<Result()> deed, Then then);

  uv_loop_t& loop_;
  Settings settings_;
  std::shared_ptr<Then> last_;
};

}  // namespace fleet
