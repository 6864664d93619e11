// Decides about the request of a machine that wants to join, which is the only request without a
// certificate. The controller does not decide who may join: it writes the request into the store,
// and fleet-signer decides.
//
// If a machine's token is unknown, nothing is written, and the refusal reveals nothing about the
// cell. All machines that wait get the same answer, so that nobody can find out from it which names
// exist. Pure.
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

// The most requests that one controller holds at a time while fleet-signer decides about them.
inline constexpr std::size_t joins_held_max = 100;
// A controller may write `join_burst` requests into the store at one moment, and `joins_per_second`
// on average. This is enough for two hundred machines that join at the same moment.
inline constexpr std::int64_t join_burst = 300;
inline constexpr std::int64_t joins_per_second = 20;

// Limits how often requests are written into the store, however many machines ask.
class JoinRate {
 public:
  // Counts one request. Returns false if the request must not be written now, since too many came
  // before it.
  [[nodiscard]] bool take(Ms now);

 private:
  std::int64_t left_ = join_burst * 1'000;  // what may be written now, in thousandths of a request
  std::optional<Ms> counted_ = {};
};

// A machine's question, with the fingerprint of its key and the hash of its token's secret.
struct JoinAsked {
  std::string node = {};
  std::string pem = {};
  std::string fingerprint = {};  // the fingerprint of the key in the request
  std::string hash = {};         // the hash of the token's secret
};

struct JoinMoment {
  const std::map<std::string, KeyValue, std::less<>>& records;
  UnixSeconds now = 0;
  // Returns the serial number and the fingerprint of a certificate, or no value if the text is not
  // a certificate.
  std::function<std::optional<IssuedCertificate>(const std::string& pem)> read_certificate;
};

// The next step: write the request to the store. It is answered when fleet-signer has decided.
struct JoinWrite {
  Transaction transaction = {};
};
// The next step: wait. The request is in the store already, and is answered when fleet-signer has
// decided.
struct JoinHold {};
using JoinStep = std::variant<Response, JoinWrite, JoinHold>;
[[nodiscard]] JoinStep begin_join(const JoinAsked& asked, const JoinMoment& moment);

// Returns the answer to a request that is in the store, or no value if fleet-signer has not decided
// yet.
[[nodiscard]] std::optional<Response> answer_held_join(const JoinAsked& asked,
                                                       const JoinMoment& moment);

// Returns the answer to a machine that has to wait. The answer does not depend on why it has to
// wait.
[[nodiscard]] Response join_waits(const JoinAsked& asked);

// Parses the HTTP request of a machine that wants to join. Returns a refusal with status 405, 413
// or 400 if it is not such a request.
[[nodiscard]] std::variant<Response, JoinQuestion> join_question_of(const Request& request);

}  // namespace fleet
