// Fetches by libcurl: http, https and files, bounded, and from where an earlier fetch ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

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

class Fetcher {
 public:
  [[nodiscard]] static Result<Fetcher> make();

  // A small file, as a whole.
  [[nodiscard]] Result<std::string> text(const std::string& url, std::size_t bytes_max);

  struct Request {
    std::string url;
    std::int64_t from = 0;   // so many bytes are there
    std::int64_t bytes = 0;  // and so many are expected in all; more are refused
    std::function<Outcome(std::string_view)> take;
    std::function<void(std::int64_t)> progress;  // how many bytes have come by now
  };
  enum class End { complete, cut_off, cannot_resume };
  struct Fetched {
    End end = End::complete;
    std::string why{};  // where it is not complete
  };
  // Refused where to try again would be of no use.
  [[nodiscard]] Result<Fetched> fetch(const Request& request);

 private:
  struct Release {
    void operator()(void* handle) const;
  };
  explicit Fetcher(void* handle) : handle_(handle) {}
  void prepare(const std::string& url);

  std::unique_ptr<void, Release> handle_;
};

}  // namespace agent_releases
