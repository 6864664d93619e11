#include "base/executable.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/errno_name.h"
#include "base/owned_fd.h"
#include "base/repeated.h"

// This program's own ELF header, at an address that the linker provides. Another ELF file can run
// on this machine if its class, byte order and machine are the same.
extern "C" __attribute__((visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;

namespace upgrader {
namespace {

// The kernel looks only at this many bytes at the start of a file. A script must name its
// interpreter within them.
constexpr std::size_t head_bytes = 256;

// The longest chain of scripts that the kernel follows, each of which names the next as its
// interpreter.
constexpr int scripts_max = 5;

// The largest table of program headers that the kernel accepts.
constexpr std::size_t program_headers_bytes_max = 65'536;

// Reasons to refuse an executable, used by several functions below.
constexpr const char* truncated = "is a truncated program";
constexpr const char* malformed_loader = "its loader's name is malformed";

using Judgement = Result<ExecutableKind>;

Refusal refuse(int error, std::string reason) {
  return {.reason = std::move(reason), .error_number = error};
}

Refusal unreadable(int error) {
  return refuse(error, "cannot be read: {}"_with(SystemError{error}));
}

// Reads `size` bytes at `offset`, or fewer at the end of the file. Returns their number, or -1 with
// errno.
ssize_t read_at(int fd, void* buffer, std::size_t size, off_t offset) {
  std::size_t done = 0;
  while (done < size) {
    const ssize_t count = repeated([&] {
      return ::pread(fd, static_cast<char*>(buffer) + done, size - done,
                     offset + static_cast<off_t>(done));
    });
    if (count < 0) return -1;
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return static_cast<ssize_t>(done);
}

// Reads `size` bytes. Returns nothing after a success. Otherwise returns the error of read(2), or
// the reason `cut_off` if the file is too short.
std::optional<Refusal> read_whole(int fd, void* buffer, std::size_t size, off_t offset,
                                  const char* cut_off) {
  const ssize_t count = read_at(fd, buffer, size, offset);
  if (count < 0) return unreadable(errno);
  if (static_cast<std::size_t>(count) < size) return refuse(ENOEXEC, cut_off);
  return std::nullopt;
}

// Opens an interpreter or loader for reading, or returns why it is not an executable regular file.
// If the file may be executed but not read, returns an empty descriptor.
Result<OwnedFd> open_interpreter(const std::string& path, const char* what) {
  const auto refused = [&](int error) {
    if (error == ENOENT) return refuse(error, "its {} {}: does not exist"_with(what, path));
    return refuse(error, "its {} {}: {}"_with(what, path, SystemError{error}));
  };
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return refused(errno);
  if (!S_ISREG(status.st_mode)) return refused(EACCES);
  if (const int error = may_use(path.c_str(), X_OK); error != 0) return refused(error);
  return OwnedFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

bool is_for_this_machine(const ElfW(Ehdr) & header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == __ehdr_start.e_ident[EI_CLASS] &&
         header.e_ident[EI_DATA] == __ehdr_start.e_ident[EI_DATA] &&
         header.e_machine == __ehdr_start.e_machine &&
         (header.e_type == ET_EXEC || header.e_type == ET_DYN);
}

std::optional<Refusal> judge_loader(int fd, const ElfW(Phdr) & segment) {
  if (segment.p_filesz < 2 || segment.p_filesz > PATH_MAX) return refuse(ENOEXEC, malformed_loader);
  std::string path(segment.p_filesz, '\0');
  const auto offset = static_cast<off_t>(segment.p_offset);
  if (auto refusal = read_whole(fd, path.data(), path.size(), offset, malformed_loader)) {
    return refusal;
  }
  if (path.back() != '\0') return refuse(ENOEXEC, malformed_loader);
  path.resize(std::strlen(path.c_str()));

  const Result<OwnedFd> opened = open_interpreter(path, "loader");
  if (!opened) return opened.refusal();
  const OwnedFd& loader = opened.value();
  if (!loader) return std::nullopt;
  ElfW(Ehdr) header;
  const ssize_t count = read_at(loader.get(), &header, sizeof header, 0);
  if (count == sizeof header && is_for_this_machine(header)) return std::nullopt;
  Refusal refusal =
      count < 0 ? unreadable(errno) : refuse(ELIBBAD, "is no program for this machine");
  refusal.reason = "its loader {} {}"_with(path, refusal.reason);
  return refusal;
}

Judgement judge_elf(int fd, off_t file_bytes) {
  ElfW(Ehdr) header;
  if (const auto refusal = read_whole(fd, &header, sizeof header, 0, truncated)) return *refusal;
  if (!is_for_this_machine(header)) {
    return refuse(ENOEXEC, "is an ELF file, but no program for this machine");
  }
  const std::size_t table_bytes = std::size_t{header.e_phnum} * sizeof(ElfW(Phdr));
  if (header.e_phentsize != sizeof(ElfW(Phdr)) || table_bytes == 0 ||
      table_bytes > program_headers_bytes_max) {
    return refuse(ENOEXEC, "has a malformed ELF header");
  }
  const auto size = static_cast<std::uint64_t>(file_bytes);
  ElfW(Phdr) loader{};
  std::vector<ElfW(Phdr)> segments(header.e_phnum);
  const auto offset = static_cast<off_t>(header.e_phoff);
  if (const auto refusal = read_whole(fd, segments.data(), table_bytes, offset, truncated))
    return *refusal;
  for (const ElfW(Phdr) & segment : segments) {
    const bool is_whole = segment.p_offset <= size && segment.p_filesz <= size - segment.p_offset;
    if (segment.p_type == PT_LOAD && !is_whole) return refuse(ENOEXEC, truncated);
    if (segment.p_type == PT_INTERP && loader.p_type != PT_INTERP) loader = segment;
  }
  if (loader.p_type == PT_INTERP) {
    if (const auto refusal = judge_loader(fd, loader)) return *refusal;
  }
  return ExecutableKind::elf;
}

// Returns the interpreter that a `#!` line names. As in the kernel, the name ends at the next
// blank, NUL or end of line. Returns nothing if there is no name, or if the name reaches the last
// byte that the kernel reads, since it may then be cut off.
std::optional<std::string> interpreter_of(std::string_view head) {
  constexpr std::string_view ends(" \t\0\n", 4);
  const std::size_t begin = head.find_first_not_of(" \t", 2);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = head.find_first_of(ends, begin);
  const bool cut_off = end == std::string_view::npos && head.size() == head_bytes;
  if (end == begin || cut_off) return std::nullopt;
  return std::string(head.substr(begin, end - begin));
}

}  // namespace

// Checks whether the effective user of this process may use a file. Calls faccessat2(). If the
// kernel is too old for it, or a seccomp filter refuses it, calls access(), which checks the real
// user. EACCES may be the correct result, or come from such a filter. So access() is called after
// EACCES only if real and effective user and group are the same, as they are unless the upgrader is
// set-user-ID. If access() wrongly accepts a file, the exec of that file fails later.
int may_use(const char* path, int how) {
  if (::syscall(SYS_faccessat2, AT_FDCWD, path, how, AT_EACCESS) == 0) return 0;
  const bool is_one_user = ::getuid() == ::geteuid() && ::getgid() == ::getegid();
  const bool asks_again =
      errno == EINVAL || errno == ENOSYS || errno == EPERM || (errno == EACCES && is_one_user);
  if (!asks_again) return errno;
  return ::access(path, how) == 0 ? 0 : errno;
}

Judgement judge_executable(int fd, int scripts_before) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return unreadable(errno);
  char bytes[head_bytes];
  const ssize_t count = read_at(fd, bytes, sizeof bytes, 0);
  if (count < 0) return unreadable(errno);
  const std::string_view head(bytes, static_cast<std::size_t>(count));
  if (head.empty()) return refuse(ENOEXEC, "is empty");
  if (head.starts_with(ELFMAG)) return judge_elf(fd, status.st_size);
  if (!head.starts_with("#!")) {
    return refuse(ENOEXEC,
                  "is neither a program for this machine nor a script that begins with #!");
  }
  if (scripts_before == scripts_max) {
    return refuse(ELOOP, "is a script whose interpreter is a script, too often");
  }
  const std::optional<std::string> interpreter = interpreter_of(head);
  if (!interpreter) return refuse(ENOEXEC, "has a #! line that names no interpreter");
  const Result<OwnedFd> opened = open_interpreter(*interpreter, "interpreter");
  if (!opened) return opened.refusal();
  if (!opened.value()) return ExecutableKind::script;
  const Judgement judgement = judge_executable(opened.value().get(), scripts_before + 1);
  if (!judgement) {
    return refuse(judgement.refusal().error_number,
                  "its interpreter {} {}"_with(*interpreter, judgement.reason()));
  }
  return ExecutableKind::script;
}

}  // namespace upgrader
