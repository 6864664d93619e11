#include "tools/upgraderctl/shell/news.h"

#include <sys/stat.h>

#include <utility>

namespace upgraderctl {

News::News(uv_loop_t* loop, std::string directory, std::function<void()> changed)
    : loop_(loop),
      directory_(std::move(directory)),
      changed_(std::move(changed)),
      timer_(upgrader::make_handle(uv_timer_init, loop, this)) {
  watch();
  schedule(watch_ == nullptr ? poll_alone_ms : poll_ms);
}

// Watches the directory that is at the path now, in place of the directory that was watched so far.
// Does nothing if both are the same directory. Watches nothing if there is no directory at the
// path.
void News::watch() {
  struct stat facts {};
  const bool there = ::stat(directory_.c_str(), &facts) == 0;
  if (watch_ != nullptr && there && facts.st_dev == device_ && facts.st_ino == inode_) return;
  watch_.reset();
  if (!there) return;
  auto fresh = upgrader::make_handle(uv_fs_event_init, loop_, this);
  if (!fresh) return;
  // libuv calls this callback for each event, as long as events come. If the callback read the
  // directory, and files changed faster than they can be read, no timer would ever run. So the
  // callback only sets a timer, which reads the directory.
  const auto on_event = [](uv_fs_event_t* handle, const char*, int, int) {
    static_cast<News*>(handle->data)->schedule(0);
  };
  if (uv_fs_event_start(fresh.get(), on_event, directory_.c_str(), 0) != 0) return;
  watch_ = std::move(fresh);
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
}

void News::schedule(std::uint64_t pause_ms) {
  const auto on_timer = [](uv_timer_t* handle) { static_cast<News*>(handle->data)->poll(); };
  uv_timer_start(timer_.get(), on_timer, pause_ms, 0);
}

void News::poll() {
  watch();
  schedule(watch_ == nullptr ? poll_alone_ms : poll_ms);
  changed_();
}

}  // namespace upgraderctl
