// Holds the lock of a file, as a second process would, until a test calls release(). After 20 s the
// holder releases the lock by itself, and has_held() then returns false. So a test also ends if the
// tested code waits for the lock without a limit.
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

  // Returns false if this holder has released the lock by itself, because release() was called too
  // late.
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
