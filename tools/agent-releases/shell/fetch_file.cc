#include "tools/agent-releases/shell/fetch_file.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "base/owned_fd.h"
#include "tools/agent-releases/shell/lock.h"

namespace agent_releases {
namespace {

constexpr std::size_t piece_bytes = 65'536;

Refusal cannot_fetch(const Fetcher::Request& request, const std::string& why) {
  return Refusal{"cannot fetch " + shown_url(request.url) + ": " + why, Trouble::cut_off};
}

Refusal too_long(const Fetcher::Request& request) {
  return Refusal{shown_url(request.url) + " has more than the " + std::to_string(request.bytes) +
                 " bytes that it may have"};
}

}  // namespace

std::optional<std::string> path_of_url(const std::string& text) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    return std::nullopt;
  }
  const auto part = [&](CURLUPart what, unsigned flags) {
    char* found = nullptr;
    if (curl_url_get(url.get(), what, &found, flags) != CURLUE_OK) return std::string();
    const std::unique_ptr<char, decltype(&curl_free)> owned(found, &curl_free);
    return std::string(found);
  };
  if (part(CURLUPART_SCHEME, 0) != "file") return std::nullopt;
  return part(CURLUPART_PATH, CURLU_URLDECODE);
}

Result<Fetcher::Fetched> fetch_file(const std::string& path, const Fetcher::Request& request,
                                    const std::function<bool()>& cancelled) {
  const upgrader::OwnedFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    return cannot_fetch(request, std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode)) return cannot_fetch(request, "it is not a regular file");
  if (status.st_size > request.bytes) return too_long(request);
  std::int64_t at = request.from;
  std::array<char, piece_bytes> bytes;
  while (true) {
    if (cancelled && cancelled()) return cancelled_refusal();
    const ssize_t count = ::pread(file.get(), bytes.data(), bytes.size(), at);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_fetch(request, std::strerror(errno));
    if (count == 0) return Fetcher::Fetched{};
    at += count;
    if (at > request.bytes) return too_long(request);
    const Outcome taken = request.take({bytes.data(), static_cast<std::size_t>(count)});
    if (!taken) return taken.refusal();
    if (request.progress) request.progress(at);
  }
}

}  // namespace agent_releases
