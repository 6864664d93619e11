#include "tools/agentify/last_words.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "base/errno_name.h"
#include "base/owned_fd.h"
#include "tools/agentify/command.h"

namespace agentify {
namespace {

constexpr mode_t last_words_mode = 0600;

// Not 64 bits: 32-bit MIPS has no such atomics without a lock.
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "two processes share it");

int write_file(const std::string& path, std::string_view text) {
  ::unlink(path.c_str());  // a process that was killed may have left this temporary file
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const upgrader::OwnedFd file(::open(path.c_str(), flags, last_words_mode));
  if (!file) return errno;
  const ssize_t count = ::write(file.get(), text.data(), text.size());
  if (count < 0) return errno;
  return static_cast<std::size_t>(count) == text.size() ? 0 : ENOSPC;
}

}  // namespace

// Makes the shared memory. The kernel fills it with zeros, the initial values of all members of
// LastWords.
LastWords* LastWords::share() {
  void* const place =
      ::mmap(nullptr, sizeof(LastWords), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return place == MAP_FAILED ? nullptr : static_cast<LastWords*>(place);
}

void LastWords::add(std::string_view bytes) {
  if (bytes.size() > last_words_bytes_max) bytes.remove_prefix(bytes.size() - last_words_bytes_max);
  std::uint32_t end = end_.load(std::memory_order_relaxed);
  for (const char byte : bytes) {
    bytes_[end % last_words_bytes_max].store(byte, std::memory_order_relaxed);
    if (++end == 2 * last_words_bytes_max) end = last_words_bytes_max;
  }
  end_.store(end, std::memory_order_release);
}

std::string LastWords::text() const {
  const std::uint32_t end = end_.load(std::memory_order_acquire);
  std::string text;
  for (std::uint32_t at = end - std::min(end, last_words_bytes_max); at < end; ++at)
    text += bytes_[at % last_words_bytes_max].load(std::memory_order_relaxed);
  return text;
}

std::string LastWords::last_line() const {
  LastLine line;
  line.add(text());
  return line.text();
}

std::optional<std::string> write_last_words(const LastWords& words, const std::string& path) {
  const std::string fresh = path + ".new";
  int error = write_file(fresh, words.text());
  if (error == 0 && ::rename(fresh.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return std::nullopt;
  ::unlink(fresh.c_str());
  return path + ": " + in_words(upgrader::SystemError{error});
}

}  // namespace agentify
