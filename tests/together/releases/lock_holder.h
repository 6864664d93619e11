// Holds the lock of a file as another process would, until a test calls release(). After 20 s it
// releases the lock by itself, and reports that: so a test whose code waits without limit ends,
// too.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>

class LockHolder {
 public:
  explicit LockHolder(const std::string& path)
      : file_(::open(path.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600)) {
    if (file_ < 0 || ::flock(file_, LOCK_EX) != 0) std::abort();
    guard_ = std::thread([this] {
      std::unique_lock lock(mutex_);
      if (changed_.wait_for(lock, patience, [this] { return released_; })) return;
      has_held_ = false;
      ::flock(file_, LOCK_UN);
    });
  }
  LockHolder(const LockHolder&) = delete;
  LockHolder& operator=(const LockHolder&) = delete;
  ~LockHolder() {
    release();
    guard_.join();
    ::close(file_);
  }

  void release() {
    const std::lock_guard lock(mutex_);
    released_ = true;
    ::flock(file_, LOCK_UN);
    changed_.notify_all();
  }

  // Returns false if release() was called too late: this holder had then released the lock by
  // itself.
  [[nodiscard]] bool has_held() {
    const std::lock_guard lock(mutex_);
    return has_held_;
  }

 private:
  static constexpr std::chrono::seconds patience{20};

  int file_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread guard_;
  bool released_ = false;
  bool has_held_ = true;
};
