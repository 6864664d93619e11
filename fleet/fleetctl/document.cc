// Implements `fleetctl apply`, which makes the cell agree with a document, in one transaction.
#include "fleet/orders/document.h"

#include <optional>
#include <string>

#include "fleet/common/identity.h"
#include "fleet/common/text_file.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/ordering.h"

namespace fleetctl {
namespace {

// The maximum number of tries. A try fails if somebody else writes one of the document's records at
// the same moment.
constexpr int document_tries = 20;

// Returns the text of a document, or no value if it cannot be read. Reads one byte more than the
// longest document has, so that a file that is too long is recognized.
std::optional<std::string> document_of(const std::string& path) {
  constexpr std::size_t most = fleet::document_bytes_max + 1;
  return fleet::beginning_of_file(path == "-" ? "/dev/stdin" : path, most);
}

void show(const std::vector<fleet::DocumentChange>& changes) {
  for (const fleet::DocumentChange& change : changes) {
    for (const std::string& line : change.lines)
      say(change.subject + ": " + line);
  }
}

int written(const fleet::DocumentDecision& decision) {
  show(decision.changes);
  return say("applied (trace " + decision.event.trace + ")");
}

// Tries once to apply the document. Returns the exit status, or no value if somebody else has
// written one of the records at the same moment, so that another try is needed.
std::optional<int> try_document(const Options& options, Asker& asker,
                                const std::vector<fleet::Order>& orders, const std::string& trace) {
  const auto reply = read_keys(asker, document_reads(orders));
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto decided =
      decide_document(orders, std::get<fleet::Reading>(reply), orderer_of(options, trace));
  if (const auto* refused = std::get_if<fleet::OrderRefused>(&decided)) {
    return refuse(options.file + ": " + refused->reason);
  }
  const auto& decision = std::get<fleet::DocumentDecision>(decided);
  for (const std::string& note : decision.notes)
    say(note);
  if (decision.changes.empty()) return say("nothing is to be changed");
  if (options.diff) {
    show(decision.changes);
    return exit_differs;
  }
  fleet::Transaction transaction = decision.transaction;
  add_note(transaction, decision.event);
  const fleet::Outcome outcome = asker.commit(transaction);
  if (std::holds_alternative<fleet::Committed>(outcome)) return written(decision);
  if (std::holds_alternative<fleet::Refused>(outcome)) return std::nullopt;
  const int status = not_committed(outcome, options.file);
  if (status == exit_unknown) complain("apply it again: what was written is not written twice");
  return status;
}

}  // namespace

int apply(const Options& options, Asker& asker) {
  const auto text = document_of(options.file);
  if (!text) return refuse("the document cannot be read: " + fleet::why_unread(options.file));
  const auto orders = fleet::orders_in(*text);
  if (!orders) return refuse(options.file + ": " + orders.reason());
  const std::string trace = fleet::new_instance_id().substr(0, 8);
  for (int i = 0; i < document_tries; ++i) {
    if (const auto status = try_document(options, asker, orders.value(), trace)) return *status;
  }
  return refuse(options.file + ": one of its records is written all the time; look, and try again");
}

}  // namespace fleetctl
