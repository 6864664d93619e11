#include "fleet/common/identity.h"

#include <sodium.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cctype>
#include <ctime>
#include <fstream>

#include "base/moment.h"
#include "base/sha256.h"

namespace fleet {
namespace {

// The number of random bytes in an id. So many make it practically impossible to get an id twice.
constexpr std::size_t id_bytes = 16;

std::string line_of(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

}  // namespace

std::string new_instance_id() {
  unsigned char bytes[id_bytes];
  randombytes_buf(bytes, sizeof bytes);
  char text[2 * id_bytes + 1];
  return sodium_bin2hex(text, sizeof text, bytes, sizeof bytes);
}

std::string boot_id(const std::string& file) {
  return line_of(file);
}

std::string machine_id(const std::string& file) {
  const std::string id = line_of(file);
  if (id.empty()) return "";
  agent_releases::Hash hash;
  hash.add("fleet-agent:" + id);
  return hash.digits().substr(0, 32);
}

std::map<std::string, std::string> facts_of_this_machine() {
  utsname names{};
  uname(&names);
  return {{"os", names.sysname},
          {"arch", names.machine},
          {"kernel", names.release},
          {"host", names.nodename}};
}

std::string name_of_this_machine() {
  const std::string host = facts_of_this_machine()["host"];
  std::string name = host.substr(0, host.find('.'));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

std::string time_text_of(std::int64_t seconds) {
  return upgraderctl::rfc3339(seconds);
}

std::string time_text() {
  return time_text_before(0);
}

std::string time_text_before(std::int64_t seconds) {
  return time_text_of(std::time(nullptr) - seconds);
}

}  // namespace fleet
