#include "upgrader/shell/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>

#include "base/form.h"
#include "base/no_wait.h"
#include "base/repeated.h"
#include "base/utf8.h"

namespace upgrader {
namespace {

static_assert(log_line_bytes_max <= PIPE_BUF);

// The beginnings of log lines, in the order of LogLevel: for systemd's journal, and for other logs.
constexpr const char* journal_prefixes[] = {"<3>", "<4>", "<6>", "<7>"};
constexpr const char* plain_prefixes[] = {
    "upgrader: error: ", "upgrader: warning: ", "upgrader: ", "upgrader: debug: "};

}  // namespace

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
  std::string whole = (journal_ ? journal_prefixes : plain_prefixes)[static_cast<int>(level)];
  whole += escape(text, log_line_bytes_max);
  constexpr std::string_view cut_mark = "...";
  if (whole.size() + 1 > log_line_bytes_max) {
    whole = agent_protocol::fit_text(whole, log_line_bytes_max - 1 - cut_mark.size());
    whole += cut_mark;
  }
  whole += '\n';
  return whole;
}

// Writes a line. Returns false if none of it could be written. If only a part could be written,
// keeps the rest in tail_, to be written before the next line.
bool Logbook::deliver(const std::string& line) {
  tail_.erase(0, put(tail_));
  if (!tail_.empty()) return false;
  const std::size_t taken = put(line);
  if (taken == 0) return false;
  tail_ = line.substr(taken);
  return true;
}

// Writes as much as is possible without waiting. Returns the number of bytes; 0 after any error.
// Does not ask poll() first, because poll() never reports some devices, such as /dev/kmsg, as
// writable.
std::size_t Logbook::put(std::string_view bytes) {
  if (bytes.empty()) return 0;
  if (!own_ && (S_ISFIFO(mode_) || S_ISCHR(mode_))) {
    own_.reset(::open("/proc/self/fd/{}"_with(descriptor_).c_str(),
                      O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  }
  if (!own_) return write_without_waiting(descriptor_, mode_, bytes);
  const auto count = repeated([&] { return ::write(own_.get(), bytes.data(), bytes.size()); });
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace upgrader
