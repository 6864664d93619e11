// Decides how a controller answers a machine that wants to join the cell. This is the only request
// for which a client needs no certificate, since a new machine has none. fleet-signer decides which
// machines may join; the controller only writes the request into the store. Does no input or
// output.
//
// If the token is unknown, the controller writes nothing, and the refusal reveals nothing about the
// cell. Every machine that has to wait gets the same answer, so that nobody can find out which node
// names exist.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "fleet/http/message.h"
#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/time.h"
#include "fleet/model/signer/joining.h"

namespace fleet {

// The maximum number of requests that wait in one controller for fleet-signer's decision.
inline constexpr std::size_t joins_held_max = 100;
// Limits of the requests that a controller writes into the store: `join_burst` at once, and then
// `joins_per_second`. This suffices for two hundred machines that join at the same moment.
inline constexpr std::int64_t join_burst = 300;
inline constexpr std::int64_t joins_per_second = 20;

// Limits how many requests are written into the store, however many machines ask.
class JoinRate {
 public:
  // Counts one request. Returns false if it must not be written now, after too many others.
  [[nodiscard]] bool take(Ms now);

 private:
  // The number of requests that may be written now, in thousandths.
  std::int64_t left_ = join_burst * 1'000;
  std::optional<Ms> counted_ = {};
};

// A machine's request to join, with a hash in place of the token's secret.
struct JoinAsked {
  std::string node = {};
  std::string pem = {};
  std::string fingerprint = {};  // the fingerprint of the key in the request
  std::string hash = {};         // the hash of the token's secret
};

struct JoinMoment {
  const std::map<std::string, KeyValue, std::less<>>& records;
  UnixSeconds now = 0;
  // Returns facts about a certificate, such as its serial number, or no value if the text is not a
  // certificate.
  std::function<std::optional<IssuedCertificate>(const std::string& pem)> read_certificate;
};

// The caller must write the request to the store, and answer the machine when fleet-signer has
// decided.
struct JoinWrite {
  Transaction transaction = {};
};
// The request is in the store already. The caller must answer the machine when fleet-signer has
// decided.
struct JoinHold {};
using JoinStep = std::variant<Response, JoinWrite, JoinHold>;
[[nodiscard]] JoinStep begin_join(const JoinAsked& asked, const JoinMoment& moment);

// Returns the answer to a machine whose request is in the store, or no value if fleet-signer has
// not decided yet.
[[nodiscard]] std::optional<Response> answer_held_join(const JoinAsked& asked,
                                                       const JoinMoment& moment);

// Returns the answer to a machine that has to wait, which is the same for every reason.
[[nodiscard]] Response join_waits(const JoinAsked& asked);

// Parses the HTTP request of a machine that wants to join. If the HTTP request is not valid,
// returns a refusal with status 405, 413 or 400.
[[nodiscard]] std::variant<Response, JoinQuestion> join_question_of(const Request& request);

}  // namespace fleet
