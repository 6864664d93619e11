// Facts about the store's members and this controller that are not in the store's records. Plain
// data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fleet/store/store.h"

namespace fleet {

struct MemberHealth {
  bool answers = false;
  MemberStatus status = {};
  std::string trouble = {};
};

struct CertificateHealth {
  std::string what = {};     // what the certificate is for: `store`, `http` or `authority`
  std::string name = {};     // KIND:WHO, the name in the certificate; may be empty
  std::int64_t expires = 0;  // seconds since 1970; 0 if the certificate cannot be read
  std::string trouble = {};
};

struct Health {
  std::string controller = {};
  bool follows = false;  // whether this controller's copy of the records is up to date
  std::string trouble = {};
  std::int64_t revision = 0;
  std::map<std::string, MemberHealth> members = {};  // the members, by their endpoints
  std::vector<CertificateHealth> certificates = {};
  double cpu_seconds = 0;
  std::int64_t resident_bytes = 0;
  std::map<int, std::int64_t> responses = {};  // how many responses were sent, by HTTP status
  std::int64_t streams = 0;

  // Returns whether more than half of the members answer and have a leader.
  [[nodiscard]] bool has_quorum() const;
  [[nodiscard]] bool has_no_space() const;
};

}  // namespace fleet
