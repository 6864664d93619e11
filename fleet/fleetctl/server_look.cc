#include "fleet/fleetctl/server_look.h"

#include <curl/curl.h>

#include <memory>
#include <string_view>

#include "fleet/common/certificate.h"

namespace fleetctl {
namespace {

constexpr long connect_ms = 2'000;
constexpr long answer_ms = 4'000;
// The most bytes of an answer that are read. The content of the answer is not used.
constexpr std::size_t answer_bytes_max = 65'536;

std::size_t drop(char*, std::size_t, std::size_t size, void* dropped) {
  auto& count = *static_cast<std::size_t*>(dropped);
  count += size;
  return count > answer_bytes_max ? 0 : size;
}

std::size_t take_header(char* bytes, std::size_t, std::size_t size, void* clock) {
  constexpr std::string_view name = "date: ";
  const std::string line(bytes, size);
  if (line.size() <= name.size() || !curl_strnequal(line.c_str(), name.data(), name.size()))
    return size;
  const time_t time = curl_getdate(line.c_str() + name.size(), nullptr);
  if (time >= 0) *static_cast<std::optional<fleet::UnixSeconds>*>(clock) = time;
  return size;
}

// Returns the validity of the server's own certificate, which is the first that it shows.
std::optional<fleet::Validity> validity_of_server(CURL* easy) {
  curl_certinfo* found = nullptr;
  if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &found) != CURLE_OK || found == nullptr ||
      found->num_of_certs < 1)
    return std::nullopt;
  for (const curl_slist* line = found->certinfo[0]; line != nullptr; line = line->next) {
    constexpr std::string_view name = "Cert:";
    const std::string_view text = line->data;
    if (text.starts_with(name)) return fleet::validity_of(std::string(text.substr(name.size())));
  }
  return std::nullopt;
}

}  // namespace

fleet::ServerFact look_at_server(const std::string& url, const fleet::Certificates& files) {
  fleet::ServerFact fact{.url = url};
  const std::unique_ptr<CURL, void (*)(CURL*)> easy(curl_easy_init(), curl_easy_cleanup);
  if (easy == nullptr) return fact;
  const auto set = [&easy](CURLoption option, auto value) {
    curl_easy_setopt(easy.get(), option, value);
  };
  std::size_t dropped = 0;
  set(CURLOPT_URL, (url + "/version").c_str());
  set(CURLOPT_PROTOCOLS_STR, "https");
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
  set(CURLOPT_TIMEOUT_MS, answer_ms);
  set(CURLOPT_CAINFO, files.authority.c_str());
  set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  set(CURLOPT_SSLCERT, files.own.c_str());
  set(CURLOPT_SSLKEY, files.key.c_str());
  set(CURLOPT_CERTINFO, 1L);
  set(CURLOPT_WRITEFUNCTION, &drop);
  set(CURLOPT_WRITEDATA, &dropped);
  set(CURLOPT_HEADERFUNCTION, &take_header);
  set(CURLOPT_HEADERDATA, &fact.clock);
  const CURLcode code = curl_easy_perform(easy.get());
  if (code != CURLE_OK) fact.trouble = curl_easy_strerror(code);
  fact.certificate = validity_of_server(easy.get());
  return fact;
}

}  // namespace fleetctl
