// Reads a file that is named by a file: URL. Accepts only regular files, while libcurl would also
// open a FIFO, and wait for ever for a writer.
#pragma once

#include <optional>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/fetch.h"

namespace agent_releases {

// Returns the path in a file: URL, or nothing if the URL is of another kind.
[[nodiscard]] std::optional<std::string> path_of_url(const std::string& url);

// Reads the file from the byte request.from on, and passes the bytes to request.take. Passes on no
// more bytes than the request expects.
[[nodiscard]] Result<Fetcher::Fetched> fetch_file(const std::string& path,
                                                  const Fetcher::Request& request,
                                                  const std::function<bool()>& cancelled);

}  // namespace agent_releases
