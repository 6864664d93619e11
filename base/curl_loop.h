// Runs libcurl's transfers on a libuv event loop: polls the sockets that libcurl names, and sets a
// libuv timer for libcurl's timeout. Does not look at the transferred data.
#pragma once

#include <curl/curl.h>
#include <uv.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/uv_handle.h"

namespace upgrader {

class CurlLoop {
 public:
  CurlLoop() = default;
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  // Connects libcurl with the loop. Must be called once, before all other functions. Returns false
  // if there is no memory. `acted` is called after libcurl has done something, never from within a
  // libcurl function, so it may read which transfers have ended, and add and remove transfers.
  [[nodiscard]] bool begin(uv_loop_t* loop, std::function<void()> acted) {
    loop_ = loop;
    acted_ = std::move(acted);
    timer_ = make_handle(uv_timer_init, loop, this);
    multi_.reset(curl_multi_init());
    if (timer_ == nullptr || multi_ == nullptr) return false;
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &CurlLoop::socket_changed);
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &CurlLoop::timer_changed);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
    return true;
  }

  // Closes the connections that are still open. The caller must have removed all transfers before.
  void end() {
    multi_.reset();
    timer_.reset();
    polls_.clear();
  }
  ~CurlLoop() { end(); }

  [[nodiscard]] CURLM* multi() const { return multi_.get(); }

  // Makes libcurl try to write to every socket that it polls. Must be called after a transfer has
  // been added to a connection in use: otherwise libcurl may not send the transfer's data until
  // libuv reports the socket as writable.
  void write_to_all() {
    std::vector<curl_socket_t> sockets;
    for (const auto& [socket, poll] : polls_) {
      sockets.push_back(socket);
    }
    int running = 0;
    for (const curl_socket_t socket : sockets) {
      if (!polls_.contains(socket)) continue;
      curl_multi_socket_action(multi_.get(), socket, CURL_CSELECT_OUT, &running);
    }
    acted_();
  }

 private:
  struct FreeMulti {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };

  static int timer_changed(CURLM* /*multi*/, long delay_ms, void* self) {
    uv_timer_t* const timer = static_cast<CurlLoop*>(self)->timer_.get();
    if (delay_ms < 0) return uv_timer_stop(timer);
    // Never set a timer of 0 ms. While libcurl waits for a socket, it may ask for such a timer
    // again and again, and libuv would run all of them before it polls the socket: the loop would
    // hang.
    const auto delay = static_cast<std::uint64_t>(std::max(delay_ms, 1L));
    const auto is_up = [](uv_timer_t* handle) {
      static_cast<CurlLoop*>(handle->data)->act(CURL_SOCKET_TIMEOUT, 0);
    };
    return uv_timer_start(timer, is_up, delay, 0) == 0 ? 0 : -1;
  }

  static int socket_changed(CURL* /*easy*/, curl_socket_t socket, int what, void* self,
                            void* /*poll*/) {
    CurlLoop& loop = *static_cast<CurlLoop*>(self);
    if (what == CURL_POLL_REMOVE) {
      loop.polls_.erase(socket);
      return 0;
    }
    auto& poll = loop.polls_[socket];
    if (poll == nullptr) {
      poll = make_handle(uv_poll_init_socket, loop.loop_, self, socket);
      if (poll == nullptr) return -1;
    }
    return uv_poll_start(poll.get(), events_from(what), &CurlLoop::is_ready) == 0 ? 0 : -1;
  }

  static void is_ready(uv_poll_t* handle, int status, int events) {
    // After an error, tell libcurl that it can read: the socket may still have bytes that came
    // before the connection broke.
    int ready = status < 0 ? CURL_CSELECT_ERR | CURL_CSELECT_IN : 0;
    if ((events & UV_READABLE) != 0) ready |= CURL_CSELECT_IN;
    if ((events & UV_WRITABLE) != 0) ready |= CURL_CSELECT_OUT;
    uv_os_fd_t fd = -1;
    uv_fileno(reinterpret_cast<uv_handle_t*>(handle), &fd);
    static_cast<CurlLoop*>(handle->data)->act(fd, ready);
  }

  static int events_from(int what) {
    int events = 0;
    if (what != CURL_POLL_OUT) events |= UV_READABLE;
    if (what != CURL_POLL_IN) events |= UV_WRITABLE;
    return events;
  }

  void act(curl_socket_t socket, int events) {
    int running = 0;
    curl_multi_socket_action(multi_.get(), socket, events, &running);
    acted_();
  }

  uv_loop_t* loop_ = nullptr;
  std::function<void()> acted_;
  UvHandle<uv_timer_t> timer_;
  std::map<curl_socket_t, UvHandle<uv_poll_t>> polls_;
  std::unique_ptr<CURLM, FreeMulti> multi_;
};

}  // namespace upgrader
