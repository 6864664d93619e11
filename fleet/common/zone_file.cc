#include "fleet/common/zone_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "fleet/common/text_file.h"

namespace fleet {
namespace {

const std::string directory = "/usr/share/zoneinfo/";

// Returns whether the name has only letters, digits and `+-_/`, and does not begin with `/`. Such a
// name stays inside of the directory of time zones.
bool is_name(const std::string& name) {
  const auto is_good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '_' || c == '/';
  };
  return !name.empty() && name.front() != '/' && std::all_of(name.begin(), name.end(), is_good);
}

}  // namespace

Result<TimeZone> zone_of(const std::string& name) {
  if (!is_name(name)) return Refusal{"is no name of a time zone"};
  const auto bytes = beginning_of_file(directory + name, time_zone_bytes_max + 1);
  if (!bytes || bytes->empty()) return Refusal{"tzdata has none of that name here"};
  return TimeZone::parse(*bytes);
}

std::string zone_of_this_machine() {
  std::error_code error;
  const std::string target = std::filesystem::read_symlink("/etc/localtime", error);
  const std::size_t at = target.find("zoneinfo/");
  if (!error && at != target.npos) return target.substr(at + std::string("zoneinfo/").size());
  std::ifstream file("/etc/timezone");
  std::string line;
  std::getline(file, line);
  return is_name(line) ? line : "";
}

}  // namespace fleet
