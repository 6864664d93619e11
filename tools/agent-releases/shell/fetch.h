// Fetches by http, https (libcurl) and from files (fetch_file.h): bounded in size and time, and
// from where an earlier fetch ended.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "agent-releases/result.h"

namespace agent_releases {

// A path becomes a file's URL; a URL stays as it is.
[[nodiscard]] Result<std::string> url_of(const std::string& source);

// `reference`, where it is relative, as seen from `base`. Refused is what is neither http nor
// https, nor, seen from a file, a file.
[[nodiscard]] Result<std::string> resolve_url(const std::string& base,
                                              const std::string& reference);

// Without a password that stands in it: for people.
[[nodiscard]] std::string shown_url(const std::string& url);

// Of this kind is what libcurl fetches: http or https. Everything else is a file, or is refused.
[[nodiscard]] bool is_of_network(const std::string& url);

class Fetcher {
 public:
  // When a server is too slow to be waited for.
  struct Limits {
    std::int64_t bytes_a_second = 2'048;  // fewer, for so many seconds, end a transfer
    std::int64_t slow_s = 60;
    std::chrono::milliseconds text = std::chrono::minutes(2);  // for a small file as a whole
  };
  // `cancelled` is asked every second or oftener; true ends a transfer.
  [[nodiscard]] static Result<Fetcher> make(const Limits& limits,
                                            std::function<bool()> cancelled = {});

  // A small file, as a whole.
  [[nodiscard]] Result<std::string> text(const std::string& url, std::size_t bytes_max);

  struct Request {
    std::string url;
    std::int64_t from = 0;              // so many bytes are there
    std::int64_t bytes = 0;             // and so many are expected in all; more are refused
    std::chrono::milliseconds limit{};  // for all of it
    std::function<Outcome(std::string_view)> take;
    std::function<void(std::int64_t)> progress;  // how many bytes have come by now
  };
  enum class End { complete, cut_off, cannot_resume };
  struct Fetched {
    End end = End::complete;
    std::string why{};     // where it is not complete
    bool is_slow = false;  // cut off, since the server was too slow
  };
  // Refused where to try again would be of no use.
  [[nodiscard]] Result<Fetched> fetch(const Request& request);

 private:
  struct Release {
    void operator()(void* handle) const;
  };
  Fetcher(void* handle, const Limits& limits, std::function<bool()> cancelled)
      : handle_(handle), limits_(limits), cancelled_(std::move(cancelled)) {}
  void prepare(const std::string& url);

  std::unique_ptr<void, Release> handle_;
  Limits limits_;
  std::function<bool()> cancelled_;
};

}  // namespace agent_releases
