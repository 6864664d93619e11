#include "sample-agent/start_checks.h"

#include <agent-releases/follower.h>

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sample-agent/copier.h"
#include "sample-agent/file.h"
#include "sample-agent/position.h"
#include "sample-agent/result.h"

namespace sample_agent {
namespace {

// ---- the checks that the disks have room for the next writes
Refusal no_room(const std::string& directory, std::size_t bytes, const std::string& reason) {
  return Refusal{"no " + std::to_string(bytes) + " bytes can be written in " + directory + ": " +
                 reason};
}

bool is_about_room(int error) {
  return error == ENOSPC || error == EDQUOT;
}

// Checks the free space that the file system reports. A file system that does not report its size
// counts as having room.
Outcome ask_file_system(const std::string& directory, std::size_t bytes) {
  struct statvfs status;
  if (statvfs(directory.c_str(), &status) != 0) return refusal_from_errno("look at", directory);
  const bool is_full = status.f_bavail < bytes / status.f_frsize + 1;
  if (status.f_blocks == 0 || !is_full) return std::monostate{};
  return no_room(directory, bytes, std::strerror(ENOSPC));
}

// Checks that `bytes` bytes can be written to this directory, by writing them to a nameless file
// (O_TMPFILE), which the kernel removes when it is closed. If that is not supported, checks the
// free space of the file system, which does not consider quotas.
[[nodiscard]] Outcome check_room(const std::string& directory, std::size_t bytes) {
  errno = 0;
  const Result<File> file = File::open(directory, O_WRONLY | O_TMPFILE);
  if (!file && is_about_room(errno)) return no_room(directory, bytes, std::strerror(errno));
  if (!file) return ask_file_system(directory, bytes);
  if (const Outcome written = file.value().write(std::string(bytes, 'x')); !written) {
    return no_room(directory, bytes, std::strerror(errno));
  }
  return std::monostate{};
}

using Wrong = std::optional<std::string>;

// How many bytes must be free for the output and for the position file. With less free space, the
// agent would fail soon after its activation.
constexpr std::size_t output_room_bytes = turn_bytes;
constexpr std::size_t position_room_bytes = 4'096;

bool is_directory(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// Accepts only regular files, because a file such as a pipe cannot be read twice or truncated.
Wrong check_file(const std::string& path, int flags) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) return refusal_from_errno("find", path).reason;
  if (!S_ISREG(status.st_mode)) return path + " is not a regular file";
  const Result<File> file = File::open(path, flags);
  return file ? std::nullopt : std::optional(file.reason());
}

bool is_absent(const std::string& path) {
  return access(path.c_str(), F_OK) != 0 && errno == ENOENT;
}

std::string directory_of(const std::string& path) {
  const std::filesystem::path directory = std::filesystem::path(path).parent_path();
  return directory.empty() ? "." : directory.string();
}

Wrong check_configuration(const Configuration& configuration) {
  if (configuration.input == configuration.output) return "the input is the output";
  const std::string& state = configuration.state_directory;
  if (!is_directory(state)) return state + " is not a directory";
  if (access(state.c_str(), W_OK | X_OK) != 0) return refusal_from_errno("write to", state).reason;
  return std::nullopt;
}

// Checks that the agent can read the directory of releases, in which it looks for new releases. The
// exit status for this check is connection_status: the directory may be on another machine, and
// readable again later.
Wrong check_connection(const Configuration& configuration) {
  if (configuration.releases.empty()) return std::nullopt;
  const auto follower = agent_releases::Follower::open(
      {.directory = configuration.releases, .name = std::string(releases_name), .running = {}}, {});
  return follower ? std::nullopt : Wrong(follower.reason());
}

// Checks that the input can be read. A missing input is accepted if the agent has read it before,
// because it is missing for a moment during a rotation.
Wrong check_input(const Configuration& configuration) {
  const std::string position =
      configuration.state_directory + "/" + std::string(position_file_name);
  if (is_absent(configuration.input) && !is_absent(position)) return std::nullopt;
  return check_file(configuration.input, O_RDONLY);
}

Wrong check_output(const Configuration& configuration) {
  if (!is_absent(configuration.output)) return check_file(configuration.output, O_RDWR | O_APPEND);
  const std::string directory = directory_of(configuration.output);
  if (access(directory.c_str(), W_OK | X_OK) == 0) return std::nullopt;
  return refusal_from_errno("write to", directory).reason;
}

// Checks that the disks have room for the next writes: the records of one turn of the event loop,
// and the position file.
Wrong check_rooms(const Configuration& configuration) {
  std::error_code error;
  const std::filesystem::path output = std::filesystem::canonical(configuration.output, error);
  const std::string directory = directory_of(error ? configuration.output : output.string());
  for (const auto& [place, bytes] : {std::pair(configuration.state_directory, position_room_bytes),
                                     std::pair(directory, output_room_bytes)}) {
    if (const Outcome room = check_room(place, bytes); !room) return room.reason();
  }
  return std::nullopt;
}

Wrong check_position(const Configuration& configuration, unsigned position_format) {
  const DurableFile file(configuration.state_directory, std::string(position_file_name));
  const auto text = file.read();
  if (!text) return text.reason();
  if (!text.value()) return std::nullopt;
  const auto position = decode_position(*text.value(), position_format);
  if (!position) return position.reason();
  return std::nullopt;
}

}  // namespace

std::vector<StartCheck> start_checks(const Configuration& configuration, unsigned position_format) {
  return {
      {"configuration", configuration_status, [=] { return check_configuration(configuration); }},
      {"connection", connection_status, [=] { return check_connection(configuration); }},
      {"input", input_status, [=] { return check_input(configuration); }},
      {"output", output_status, [=] { return check_output(configuration); }},
      {"room", output_status, [=] { return check_rooms(configuration); }},
      {"position", format_status, [=] { return check_position(configuration, position_format); }},
  };
}

}  // namespace sample_agent
