// Which release a program is, by its path, where nobody has said its version.
#pragma once

#include <string>
#include <string_view>

namespace agentify {

// "1.2.3" of NAME-v1.2.3, or of a file in it; "v1" of /srv/d/v1/run, whatever that directory is
// called; "15" of /usr/lib/d/15/bin/d. Empty where no name of the path looks like a version.
[[nodiscard]] std::string release_name(std::string_view path);

}  // namespace agentify
