#include "sample-agent/handle.h"

#include <utility>

namespace sample_agent {

Timer::Timer(uv_loop_t& loop, std::function<void()> callback)
    : callback_(std::make_unique<std::function<void()>>(std::move(callback))),
      handle_(new uv_timer_t) {
  uv_timer_init(&loop, handle_.get());
  handle_->data = callback_.get();
}

void Timer::start(std::uint64_t after_ms, std::uint64_t repeat_ms) {
  if (is_running()) return;
  uv_update_time(handle_->loop);
  uv_timer_start(
      handle_.get(),
      [](uv_timer_t* timer) { (*static_cast<std::function<void()>*>(timer->data))(); }, after_ms,
      repeat_ms);
}

bool Timer::is_running() const {
  return uv_is_active(reinterpret_cast<const uv_handle_t*>(handle_.get())) != 0;
}

DirectoryWatch::DirectoryWatch(uv_loop_t& loop, const std::string& directory, std::string name,
                               std::function<void()> callback)
    : content_(std::make_unique<Content>(Content{std::move(name), std::move(callback)})),
      handle_(new uv_fs_event_t) {
  uv_fs_event_init(&loop, handle_.get());
  handle_->data = content_.get();
  const auto changed = [](uv_fs_event_t* watch, const char* changed_name, int, int) {
    const auto* content = static_cast<Content*>(watch->data);
    const bool meant =
        content->name.empty() || (changed_name != nullptr && content->name == changed_name);
    if (meant) content->callback();
  };
  static_cast<void>(uv_fs_event_start(handle_.get(), changed, directory.c_str(), 0));
}

SignalWatch::SignalWatch(uv_loop_t& loop, int signal, std::function<void()> callback)
    : callback_(std::make_unique<std::function<void()>>(std::move(callback))),
      handle_(new uv_signal_t) {
  uv_signal_init(&loop, handle_.get());
  handle_->data = callback_.get();
  uv_signal_start(
      handle_.get(),
      [](uv_signal_t* watch, int) { (*static_cast<std::function<void()>*>(watch->data))(); },
      signal);
}

Readable::Readable(uv_loop_t& loop, int descriptor, std::function<void()> callback)
    : callback_(std::make_unique<std::function<void()>>(std::move(callback))),
      handle_(new uv_poll_t) {
  uv_poll_init(&loop, handle_.get(), descriptor);
  handle_->data = callback_.get();
  uv_poll_start(handle_.get(), UV_READABLE, [](uv_poll_t* poll, int, int) {
    (*static_cast<std::function<void()>*>(poll->data))();
  });
}

}  // namespace sample_agent
