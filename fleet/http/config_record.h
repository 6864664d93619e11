// What a person has written, as the record that comes to stand in the store: checked, and with what
// the person need not say. Pure.
#pragma once

#include <string>

#include "base/result.h"
#include "fleet/http/config.h"
#include "fleet/model/record_tree.h"

namespace fleet {

// The keys that a record of this kind depends on: of a wish, its release.
[[nodiscard]] std::vector<std::string> config_needs(const ParsedKey& key, const JsonTree& body);

struct ConfigWritten {
  std::string record = {};
  std::vector<Compare> compares = {};  // that what it depends on is still there
};

// `body` is the whole record, `before` what stood there (null: nothing).
[[nodiscard]] agent_protocol::Result<ConfigWritten> config_written(
    const ParsedKey& key, const JsonTree& body, const JsonTree& before, const std::string& who,
    const Reading& reading, const ConfigMoment& moment);

}  // namespace fleet
