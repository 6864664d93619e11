// Reads what a file: URL names. libcurl would open a FIFO, and wait in it for as long as nobody
// writes; here only regular files are read.
#pragma once

#include <optional>
#include <string>

#include "agent-releases/result.h"
#include "tools/agent-releases/shell/fetch.h"

namespace agent_releases {

// The path of a file: URL; nothing where it is another kind of URL.
[[nodiscard]] std::optional<std::string> path_of_url(const std::string& url);

// Hands over the file's bytes from where the request begins, at most as many as it expects.
[[nodiscard]] Result<Fetcher::Fetched> fetch_file(const std::string& path,
                                                  const Fetcher::Request& request,
                                                  const std::function<bool()>& cancelled);

}  // namespace agent_releases
