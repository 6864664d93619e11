#include "base/lock.h"

#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "base/descriptors.h"
#include "base/directory.h"
#include "base/errno_name.h"
#include "base/number.h"
#include "base/repeated.h"
#include "base/visible.h"

namespace upgrader {
namespace {

// How many times to try to lock FILE, the lock's file, if other processes keep replacing it.
constexpr int locking_attempts_max = 8;

// The most bytes that are read of FILE, the lock's file. An upgrader writes two numbers with a
// blank between them, which is shorter. A longer text is not from an upgrader.
constexpr std::size_t holder_bytes_max = 64;

// The most processes that a log line names as holders of the lock.
constexpr std::size_t holders_named_max = 4;

// The most bytes that are read of a file in /proc. Only /proc/PID/fdinfo/FD can be longer, for
// example if FD is an epoll descriptor that watches very many others.
constexpr std::size_t proc_bytes_max = 2'048;

// The longest process name that is shown. The kernel keeps at most 15 bytes of a program's name.
// Longer names occur only for the kernel's own threads.
constexpr std::size_t name_bytes_max = 64;

// The flags for opening FILE, the lock's file. open_file() checks its type before, but FILE may be
// replaced in between. So open(2) must follow no link, wait for no FIFO, and make no terminal the
// controlling one.
constexpr int careful = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

struct Holder {
  pid_t pid = 0;                // the holder's pid; 0 if the number cannot be a pid
  std::int64_t start_time = 0;  // the holder's start time; 0 if it is unknown
};

bool skip(std::string_view& text, char character) {
  if (!text.starts_with(character)) return false;
  text.remove_prefix(1);
  return true;
}

// Parses two decimal numbers, however large, with a blank between them and perhaps a newline at the
// end. Returns nothing for any other text, which an upgrader cannot have written.
std::optional<Holder> parse_holder(std::string_view text) {
  if (text.size() >= holder_bytes_max) return std::nullopt;
  const auto pid = take_number(text);
  if (!pid || !skip(text, ' ')) return std::nullopt;
  const auto start_time = take_number(text);
  if (!start_time || !(text.empty() || text == "\n")) return std::nullopt;
  const bool is_pid = *pid > 0 && *pid <= std::numeric_limits<pid_t>::max();
  return Holder{is_pid ? static_cast<pid_t>(*pid) : 0, *start_time};
}

std::string read_file(const std::string& path) {
  return read_start(OwnedFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)).get(), proc_bytes_max);
}

std::optional<std::int64_t> start_time_in(const std::string& path) {
  return start_time_in_stat(read_file(path));
}

std::string in_words(const std::vector<pid_t>& processes) {
  std::string words;
  for (std::size_t i = 0; i < std::min(processes.size(), holders_named_max); ++i)
    words += "{}{}"_with(i == 0 ? "" : ", ", process_in_words(processes[i]));
  if (processes.size() > holders_named_max) words += " and others";
  return words;
}

bool is_alive(const Holder& holder) {
  if (holder.start_time == 0) return ::kill(holder.pid, 0) == 0 || errno == EPERM;
  return process_start_time(holder.pid) == holder.start_time;
}

// Returns true if `fdinfo`, the text of /proc/PID/fdinfo/FD, shows a lock of flock(2) on a file
// with this inode, as in "lock:\t1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF".
bool tells_of_lock(std::string_view fdinfo, const std::string& inode) {
  const std::size_t lock = fdinfo.find("\nlock:\t");
  if (lock == std::string_view::npos) return false;
  const std::string_view line = fdinfo.substr(lock);
  return line.find(" FLOCK ") != std::string_view::npos &&
         line.find(inode) != std::string_view::npos;
}

bool holds_lock(const std::string& process, const struct stat& file) {
  const std::string inode = ":{} "_with(file.st_ino);
  for (const int fd : numbers_in("{}/fdinfo"_with(process))) {
    if (!tells_of_lock(read_file("{}/fdinfo/{}"_with(process, fd)), inode)) continue;
    // Call stat() only after the cheaper comparisons, since a slow file system may delay it for
    // long.
    struct stat found {};
    if (::stat("{}/fd/{}"_with(process, fd).c_str(), &found) != 0) continue;
    if (is_same_file(found, file)) return true;
  }
  return false;
}

}  // namespace

Lock::Lock(std::string path, int number) : path_(std::move(path)), number_(number) {
  // Reserve the number for the lock's file, which is opened later: give it to a copy of standard
  // input, which is always open.
  static_cast<void>(keep_at_number(OwnedFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, number))));
}

int Lock::keep_at_number(OwnedFd fd) {
  if (fd.get() == number_) {  // the number was free, so `fd` has it already
    descriptor_ = std::move(fd);
    return 0;
  }
  if (::dup3(fd.get(), number_, O_CLOEXEC) < 0) return errno;
  descriptor_.reset(number_);
  return 0;
}

bool Lock::has_file() const {
  struct stat ours {};
  struct stat named {};
  return ::fstat(descriptor_.get(), &ours) == 0 && S_ISREG(ours.st_mode) &&
         ::fstatat(AT_FDCWD, path_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         is_same_file(ours, named);
}

// Opens FILE, the lock's file. Refuses anything but a regular file, since opening a device may have
// an effect.
int Lock::open_file() {
  struct stat named {};
  if (::fstatat(AT_FDCWD, path_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISLNK(named.st_mode)) return ELOOP;
    if (!S_ISREG(named.st_mode)) return EINVAL;
  }
  OwnedFd file(::open(path_.c_str(), access_ | O_CREAT | careful, 0600));
  if (!file) return errno;
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EINVAL;
  return keep_at_number(std::move(file));
}

int Lock::try_lock() {
  for (int attempt = 0; attempt < locking_attempts_max; ++attempt) {
    if (!has_file()) {
      if (const int error = open_file(); error != 0) return error;
    }
    const int result = repeated([&] { return ::flock(descriptor_.get(), LOCK_EX | LOCK_NB); });
    // Some network file systems grant an exclusive lock only on a descriptor that is open for
    // writing.
    if (result != 0 && errno == EBADF && std::exchange(access_, O_RDWR) == O_RDONLY) {
      if (const int error = open_file(); error != 0) return error;
      continue;
    }
    if (result != 0) return errno;
    if (has_file()) return empty_file();
  }
  return EWOULDBLOCK;
}

// Opens FILE, the lock's file, for writing its text. The caller closes this descriptor immediately,
// since agents must inherit only the descriptor that is open for reading. Returns no descriptor if
// FILE cannot be written, or if a different file has taken its place at the path.
OwnedFd Lock::open_for_text() const {
  OwnedFd file(::open(path_.c_str(), O_WRONLY | careful));
  struct stat locked {};
  struct stat opened {};
  const bool same = file && ::fstat(descriptor_.get(), &locked) == 0 &&
                    ::fstat(file.get(), &opened) == 0 && is_same_file(locked, opened);
  return same ? std::move(file) : OwnedFd();
}

// Removes the previous holder's text from FILE, the lock's file, and also NUL bytes, which a power
// cut may leave. Returns 0 even if this fails, since write_holder() truncates FILE again. Any other
// text is not from an upgrader: leaves it as it is, and returns an errno value.
int Lock::empty_file() const {
  const std::string text = read_start(descriptor_.get(), holder_bytes_max);
  if (text.empty()) return errno;
  if (!parse_holder(text) && text.find_first_not_of('\0') != std::string::npos) return EEXIST;
  static_cast<void>(::ftruncate(open_for_text().get(), 0) == 0);
  return 0;
}

// Writes the pid and start time of this process to FILE, the lock's file. Ignores failures, since a
// full disk must not keep an agent from its work. Writes the whole text at once into the empty
// FILE, so that a killed upgrader does not leave a text that the next upgrader would refuse.
void Lock::write_holder() {
  if (std::exchange(written_, true)) return;
  const std::string text = "{} {}\n"_with(::getpid(), start_time_in("/proc/self/stat").value_or(0));
  const OwnedFd file = open_for_text();
  if (::ftruncate(file.get(), 0) != 0) return;
  const ssize_t written = ::pwrite(file.get(), text.data(), text.size(), 0);
  const bool whole = written == static_cast<ssize_t>(text.size());
  if (!whole) static_cast<void>(::ftruncate(file.get(), 0) == 0);
}

std::string Lock::refusal_in_words(int error) {
  const char* why = std::strerror(error);
  if (error == EINVAL) why = "it is no regular file";
  if (error == ELOOP) why = "it is a symbolic link, and none is followed";
  if (error == EEXIST) why = "it holds what no lock has written, and is left as it is";
  return "{} ({})"_with(why, errno_name(error));
}

std::string Lock::holder_in_words() const {
  const std::optional<Holder> holder =
      parse_holder(read_start(descriptor_.get(), holder_bytes_max));
  const std::vector<pid_t> found = lock_holders(descriptor_.get());
  const auto found_hold = [&] {
    return "{} {} it"_with(in_words(found), found.size() == 1 ? "holds" : "hold");
  };
  if (!holder || holder->pid == 0)
    return found.empty() ? "{} does not say who holds it"_with(path_) : found_hold();
  if (is_alive(*holder)) {
    const bool holds = found.empty() || std::count(found.begin(), found.end(), holder->pid) > 0;
    return holds ? "{} holds it"_with(process_in_words(holder->pid)) : found_hold();
  }
  if (!start_time_in("/proc/self/stat")) {  // /proc is not mounted, so the holders cannot be found
    return "process {} or an agent of it holds it"_with(holder->pid);
  }
  return "process {}, which {} names, is gone: one of its agents still holds it{}{}"_with(
      holder->pid, path_, found.empty() ? "" : ": ", in_words(found));
}

std::optional<std::int64_t> process_start_time(pid_t pid) {
  return start_time_in("/proc/{}/stat"_with(pid));
}

std::optional<std::int64_t> start_time_in_stat(std::string_view stat) {
  constexpr int state_field = 3;
  constexpr int start_time_field = 22;
  const std::size_t command_end = stat.rfind(')');
  if (command_end == std::string_view::npos) return std::nullopt;
  std::string_view rest = stat.substr(command_end + 1);
  // The process has ended: its state is Z (zombie) or X (dead).
  if (rest.starts_with(" Z") || rest.starts_with(" X")) return std::nullopt;
  for (int field = state_field;; ++field) {
    if (!skip(rest, ' ')) return std::nullopt;
    if (field == start_time_field) break;
    const std::size_t end = rest.find(' ');
    if (end == std::string_view::npos) return std::nullopt;
    rest = rest.substr(end);
  }
  return take_number(rest);
}

std::vector<pid_t> lock_holders(int fd) {
  std::vector<pid_t> holders;
  struct stat file {};
  if (::fstat(fd, &file) != 0) return holders;
  for (const pid_t pid : numbers_in("/proc")) {
    if (holds_lock("/proc/{}"_with(pid), file)) holders.push_back(pid);
  }
  return holders;
}

std::string process_in_words(pid_t pid) {
  std::string name = read_file("/proc/{}/comm"_with(pid));
  if (name.ends_with('\n')) name.pop_back();
  if (name.empty()) return "process {}"_with(pid);
  return "process {} ({})"_with(pid, escape(name, name_bytes_max));
}

}  // namespace upgrader
