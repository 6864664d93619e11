// This file checks records by rules that the types of C++ cannot express. Names must be valid in
// keys, in commands and in the ids of upgrades. Numbers must be so small that calculations with
// them cannot overflow. This file also cuts strings for people to the length that they may have in
// a record. A list of nodes that only people read is cut to its first names; a number beside the
// list counts all nodes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/node_records.h"
#include "fleet/model/records/plan_records.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/rollout_records.h"

namespace fleet {

// The longest duration in a record: a year. Sums of such durations cannot overflow.
inline constexpr std::int64_t record_ms_max = 366LL * 86'400'000;
// The longest wait in a step of a plan: a day.
inline constexpr std::int64_t plan_timeout_ms_max = 86'400'000;
inline constexpr std::size_t plan_steps_max = 100;
// The most facts, labels, components or certificates in one record.
inline constexpr std::size_t record_entries_max = 256;
// The most machines that may join the cell with one token.
inline constexpr std::int64_t token_uses_max = 10'000;
// The most public keys of publishers that a joining machine may get.
inline constexpr std::size_t release_keys_max = 16;
// The most bytes of a machine's request for a certificate, and also of the certificate. Both are
// usually about 1,000 bytes long. With this limit, a record that has both fits into the store.
inline constexpr std::size_t pem_bytes_max = 8'192;
// The most times that one batch of a rollout may be done again. The ids of commands contain this
// count, so it must have few digits.
inline constexpr std::int64_t again_max = 100'000;
// The most batches of a rollout, far more than a cell has nodes. The product of batches_max and
// again_max does not overflow.
inline constexpr std::int64_t batches_max = 1'000'000'000;
// The most failed nodes that the record of a rollout's judge lists. Each node is listed as a number
// of at most 13 digits, so the list fits into one record.
inline constexpr std::size_t judge_failed_max = 4'000;

// Each function put_right() cuts the strings and lists in a record that are too long. It returns
// the record's first remaining fault, or no value if the record is valid.
[[nodiscard]] std::optional<std::string> put_right(NodeInfo& record);
[[nodiscard]] std::optional<std::string> put_right(Versions& record);
[[nodiscard]] std::optional<std::string> put_right(Instance& record);
[[nodiscard]] std::optional<std::string> put_right(Active& record);
[[nodiscard]] std::optional<std::string> put_right(Upgrade& record);
[[nodiscard]] std::optional<std::string> put_right(Command& record);
[[nodiscard]] std::optional<std::string> put_right(Answer& record);
[[nodiscard]] std::optional<std::string> put_right(Claim& record);
[[nodiscard]] std::optional<std::string> put_right(NodeHealth& record);
[[nodiscard]] std::optional<std::string> put_right(ControlWatch& record);
[[nodiscard]] std::optional<std::string> put_right(CertificateRequest& record);
[[nodiscard]] std::optional<std::string> put_right(NodeCertificate& record);
[[nodiscard]] std::optional<std::string> put_right(Release& record);
[[nodiscard]] std::optional<std::string> put_right(Desired& record);
[[nodiscard]] std::optional<std::string> put_right(DriverRecord& record);
[[nodiscard]] std::optional<std::string> put_right(Window& record);
[[nodiscard]] std::optional<std::string> put_right(Stop& record);
[[nodiscard]] std::optional<std::string> put_right(Epoch& record);
[[nodiscard]] std::optional<std::string> put_right(Settings& record);
[[nodiscard]] std::optional<std::string> put_right(FleetEvent& record);
[[nodiscard]] std::optional<std::string> put_right(PastRun& record);
[[nodiscard]] std::optional<std::string> put_right(Notified& record);
[[nodiscard]] std::optional<std::string> put_right(Identity& record);
[[nodiscard]] std::optional<std::string> put_right(BudgetPlace& record);
[[nodiscard]] std::optional<std::string> put_right(Token& record);
[[nodiscard]] std::optional<std::string> put_right(JoinRequest& record);
[[nodiscard]] std::optional<std::string> put_right(Approval& record);
[[nodiscard]] std::optional<std::string> put_right(SignerAtWork& record);
[[nodiscard]] std::optional<std::string> put_right(ControllerAtWork& record);
[[nodiscard]] std::optional<std::string> put_right(TokenText& record);
[[nodiscard]] inline std::optional<std::string> put_right(JoinQuestion&) {
  return std::nullopt;
}
[[nodiscard]] std::optional<std::string> put_right(JoinAnswer& record);
[[nodiscard]] std::optional<std::string> put_right(Rollout& record);
[[nodiscard]] std::optional<std::string> put_right(RolloutBatch& record);
[[nodiscard]] std::optional<std::string> put_right(RolloutJudge& record);
[[nodiscard]] std::optional<std::string> put_right(RolloutNode& record);
[[nodiscard]] std::optional<std::string> put_right(Plan& record);
[[nodiscard]] std::optional<std::string> put_right(PlanPlace& record);
[[nodiscard]] std::optional<std::string> put_right(PlanMember& record);
[[nodiscard]] std::optional<std::string> put_right(Once& record);

// The functions from which put_right() is made. Functions whose names begin with `cut` shorten
// strings. The other functions return a fault, or no value if they find none.
namespace record_checks {

using Wrong = std::optional<std::string>;

inline std::string quoted(std::string_view text) {
  return "\"" + brief(text, label_bytes_max) + "\"";
}

// Returns the first fault in the list, or no value if the list has none.
inline Wrong first_of(std::initializer_list<Wrong> all) {
  for (const Wrong& one : all) {
    if (one) return one;
  }
  return std::nullopt;
}

using IsName = bool (*)(std::string_view);

// Returns a fault if `is_name` refuses `text`. An empty `text` is no fault: it stands for a member
// that is absent in the record's JSON.
inline Wrong wrong_name(const std::string& text, IsName is_name, std::string_view what) {
  if (text.empty() || is_name(text)) return std::nullopt;
  return record_checks::quoted(text) + " is no " + std::string(what);
}

inline Wrong wrong_version(const std::string& text) {
  return wrong_name(text, &is_version_name, "version");
}

inline Wrong wrong_number(std::int64_t number, std::int64_t least, std::int64_t most,
                          std::string_view what) {
  if (number >= least && number <= most) return std::nullopt;
  return std::string(what) + " is " + std::to_string(number) + ", not " + std::to_string(least) +
         " to " + std::to_string(most);
}

inline Wrong wrong_time(std::int64_t ms, std::string_view what) {
  return wrong_number(ms, 0, record_ms_max, what);
}

inline Wrong too_many(std::size_t count, std::size_t most, std::string_view what) {
  if (count <= most) return std::nullopt;
  return std::string(what) + ": " + std::to_string(count) + ", at most " + std::to_string(most);
}

inline Wrong wrong_ids(const std::vector<std::string>& ids, std::string_view what) {
  for (const std::string& id : ids) {
    if (!is_id(id)) return std::string(what) + " " + record_checks::quoted(id) + " is no id";
  }
  if (!std::is_sorted(ids.begin(), ids.end())) return std::string(what) + "s are not sorted";
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) {
    return std::string(what) + " is there twice";
  }
  return std::nullopt;
}

inline void cut_texts(std::initializer_list<std::string*> texts) {
  for (std::string* text : texts)
    *text = brief(*text);
}

inline void cut_labels(std::initializer_list<std::string*> texts) {
  for (std::string* text : texts)
    *text = brief(*text, label_bytes_max);
}

inline void cut_labels(std::map<std::string, std::string>& texts) {
  for (auto& [name, text] : texts)
    text = brief(text, label_bytes_max);
}

}  // namespace record_checks

}  // namespace fleet
