// Finds the version of a program in its path, if nobody has given the version.
#pragma once

#include <string>
#include <string_view>

namespace agentify {

// Returns "1.2.3" for the release NAME-v1.2.3 or a file in it, "v1" for /srv/d/v1/run, and "15" for
// /usr/lib/d/15/bin/d. Returns an empty text if no name in the path looks like a version.
[[nodiscard]] std::string release_name(std::string_view path);

}  // namespace agentify
