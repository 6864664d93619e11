// The directory of --control: checks and locks it, and replaces files in it. All files in it are
// reached from one descriptor, and no link is followed. The contents of status.json are in
// status_news.h.
#pragma once

#include <string>
#include <string_view>

#include "base/directory.h"

namespace upgrader {

class ControlDirectory {
 public:
  // Makes the directory if it does not exist. Returns why it cannot be used, or an empty text.
  [[nodiscard]] std::string open(std::string path);

  // Locks the directory against other upgraders, by locking a file in it that no other user can
  // open. Returns 0 or an errno value; EWOULDBLOCK if another upgrader has the lock.
  [[nodiscard]] int lock();
  // Renames the status.json of an earlier upgrader to previous.json. Returns 0 or an errno value.
  [[nodiscard]] int keep_last() const;

  // Replaces status.json. Returns 0. After a failure, returns an errno value, and the old file
  // stays.
  [[nodiscard]] int replace_status(std::string_view text) const;

  // Makes a new FIFO. First removes any file that has the FIFO's name. Returns 0 or an errno value.
  [[nodiscard]] int make_fifo() const;
  // Opens the FIFO for reading, without waiting for a writer. If that fails, returns no descriptor
  // and sets errno.
  [[nodiscard]] OwnedFd open_fifo() const;
  void remove_fifo() const;

  // Returns true if the directory is in memory, or if its file system is unknown. In a directory on
  // a disk, a write may have to wait.
  [[nodiscard]] bool is_in_memory() const;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  Directory directory_;
  OwnedFd lock_;
};

}  // namespace upgrader
