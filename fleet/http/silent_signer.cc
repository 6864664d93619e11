#include "fleet/http/silent_signer.h"

#include <algorithm>
#include <vector>

#include "fleet/model/identities.h"
#include "fleet/model/record_brief.h"

namespace fleet {
namespace {

// Returns whether a machine or a node may need a fleet-signer later: a machine may come with a
// token, or a node has a certificate that must be renewed. A trial cell without certificates and
// tokens needs none.
bool may_be_needed(const CellState& cell, UnixSeconds now) {
  const auto& all = cell.expiries();
  const std::string nodes = certificate_name(node_kind, "");
  const bool renews = std::any_of(all.begin(), all.end(), [&](const auto& entry) {
    return entry.first.starts_with(nodes) && entry.second > now;
  });
  return renews || cell.has_usable_token(now);
}

// Returns a text such as `2 machines wait to join (n7, n8)`, or an empty text for no names.
std::string waiting(const std::vector<std::string>& names, const std::string& one,
                    const std::string& many) {
  if (names.empty()) return "";
  return std::to_string(names.size()) + " " + (names.size() == 1 ? one : many) + " (" +
         listed(names) + ")";
}

}  // namespace

std::optional<SilentSigner> silent_signer(const CellState& cell, UnixSeconds now) {
  if (!cell.signers().empty()) return std::nullopt;
  const auto& renewing = cell.renewing_nodes();
  const std::string joins =
      waiting(cell.joining_machines(), "machine waits to join", "machines wait to join");
  const std::string renewals =
      waiting({renewing.begin(), renewing.end()}, "node waits for its next certificate",
              "nodes wait for their next certificates");
  const bool is_awaited = !joins.empty() || !renewals.empty();
  if (!is_awaited && !may_be_needed(cell, now)) return std::nullopt;
  const std::string between = joins.empty() || renewals.empty() ? "" : ", ";
  const std::string lack = is_awaited ? joins + between + renewals
                                      : "no machine can join, and no node's certificate is renewed";
  return SilentSigner{
      .words = "no fleet-signer is at work: " + lack + "; start the signer on its machine",
      .is_awaited = is_awaited};
}

}  // namespace fleet
