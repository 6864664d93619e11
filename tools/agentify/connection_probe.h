// Asks a daemon at one address, by libcurl, without waiting: whether it takes a connection, or
// answers in HTTP. The caller sets the time limit.
#pragma once

#include <curl/curl.h>
#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/curl_loop.h"
#include "tools/agentify/http_url.h"

namespace agentify {

// An address of a host, or the path of a socket.
struct Address {
  std::string text;          // "127.0.0.1", "::1", "/run/d/socket"
  bool is_path = false;      // of a socket of this machine
  bool is_loopback = false;  // only this machine has it
  std::uint32_t scope = 0;   // of a link-local address: the number of its interface

  // As in a URL: an IPv6 address in brackets.
  [[nodiscard]] std::string in_url() const {
    return text.find(':') == std::string::npos ? text : "[" + text + "]";
  }
};

// A name has seldom more than two, and each is given its part of the time for an answer.
inline constexpr std::size_t addresses_max = 16;

// Every address of HOST, at most addresses_max. HOST may be a name: the lookup waits, so it is made
// before the loop begins.
[[nodiscard]] std::vector<Address> find_addresses(const std::string& host);

struct ProbeOutcome {
  bool good = false;
  std::string words = {};  // what is wrong
};

// A longer head of an answer is refused. Of the body nothing is kept.
inline constexpr std::size_t http_head_bytes_max = 65'536;

// The certificates that are trusted. By default: those of the authorities that the system trusts.
struct Trust {
  std::optional<std::string> ca_file = {};  // only those in this file, in PEM
  bool none_needed = false;                 // any certificate will do
};

class ConnectionProbe {
 public:
  using Told = std::function<void(const ProbeOutcome&)>;

  // Returns false if there is no memory. `told` hears of every outcome that begin() did not return.
  [[nodiscard]] bool prepare(uv_loop_t* loop, Trust trust, Told told);
  // Connects to that port of the address, and closes the connection. Returns an outcome if nobody
  // has to be waited for; then `told` is not called.
  [[nodiscard]] std::optional<ProbeOutcome> connect(const Address& address, std::uint16_t port);
  // Requests the URL at that address of its host. A redirection is an answer, and not followed.
  [[nodiscard]] std::optional<ProbeOutcome> request(const Address& address, const HttpUrl& url);
  // Gives up what is under way; `told` is not called.
  void end();
  void close();

 private:
  struct FreeEasy {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  struct FreeList {
    void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  };
  using List = std::unique_ptr<curl_slist, FreeList>;

  [[nodiscard]] bool make_transfer(const std::string& url, const Address& address);
  void set_tls();
  [[nodiscard]] std::optional<ProbeOutcome> begin();
  void look();
  [[nodiscard]] ProbeOutcome outcome(CURLcode code) const;
  [[nodiscard]] ProbeOutcome answer_outcome() const;
  static std::size_t head_came(char* bytes, std::size_t one, std::size_t count, void* self);

  Trust trust_;
  Told told_;
  upgrader::CurlLoop curl_;
  List places_;  // where libcurl connects to, whatever the URL says
  List headers_;
  std::unique_ptr<CURL, FreeEasy> easy_;
  bool asks_ = false;
  std::size_t head_bytes_ = 0;
  char error_[CURL_ERROR_SIZE] = "";
};

}  // namespace agentify
