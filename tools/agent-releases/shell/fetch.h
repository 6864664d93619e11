// Fetches files over http and https (libcurl), and reads local files. Limits size and time, and
// continues an interrupted fetch at the byte at which it stopped.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "agent-releases/result.h"

namespace agent_releases {

// Returns the URL of `source`. If `source` is a path, this is a URL that begins with `file:`.
// Refuses a path that does not exist. If `source` is a URL already, returns it unchanged.
[[nodiscard]] Result<std::string> url_of(const std::string& source);

// Returns `reference` as a URL. A relative `reference` is resolved against `base`. Accepts http and
// https. Accepts a `file:` URL only if `base` is a `file:` URL, too.
[[nodiscard]] Result<std::string> resolve_url(const std::string& base,
                                              const std::string& reference);

// Returns the URL without its user and password, so that the URL can be shown to people. If libcurl
// cannot parse the URL, "..." replaces all that is before its last @.
[[nodiscard]] std::string shown_url(const std::string& url);

// Returns true for an http or https URL, which libcurl fetches.
[[nodiscard]] bool is_of_network(const std::string& url);

// Returns the path in a URL `file:...`, or nothing if the URL is of a different kind.
[[nodiscard]] std::optional<std::string> path_of_url(const std::string& url);

class Fetcher {
 public:
  // Limits of speed and time. A transfer that exceeds one of them is ended.
  struct Limits {
    // The lowest speed. A transfer that has been slower for `slow_s` seconds is ended.
    std::int64_t bytes_a_second = 2'048;
    std::int64_t slow_s = 60;
    // The time limit for a small file, from the request to the last byte.
    std::chrono::milliseconds text = std::chrono::minutes(2);
  };
  // Makes a fetcher. Each transfer calls `cancelled` at least about once a second, and ends when
  // `cancelled` returns true. `cacert` is a file with the certificates that https trusts. If
  // `cacert` is empty, the environment or the system decides which certificates are trusted.
  [[nodiscard]] static Result<Fetcher> make(const Limits& limits,
                                            std::function<bool()> cancelled = {},
                                            std::string cacert = {});

  // Fetches a small file completely, and returns its content.
  [[nodiscard]] Result<std::string> text(const std::string& url, std::size_t bytes_max);

  struct Request {
    std::string url;
    // how many bytes of the file an earlier, interrupted fetch has written; the transfer begins
    // after these bytes
    std::int64_t from = 0;
    std::int64_t bytes = 0;             // the expected size of the file; a larger file is refused
    std::chrono::milliseconds limit{};  // the time limit of the whole transfer
    std::function<Outcome(std::string_view)> take;
    // Called repeatedly during the transfer with the number of the file's bytes that have been
    // fetched so far, including the `from` bytes of earlier fetches.
    std::function<void(std::int64_t)> progress;
  };
  enum class End { complete, cut_off, cannot_resume };
  struct Fetched {
    End end = End::complete;
    std::string why{};     // why the fetch is incomplete; empty if it is complete
    bool is_slow = false;  // the transfer was ended because it was too slow
  };
  // Fetches bytes. Refuses after a failure that would occur again at the next try. After any other
  // failure, the member `why` of the result says why the fetch is incomplete.
  [[nodiscard]] Result<Fetched> fetch(const Request& request);

 private:
  struct Release {
    void operator()(void* handle) const;
  };
  Fetcher(void* handle, const Limits& limits, std::function<bool()> cancelled, std::string cacert)
      : handle_(handle),
        limits_(limits),
        cancelled_(std::move(cancelled)),
        cacert_(std::move(cacert)) {}
  void prepare(const std::string& url);

  std::unique_ptr<void, Release> handle_;
  Limits limits_;
  std::function<bool()> cancelled_;
  std::string cacert_;
};

}  // namespace agent_releases
