#include "fleet/http/revocation_file.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "fleet/common/text_file.h"
#include "fleet/http/peer.h"

namespace fleet {
namespace {

bool is_as_seen(const struct stat& now, const struct stat& seen) {
  return now.st_dev == seen.st_dev && now.st_ino == seen.st_ino && now.st_size == seen.st_size &&
         now.st_mtim.tv_sec == seen.st_mtim.tv_sec && now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec;
}

}  // namespace

RevocationFile::RevocationFile(std::string path) : path_(std::move(path)) {
  look();
}

// Reads the file if it has changed. The file's metadata (stat) are read before its content, so a
// change between the two is noticed at the next call.
bool RevocationFile::look() {
  if (path_.empty()) return false;
  struct stat now = {};
  if (::stat(path_.c_str(), &now) != 0) {
    trouble_ = path_ + ": " + std::strerror(errno);
    seen_ = {};
    return false;
  }
  if (is_as_seen(now, seen_)) return false;
  seen_ = now;
  std::string list = content_of_file(path_);
  const bool is_good = is_revocation_list(list);
  trouble_ = is_good ? "" : path_ + ": not a list of revoked certificates in PEM";
  if (!is_good || list == list_) return false;
  list_ = std::move(list);
  return true;
}

}  // namespace fleet
