// Probes a daemon at one address, using libcurl. prober.cc tries the addresses one after the other.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/errno_name.h"
#include "tools/agentify/prober.h"

namespace agentify {
namespace {

constexpr long good_status_min = 200;
constexpr long good_status_max = 399;

ProbeOutcome not_connected(int error) {
  if (error == ECONNREFUSED) return {.words = "connection refused"};
  return {.words = "no connection: " + in_words(upgrader::SystemError{error})};
}

// Opens a socket that is close-on-exec from the start, so that no program that agentify starts
// inherits it.
curl_socket_t open_socket(void* /*self*/, curlsocktype /*purpose*/, curl_sockaddr* address) {
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// Refuses the body of an HTTP answer, so that libcurl ends the transfer. Only the head is needed.
std::size_t refuse_body(char* /*bytes*/, std::size_t /*one*/, std::size_t /*count*/,
                        void* /*self*/) {
  return 0;
}

Address address_from(const sockaddr* found) {
  Address address;
  char text[INET6_ADDRSTRLEN] = "";
  if (found->sa_family == AF_INET) {
    sockaddr_in known{};
    std::memcpy(&known, found, sizeof known);
    ::inet_ntop(AF_INET, &known.sin_addr, text, sizeof text);
    address.is_loopback = (ntohl(known.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
  } else {
    sockaddr_in6 known{};
    std::memcpy(&known, found, sizeof known);
    ::inet_ntop(AF_INET6, &known.sin6_addr, text, sizeof text);
    address.is_loopback = IN6_IS_ADDR_LOOPBACK(&known.sin6_addr);
    address.scope = known.sin6_scope_id;
  }
  address.text = text;
  return address;
}

}  // namespace

std::vector<Address> find_addresses(const std::string& host) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, &wanted, &found) != 0) return {};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  std::vector<Address> addresses;
  for (const addrinfo* one = found; one != nullptr && addresses.size() < addresses_max;
       one = one->ai_next) {
    if (one->ai_family != AF_INET && one->ai_family != AF_INET6) continue;
    addresses.push_back(address_from(one->ai_addr));
  }
  return addresses;
}

bool ConnectionProbe::prepare(uv_loop_t* loop, Trust trust, Told told) {
  trust_ = std::move(trust);
  told_ = std::move(told);
  return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK && curl_.begin(loop, [this] { look(); });
}

bool ConnectionProbe::make_transfer(const std::string& url, const Address& address) {
  end();
  head_bytes_ = 0;
  error_[0] = '\0';
  easy_.reset(curl_easy_init());
  places_.reset(curl_slist_append(nullptr, ("::" + address.in_url() + ":").c_str()));
  headers_.reset(curl_slist_append(nullptr, "Connection: close"));
  if (!easy_ || !places_ || !headers_) return false;
  CURL* const easy = easy_.get();
  const auto set = [easy](CURLoption option, auto value) { curl_easy_setopt(easy, option, value); };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_ERRORBUFFER, error_);
  set(CURLOPT_OPENSOCKETFUNCTION, &open_socket);
  set(CURLOPT_FORBID_REUSE, 1L);
  if (address.is_path) {
    set(CURLOPT_UNIX_SOCKET_PATH, address.text.c_str());
  } else {
    set(CURLOPT_CONNECT_TO, places_.get());
    set(CURLOPT_ADDRESS_SCOPE, static_cast<long>(address.scope));
  }
  return true;
}

std::optional<ProbeOutcome> ConnectionProbe::connect(const Address& address, std::uint16_t port) {
  asks_ = false;
  const std::string host = address.is_path ? "localhost" : address.in_url();
  if (!make_transfer("http://" + host + ":" + std::to_string(port) + "/", address)) return begin();
  curl_easy_setopt(easy_.get(), CURLOPT_CONNECT_ONLY, 1L);
  return begin();
}

std::optional<ProbeOutcome> ConnectionProbe::request(const Address& address, const HttpUrl& url) {
  asks_ = true;
  if (!make_transfer(url.text, address)) return begin();
  CURL* const easy = easy_.get();
  const auto set = [easy](CURLoption option, auto value) { curl_easy_setopt(easy, option, value); };
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_USERAGENT, "agentify");
  set(CURLOPT_HTTPHEADER, headers_.get());
  set(CURLOPT_HEADERFUNCTION, &ConnectionProbe::head_came);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &refuse_body);
  if (url.tls) set_tls();
  return begin();
}

void ConnectionProbe::set_tls() {
  CURL* const easy = easy_.get();
  const auto set = [easy](CURLoption option, auto value) { curl_easy_setopt(easy, option, value); };
  if (trust_.none_needed) {
    set(CURLOPT_SSL_VERIFYPEER, 0L);
    set(CURLOPT_SSL_VERIFYHOST, 0L);
  } else if (trust_.ca_file) {
    set(CURLOPT_CAINFO, trust_.ca_file->c_str());
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
}

std::optional<ProbeOutcome> ConnectionProbe::begin() {
  if (!easy_ || curl_multi_add_handle(curl_.multi(), easy_.get()) != CURLM_OK) {
    easy_.reset();
    return ProbeOutcome{.words = "no memory for a connection"};
  }
  return std::nullopt;
}

std::size_t ConnectionProbe::head_came(char* /*bytes*/, std::size_t one, std::size_t count,
                                       void* self) {
  auto& probe = *static_cast<ConnectionProbe*>(self);
  probe.head_bytes_ += one * count;
  return probe.head_bytes_ <= http_head_bytes_max ? one * count : 0;
}

void ConnectionProbe::look() {
  int left = 0;
  while (const CURLMsg* news = curl_multi_info_read(curl_.multi(), &left)) {
    if (news->msg != CURLMSG_DONE || news->easy_handle != easy_.get()) continue;
    const ProbeOutcome found = outcome(news->data.result);
    end();
    return told_(found);
  }
}

ProbeOutcome ConnectionProbe::outcome(CURLcode code) const {
  switch (code) {
    case CURLE_OK:
    case CURLE_WRITE_ERROR:  // refuse_body() or head_came() has ended the transfer
      return asks_ ? answer_outcome() : ProbeOutcome{.good = true};
    case CURLE_COULDNT_CONNECT: {
      long error = 0;
      curl_easy_getinfo(easy_.get(), CURLINFO_OS_ERRNO, &error);
      return not_connected(static_cast<int>(error));
    }
    case CURLE_GOT_NOTHING:
      return {.words = "the connection was closed without an answer"};
    case CURLE_UNSUPPORTED_PROTOCOL:  // an answer without a head, as in HTTP/0.9
    case CURLE_WEIRD_SERVER_REPLY:
      return {.words = "the answer is not one in HTTP"};
    default:
      return {.words = error_[0] != '\0' ? error_ : curl_easy_strerror(code)};
  }
}

ProbeOutcome ConnectionProbe::answer_outcome() const {
  if (head_bytes_ > http_head_bytes_max) {
    return {.words = "the answer's head has more than " + std::to_string(http_head_bytes_max) +
                     " bytes"};
  }
  long status = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
  if (status >= good_status_min && status <= good_status_max) return {.good = true};
  return {.words = "http: " + std::to_string(status)};
}

void ConnectionProbe::end() {
  if (easy_) curl_multi_remove_handle(curl_.multi(), easy_.get());
  easy_.reset();
}

void ConnectionProbe::close() {
  end();
  curl_.end();
}

}  // namespace agentify
