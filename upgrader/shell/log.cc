#include "upgrader/shell/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>

#include "upgrader/core/words.h"
#include "upgrader/shell/no_wait.h"

namespace upgrader {
namespace {

static_assert(log_line_bytes_max <= PIPE_BUF);

bool is_continuation(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80U;
}

// Where to cut so that at most `bytes_max` bytes are left and no UTF-8 character is cut through.
std::size_t cut_at(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text.size();
  std::size_t cut = bytes_max;
  for (int i = 0; i < 3 && cut > 0 && is_continuation(text[cut]); ++i)
    --cut;
  return is_continuation(text[cut]) ? bytes_max : cut;
}

// The bytes of the character that `text` begins with, if it is valid UTF-8 and fit to be shown;
// otherwise 0.
std::size_t shown_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80U) return first >= 0x20U && first != 0x7fU ? 1 : 0;
  const std::size_t size = first >= 0xf0U ? 4 : first >= 0xe0U ? 3 : 2;
  if (first < 0xc2U || first > 0xf4U || text.size() < size) return 0;
  if (!std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(size),
                   is_continuation)) {
    return 0;
  }
  const auto second = static_cast<unsigned char>(text[1]);
  const bool control = first == 0xc2U && second < 0xa0U;
  const bool overlong = (first == 0xe0U && second < 0xa0U) || (first == 0xf0U && second < 0x90U);
  const bool surrogate = first == 0xedU && second >= 0xa0U;
  const bool too_high = first == 0xf4U && second >= 0x90U;
  return control || overlong || surrogate || too_high ? 0 : size;
}

std::string escaped(char byte) {
  constexpr char digits[] = "0123456789abcdef";
  if (byte == '\n') return "\\n";
  if (byte == '\t') return "\\t";
  if (byte == '\r') return "\\r";
  const auto value = static_cast<unsigned char>(byte);
  return {'\\', 'x', digits[value >> 4U], digits[value & 0xfU]};
}

const char* journal_prefix(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return "<3>";
    case LogLevel::warning:
      return "<4>";
    case LogLevel::info:
      return "<6>";
    case LogLevel::debug:
      return "<7>";
  }
  return "";
}

const char* plain_prefix(LogLevel level) {
  switch (level) {
    case LogLevel::error:
      return "upgrader: error: ";
    case LogLevel::warning:
      return "upgrader: warning: ";
    case LogLevel::info:
      return "upgrader: ";
    case LogLevel::debug:
      return "upgrader: debug: ";
  }
  return "";
}

// The same pipe or terminal anew, with flags that nobody shares.
OwnedFd open_anew(int descriptor) {
  return OwnedFd(::open("/proc/self/fd/{}"_with(descriptor).c_str(),
                        O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
}

}  // namespace

std::string escape(std::string_view bytes, std::size_t bytes_max) {
  const std::string_view shown = bytes.substr(0, cut_at(bytes, bytes_max));
  std::string text;
  for (std::size_t at = 0; at < shown.size();) {
    const std::size_t size = shown_bytes(shown.substr(at));
    if (size == 0) {
      text += escaped(shown[at]);
      ++at;
    } else {
      text += shown.substr(at, size);
      at += size;
    }
  }
  if (shown.size() < bytes.size()) text += "...";
  return text;
}

Logbook::Logbook(LogLevel level, const char* journal_stream, int descriptor)
    : level_(level), descriptor_(descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return;
  if (journal_stream != nullptr) {
    journal_ = "{}:{}"_with(status.st_dev, status.st_ino) == journal_stream;
  }
  mode_ = status.st_mode;
}

void Logbook::write(LogLevel level, std::string_view text) {
  if (!shows(level)) return;
  if (lost_ > 0) {
    const std::string told = "{} {} of this log lost: standard error did not take them"_with(
        lost_, lost_ == 1 ? "line" : "lines");
    if (!deliver(line(LogLevel::warning, told))) {
      ++lost_;
      return;
    }
    lost_ = 0;
  }
  if (!deliver(line(level, text))) ++lost_;
}

std::string Logbook::line(LogLevel level, std::string_view text) const {
  std::string whole = journal_ ? journal_prefix(level) : plain_prefix(level);
  whole += escape(text, log_line_bytes_max);
  constexpr std::string_view cut_mark = "...";
  if (whole.size() + 1 > log_line_bytes_max) {
    whole.resize(cut_at(whole, log_line_bytes_max - 1 - cut_mark.size()));
    whole += cut_mark;
  }
  whole += '\n';
  return whole;
}

// False if not even the beginning was taken. What of a line is left goes before the next one.
bool Logbook::deliver(const std::string& line) {
  tail_.erase(0, put(tail_));
  if (!tail_.empty()) return false;
  const std::size_t taken = put(line);
  if (taken == 0) return false;
  tail_ = line.substr(taken);
  return true;
}

// How many bytes were taken: 0 where it would have to wait, and on every error. Some devices, such
// as the kernel's log, are written to well, but never poll as writable.
std::size_t Logbook::put(std::string_view bytes) {
  if (bytes.empty()) return 0;
  if (!own_ && (S_ISFIFO(mode_) || S_ISCHR(mode_))) own_ = open_anew(descriptor_);
  if (!own_) return write_without_waiting(descriptor_, mode_, bytes);
  ssize_t count = -1;
  do {
    count = ::write(own_.get(), bytes.data(), bytes.size());
  } while (count < 0 && errno == EINTR);
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace upgrader
