// Decides about a machine that asks to join: the only request that needs no certificate. The
// controller lets nobody in: it writes the request into the store, where fleet-signer decides.
//
// A machine whose token is not known learns nothing and writes nothing. All machines that wait are
// told the same words, so nobody learns from them which names exist. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "fleet/http/message.h"
#include "fleet/model/cell_records.h"
#include "fleet/model/joining.h"
#include "fleet/model/time.h"

namespace fleet {

// The most machines whose requests are held at one controller while fleet-signer decides.
inline constexpr std::size_t joins_held_max = 100;
// The requests that a controller writes into the store at once, and then for each second. Two
// hundred machines may join in one moment.
inline constexpr std::int64_t join_burst = 300;
inline constexpr std::int64_t joins_per_second = 20;

// Decides how often requests are written, whatever machines ask for.
class JoinRate {
 public:
  // Returns false if no request may be written now.
  [[nodiscard]] bool take(Ms now);

 private:
  std::int64_t left_ = join_burst * 1'000;  // thousandths of a request
  std::optional<Ms> counted_ = {};
};

// A question, and what was found out about its texts.
struct JoinAsked {
  std::string node = {};
  std::string pem = {};
  std::string fingerprint = {};  // of the key in the request
  std::string hash = {};         // of the token's secret
};

struct JoinMoment {
  const std::map<std::string, KeyValue, std::less<>>& records;
  UnixSeconds now = 0;
  // Reads serial number and fingerprint of a certificate.
  std::function<std::optional<IssuedCertificate>(const std::string& pem)> read_certificate;
};

// The request is written, and answered when fleet-signer has decided.
struct JoinWrite {
  Transaction transaction = {};
};
// The request stands in the store already.
struct JoinHold {};
using JoinStep = std::variant<Response, JoinWrite, JoinHold>;
[[nodiscard]] JoinStep begin_join(const JoinAsked& asked, const JoinMoment& moment);

// Returns the answer to a request that stands in the store, or no value if fleet-signer has not
// decided yet.
[[nodiscard]] std::optional<Response> answer_held_join(const JoinAsked& asked,
                                                       const JoinMoment& moment);

// Returns the answer to every machine that waits, for whatever reason.
[[nodiscard]] Response join_waits(const JoinAsked& asked);

// Returns the refusal of a request that is none of a machine that joins, with status 405, 413 or
// 400, or the question.
[[nodiscard]] std::variant<Response, JoinQuestion> join_question_of(const Request& request);

}  // namespace fleet
