#include "tools/notify-watchdog/device.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <utility>

#include "base/errno_name.h"
#include "tools/notify-watchdog/log.h"
#include "tools/notify-watchdog/words.h"

namespace notify_watchdog {
namespace {

using upgrader::Duration;
using upgrader::SystemError;

// The structure of the header linux/watchdog.h, which some C libraries lack.
struct WatchdogInfo {
  std::uint32_t options;
  std::uint32_t firmware_version;
  std::uint8_t identity[32];
};
constexpr std::uint32_t card_reset = 0x20;  // WDIOF_CARDRESET: the device has reset the machine
// WDIOF_MAGICCLOSE: this device is stopped by close() only if the letter V was written before
constexpr std::uint32_t magic_close = 0x100;
constexpr int disable_card = 1;  // WDIOS_DISABLECARD: stops the device
constexpr unsigned long get_support = _IOR('W', 0, WatchdogInfo);
constexpr unsigned long get_boot_status = _IOR('W', 2, int);
constexpr unsigned long set_options = _IOR('W', 4, int);
constexpr unsigned long set_timeout_to = _IOWR('W', 6, int);
constexpr unsigned long get_timeout = _IOR('W', 7, int);

// The byte that is written to feed the device. Any byte except the letter V would do: after a V,
// the next close() stops the device.
constexpr char food = '.';
constexpr char magic_letter = 'V';

// Calls ioctl(). This is a template, because the type of the second parameter of ioctl() differs
// between C libraries.
template <class Request>
int control(int (*call)(int, Request, ...), int descriptor, unsigned long request, void* value) {
  return call(descriptor, static_cast<Request>(request), value);
}

std::string why_not_open(int error) {
  if (error == EBUSY) {
    return "another process has it open, such as init or another notify-watchdog (EBUSY)";
  }
  if (error == ENOENT) return "there is no such file: is the driver loaded? (ENOENT)";
  if (error == ENXIO) return "nobody reads from it, or it has no driver (ENXIO)";
  return in_words(SystemError{error});
}

}  // namespace

Device::Device(std::string path, Duration timeout) : path_(std::move(path)), timeout_(timeout) {
  if (!open()) return;
  log_line("{} is armed: it resets the machine after {}"_with(path_, in_words(timeout_)));
  feed();
}

bool Device::open() {
  // Without O_NONBLOCK, open() of a FIFO would wait for a reader.
  upgrader::OwnedFd opened(::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!opened || ::fstat(opened.get(), &status) != 0) {
    complain("cannot open {}: {}; the machine is not watched until it can be opened"_with(
        path_, why_not_open(errno)));
    return false;
  }
  if (!S_ISCHR(status.st_mode) && !S_ISFIFO(status.st_mode)) {
    complain("{} is neither a device nor a FIFO; the machine is not watched"_with(path_));
    return false;
  }
  descriptor_ = std::move(opened);
  complaint_.clear();
  is_real_ = S_ISCHR(status.st_mode);
  if (is_real_) {
    set_timeout();
    look_at_abilities();
  }
  return true;
}

void Device::set_timeout() {
  const Duration wanted = std::chrono::ceil<std::chrono::seconds>(timeout_);
  int seconds = static_cast<int>(wanted.count() / 1000);
  if (control(::ioctl, descriptor_.get(), set_timeout_to, &seconds) != 0) {
    const int error = errno;
    if (control(::ioctl, descriptor_.get(), get_timeout, &seconds) != 0) {
      log_line("{} does not tell its timeout ({}); it is taken to be {}"_with(
          path_, in_words(SystemError{errno}), in_words(timeout_)));
      return;
    }
    log_line("{} does not take a timeout of {}: {}"_with(path_, in_words(wanted),
                                                         in_words(SystemError{error})));
  }
  if (seconds <= 0 || seconds > INT_MAX / 1000) return;
  timeout_ = std::chrono::seconds(seconds);
}

void Device::look_at_abilities() const {
  WatchdogInfo info{};
  if (control(::ioctl, descriptor_.get(), get_support, &info) == 0 &&
      (info.options & magic_close) == 0) {
    log_line(
        "{} stops whenever it is closed: it does not reset the machine if notify-watchdog "
        "is killed"_with(path_));
  }
  int status = 0;
  if (control(::ioctl, descriptor_.get(), get_boot_status, &status) == 0 &&
      (static_cast<std::uint32_t>(status) & card_reset) != 0) {
    log_line("{} says that it reset the machine before this boot"_with(path_));
  }
}

void Device::feed() {
  if (!descriptor_) {
    const Duration promised = timeout_;
    if (given_up_ || !open() || !keeps_promise(promised)) return;
    log_line("{} is armed now"_with(path_));
  }
  if (::write(descriptor_.get(), &food, 1) == 1) {
    complaint_.clear();
    return;
  }
  complain("cannot feed {}: {}"_with(path_, in_words(SystemError{errno})));
}

// Returns true if the device's timeout is at least `promised`. Otherwise stops the device and
// returns false, because it could reset the machine too early. At its start, the watched program
// was told to send WATCHDOG=1 often enough for the timeout `promised`, and this cannot be changed
// any more.
bool Device::keeps_promise(Duration promised) {
  if (timeout_ >= promised) return true;
  log_line("{} takes {} at most, and the program was told {}: use --timeout"_with(
      path_, in_words(timeout_), in_words(promised)));
  given_up_ = true;
  stop();
  return false;
}

void Device::stop() {
  if (!descriptor_) return;
  int order = disable_card;
  if (is_real_ && control(::ioctl, descriptor_.get(), set_options, &order) != 0 && errno == EBUSY) {
    log_line(
        "{} cannot be stopped (nowayout): it resets the machine within {} unless something "
        "opens and feeds it"_with(path_, in_words(timeout_)));
  }
  if (::write(descriptor_.get(), &magic_letter, 1) != 1) {
    log_line("cannot stop {}: {}"_with(path_, in_words(SystemError{errno})));
  }
  descriptor_.reset();
}

void Device::complain(const std::string& text) {
  if (text == complaint_) return;
  complaint_ = text;
  log_line(text);
}

}  // namespace notify_watchdog
