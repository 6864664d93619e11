// This file reads /proc/PID/stat and other files of /proc/PID. See process_table.h.
#include "tests/together/integration/process_table.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace integration {
namespace {

// Returns the fields of /proc/PID/stat, beginning with the third field, which is the state. Returns
// no fields if there is no such process.
std::vector<std::string> fields_of(pid_t pid) {
  const std::string text = read_file("/proc/" + std::to_string(pid) + "/stat");
  const std::size_t end_of_name = text.rfind(')');
  std::vector<std::string> fields;
  if (end_of_name == std::string::npos) return fields;
  std::istringstream rest(text.substr(end_of_name + 1));
  for (std::string field; rest >> field;)
    fields.push_back(field);
  return fields;
}

std::vector<int> numbers_in(const std::string& directory) {
  std::vector<int> numbers;
  DIR* stream = opendir(directory.c_str());
  if (stream == nullptr) return numbers;
  while (const dirent* entry = readdir(stream)) {
    if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9') {
      numbers.push_back(std::atoi(entry->d_name));
    }
  }
  closedir(stream);
  return numbers;
}

}  // namespace

char state_of(pid_t pid) {
  const auto fields = fields_of(pid);
  return fields.empty() ? '\0' : fields[0][0];
}

pid_t parent_of(pid_t pid) {
  const auto fields = fields_of(pid);
  return fields.size() < 2 ? 0 : std::atoi(fields[1].c_str());
}

std::string start_time_of(pid_t pid) {
  const auto fields = fields_of(pid);
  return fields.size() < 20 ? "" : fields[19];
}

std::vector<pid_t> children_of(pid_t pid) {
  const std::string threads = "/proc/" + std::to_string(pid) + "/task";
  std::vector<pid_t> children;
  for (const int thread : numbers_in(threads)) {
    std::istringstream list(read_file(threads + "/" + std::to_string(thread) + "/children"));
    for (pid_t child = 0; list >> child;)
      children.push_back(child);
  }
  return children;
}

std::string executable_of(pid_t pid) {
  char path[4096];
  const std::string link = "/proc/" + std::to_string(pid) + "/exe";
  const ssize_t size = readlink(link.c_str(), path, sizeof path);
  return {path, size < 0 ? 0 : static_cast<std::size_t>(size)};
}

std::vector<int> descriptors_of(pid_t pid) {
  return numbers_in("/proc/" + std::to_string(pid) + "/fd");
}

long status_kb(pid_t pid, const std::string& name) {
  const std::string text = read_file("/proc/" + std::to_string(pid) + "/status");
  const std::size_t at = text.find("\n" + name + ":");
  return at == std::string::npos ? -1 : std::atol(text.c_str() + at + name.size() + 2);
}

std::string read_file(const std::string& path) {
  std::string text;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char part[65'536];
  for (ssize_t size; (size = read(fd, part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(size));
  }
  close(fd);
  return text;
}

}  // namespace integration
