#include "fleet/agent/text_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>

namespace fleet {

std::string content_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string replace_file(const std::string& path, const std::string& content) {
  const std::string fresh = path + ".new";
  std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
  file << content;
  file.close();
  if (file && std::rename(fresh.c_str(), path.c_str()) == 0) return "";
  return path + ": " + std::strerror(errno);
}

}  // namespace fleet
