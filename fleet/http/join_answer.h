// Decides how a controller answers the request of a machine that wants to join the cell. This is
// the only kind of request for which a client needs no certificate, since a new machine does not
// have one yet. The controller does not decide which machines may join: it writes the request into
// the store, and fleet-signer decides.
//
// If the machine's token is unknown, nothing is written, and the refusal reveals nothing about the
// cell. Every machine that has to wait gets the same answer, whatever the reason, so that nobody
// can find out which node names exist. Does no input or output.
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

// The maximum number of requests in one controller that wait for fleet-signer's decision at the
// same time.
inline constexpr std::size_t joins_held_max = 100;
// The maximum number of requests that a controller writes into the store: up to `join_burst` at
// once, and in the long run `joins_per_second` per second. This is enough for two hundred machines
// that join at the same moment.
inline constexpr std::int64_t join_burst = 300;
inline constexpr std::int64_t joins_per_second = 20;

// Limits how many requests are written into the store, even if very many machines ask.
class JoinRate {
 public:
  // Counts one request. Returns false if the request must not be written now, since too many
  // requests came shortly before.
  [[nodiscard]] bool take(Ms now);

 private:
  // The number of requests that may be written now, in thousandths.
  std::int64_t left_ = join_burst * 1'000;
  std::optional<Ms> counted_ = {};
};

// The request of a machine that wants to join, with a hash in place of the token's secret.
struct JoinAsked {
  std::string node = {};
  std::string pem = {};
  std::string fingerprint = {};  // the fingerprint of the key in the request
  std::string hash = {};         // the hash of the token's secret
};

struct JoinMoment {
  const std::map<std::string, KeyValue, std::less<>>& records;
  UnixSeconds now = 0;
  // Returns the facts about a certificate, such as its serial number and its key's fingerprint.
  // Returns no value if the text is not a certificate.
  std::function<std::optional<IssuedCertificate>(const std::string& pem)> read_certificate;
};

// The next step is to write the request to the store. The machine is answered later, when
// fleet-signer has decided.
struct JoinWrite {
  Transaction transaction = {};
};
// The next step is to wait. The request is in the store already, and the machine is answered when
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
