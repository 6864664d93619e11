// Decides whether a machine may join a cell, and which records that changes.
//
// A machine shows a token, and asks for a name with a key of its own. A new name is let in by the
// token alone. A name that exists already, or one that was revoked, waits for a person, who
// approves the fingerprint of the key. The same key under the same name is let in again at no cost,
// so that a machine may ask as often as it has to. Pure: other files compute hashes and sign
// certificates.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "fleet/model/cell_records.h"
#include "fleet/model/identities.h"
#include "fleet/model/join_records.h"
#include "fleet/model/time_zone.h"
#include "fleet/model/transaction.h"

namespace fleet {

// The hexadecimal digits of a secret: 128 bits.
inline constexpr std::size_t secret_digits = 32;
// The hexadecimal digits of a fingerprint: half of SHA-256, so that nobody can make another key
// with the same one.
inline constexpr std::size_t fingerprint_digits = 32;
// The hexadecimal digits of a token's ID, and those of its hash.
inline constexpr std::size_t token_id_digits = 16;
inline constexpr std::size_t hash_digits = 64;
// The limit for the text of a token or of a machine's question, which a few addresses and one
// request fit into.
inline constexpr std::size_t join_bytes_max = 8'192;
// The most requests that may stand in the store. No more are written.
inline constexpr std::size_t join_requests_max = 1'000;
// The time that a request waits for a person, and that a token is kept after it has expired.
inline constexpr UnixSeconds join_kept_s = 7 * 86'400;
// The time that a refused request is kept, so that the machine can read the reason.
inline constexpr UnixSeconds refusal_kept_s = 3'600;

// Returns whether the text has exactly so many hexadecimal digits, in small letters.
[[nodiscard]] bool is_hexadecimal(std::string_view text, std::size_t digits);

// Returns whether the text may be the content of a file with a public key: lines of ASCII.
[[nodiscard]] bool is_text(std::string_view text);
// Returns whether the name may be that of such a file: NAME.pub, without a directory.
[[nodiscard]] bool is_release_key_name(std::string_view name);

// Reads the text of a token, or of a machine's question. Refuses one that is too long or damaged,
// or lacks a part, in words.
[[nodiscard]] Result<TokenText> token_in(std::string_view text);
[[nodiscard]] Result<JoinQuestion> join_question_in(std::string_view text);

// Returns the ID of the token whose secret has this hash.
[[nodiscard]] std::string token_id(std::string_view hash);
// Returns the record of the token whose secret has this hash, or null if there is none. The token
// is found by its ID, and the comparison of the hashes takes as long wherever they differ.
[[nodiscard]] const KeyValue* token_with(
    const std::map<std::string, KeyValue, std::less<>>& records, std::string_view hash);

// Returns why the token does not let this name in, or an empty text if it does. `asked` is the time
// of the machine's first question, so that a token that expires while the machine waits is still
// good for it.
[[nodiscard]] std::string why_token_unfit(const Token& token, std::string_view node,
                                          UnixSeconds asked);

// Returns whether the owner has a certificate with this key that is neither revoked nor over.
[[nodiscard]] bool has_key(const Identity& identity, std::string_view fingerprint, UnixSeconds now);

// A request with the records that decide about it, as they were read.
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
  bool all_wait = false;  // the setting `join` is `ask`
};
[[nodiscard]] std::optional<JoinCase> join_case(
    const std::map<std::string, KeyValue, std::less<>>& records, const std::string& fingerprint);

struct JoinWaits {
  // The name was revoked, perhaps just after its user was made in the store: the user is removed.
  bool shuts_out = false;
};
struct JoinRefused {
  std::string why = {};
};
struct JoinSigned {
  bool costs_use = false;
};
using JoinDecision = std::variant<JoinWaits, JoinRefused, JoinSigned>;
[[nodiscard]] JoinDecision decide_join(const JoinCase& one, UnixSeconds now);

// Returns the next request that is to be decided, or no value if all are.
[[nodiscard]] std::optional<JoinCase> next_join(
    const std::map<std::string, KeyValue, std::less<>>& records, UnixSeconds now);

// Returns the write of the answer to a request that waits or is refused.
[[nodiscard]] Transaction answer_join(const JoinCase& one, const JoinDecision& decision);
// Returns the write of a certificate that was signed: the owner gets it by publish_join(), once the
// store knows the owner.
[[nodiscard]] Transaction record_join(const JoinCase& one, const JoinSigned& decision,
                                      const IssuedCertificate& issued, const std::string& time,
                                      UnixSeconds now);
// Returns the write that gives the certificate away. `recorded` is the revision of record_join():
// if the owner was revoked since then, nothing is written.
[[nodiscard]] Transaction publish_join(const JoinCase& one, const std::string& pem,
                                       Revision recorded);

// Returns the write that removes some of the requests, approvals and tokens whose time is over, or
// an empty one.
[[nodiscard]] Transaction forget_joins(const std::map<std::string, KeyValue, std::less<>>& records,
                                       UnixSeconds now);

}  // namespace fleet
