// The command line of agent-releases, parsed and checked. commands.h performs the command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent-releases/result.h"
#include "agent-releases/version.h"
#include "tools/agent-releases/core/ledger.h"
#include "tools/agent-releases/core/moment.h"

namespace agent_releases {

enum class Task : std::uint8_t {
  show_help,
  show_version,
  add,
  list,
  show,
  verify,
  desire,
  adopt,
  forget,
  begin_attempt,
  end_attempt,
  remove,
  prune,
  pack,
  check_published,
  key_make,
  key_public,
};

// The options of the commands that publishers use: `pack` and `key`.
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

struct Options {
  Task task = Task::show_help;
  std::string directory = ".";
  std::string keys;
  std::string name;
  std::vector<std::string> controls;
  bool json = false;

  std::string source;  // add: the URL or path of the manifest; adopt: the path of the program
  std::string sha256;
  std::string cacert;
  bool unsigned_is_wanted = false;
  bool older_is_wanted = false;
  // the version that the command names; for `try`, the version of the running agent
  std::optional<Version> version;
  Failure failure;  // for `fail`: how the upgrade failed
  bool all = false;
  bool newest = false;
  std::size_t keep = 0;
  std::optional<std::int64_t> older_s;  // for prune: the value of --older, in seconds
  PublishOptions publishing;
};

[[nodiscard]] Result<Options> parse_options(int argc, const char* const* argv);
[[nodiscard]] std::string_view help_text();

// Parses an age such as "30d", "12h", "90m" or "10s" into seconds.
[[nodiscard]] std::optional<std::int64_t> parse_age(std::string_view text);

}  // namespace agent_releases
