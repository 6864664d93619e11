#include "tools/agent-releases/shell/fetch.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "base/owned_fd.h"
#include "tools/agent-releases/shell/directory.h"
#include "tools/agent-releases/shell/lock.h"

namespace agent_releases {
namespace {

constexpr long redirects_max = 10;
constexpr long connect_timeout_s = 30;
constexpr long buffer_bytes = 262'144;

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, FreeUrl>;

std::optional<std::string> part_of(const Url& url, CURLUPart part, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), part, &text, flags) != CURLUE_OK) return std::nullopt;
  std::string found(text);
  curl_free(text);
  return found;
}

std::string scheme_of(const std::string& text) {
  const Url url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return "";
  return part_of(url, CURLUPART_SCHEME).value_or("");
}

// Called by libcurl about once a second. Returns 1 to end the transfer, or 0 to continue it.
int go_on(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto& cancelled = *static_cast<const std::function<bool()>*>(context);
  return cancelled() ? 1 : 0;
}

// Receives the pieces of a file from libcurl. If `take` refuses a piece, the transfer ends.
struct Sink {
  const Fetcher::Request& request;
  std::int64_t bytes;
  std::optional<Refusal> refusal{};
  bool too_long = false;
};

std::size_t take_piece(char* bytes, std::size_t, std::size_t size, void* context) {
  auto& sink = *static_cast<Sink*>(context);
  sink.bytes += static_cast<std::int64_t>(size);
  if (sink.bytes > sink.request.bytes) {
    sink.too_long = true;
    return 0;
  }
  const Outcome taken = sink.request.take({bytes, size});
  if (!taken) {
    sink.refusal = taken.refusal();
    return 0;
  }
  if (sink.request.progress) sink.request.progress(sink.bytes);
  return size;
}

// Returns true if the same request may succeed when it is repeated after this error.
bool may_be_repeated(CURLcode code) {
  switch (code) {
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
      return true;
    default:
      return false;
  }
}

std::string words_of(CURL* handle, CURLcode code, const std::string& detail) {
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  if (code == CURLE_HTTP_RETURNED_ERROR) return "the server answered " + std::to_string(status);
  return detail.empty() ? curl_easy_strerror(code) : detail;
}

// Returns true if the server has answered that it does not have the file.
bool server_has_none(CURL* handle, CURLcode code) {
  constexpr long not_found = 404;
  constexpr long gone = 410;
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return code == CURLE_HTTP_RETURNED_ERROR && (status == not_found || status == gone);
}

bool cannot_resume(CURL* handle, CURLcode code) {
  constexpr long range_not_satisfiable = 416;
  long status = 0;
  curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
  return code == CURLE_RANGE_ERROR || code == CURLE_BAD_DOWNLOAD_RESUME ||
         (code == CURLE_HTTP_RETURNED_ERROR && status == range_not_satisfiable);
}

// Sets the certificates that https trusts, which are those in the file `cacert`. If `cacert` is
// empty, reads the environment variables that name the certificates for the program curl, because
// libcurl itself does not read them.
void use_certificates(CURL* handle, const std::string& cacert) {
  if (!cacert.empty()) {
    curl_easy_setopt(handle, CURLOPT_CAINFO, cacert.c_str());
    curl_easy_setopt(handle, CURLOPT_CAPATH, nullptr);
    return;
  }
  const char* bundle = std::getenv("CURL_CA_BUNDLE");
  const char* file = std::getenv("SSL_CERT_FILE");
  const char* directory = std::getenv("SSL_CERT_DIR");
  if (bundle != nullptr) {
    curl_easy_setopt(handle, CURLOPT_CAINFO, bundle);
    return;
  }
  if (file != nullptr) curl_easy_setopt(handle, CURLOPT_CAINFO, file);
  if (directory != nullptr) curl_easy_setopt(handle, CURLOPT_CAPATH, directory);
}

constexpr std::size_t piece_bytes = 65'536;

Refusal cannot_fetch(const Fetcher::Request& request, const std::string& why,
                     int error_number = 0) {
  return Refusal{"cannot fetch " + shown_url(request.url) + ": " + why, Trouble::cut_off,
                 error_number};
}

Refusal too_long(const Fetcher::Request& request) {
  return Refusal{shown_url(request.url) + " has more than the " + std::to_string(request.bytes) +
                 " bytes that it may have"};
}

// Reads a local file from the byte request.from on, and passes the bytes to request.take, but no
// more bytes than the request expects. Accepts only regular files: libcurl would also open a FIFO,
// and wait for ever for a writer.
Result<Fetcher::Fetched> fetch_file(const std::string& path, const Fetcher::Request& request,
                                    const std::function<bool()>& cancelled) {
  const upgrader::OwnedFd file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) {
    return cannot_fetch(request, std::strerror(errno), errno);
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

}  // namespace

Result<std::string> url_of(const std::string& source) {
  if (source.find("://") != std::string::npos) return source;
  const std::optional<std::string> real = real_path(source);
  if (!real) return refusal_from_errno("find", source);
  std::string url = "file://";
  for (const char byte : *real) {
    constexpr std::string_view plain = "/-._~";
    const bool kept = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                      (byte >= '0' && byte <= '9') || plain.find(byte) != std::string_view::npos;
    if (kept) {
      url += byte;
      continue;
    }
    constexpr std::string_view digits = "0123456789ABCDEF";
    const auto value = static_cast<unsigned char>(byte);
    url += {'%', digits[value >> 4U], digits[value & 15U]};
  }
  return url;
}

Result<std::string> resolve_url(const std::string& base, const std::string& reference) {
  const Url url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, base.c_str(), 0) != CURLUE_OK) {
    return Refusal{shown_url(base) + " is no URL", Trouble::usage};
  }
  if (curl_url_set(url.get(), CURLUPART_URL, reference.c_str(), CURLU_NON_SUPPORT_SCHEME) !=
      CURLUE_OK) {
    return Refusal{"`" + shown_url(reference) + "` is no URL of http, https or file"};
  }
  const auto scheme = part_of(url, CURLUPART_SCHEME);
  const auto whole = part_of(url, CURLUPART_URL);
  const bool known = scheme && (*scheme == "http" || *scheme == "https" ||
                                (*scheme == "file" && path_of_url(base)));
  if (!whole || !known) {
    return Refusal{"`" + shown_url(reference) + "`: only http and https are fetched from where " +
                   shown_url(base) + " lies"};
  }
  return *whole;
}

std::string shown_url(const std::string& text) {
  const Url url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    // libcurl cannot parse the URL, so the beginning of its user and password is not known. They
    // end at the last @ at the latest, so replace everything before it.
    const std::size_t at = text.rfind('@');
    return at == std::string::npos ? text : "..." + text.substr(at);
  }
  curl_url_set(url.get(), CURLUPART_USER, nullptr, 0);
  curl_url_set(url.get(), CURLUPART_PASSWORD, nullptr, 0);
  return part_of(url, CURLUPART_URL).value_or("...");
}

bool is_of_network(const std::string& url) {
  const std::string scheme = scheme_of(url);
  return scheme == "http" || scheme == "https";
}

std::optional<std::string> path_of_url(const std::string& text) {
  const Url url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) {
    return std::nullopt;
  }
  if (part_of(url, CURLUPART_SCHEME) != "file") return std::nullopt;
  return part_of(url, CURLUPART_PATH, CURLU_URLDECODE).value_or("");
}

void Fetcher::Release::operator()(void* handle) const {
  curl_easy_cleanup(handle);
}

Result<Fetcher> Fetcher::make(const Limits& limits, std::function<bool()> cancelled,
                              std::string cacert) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  CURL* const handle = started == CURLE_OK ? curl_easy_init() : nullptr;
  if (handle == nullptr) return Refusal{"libcurl cannot be used", Trouble::system};
  return Fetcher(handle, limits, std::move(cancelled), std::move(cacert));
}

// Prepares the libcurl handle for a request. Connections of earlier requests stay open, and are
// used again.
void Fetcher::prepare(const std::string& url) {
  CURL* const handle = handle_.get();
  curl_easy_reset(handle);
  curl_easy_setopt(handle, CURLOPT_URL, url.c_str());
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  // Refuse redirections from https to http.
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR,
                   scheme_of(url) == "https" ? "https" : "http,https");
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, redirects_max);
  curl_easy_setopt(handle, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, connect_timeout_s);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(limits_.bytes_a_second));
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, static_cast<long>(limits_.slow_s));
  curl_easy_setopt(handle, CURLOPT_BUFFERSIZE, buffer_bytes);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "agent-releases");
  use_certificates(handle, cacert_);
}

Result<Fetcher::Fetched> Fetcher::fetch(const Request& request) {
  if (const auto path = path_of_url(request.url)) return fetch_file(*path, request, cancelled_);
  prepare(request.url);
  CURL* const handle = handle_.get();
  Sink sink{.request = request, .bytes = request.from};
  std::array<char, CURL_ERROR_SIZE> detail{};
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, detail.data());
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, take_piece);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &sink);
  // Even if only a part of the file is requested, limit the transfer to the size of the complete
  // file, because a server that ignores the requested range announces the complete size.
  curl_easy_setopt(handle, CURLOPT_MAXFILESIZE_LARGE, static_cast<curl_off_t>(request.bytes));
  if (request.from > 0) {
    curl_easy_setopt(handle, CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(request.from));
  }
  curl_easy_setopt(handle, CURLOPT_TIMEOUT_MS, static_cast<long>(request.limit.count()));
  if (cancelled_) {
    curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, go_on);
    curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &cancelled_);
  }
  const CURLcode code = curl_easy_perform(handle);
  const std::string why = words_of(handle, code, detail.data());
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, nullptr);
  if (sink.refusal) return *sink.refusal;
  if (sink.too_long || code == CURLE_FILESIZE_EXCEEDED) return too_long(request);
  if (code == CURLE_OK) return Fetched{};
  if (code == CURLE_ABORTED_BY_CALLBACK) return cancelled_refusal();
  if (request.from > 0 && cannot_resume(handle, code)) {
    return Fetched{.end = End::cannot_resume, .why = why};
  }
  if (may_be_repeated(code)) {
    return Fetched{.end = End::cut_off, .why = why, .is_slow = code == CURLE_OPERATION_TIMEDOUT};
  }
  return cannot_fetch(request, why, server_has_none(handle, code) ? ENOENT : 0);
}

Result<std::string> Fetcher::text(const std::string& url, std::size_t bytes_max) {
  std::string text;
  const Request request{.url = url,
                        .bytes = static_cast<std::int64_t>(bytes_max),
                        .limit = limits_.text,
                        .take =
                            [&](std::string_view bytes) {
                              text += bytes;
                              return Outcome(std::monostate{});
                            },
                        .progress = {}};
  const Result<Fetched> fetched = fetch(request);
  if (!fetched) return fetched.refusal();
  if (fetched.value().end == End::complete) return text;
  return Refusal{"cannot fetch " + shown_url(url) + ": " + fetched.value().why, Trouble::cut_off};
}

}  // namespace agent_releases
