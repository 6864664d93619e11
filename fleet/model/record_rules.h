// The rules for a record beyond its shape: names that come to stand in keys, in commands and
// in the ids of upgrades are such names, and numbers are such that what is counted with them stays
// a number. Texts for people are cut to what a record holds of them, and lists of nodes keep the
// first names and the count of all.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "fleet/model/cell_records.h"
#include "fleet/model/node_records.h"
#include "fleet/model/plan_records.h"
#include "fleet/model/rollout_records.h"

namespace fleet {

// Times in a record are at most a year: whatever is added to them, they stay a number.
inline constexpr std::int64_t record_ms_max = 366LL * 86'400'000;
// A step of a plan waits for a day at most.
inline constexpr std::int64_t plan_timeout_ms_max = 86'400'000;
inline constexpr std::size_t plan_steps_max = 100;
// Facts, labels, components of a node, and certificates of a name.
inline constexpr std::size_t record_entries_max = 256;
// Of nodes that have failed first, as numbers: they and the rest of the record fit into one.
inline constexpr std::size_t judge_failed_max = 4'000;

// Cuts what is too long, and says what makes the record a damaged one; none: it is good.
[[nodiscard]] std::optional<std::string> put_right(NodeInfo& record);
[[nodiscard]] std::optional<std::string> put_right(Versions& record);
[[nodiscard]] std::optional<std::string> put_right(Instance& record);
[[nodiscard]] std::optional<std::string> put_right(Active& record);
[[nodiscard]] std::optional<std::string> put_right(Upgrade& record);
[[nodiscard]] std::optional<std::string> put_right(Command& record);
[[nodiscard]] std::optional<std::string> put_right(Answer& record);
[[nodiscard]] std::optional<std::string> put_right(Claim& record);
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
[[nodiscard]] std::optional<std::string> put_right(Rollout& record);
[[nodiscard]] std::optional<std::string> put_right(RolloutBatch& record);
[[nodiscard]] std::optional<std::string> put_right(RolloutJudge& record);
[[nodiscard]] std::optional<std::string> put_right(RolloutNode& record);
[[nodiscard]] std::optional<std::string> put_right(Plan& record);
[[nodiscard]] std::optional<std::string> put_right(PlanPlace& record);
[[nodiscard]] std::optional<std::string> put_right(PlanMember& record);
[[nodiscard]] std::optional<std::string> put_right(Once& record);

}  // namespace fleet
