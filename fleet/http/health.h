// How the store and this controller are, beside what the records say. Plain data.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fleet/store/member_status.h"

namespace fleet {

struct MemberHealth {
  bool answers = false;
  MemberStatus status = {};
  std::string trouble = {};
};

struct CertificateHealth {
  std::string what = {};     // `store`, `http`, `authority`
  std::int64_t expires = 0;  // seconds since 1970; 0: it cannot be read
  std::string trouble = {};
};

struct Health {
  std::string controller = {};
  bool follows = false;  // the store was heard, and nothing is known to be missed
  std::string trouble = {};
  std::int64_t revision = 0;
  std::map<std::string, MemberHealth> members = {};  // by endpoint
  std::vector<CertificateHealth> certificates = {};
  double cpu_seconds = 0;
  std::int64_t resident_bytes = 0;
  std::int64_t snapshot_at = 0;  // seconds since 1970; 0: none was taken by this controller
  std::map<int, std::int64_t> responses = {};  // by status
  std::int64_t streams = 0;

  // More than half of the members answer and have a leader.
  [[nodiscard]] bool has_quorum() const;
  [[nodiscard]] bool has_no_space() const;
};

}  // namespace fleet
