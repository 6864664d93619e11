// The part of the command line that publishers use: the commands `pack` and `key`.
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
  bool scripts = false;  // run the install scripts of packages
  std::string check;     // for `pack --check`: a directory of published files
  bool no_password = false;
};

// The texts of those options that CLI11 does not parse itself. check_publishing() parses them.
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

// Checks that the options fit each other, and parses the texts in `words`.
[[nodiscard]] Outcome check_publishing(Options& options, const PublishWords& words);

}  // namespace agent_releases
