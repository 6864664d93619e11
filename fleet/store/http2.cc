#include "fleet/store/http2.h"

#include <utility>
#include <vector>

#include "base/check.h"

namespace fleet {
namespace {

// The number of turns of the event loop after a new call in which libcurl is asked to send. Without
// this, libcurl would not send the body of a new call on a connection that is already in use.
constexpr int pushes_of_a_call = 3;

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

// Closes all connections that no call uses, except the newest. Must not be called from an observer:
// at that moment, libcurl may be running a callback for such a connection.
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

// Passes messages and the ends of calls to the observers. Must not be called within a callback of
// libcurl, since an observer may end calls, which libcurl forbids in its callbacks.
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
    // The gRPC status has come, so the call has ended. Do not wait for libcurl to report the end of
    // the stream: it may do so only when more data is sent on it.
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

}  // namespace fleet
