// The part of the command line that a publisher uses: `pack` and `key`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/core/moment.h"

namespace CLI {
class App;
}

namespace agent_releases {

struct Options;

struct PublishOptions {
  std::string source;  // of pack; the secret key's file of `key`
  std::string out = ".";
  std::string arch;
  std::string entry;
  std::int64_t min_protocol = 1;
  std::optional<Moment> expires;
  std::string secret_key;  // of --sign
  std::string public_key;
  bool npm = false;
  bool wheels = false;
  bool scripts = false;  // the packages' own may be run
  std::string check;     // of pack: the directory of what is published
  bool no_password = false;
};

// The words that CLI11 leaves as they were typed, for check_publishing().
struct PublishWords {
  std::string version;
  std::string expires;
};

struct PublishCommands {
  CLI::App* pack;
  CLI::App* key_make;
  CLI::App* key_public;
};

[[nodiscard]] PublishCommands declare_publishing(CLI::App& app, PublishOptions& options,
                                                 PublishWords& words);

// Checks what was typed, and fills in what follows from it.
[[nodiscard]] Outcome check_publishing(Options& options, const PublishWords& words);

}  // namespace agent_releases
