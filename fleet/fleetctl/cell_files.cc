#include "fleet/fleetctl/cell_files.h"

#include <unistd.h>

#include <ctime>
#include <utility>

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

fleet::CertificateThere look_at(const std::string& directory, const CertificateWanted& wanted) {
  const std::string path = directory + "/" + wanted.file;
  fleet::CertificateThere there{.certificate = exists(path + ".pem"), .key = exists(path + ".key")};
  // The key of an authority may be kept elsewhere: it is needed only if a missing certificate has
  // to be signed.
  const std::string authority =
      wanted.authority.empty() ? "" : content_of_file(directory + "/" + wanted.authority + ".pem");
  if (there.certificate && (there.key || wanted.authority.empty())) {
    there.unfit = fleet::why_unfit(content_of_file(path + ".pem"),
                                   there.key ? content_of_file(path + ".key") : "",
                                   {.name = wanted.name,
                                    .authority = authority,
                                    .is_authority = wanted.authority.empty(),
                                    .addresses = wanted.addresses},
                                   std::time(nullptr));
  }
  return there;
}

// Makes a key and its certificate. Returns why that failed, or an empty text.
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
