// Decides how to answer the request of a machine that wants to join. Only this request needs no
// certificate. The controller does not decide who may join: it writes the request into the store,
// and fleet-signer decides.
//
// If a machine's token is unknown, nothing is written, and the refusal reveals nothing about the
// cell. All machines that have to wait get the same answer, so that nobody can find out which names
// exist. Does no input or output.
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

// The maximum number of requests that wait in one controller at a time for the decision of
// fleet-signer.
inline constexpr std::size_t joins_held_max = 100;
// The maximum number of requests that a controller writes into the store: `join_burst` at one
// moment, and `joins_per_second` on average. This is enough for two hundred machines that join at
// the same moment.
inline constexpr std::int64_t join_burst = 300;
inline constexpr std::int64_t joins_per_second = 20;

// Limits how many requests are written into the store, even if very many machines ask.
class JoinRate {
 public:
  // Counts one request. Returns false if the request must not be written now, since too many others
  // came shortly before it.
  [[nodiscard]] bool take(Ms now);

 private:
  // How many requests may be written now, in thousandths of a request.
  std::int64_t left_ = join_burst * 1'000;
  std::optional<Ms> counted_ = {};
};

// The request of a machine that wants to join. Instead of the token's secret, it contains a hash.
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

// The next step: write the request to the store. The machine is answered when fleet-signer has
// decided.
struct JoinWrite {
  Transaction transaction = {};
};
// The next step: wait. The request is in the store already, and the machine is answered when
// fleet-signer has decided.
struct JoinHold {};
using JoinStep = std::variant<Response, JoinWrite, JoinHold>;
[[nodiscard]] JoinStep begin_join(const JoinAsked& asked, const JoinMoment& moment);

// Returns the answer to a machine whose request is in the store, or no value if fleet-signer has
// not decided yet.
[[nodiscard]] std::optional<Response> answer_held_join(const JoinAsked& asked,
                                                       const JoinMoment& moment);

// Returns the answer to a machine that has to wait. The answer is the same for every reason to
// wait.
[[nodiscard]] Response join_waits(const JoinAsked& asked);

// Parses the HTTP request of a machine that wants to join. If the HTTP request is not valid,
// returns a refusal with status 405, 413 or 400.
[[nodiscard]] std::variant<Response, JoinQuestion> join_question_of(const Request& request);

}  // namespace fleet
