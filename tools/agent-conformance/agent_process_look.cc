// Reads facts about an agent's processes from /proc: which pipes and locks they have open, and at
// which addresses they listen.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "base/owned_fd.h"
#include "tools/agent-conformance/agent_process.h"

namespace conformance {

namespace {

struct Stat {
  int pid = 0;
  std::string name;
  char state = 0;
  int parent = 0;
  int session = 0;
  std::string environment;  // the address at which the environment begins in the process's memory

  [[nodiscard]] bool has_ended() const { return state == 'Z' || state == 'X'; }
};

// Returns as much of the file as can be read. A process may exit while its files in /proc are read,
// so a missing rest is not an error.
std::string contents(const std::string& path) {
  const upgrader::OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  std::array<char, 16'384> bytes{};
  for (;;) {
    const ssize_t count = ::read(file.get(), bytes.data(), bytes.size());
    if (count <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

std::string place(int pid, const std::string& what) {
  return "/proc/" + std::to_string(pid) + "/" + what;
}

// Reads /proc/PID/stat: see proc(5). The process's name in this file may contain blanks and
// parentheses.
std::optional<Stat> read_stat(int pid) {
  constexpr std::size_t environment_field = 50 - 3;
  const std::string text = contents(place(pid, "stat"));
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  const std::vector<std::string> fields = words(text.substr(close + 1));
  if (fields.size() <= environment_field) return std::nullopt;
  return Stat{.pid = pid,
              .name = text.substr(open + 1, close - open - 1),
              .state = fields[0][0],
              .parent = std::atoi(fields[1].c_str()),
              .session = std::atoi(fields[3].c_str()),
              .environment = fields[environment_field]};
}

std::vector<std::string> entries(const std::string& path) {
  std::vector<std::string> names;
  DIR* const directory = ::opendir(path.c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = ::readdir(directory))
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  ::closedir(directory);
  return names;
}

std::vector<Stat> all_processes() {
  std::vector<Stat> found;
  for (const std::string& name : entries("/proc")) {
    const int pid = std::atoi(name.c_str());
    if (pid <= 0) continue;
    if (auto stat = read_stat(pid)) found.push_back(*std::move(stat));
  }
  return found;
}

// Returns the process `pid`, followed by the other processes in its session and by its descendants.
std::vector<Stat> family_of(int pid) {
  const std::vector<Stat> all = all_processes();
  std::vector<Stat> family;
  const auto has = [&](int wanted) {
    return std::any_of(family.begin(), family.end(),
                       [&](const Stat& it) { return it.pid == wanted; });
  };
  for (std::size_t before = all.size() + 1; before != family.size();) {
    before = family.size();
    for (const Stat& it : all) {
      const bool belongs = it.pid == pid || it.session == pid || has(it.parent);
      if (belongs && !it.has_ended() && !has(it.pid)) family.push_back(it);
    }
  }
  std::stable_partition(family.begin(), family.end(),
                        [&](const Stat& it) { return it.pid == pid; });
  return family;
}

using Addresses = std::map<ino_t, std::string>;  // the addresses of listening sockets, by inode

// Adds the listening sockets in a file such as /proc/net/tcp. In its lines, 0A means that the
// socket listens: `0: 0100007F:1F90 00000000:0000 0A ... INODE`.
void add_internet(const std::string& path, Addresses& addresses) {
  constexpr std::size_t inode_field = 9;
  constexpr const char* listens = "0A";
  std::istringstream lines(contents(path));
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> fields = words(line);
    if (fields.size() <= inode_field || fields[3] != listens) continue;
    const std::string port = fields[1].substr(fields[1].rfind(':') + 1);
    addresses[std::strtoul(fields[inode_field].c_str(), nullptr, 10)] =
        "TCP port " + std::to_string(std::strtoul(port.c_str(), nullptr, 16));
  }
}

// Adds the listening sockets in /proc/net/unix. In its lines, 00010000 means that the socket
// listens: `0000: 00000002 00000000 00010000 0001 01 INODE PATH`.
void add_unix(const std::string& path, Addresses& addresses) {
  constexpr unsigned long accepts = 0x10000;
  std::istringstream lines(contents(path));
  for (std::string line; std::getline(lines, line);) {
    const std::vector<std::string> fields = words(line);
    if (fields.size() < 7 || (std::strtoul(fields[3].c_str(), nullptr, 16) & accepts) == 0)
      continue;
    addresses[std::strtoul(fields[6].c_str(), nullptr, 10)] =
        "the socket " + (fields.size() > 7 ? fields[7] : "without a name");
  }
}

Addresses listening_sockets(int pid) {
  Addresses addresses;
  add_internet(place(pid, "net/tcp"), addresses);
  add_internet(place(pid, "net/tcp6"), addresses);
  add_unix(place(pid, "net/unix"), addresses);
  return addresses;
}

bool is_marked_close_on_exec(int pid, const std::string& number) {
  constexpr unsigned long close_on_exec = 02000000;
  const std::vector<std::string> fields = words(contents(place(pid, "fdinfo/" + number)));
  const auto flags = std::find(fields.begin(), fields.end(), "flags:");
  if (flags == fields.end() || flags + 1 == fields.end()) return true;
  return (std::strtoul((flags + 1)->c_str(), nullptr, 8) & close_on_exec) != 0;
}

void look_at_descriptors(const Marks& marks, const Addresses& sockets, ProcessFacts& facts) {
  for (const std::string& number : entries(place(facts.pid, "fd"))) {
    struct stat file {};
    if (::stat(place(facts.pid, "fd/" + number).c_str(), &file) != 0) continue;
    if (S_ISFIFO(file.st_mode) && file.st_ino == marks.output) facts.has_output = true;
    if (S_ISREG(file.st_mode) && marks.lock != 0 && file.st_ino == marks.lock) {
      facts.has_lock = true;
      facts.lock_on_exec = !is_marked_close_on_exec(facts.pid, number);
    }
    const auto socket = sockets.find(file.st_ino);
    if (S_ISSOCK(file.st_mode) && socket != sockets.end()) facts.listens.push_back(socket->second);
  }
}

bool has_variables(int pid) {
  const std::string environment = '\0' + contents(place(pid, "environ"));
  return environment.find(std::string("\0AGENT_PROTOCOL", 15)) != std::string::npos;
}

}  // namespace

Facts look_at(int pid, const Marks& marks) {
  Facts facts;
  const std::vector<Stat> family = family_of(pid);
  const Addresses sockets = listening_sockets(pid);
  const std::string own = family.empty() ? "" : family.front().environment;
  for (const Stat& stat : family) {
    ProcessFacts process;
    process.pid = stat.pid;
    process.name = stat.name;
    process.is_agent = stat.pid == pid;
    process.sleeps = stat.state == 'S';
    process.has_executed = stat.environment != own && stat.environment != "0";
    process.has_variables = has_variables(stat.pid);
    look_at_descriptors(marks, sockets, process);
    facts.alive = facts.alive || process.is_agent;
    facts.processes.push_back(std::move(process));
  }
  return facts;
}

std::vector<int> session_of(int pid) {
  std::vector<int> found;
  // Usually no process is left. kill(2) with signal 0 shows this without reading the files of all
  // processes in /proc.
  if (::kill(-pid, 0) != 0 && errno == ESRCH) return found;
  for (const Stat& stat : all_processes()) {
    if (stat.session == pid && !stat.has_ended()) found.push_back(stat.pid);
  }
  return found;
}

}  // namespace conformance
