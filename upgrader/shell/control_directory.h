// The directory of --control: looked at, taken, and files replaced in it. Everything in it is
// reached from one descriptor, and no link is followed. The contents of status.json are in
// status_news.h.
#pragma once

#include <string>
#include <string_view>

#include "base/directory.h"

namespace upgrader {

class ControlDirectory {
 public:
  // Makes it if it does not exist. Returns why it cannot be used, or an empty text.
  [[nodiscard]] std::string open(std::string path);

  // Locks it against other upgraders, by a file in it that nobody else can open. Returns 0 or an
  // errno value; EWOULDBLOCK: another has it.
  [[nodiscard]] int lock();
  // Renames the status.json of an earlier upgrader to previous.json. Returns 0 or an errno value.
  [[nodiscard]] int keep_last() const;

  // Replaces status.json. Returns 0 or an errno value: then the one before stays.
  [[nodiscard]] int replace_status(std::string_view text) const;

  // Puts a fresh FIFO in the place of whatever is there. Returns 0 or an errno value.
  [[nodiscard]] int make_fifo() const;
  // For reading, without waiting for a writer. Not open, with errno, where that fails.
  [[nodiscard]] OwnedFd open_fifo() const;
  void remove_fifo() const;

  // False where a write may wait for a disk.
  [[nodiscard]] bool is_in_memory() const;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return directory_.descriptor(); }

 private:
  std::string path_;
  Directory directory_;
  OwnedFd lock_;
};

}  // namespace upgrader
