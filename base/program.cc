#include "base/program.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <optional>
#include <utility>

#include "base/directory.h"
#include "base/errno_name.h"

namespace upgrader {
namespace {

// If the file at a path is replaced while it is checked, the check is repeated: at most this many
// checks in all.
constexpr int looks_max = 8;

// The most symbolic links that are followed for one path, as in the kernel.
constexpr int links_max = 40;

// The directories to search if PATH is not set.
constexpr const char* default_search_path = "/bin:/usr/bin";

Refusal refuse(const std::string& path, int error, std::string_view reason) {
  return {.reason = "{}: {}"_with(path, reason), .error_number = error};
}

Refusal refuse(const std::string& path, int error) {
  Refusal refusal = refuse(path, error, in_words(SystemError{error}));
  refusal.missing = error == ENOENT || error == ENOTDIR;
  return refusal;
}

// Returns the path that a link leads to in the end; for a dangling link, the missing path. Returns
// an empty text if `path` is not a link.
std::string end_of_link(std::string path) {
  std::string end;
  char text[PATH_MAX];
  for (int links = 0; links < links_max; ++links) {
    const ssize_t count = ::readlink(path.c_str(), text, sizeof text);
    if (count <= 0) break;
    const std::string_view target(text, static_cast<std::size_t>(count));
    if (target.front() == '/') path.clear();
    // If `path` has no slash, rfind() + 1 is 0, and `target` replaces the whole path.
    path.resize(path.rfind('/') + 1);
    path += target;
    end = path;
  }
  return end;
}

Refusal refuse_unresolved(const std::string& path, int error) {
  Refusal refusal = refuse(path, error);
  if (!refusal.missing) return refusal;
  const std::string end = end_of_link(path);
  if (!end.empty()) {
    refusal.reason = "{}: leads to {}: {}"_with(path, end, SystemError{error});
  }
  return refusal;
}

// Opens and checks the program. The first open uses O_PATH, which has no effect even on a device.
// The file is then opened for reading, and its content is checked. A file that may be executed but
// not read is accepted. Returns nothing if the path was changed between the two opens.
std::optional<Result<Program>> open_once(const std::string& path) {
  Program opened;
  opened.path = path;
  opened.descriptor.reset(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!opened.descriptor) return refuse(path, errno);
  if (::fstat(opened.descriptor.get(), &opened.status) != 0) return refuse(path, errno);
  if (S_ISDIR(opened.status.st_mode)) return refuse(path, EACCES, "is a directory");
  if (!S_ISREG(opened.status.st_mode)) return refuse(path, EACCES, "is no regular file");
  if (const int error = may_use(path.c_str(), X_OK); error != 0) {
    return refuse(path, error, "is not executable: {}"_with(SystemError{error}));
  }

  OwnedFd reader(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!reader && (errno == EACCES || errno == EPERM)) return opened;
  if (!reader && errno == ENOENT) return std::nullopt;
  if (!reader) return refuse(path, errno);
  struct stat again {};
  if (::fstat(reader.get(), &again) != 0) return refuse(path, errno);
  if (!is_same_file(opened.status, again)) return std::nullopt;
  opened.descriptor = std::move(reader);
  const Result<ExecutableKind> judged = judge_executable(opened.descriptor.get());
  if (!judged) return refuse(path, judged.refusal().error_number, judged.reason());
  opened.kind = judged.value();
  return opened;
}

Result<Program> open_program(const std::string& path) {
  for (int look = 0; look < looks_max; ++look) {
    std::optional<Result<Program>> opened = open_once(path);
    if (opened) return std::move(*opened);
  }
  return refuse(path, EAGAIN, "is being replaced again and again");
}

}  // namespace

int Program::path_changed() const {
  struct stat now {};
  if (::stat(path.c_str(), &now) != 0) return errno;
  return is_same_file(now, status) ? 0 : ESTALE;
}

Result<Program> check_program(const std::string& path, std::string name,
                              std::vector<std::string> args) {
  std::optional<std::string> resolved = resolve(path);
  if (!resolved) return refuse_unresolved(path, errno);
  Result<Program> opened = open_program(*resolved);
  if (!opened) return opened;
  opened.value().name = std::move(name);
  opened.value().args = std::move(args);
  return opened;
}

Result<Program> check_agent(const std::string& agent, std::vector<std::string> args) {
  const Result<std::string> found = find_in_path(agent, std::getenv("PATH"));
  if (!found) return found.refusal();
  return check_program(found.value(), agent, std::move(args));
}

Result<std::string> find_in_path(std::string_view name, const char* search_path) {
  if (name.find('/') != std::string_view::npos) return std::string(name);
  const std::string agent(name);
  if (agent.empty()) return refuse(agent, ENOENT);
  std::optional<std::string> not_executable;
  std::string_view rest = search_path != nullptr ? search_path : default_search_path;
  for (;;) {
    const std::size_t colon = rest.find(':');
    const std::string_view directory = rest.substr(0, colon);
    const std::string path =
        "{}/{}"_with(directory.empty() ? std::string_view(".") : directory, agent);
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0) {
      const bool executable = S_ISREG(status.st_mode) && may_use(path.c_str(), X_OK) == 0;
      if (executable) return path;
      if (!not_executable) not_executable = path;
    }
    if (colon == std::string_view::npos) break;
    rest = rest.substr(colon + 1);
  }
  if (not_executable) return refuse(*not_executable, EACCES, "is not executable");
  return Refusal{"{}: no such program in PATH"_with(agent), ENOENT, true};
}

bool can_start_again(const Program& program) {
  return program.kind != ExecutableKind::script || program.path_changed() == 0;
}

}  // namespace upgrader
