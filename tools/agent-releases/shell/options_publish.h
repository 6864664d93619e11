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
  std::string source;  // pack: the file or directory to pack; key: the file of the secret key
  std::string out = ".";
  std::string arch;
  std::string entry;
  std::int64_t min_protocol = 1;
  std::optional<Moment> expires;
  std::string secret_key;  // the path in --sign: the file of the secret key
  std::string public_key;
  bool no_undo = false;
  bool npm = false;
  bool wheels = false;
  bool scripts = false;  // packages may run their install scripts
  std::string check;     // --check of pack: a directory of published files
  bool no_password = false;
};

// The texts of those options that CLI11 does not parse. check_publishing() parses them.
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

// Checks the options together, and derives the remaining members from them.
[[nodiscard]] Outcome check_publishing(Options& options, const PublishWords& words);

}  // namespace agent_releases
