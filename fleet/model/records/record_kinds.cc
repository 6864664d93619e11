#include "fleet/model/records/record_kinds.h"

#include <array>
#include <cstddef>

#include "fleet/model/records/record_text.h"

namespace fleet {
namespace {

template <class Record>
Result<std::string> rewritten(std::string_view value) {
  const auto read = read_record<Record>(value);
  if (!read) return Refusal{read.reason()};
  return write_record(read.value());
}

using Rewriter = Result<std::string> (*)(std::string_view);
// For each kind of record, the function that rewrites it, in the order of KeyKind.
constexpr auto rewriters = std::to_array<Rewriter>({
    &rewritten<NodeInfo>,
    &rewritten<Versions>,
    &rewritten<Instance>,
    &rewritten<Active>,
    &rewritten<Upgrade>,
    &rewritten<Desired>,
    &rewritten<Command>,
    &rewritten<Answer>,
    &rewritten<Claim>,
    &rewritten<CertificateRequest>,
    &rewritten<NodeCertificate>,
    &rewritten<PlanMember>,
    &rewritten<NodeHealth>,
    &rewritten<ControlWatch>,
    &rewritten<Desired>,
    &rewritten<Release>,
    &rewritten<Rollout>,
    &rewritten<RolloutBatch>,
    &rewritten<RolloutNode>,
    &rewritten<RolloutJudge>,
    &rewritten<Plan>,
    &rewritten<PlanPlace>,
    &rewritten<Once>,
    &rewritten<DriverRecord>,
    &rewritten<Window>,
    &rewritten<Stop>,
    &rewritten<Epoch>,
    &rewritten<Settings>,
    &rewritten<FleetEvent>,
    &rewritten<FleetEvent>,
    &rewritten<PastRun>,
    &rewritten<Notified>,
    &rewritten<Identity>,
    &rewritten<Token>,
    &rewritten<JoinRequest>,
    &rewritten<Approval>,
    &rewritten<SignerAtWork>,
    &rewritten<BudgetPlace>,
    &rewritten<ControllerAtWork>,
    &rewritten<ControllerAtWork>,
});
static_assert(rewriters.size() == static_cast<std::size_t>(KeyKind::controller_life) + 1);

}  // namespace

Result<std::string> rewritten_record(KeyKind kind, std::string_view value) {
  return rewriters[static_cast<std::size_t>(kind)](value);
}

}  // namespace fleet
