#include "fleet/fleetctl/cell_directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/directory.h"
#include "fleet/cell/cell_terms.h"
#include "fleet/common/authority.h"
#include "fleet/common/text_file.h"

namespace fleetctl {
namespace {

using fleet::CertificateWanted;
using fleet::content_of_file;

constexpr unsigned int public_mode = 0644;

bool exists(const std::string& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

// Returns why this existing file in the directory has no content to use, or an empty string.
std::string why_no_content(const std::string& directory, const std::string& file) {
  const std::string path = directory + "/" + file;
  if (std::string why = fleet::why_unread(path); !why.empty())
    return file + " cannot be read" + why.substr(path.size());
  return content_of_file(path).empty() ? file + " is empty" : "";
}

fleet::CertificateThere look_at(const std::string& directory, const CertificateWanted& wanted) {
  const std::string path = directory + "/" + wanted.file;
  fleet::CertificateThere there{.certificate = exists(path + ".pem"), .key = exists(path + ".key")};
  if (there.certificate) there.unread = why_no_content(directory, wanted.file + ".pem");
  if (there.key && there.unread.empty())
    there.unread = why_no_content(directory, wanted.file + ".key");
  if (!there.unread.empty()) return there;
  const std::string authority =
      wanted.authority.empty() ? "" : content_of_file(directory + "/" + wanted.authority + ".pem");
  // If a certificate's key or authority is missing, only that is reported, and the certificate is
  // not checked. An authority's own key may be missing, since an administrator may keep it
  // elsewhere.
  const bool is_comparable = wanted.authority.empty() || (there.key && !authority.empty());
  if (there.certificate && is_comparable) {
    const std::string certificate = content_of_file(path + ".pem");
    there.unfit =
        fleet::why_mismatched(certificate, there.key ? content_of_file(path + ".key") : "",
                              {.name = wanted.name,
                               .authority = authority,
                               .is_authority = wanted.authority.empty(),
                               .addresses = wanted.addresses});
    if (there.unfit.empty()) {
      there.unfit = fleet::why_wrong_time(certificate, std::time(nullptr));
      there.wrong_time = !there.unfit.empty();
    }
  }
  return there;
}

// Makes a certificate and, if necessary, its key. Returns the reason for a failure, or an empty
// string.
std::string make(const std::string& directory, const CertificateWanted& wanted) {
  const std::string path = directory + "/" + wanted.file;
  if (!exists(path + ".key")) {
    const std::string fresh = fleet::new_private_key();
    if (fresh.empty()) return path + ".key cannot be made";
    if (auto why = fleet::replace_file(path + ".key", fresh, secret_mode); !why.empty()) return why;
  }
  fleet::Signing signing{.name = wanted.name,
                         .days = wanted.days,
                         .addresses = wanted.addresses,
                         .is_authority = wanted.authority.empty()};
  if (!wanted.authority.empty()) {
    const std::string signer = directory + "/" + wanted.authority;
    signing.signer = {content_of_file(signer + ".pem"), content_of_file(signer + ".key")};
  }
  const fleet::Signed made =
      fleet::sign_for_key(std::move(signing), content_of_file(path + ".key"));
  if (!made.error.empty()) return path + ".pem: " + made.error;
  return fleet::replace_file(path + ".pem", made.certificate, public_mode);
}

}  // namespace

std::string CellDirectory::open(const std::string& path, bool makes) {
  constexpr mode_t own_mode = 0700;
  if (makes && ::mkdir(path.c_str(), own_mode) != 0 && errno != EEXIST)
    return path + ": " + std::strerror(errno);
  const auto resolved = upgrader::resolve(path);
  struct stat status {};
  if (!resolved || ::stat(resolved->c_str(), &status) != 0)
    return path + ": " + std::strerror(errno);
  if (!S_ISDIR(status.st_mode)) return path + " is not a directory";
  path_ = *resolved;
  const int number = upgrader::OwnedFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)).get();
  lock_.emplace(path_ + "/lock", number);
  const int refused = lock_->try_lock();
  if (refused == EWOULDBLOCK)
    return path_ + " is in use by another command: " + lock_->holder_in_words();
  if (refused != 0) return path_ + "/lock: " + upgrader::Lock::refusal_in_words(refused);
  lock_->write_holder();
  return "";
}

upgrader::Result<std::optional<fleet::CellTerms>> CellDirectory::terms() const {
  const std::string file = path_ + "/cell";
  if (::access(file.c_str(), F_OK) != 0) return std::optional<fleet::CellTerms>();
  const auto read = fleet::cell_in(fleet::content_of_file(file));
  if (!read) return upgrader::Refusal{file + ": " + read.reason()};
  return std::optional<fleet::CellTerms>(read.value());
}

CertificatesMade make_certificates(const std::string& directory,
                                   const std::vector<CertificateWanted>& wanted) {
  std::map<std::string, fleet::CertificateThere> there;
  for (const CertificateWanted& one : wanted) {
    there[one.file] = look_at(directory, one);
  }
  fleet::CertificatePlan plan = fleet::plan_certificates(wanted, there);
  CertificatesMade made{.refused = std::move(plan.refused)};
  for (const CertificateWanted& one : plan.make) {
    if (std::string why = make(directory, one); !why.empty()) {
      made.refused.push_back(std::move(why));
      return made;
    }
    made.files.push_back(one.file);
  }
  return made;
}

}  // namespace fleetctl
