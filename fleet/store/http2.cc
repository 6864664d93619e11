#include "fleet/store/http2.h"

#include <utility>
#include <vector>

#include "base/check.h"

namespace fleet {
namespace {

// After a call is added to a connection that is in use, libcurl sends the body only when it is
// asked to act once more. So many turns of the loop ask it.
constexpr int pushes_of_a_call = 3;

int events_from(int what) {
  int events = 0;
  if (what != CURL_POLL_OUT) events |= UV_READABLE;
  if (what != CURL_POLL_IN) events |= UV_WRITABLE;
  return events;
}

}  // namespace

Http2::Http2(uv_loop_t& loop, Certificates certificates, Judge judge)
    : loop_(loop),
      certificates_(std::move(certificates)),
      judge_(std::move(judge)),
      timer_(upgrader::make_handle<uv_timer_t>(
          [&loop](uv_timer_t* fresh) { return uv_timer_init(&loop, fresh); })),
      pusher_(upgrader::make_handle<uv_idle_t>(
          [&loop](uv_idle_t* fresh) { return uv_idle_init(&loop, fresh); })),
      multi_(curl_multi_init()) {
  UPGRADER_CHECK(timer_ != nullptr && pusher_ != nullptr && multi_ != nullptr);
  timer_->data = this;
  pusher_->data = this;
  CURLM* multi = multi_.get();
  curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, &Http2::socket_changed);
  curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, this);
  curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, &Http2::timer_changed);
  curl_multi_setopt(multi, CURLMOPT_TIMERDATA, this);
  curl_multi_setopt(multi, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
  curl_multi_setopt(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 1'000L);
}

Http2::~Http2() {
  UPGRADER_CHECK(calls_.empty());
}

std::unique_ptr<Http2::Call> Http2::call(Request request, Observer observer) {
  auto fresh = std::make_unique<Call>(*this, std::move(request), std::move(observer));
  push();
  return fresh;
}

void Http2::push() {
  pushes_ = pushes_of_a_call;
  uv_idle_start(pusher_.get(),
                [](uv_idle_t* handle) { static_cast<Http2*>(handle->data)->push_on(); });
}

int Http2::timer_changed(CURLM* /*multi*/, long delay_ms, void* self) {
  uv_timer_t* timer = static_cast<Http2*>(self)->timer_.get();
  if (delay_ms < 0) return uv_timer_stop(timer);
  const auto is_up = [](uv_timer_t* handle) {
    static_cast<Http2*>(handle->data)->act(CURL_SOCKET_TIMEOUT, 0);
  };
  return uv_timer_start(timer, is_up, static_cast<std::uint64_t>(delay_ms), 0) == 0 ? 0 : -1;
}

int Http2::socket_changed(CURL* /*easy*/, curl_socket_t socket, int what, void* self,
                          void* /*poll*/) {
  Http2& http = *static_cast<Http2*>(self);
  if (what == CURL_POLL_REMOVE) {
    http.polls_.erase(socket);
    return 0;
  }
  auto& poll = http.polls_[socket];
  if (poll == nullptr) {
    poll = upgrader::make_handle<uv_poll_t>(
        [&](uv_poll_t* fresh) { return uv_poll_init_socket(&http.loop_, fresh, socket); });
    if (poll == nullptr) return -1;
    poll->data = self;
  }
  const auto is_ready = [](uv_poll_t* handle, int status, int events) {
    int ready = status < 0 ? CURL_CSELECT_ERR : 0;
    if ((events & UV_READABLE) != 0) ready |= CURL_CSELECT_IN;
    if ((events & UV_WRITABLE) != 0) ready |= CURL_CSELECT_OUT;
    uv_os_fd_t fd = -1;
    uv_fileno(reinterpret_cast<uv_handle_t*>(handle), &fd);
    static_cast<Http2*>(handle->data)->act(fd, ready);
  };
  return uv_poll_start(poll.get(), events_from(what), is_ready) == 0 ? 0 : -1;
}

// Nothing is told before libcurl has returned: whoever is told may end calls, and libcurl allows
// that outside of its own callbacks only.
void Http2::act(curl_socket_t socket, int events) {
  int running = 0;
  curl_multi_socket_action(multi_.get(), socket, events, &running);
  tell();
}

void Http2::push_on() {
  if (--pushes_ <= 0) uv_idle_stop(pusher_.get());
  std::vector<curl_socket_t> sockets;
  for (const auto& [socket, poll] : polls_) {
    sockets.push_back(socket);
  }
  int running = 0;
  for (const curl_socket_t socket : sockets) {
    if (polls_.contains(socket))
      curl_multi_socket_action(multi_.get(), socket, CURL_CSELECT_OUT, &running);
  }
  tell();
}

void Http2::tell() {
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
  }
  tell_endings();
}

void Http2::tell_endings() {
  int left = 0;
  std::vector<std::pair<std::uint64_t, Ending>> endings;
  while (const CURLMsg* news = curl_multi_info_read(multi_.get(), &left)) {
    if (news->msg != CURLMSG_DONE) continue;
    char* call = nullptr;
    curl_easy_getinfo(news->easy_handle, CURLINFO_PRIVATE, &call);
    const Call& ended = *reinterpret_cast<Call*>(call);
    endings.emplace_back(ended.number_, ended.ending(news->data.result));
  }
  for (const auto& [number, ending] : endings) {
    const auto at = calls_.find(number);
    if (at == calls_.end()) continue;
    const auto told = at->second->observer_.ended;
    told(ending);
  }
}

}  // namespace fleet
