// This file decides whether a machine may join a cell, and which records are changed when it joins.
//
// A machine sends a token, the name that it wants to have, and a request for a certificate with a
// key of its own. If the name is new, the token is enough. If the name exists already or was
// revoked, the machine waits until a person has approved the fingerprint of the machine's key. A
// machine may send its request again at any time. If the key and the name are the same as before,
// the machine is let in, and this does not count as another use of the token. This file does no
// input or output; other files compute hashes and sign certificates.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/time.h"
#include "fleet/model/records/transaction.h"

namespace fleet {

// The number of hexadecimal digits of a token's secret, which has 128 bits.
inline constexpr std::size_t secret_digits = 32;
// The number of hexadecimal digits of a fingerprint. The fingerprint of a key is the first half of
// its SHA-256 hash, which is long enough that nobody can make another key with the same
// fingerprint.
inline constexpr std::size_t fingerprint_digits = 32;
// The numbers of hexadecimal digits of a token's ID, and of the hash of a token's secret.
inline constexpr std::size_t token_id_digits = 16;
inline constexpr std::size_t hash_digits = 64;
// The longest text of a token, or of a machine's request to join, in bytes. This is enough for a
// token, which has a few addresses, and for a request to join, which contains one request for a
// certificate.
inline constexpr std::size_t join_bytes_max = 8'192;
// The most requests to join that the store has at a time. Further requests are not written.
inline constexpr std::size_t join_requests_max = 1'000;
// A request to join may wait this long for a person who approves it. The record of an expired token
// is kept for the same time.
inline constexpr UnixSeconds join_kept_s = 7 * 86'400;
// The time that a refused request is kept, so that the machine can read the reason.
inline constexpr UnixSeconds refusal_kept_s = 3'600;

// How many certificates that have not expired a node may have. A machine that joins again as a node
// with this many certificates gets no further one. The first limit is for a machine that has the
// same key as before, the second for a machine that a person has approved. Without limits, a
// machine could ask until the node's record, which lists all certificates, is too long to be read.
inline constexpr std::size_t certificates_again_max = 16;
inline constexpr std::size_t certificates_max = 200;

// Returns whether the text consists of exactly this many hexadecimal digits, with lowercase
// letters.
[[nodiscard]] bool is_hexadecimal(std::string_view text, std::size_t digits);

// Returns whether the text may be the content of a file with a public key: lines of ASCII.
[[nodiscard]] bool is_text(std::string_view text);
// Returns whether a file with a public key may have this name: NAME.pub, without a directory.
[[nodiscard]] bool is_release_key_name(std::string_view name);

// Parses the text of a token. Returns a Refusal if the text is longer than join_bytes_max, is
// damaged or lacks a part.
[[nodiscard]] Result<TokenText> token_in(std::string_view text);
// Parses the text of a machine's request to join, whose length the caller has checked. Returns a
// Refusal if the text is damaged or lacks a part.
[[nodiscard]] Result<JoinQuestion> join_question_in(std::string_view text);

// Returns the ID of the token whose secret has this hash.
[[nodiscard]] std::string token_id(std::string_view hash);
// Returns the record of the token whose secret has this hash, or null if there is none. The
// comparison takes constant time, so its time does not show an attacker how many digits are right.
[[nodiscard]] const KeyValue* token_with(
    const std::map<std::string, KeyValue, std::less<>>& records, std::string_view hash);

// Returns why a node of this name may not join with the token, or an empty string if it may.
// `asked` is the time of the machine's first request. The token must be valid at that time, but may
// expire while the machine waits for approval.
[[nodiscard]] std::string why_token_unfit(const Token& token, std::string_view node,
                                          UnixSeconds asked);

// Returns whether the identity has a certificate with this key that has not been revoked and has
// not expired.
[[nodiscard]] bool has_key(const Identity& identity, std::string_view fingerprint, UnixSeconds now);

// A machine's request to join, with the records that the decision about it depends on.
struct JoinCase {
  std::string fingerprint = {};
  JoinRequest request = {};
  Revision request_revision = 0;
  std::optional<Token> token = {};
  Revision token_revision = 0;
  std::optional<Identity> identity = {};
  Revision identity_revision = 0;
  bool is_identity_damaged = false;
  std::optional<Approval> approval = {};
  Revision approval_revision = 0;
  bool all_wait = false;  // true if every machine has to be approved by a person (setting `join`)
};
[[nodiscard]] std::optional<JoinCase> join_case(
    const std::map<std::string, KeyValue, std::less<>>& records, const std::string& fingerprint);

struct JoinWaits {
  // True if the name is revoked. fleet-signer then removes the user with this name from the store,
  // since this user may have been created just before the revocation.
  bool shuts_out = false;
  // True if the machine was approved before the name was revoked. Such an approval does not count,
  // and is erased, so that people see again that the machine waits.
  bool drops_approval = false;
};
struct JoinRefused {
  std::string why = {};
};
struct JoinSigned {
  bool costs_use = false;  // the certificate counts as one use of the token
};
using JoinDecision = std::variant<JoinWaits, JoinRefused, JoinSigned>;
[[nodiscard]] JoinDecision decide_join(const JoinCase& one, UnixSeconds now);

// Returns why the node gets no additional certificate, or an empty string if it gets one. Called
// before each certificate is signed for a machine that joins.
[[nodiscard]] std::string why_no_more(const JoinCase& one, const JoinSigned& decision,
                                      UnixSeconds now);

// Returns the next request to join that must be decided now, or no value if there is none. Leaves
// out the requests whose keys are in `put_off`.
[[nodiscard]] std::optional<JoinCase> next_join(
    const std::map<std::string, KeyValue, std::less<>>& records, UnixSeconds now,
    const std::set<std::string, std::less<>>& put_off = {});

// Returns the transaction that answers a request to join without a certificate: the machine waits,
// or is refused. If the machine has waited and is now refused, the transaction also adds a note of
// this to the history.
[[nodiscard]] Transaction answer_join(const JoinCase& one, const JoinDecision& decision);
// Returns the transaction that adds the signed certificate to the machine's identity and to its
// request. If the machine is new, the transaction also adds a note to the history. The machine gets
// the certificate only later, by publish_join(), when the store has a user with the machine's name.
// If this fleet-signer exits before then, another fleet-signer finds the certificate in the
// request, and publishes it.
[[nodiscard]] Transaction record_join(const JoinCase& one, const JoinSigned& decision,
                                      const std::string& pem, const IssuedCertificate& issued,
                                      const std::string& time, UnixSeconds now);
// Returns whether the machine's identity lists the certificate `issued` with the key of this
// machine. Only then has a fleet-signer signed it: controllers can write certificates into
// requests, but cannot write identities. Returns false if the certificate has expired, or if the
// certificate or the identity was revoked.
[[nodiscard]] bool was_signed(const JoinCase& one, const IssuedCertificate& issued,
                              UnixSeconds now);
// Returns the transaction that gives the certificate to the machine. `recorded` is the revision at
// which the transaction of record_join() was committed. If the machine's identity has changed since
// then, for example because it was revoked, the store refuses this transaction.
[[nodiscard]] Transaction publish_join(const JoinCase& one, const std::string& pem,
                                       Revision recorded);

// Returns a transaction that removes some of the requests, approvals and tokens that are too old,
// or an empty transaction if none is too old.
[[nodiscard]] Transaction forget_joins(const std::map<std::string, KeyValue, std::less<>>& records,
                                       UnixSeconds now);

}  // namespace fleet
