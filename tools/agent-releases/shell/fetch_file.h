// Reads the file of a file: URL. Only regular files are read: libcurl would open a FIFO, and wait
// for ever for a writer.
#pragma once

#include <optional>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/fetch.h"

namespace agent_releases {

// Returns the path of a file: URL, or nothing for another kind of URL.
[[nodiscard]] std::optional<std::string> path_of_url(const std::string& url);

// Reads the file from the byte at which the request begins, and passes the bytes to the request's
// `take`. Passes on no more bytes than the request expects.
[[nodiscard]] Result<Fetcher::Fetched> fetch_file(const std::string& path,
                                                  const Fetcher::Request& request,
                                                  const std::function<bool()>& cancelled);

}  // namespace agent_releases
