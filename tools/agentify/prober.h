// Runs the probes of --ready and --health, one at a time, and reports the outcome of each probe.
#pragma once

#include <curl/curl.h>
#include <sys/stat.h>
#include <uv.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/curl_loop.h"
#include "tools/agentify/command.h"
#include "tools/agentify/options.h"
#include "tools/agentify/probe_kind.h"
#include "tools/agentify/watch.h"

namespace agentify {

// An address of a host, or the path of a unix socket.
struct Address {
  std::string text;          // the address, such as "127.0.0.1", "::1" or "/run/d/socket"
  bool is_path = false;      // `text` is the path of a socket
  bool is_loopback = false;  // a loopback address, which leads to this machine only
  std::uint32_t scope = 0;   // for a link-local address: the number of the network interface

  // Returns the address in the form for a URL, with brackets around an IPv6 address.
  [[nodiscard]] std::string in_url() const {
    return text.find(':') == std::string::npos ? text : "[" + text + "]";
  }
};

// The most addresses of one host that are probed. Few hosts have more than two addresses, and the
// time limit of a probe is divided among the addresses.
inline constexpr std::size_t addresses_max = 16;

// Returns the addresses of HOST, at most addresses_max. If HOST is a name, the lookup blocks, so
// this function must be called before the event loop runs.
[[nodiscard]] std::vector<Address> find_addresses(const std::string& host);

struct ProbeOutcome {
  bool good = false;
  std::string words = {};  // why the probe failed
};

// The most bytes of the head of an HTTP answer. With a longer head, the probe fails. The body of
// the answer is not read.
inline constexpr std::size_t http_head_bytes_max = 65'536;

// The certificates that an https probe trusts. By default, the probe trusts the system's
// certificates.
struct Trust {
  std::optional<std::string> ca_file = {};  // trust only the certificates in this file, in PEM
  bool none_needed = false;                 // accept any certificate without verification
};

// Probes a daemon at one address, using libcurl and without blocking: opens a connection, or sends
// an HTTP request. The caller sets the time limit.
class ConnectionProbe {
 public:
  using Told = std::function<void(const ProbeOutcome&)>;

  // Prepares the object for probes. Returns false if there is not enough memory. If connect() or
  // request() cannot return the outcome immediately, `told` is later called with the outcome.
  [[nodiscard]] bool prepare(uv_loop_t* loop, Trust trust, Told told);
  // Connects to a port of the address, and closes the connection. Returns the outcome if it is
  // known immediately. Otherwise `told`, which was passed to prepare(), is called later with the
  // outcome.
  [[nodiscard]] std::optional<ProbeOutcome> connect(const Address& address, std::uint16_t port);
  // Requests the URL at one address of its host. A redirection is a good answer, and is not
  // followed. Returns the outcome if it is known immediately. Otherwise `told`, which was passed to
  // prepare(), is called later with the outcome.
  [[nodiscard]] std::optional<ProbeOutcome> request(const Address& address, const HttpUrl& url);
  // Ends the current probe without an outcome: `told`, which was passed to prepare(), is not
  // called.
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
  // The value of CURLOPT_CONNECT_TO: the address and port to which libcurl connects in place of the
  // host in the URL.
  List places_;
  List headers_;
  std::unique_ptr<CURL, FreeEasy> easy_;
  bool asks_ = false;
  std::size_t head_bytes_ = 0;
  char error_[CURL_ERROR_SIZE] = "";
};

// The time limit of a probe. A probe that is not answered within this time has failed.
inline constexpr Duration probe_time_max = std::chrono::seconds{5};

// Runs the probes of one option, --ready or --health.
class Prober {
 public:
  using Told = std::function<void(const ProbeOutcome&)>;

  // Looks up the addresses of the host, which may block. Returns the reason, in words, if this kind
  // of probe or --ca-file cannot be used, otherwise nothing.
  [[nodiscard]] std::optional<std::string> prepare(uv_loop_t* loop, const ProbeKind& kind,
                                                   const Options& options,
                                                   const std::vector<std::string>& environment);
  // Remembers the state of the file that a `file` probe checks. Must be called before the daemon is
  // started, because a `file` probe of --ready succeeds only if the file has changed since then.
  void remember_file();
  // Runs one probe: tries the addresses of the host one after the other, until an answer is good.
  // Calls `told` once with the outcome, immediately or later. If `fresh` is true, a `file` probe
  // succeeds only if the file has changed since the call of remember_file().
  void ask(bool fresh, Told told);
  // Ends the current probe without an outcome: `told`, which was passed to ask(), is not called.
  void end();
  // Ends the current probe, and closes the prober for good.
  void close() {
    end();
    connection_.close();
    limit_.end();
  }

 private:
  void tell(const ProbeOutcome& outcome);
  void run(const std::string& command);
  [[nodiscard]] std::optional<std::string> find_places();
  void connect();
  void took_too_long();
  void conclude(const ProbeOutcome& outcome);
  void look_at_command();
  [[nodiscard]] ProbeOutcome look_at_file(bool fresh) const;

  uv_loop_t* loop_ = nullptr;
  std::optional<ProbeKind> kind_;
  const Options* options_ = nullptr;
  const std::vector<std::string>* environment_ = nullptr;
  std::vector<Address> addresses_;
  std::size_t next_ = 0;  // the index of the next address to probe
  std::string wrong_;     // why the addresses before `next_` have failed
  // the end of the whole probe's time limit, in milliseconds of the loop's clock
  std::uint64_t end_ = 0;
  std::optional<struct stat> file_;

  Told told_;
  Timer limit_;
  Watch watch_;
  Watch output_watch_;
  std::optional<Command> command_;
  ConnectionProbe connection_;
};

}  // namespace agentify
