// Reports that files in a control directory may have changed. Uses inotify, and slow polling as
// well, because the directory may be removed and made again, or may be on a file system without
// inotify.
#pragma once

#include <sys/types.h>
#include <uv.h>

#include <functional>
#include <string>

#include "base/uv_handle.h"

namespace upgraderctl {

class News {
 public:
  static constexpr std::uint64_t poll_ms = 1'000;
  // The polling interval while inotify watches nothing, because the directory does not exist or
  // cannot be watched.
  static constexpr std::uint64_t poll_alone_ms = 200;

  // Calls `changed` at most once in a turn of the event loop, however many inotify events have
  // come.
  News(uv_loop_t* loop, std::string directory, std::function<void()> changed);
  News(const News&) = delete;
  News& operator=(const News&) = delete;

 private:
  void poll();
  void watch();
  void schedule(std::uint64_t pause_ms);

  uv_loop_t* loop_;
  std::string directory_;
  std::function<void()> changed_;
  upgrader::UvHandle<uv_timer_t> timer_;
  upgrader::UvHandle<uv_fs_event_t> watch_;  // null while no directory is watched
  // the watched directory's device and inode number
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace upgraderctl
