#include "fleet/agent/known_store_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace fleet {

KnownStore read_known_store(const std::string& path) {
  std::ifstream file(path);
  KnownStore known;
  if (file >> known.epoch >> known.revision) return known;
  return {};
}

// Not synced: a revision that is lost with a power cut was seen, and nothing more.
std::string write_known_store(const std::string& path, const KnownStore& known) {
  const std::string fresh = path + ".new";
  std::ofstream file(fresh, std::ios::trunc);
  file << known.epoch << " " << known.revision << "\n";
  file.close();
  if (file && std::rename(fresh.c_str(), path.c_str()) == 0) return "";
  return path + ": " + std::strerror(errno);
}

}  // namespace fleet
