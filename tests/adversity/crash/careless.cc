// A library for LD_PRELOAD that makes a program careless about syncing and replacing files. The
// check of power cuts runs programs with this library, to show that the check finds such
// carelessness. The environment variable CARELESS selects one kind:
//   file       never syncs a file
//   directory  never syncs a directory
//   late       delays each sync until the program has sent `stop` to an agent
//   rename     removes the file that a rename is to replace, and then makes the file anew
//   order      changes AGENT's link first, and then the link of --previous (`previous`). The right
//              order is the reverse.
//   death      kills the program when it has changed the link `previous`, but not synced the change
//   sync       never syncs anything. The check need not find this kind: it saves time in the
//              programs that judge a state after a power cut.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace {

bool careless_of(std::string_view what) {
  const char* const how = std::getenv("CARELESS");
  return how != nullptr && how == what;
}

// The descriptors that the program has asked to sync. With CARELESS=late, they are synced only
// after the program has sent `stop` to an agent.
std::array<int, 64> put_off;
std::size_t put_off_count = 0;
bool told_to_stop = false;

// The link of the upgrader's option --previous, and its temporary name: the upgrader makes the new
// link under the temporary name, and then renames it. CARELESS=order delays this rename.
constexpr const char* previous = "previous";
constexpr const char* fresh_previous = ".previous.upgrader";
// A descriptor of the directory in which a rename has been delayed; -1 if no rename is delayed.
int put_off_move = -1;

void catch_up() {
  told_to_stop = true;
  for (; put_off_count > 0; --put_off_count) {
    ::syscall(SYS_fsync, put_off[put_off_count - 1]);
    ::close(put_off[put_off_count - 1]);
  }
}

int move(int from, const char* old_name, int to, const char* new_name) {
  return static_cast<int>(::syscall(SYS_renameat2, from, old_name, to, new_name, 0));
}

std::string target_of(int directory, const char* name) {
  std::array<char, 4096> text;
  const long size = ::syscall(SYS_readlinkat, directory, name, text.data(), text.size());
  return {text.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

// Returns true if a rename changes the target of the link `previous`. Some renames do not: before
// the upgrader stops the old agent, it renames a link with the same target, only to test whether
// renames work.
bool moves_previous(int from, const char* old_name, int to, const char* new_name) {
  return std::string_view(new_name) == previous &&
         target_of(from, old_name) != target_of(to, new_name);
}

int sync_with_care(int fd, long call) {
  struct stat status {};
  if (careless_of("sync")) return 0;
  if (careless_of("late") && !told_to_stop && put_off_count < put_off.size()) {
    put_off[put_off_count++] = ::fcntl(fd, F_DUPFD_CLOEXEC, 100);
    return 0;
  }
  if (::fstat(fd, &status) == 0 && careless_of(S_ISDIR(status.st_mode) ? "directory" : "file")) {
    return 0;
  }
  return static_cast<int>(::syscall(call, fd));
}

}  // namespace

extern "C" {

int fsync(int fd) {
  return sync_with_care(fd, SYS_fsync);
}

int fdatasync(int fd) {
  return sync_with_care(fd, SYS_fdatasync);
}

ssize_t write(int fd, const void* bytes, std::size_t size) {
  const ssize_t written = ::syscall(SYS_write, fd, bytes, size);
  const std::string_view text(static_cast<const char*>(bytes), size);
  const bool stop = text.find(R"("type":"stop")") != std::string_view::npos;
  if (written > 0 && stop && careless_of("late")) catch_up();
  return written;
}

int renameat(int from, const char* old_name, int to, const char* new_name) noexcept {
  const bool is_move = moves_previous(from, old_name, to, new_name);
  if (is_move && careless_of("order")) {
    put_off_move = to;
    return 0;
  }
  if (!careless_of("rename")) {
    const int result = move(from, old_name, to, new_name);
    if (is_move && careless_of("death")) ::kill(::getpid(), SIGKILL);
    if (const int directory = std::exchange(put_off_move, -1); directory >= 0) {
      move(directory, fresh_previous, directory, previous);
    }
    return result;
  }
  ::unlinkat(to, new_name, 0);
  if (::linkat(from, old_name, to, new_name, 0) != 0) return -1;
  return ::unlinkat(from, old_name, 0);
}

int rename(const char* old_name, const char* new_name) noexcept {
  return renameat(AT_FDCWD, old_name, AT_FDCWD, new_name);
}

}  // extern "C"
