// Checks what the types of a record's members cannot express. Names must be valid in keys, in
// commands and in the ids of upgrades. Numbers must be so small that calculations with them cannot
// overflow. Texts for people are cut to the length that a record may have. Of a list of nodes, a
// record keeps the first names and the number of all nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fleet/model/cell_records.h"
#include "fleet/model/join_records.h"
#include "fleet/model/node_records.h"
#include "fleet/model/plan_records.h"
#include "fleet/model/rollout_records.h"

namespace fleet {

// The longest time in a record: a year. It is so short that sums of such times cannot overflow.
inline constexpr std::int64_t record_ms_max = 366LL * 86'400'000;
// The longest wait in a step of a plan: a day.
inline constexpr std::int64_t plan_timeout_ms_max = 86'400'000;
inline constexpr std::size_t plan_steps_max = 100;
// The most facts, labels, components or certificates in one record.
inline constexpr std::size_t record_entries_max = 256;
// The most machines that may join with one token, and the most public keys of releases that a token
// may bring.
inline constexpr std::int64_t token_uses_max = 10'000;
inline constexpr std::size_t release_keys_max = 16;
// The most bytes of a machine's request for a certificate, and of the certificate itself. Both
// usually have about 1,000 bytes. With this limit, a record that has both is never longer than a
// record may be.
inline constexpr std::size_t pem_bytes_max = 8'192;
// How many times one batch may be repeated at most. The count is a part of the ids of commands, so
// it must have few digits.
inline constexpr std::int64_t again_max = 100'000;
// The most failed nodes that the judge's record lists, each as a number. This many numbers fit into
// one record, beside its other members.
inline constexpr std::size_t judge_failed_max = 4'000;

// Cuts texts and lists in the record that are too long. Returns the record's first fault, or no
// value if the record is valid.
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

}  // namespace fleet
