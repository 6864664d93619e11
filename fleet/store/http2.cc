#include "fleet/store/http2.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include "base/check.h"

namespace fleet {
namespace {

// If other calls use the connection already, libcurl does not send the body of a new call by
// itself. This is the number of further turns of the event loop in which Http2 asks libcurl to
// send.
constexpr int pushes_of_a_call = 3;

constexpr long keepalive_idle_s = 10;
constexpr long keepalive_interval_s = 5;

// Allows only one try. libcurl calls this function before each try, and tries again if a connection
// breaks before the answer. But the member may have carried out the request by then.
int begin_once(void* begun, char* /*ours*/, char* /*theirs*/, int /*our_port*/,
               int /*their_port*/) {
  const bool again = std::exchange(*static_cast<bool*>(begun), true);
  return again ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

}  // namespace

Http2::Http2(uv_loop_t& loop, Certificates certificates, Judge judge)
    : loop_(loop),
      certificates_(std::move(certificates)),
      judge_(std::move(judge)),
      pusher_(upgrader::make_handle(uv_idle_init, &loop, this)) {
  UPGRADER_CHECK(pusher_ != nullptr);
}

Http2::~Http2() {
  UPGRADER_CHECK(calls_.empty());
}

std::unique_ptr<Http2::Call> Http2::call(Request request, Observer observer) {
  auto fresh = std::make_unique<Call>(*this, std::move(request), std::move(observer));
  push();
  return fresh;
}

CURLM* Http2::multi(std::uint64_t connection) {
  const auto [at, is_new] = connections_.try_emplace(connection);
  upgrader::CurlLoop& curl = at->second;
  if (!is_new) return curl.multi();
  UPGRADER_CHECK(curl.begin(&loop_, [this, &curl] { tell(curl.multi()); }));
  curl_multi_setopt(curl.multi(), CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  curl_multi_setopt(curl.multi(), CURLMOPT_MAX_CONCURRENT_STREAMS, 1'000L);
  return curl.multi();
}

void Http2::push() {
  pushes_ = pushes_of_a_call;
  uv_idle_start(pusher_.get(),
                [](uv_idle_t* handle) { static_cast<Http2*>(handle->data)->push_on(); });
}

void Http2::push_on() {
  if (--pushes_ <= 0) uv_idle_stop(pusher_.get());
  end_old_connections();
  if (!connections_.empty()) connections_.rbegin()->second.write_to_all();
}

// Closes all connections without calls, except the newest. Observers must not call this, since
// libcurl may be in a callback for one of these connections.
void Http2::end_old_connections() {
  if (connections_.size() <= 1) return;
  std::set<std::uint64_t> used;
  for (const auto& [number, call] : calls_) {
    used.insert(call->request_.connection);
  }
  std::erase_if(connections_, [&](const auto& connection) {
    return connection.first != connections_.rbegin()->first && !used.contains(connection.first);
  });
}

// Tells the observers about received messages and ended calls. Callbacks of libcurl must not call
// this: an observer may end calls, which libcurl forbids there.
void Http2::tell(CURLM* multi) {
  const auto heard = std::exchange(heard_, {});
  for (const std::uint64_t number : heard) {
    for (;;) {
      const auto at = calls_.find(number);
      if (at == calls_.end()) break;
      const auto message = at->second->reader_.next();
      if (!message) break;
      const auto told = at->second->observer_.message;
      told(*message);
    }
    // The gRPC status ends the call. libcurl may report the end of the stream much later.
    const auto at = calls_.find(number);
    if (at != calls_.end() && at->second->status_.code())
      tell_ending(number, at->second->ending(CURLE_OK));
  }
  tell_endings(multi);
}

void Http2::tell_ending(std::uint64_t number, const Ending& ending) {
  const auto at = calls_.find(number);
  if (at == calls_.end() || std::exchange(at->second->is_over_, true)) return;
  const auto told = at->second->observer_.ended;
  told(ending);
}

void Http2::tell_endings(CURLM* multi) {
  int left = 0;
  std::vector<std::pair<std::uint64_t, Ending>> endings;
  while (const CURLMsg* news = curl_multi_info_read(multi, &left)) {
    if (news->msg != CURLMSG_DONE) continue;
    char* call = nullptr;
    curl_easy_getinfo(news->easy_handle, CURLINFO_PRIVATE, &call);
    const Call& ended = *reinterpret_cast<Call*>(call);
    endings.emplace_back(ended.number_, ended.ending(news->data.result));
  }
  for (const auto& [number, ending] : endings) {
    tell_ending(number, ending);
  }
}

// ---- one call, and the options that libcurl gets for it

Http2::Call::Call(Http2& owner, Request request, Observer observer)
    : owner_(owner),
      number_(owner.next_number_++),
      request_(std::move(request)),
      multi_(owner.multi(request_.connection)),
      observer_(std::move(observer)),
      easy_(curl_easy_init()),
      outgoing_(request_.body) {
  UPGRADER_CHECK(easy_ != nullptr);
  set_options();
  set_headers();
  owner_.calls_[number_] = this;
  UPGRADER_CHECK(curl_multi_add_handle(multi_, easy_.get()) == CURLM_OK);
}

Http2::Call::~Call() {
  curl_multi_remove_handle(multi_, easy_.get());
  owner_.calls_.erase(number_);
  // If this was the last call of an old connection, let the event loop close the connection.
  if (request_.connection != owner_.connections_.rbegin()->first) owner_.push();
}

void Http2::Call::set_options() {
  CURL* easy = easy_.get();
  const auto set = [easy](CURLoption option, auto value) { curl_easy_setopt(easy, option, value); };
  const bool is_stream = request_.timeout.count() == 0;
  const bool is_tls = request_.url.starts_with("https:");
  set(CURLOPT_URL, request_.url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_PROXY, "");
  set(CURLOPT_HTTP_VERSION,
      static_cast<long>(is_tls ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
  set(CURLOPT_POST, 1L);
  set(CURLOPT_PIPEWAIT, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(request_.connect_limit.count()));
  set(CURLOPT_TIMEOUT_MS, static_cast<long>(request_.timeout.count()));
  set(CURLOPT_TCP_KEEPALIVE, 1L);
  set(CURLOPT_TCP_KEEPIDLE, keepalive_idle_s);
  set(CURLOPT_TCP_KEEPINTVL, keepalive_interval_s);
  set(CURLOPT_PREREQFUNCTION, &begin_once);
  set(CURLOPT_PREREQDATA, static_cast<void*>(&has_begun_));
  set(CURLOPT_PRIVATE, static_cast<void*>(this));
  set(CURLOPT_ERRORBUFFER, error_);
  if (!is_stream) {
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(outgoing_.size()));
    set(CURLOPT_POSTFIELDS, outgoing_.data());
  }
  const auto give_more = [](char* buffer, std::size_t size, std::size_t count, void* self) {
    return static_cast<Call*>(self)->give(buffer, size * count);
  };
  using Callback = std::size_t (*)(char*, std::size_t, std::size_t, void*);
  if (is_stream) set(CURLOPT_READFUNCTION, static_cast<Callback>(give_more));
  set(CURLOPT_READDATA, static_cast<void*>(this));
  const auto take = [](char* bytes, std::size_t size, std::size_t count, void* self) {
    Call& call = *static_cast<Call*>(self);
    call.owner_.heard_.insert(call.number_);
    return call.reader_.take({bytes, size * count}) ? size * count : 0;
  };
  set(CURLOPT_WRITEFUNCTION, static_cast<Callback>(take));
  set(CURLOPT_WRITEDATA, static_cast<void*>(this));
  const auto take_line = [](char* bytes, std::size_t size, std::size_t count, void* self) {
    Call& call = *static_cast<Call*>(self);
    call.status_.take_line({bytes, size * count});
    if (call.status_.code()) call.owner_.heard_.insert(call.number_);
    return size * count;
  };
  set(CURLOPT_HEADERFUNCTION, static_cast<Callback>(take_line));
  set(CURLOPT_HEADERDATA, static_cast<void*>(this));
  if (!is_tls) return;
  set(CURLOPT_CAINFO, owner_.certificates_.authority.c_str());
  set(CURLOPT_CAPATH, nullptr);
  set(CURLOPT_SSLCERT, owner_.certificates_.own.c_str());
  set(CURLOPT_SSLKEY, owner_.certificates_.key.c_str());
  set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (owner_.judge_) judge_certificates();
}

// Lets libcurl check certificates with the time that `judge_` returns. libcurl calls `prepare`
// before it opens a TLS connection.
void Http2::Call::judge_certificates() {
  const auto prepare = [](CURL* /*easy*/, void* context, void* self) {
    Call& call = *static_cast<Call*>(self);
    call.judging_ = call.owner_.judge_();
    if (!call.judging_.wait.empty()) return CURLE_SSL_CERTPROBLEM;
    X509_VERIFY_PARAM_set_time(SSL_CTX_get0_param(static_cast<SSL_CTX*>(context)),
                               static_cast<std::time_t>(call.judging_.seconds));
    return CURLE_OK;
  };
  using Callback = CURLcode (*)(CURL*, void*, void*);
  curl_easy_setopt(easy_.get(), CURLOPT_SSL_CTX_FUNCTION, static_cast<Callback>(prepare));
  curl_easy_setopt(easy_.get(), CURLOPT_SSL_CTX_DATA, static_cast<void*>(this));
}

void Http2::Call::set_headers() {
  curl_slist* list = nullptr;
  const auto add = [&list](const std::string& line) {
    curl_slist* longer = curl_slist_append(list, line.c_str());
    UPGRADER_CHECK(longer != nullptr);
    list = longer;
  };
  add("content-type: application/grpc");
  add("te: trailers");
  // Without this header, a member that has no leader would not answer at all.
  add("hasleader: true");
  add("expect:");
  if (request_.timeout.count() > 0)
    add("grpc-timeout: " + std::to_string(request_.timeout.count()) + "m");
  headers_.reset(list);
  curl_easy_setopt(easy_.get(), CURLOPT_HTTPHEADER, list);
}

std::size_t Http2::Call::give(char* buffer, std::size_t size) {
  if (outgoing_.empty()) {
    paused_ = true;
    return CURL_READFUNC_PAUSE;
  }
  const std::size_t some = std::min(size, outgoing_.size());
  std::memcpy(buffer, outgoing_.data(), some);
  outgoing_.erase(0, some);
  return some;
}

void Http2::Call::send(const std::string& framed) {
  outgoing_ += framed;
  if (!std::exchange(paused_, false)) return;
  curl_easy_pause(easy_.get(), CURLPAUSE_CONT);
  owner_.push();
}

// Returns the error message for a call without an answer, which says how far the call got.
// libcurl's own message may blame the lookup of a host name even if the URL has an IP address.
std::string Http2::Call::timeout_words() const {
  if (has_begun_) return "the member has not answered in time";
  curl_off_t connected_us = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_CONNECT_TIME_T, &connected_us);
  return connected_us == 0 ? "there was no connection to the member in time"
                           : "the member has not finished the TLS handshake in time";
}

std::string Http2::Call::transport_words(CURLcode code) const {
  if (!judging_.wait.empty()) return judging_.wait;
  if (code == CURLE_OPERATION_TIMEDOUT) return timeout_words();
  // reader_ has refused bytes that are not gRPC.
  if (code == CURLE_WRITE_ERROR) return "the answer is not that of a member of the store";
  long verified = X509_V_OK;
  curl_easy_getinfo(easy_.get(), CURLINFO_SSL_VERIFYRESULT, &verified);
  if (!judging_.words.empty() && verified == X509_V_ERR_CERT_NOT_YET_VALID) {
    return "a certificate of the store begins after " + judging_.words +
           ": waits until the clock is set";
  }
  if (!judging_.words.empty() && verified == X509_V_ERR_CERT_HAS_EXPIRED)
    return "a certificate of the store has ended by " + judging_.words;
  return error_[0] != '\0' ? error_ : curl_easy_strerror(code);
}

Http2::Ending Http2::Call::ending(CURLcode code) const {
  Ending ending{.status = status_, .error = "", .sent = true, .silent = false};
  if (code == CURLE_OK && status_.code()) return ending;
  ending.error = transport_words(code);
  if (code == CURLE_OK) ending.error = "the stream ended without a status";
  ending.sent = has_begun_;
  ending.silent = code == CURLE_OPERATION_TIMEDOUT;
  ending.alone = code == CURLE_OK || code == CURLE_HTTP2_STREAM;
  curl_off_t connected_us = 0;
  curl_easy_getinfo(easy_.get(), CURLINFO_CONNECT_TIME_T, &connected_us);
  ending.accepted = connected_us > 0;
  return ending;
}

}  // namespace fleet
