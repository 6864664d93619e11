// Declares a function for each command of fleetctl, which reads or writes the store, prints the
// result, and returns the exit status. perform() calls the function for the command that the user
// has typed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fleet/fleetctl/asker.h"
#include "fleet/fleetctl/options.h"
#include "fleet/model/records/cell_records.h"
#include "fleet/model/records/creation.h"
#include "fleet/model/records/record_text.h"

namespace fleetctl {

[[nodiscard]] int perform(const Options& options);

// ---- `fleetctl dev`, which runs a trial cell with a store of its own
[[nodiscard]] int run_dev(const Options& options);

// ---- a new cell
[[nodiscard]] int init_cell(const Options& options);
[[nodiscard]] int start_cell(const Options& options);
[[nodiscard]] int check_cell(const Options& options, Asker& asker);

// ---- questions
[[nodiscard]] int show_status(const Options& options, Asker& asker);
[[nodiscard]] int show_nodes(const Options& options, Asker& asker);
[[nodiscard]] int show_node(const Options& options, Asker& asker);
[[nodiscard]] int show_versions(const Options& options, Asker& asker);
[[nodiscard]] int list_releases(const Options& options, Asker& asker);

// ---- orders
[[nodiscard]] int desire(const Options& options, Asker& asker);
[[nodiscard]] int halt(const Options& options, Asker& asker);
[[nodiscard]] int publish(const Options& options, Asker& asker);
[[nodiscard]] int apply(const Options& options, Asker& asker);

// ---- admission of nodes and people
[[nodiscard]] int enrol(const Options& options, Asker& asker);
[[nodiscard]] int renew(const Options& options, Asker& asker);
[[nodiscard]] int revoke(const Options& options, Asker& asker);
[[nodiscard]] int forget(const Options& options, Asker& asker);

// ---- machines that join
[[nodiscard]] int create_token(const Options& options, Asker& asker);
[[nodiscard]] int list_tokens(const Options& options, Asker& asker);
[[nodiscard]] int revoke_token(const Options& options, Asker& asker);
[[nodiscard]] int approve(const Options& options, Asker& asker);

// ---- rollouts
[[nodiscard]] int start_rollout(const Options& options, Asker& asker);
[[nodiscard]] int list_rollouts(const Options& options, Asker& asker);
[[nodiscard]] int show_rollout(const Options& options, Asker& asker);
[[nodiscard]] int watch_rollout(const Options& options, Asker& asker);
[[nodiscard]] int order_rollout(const Options& options, Asker& asker);
[[nodiscard]] int show_why(const Options& options, Asker& asker);

// ---- plans
[[nodiscard]] int run_plan(const Options& options, Asker& asker);
[[nodiscard]] int list_plans(const Options& options, Asker& asker);
[[nodiscard]] int show_plan(const Options& options, Asker& asker);
[[nodiscard]] int recover_plan(const Options& options, Asker& asker);

// ---- windows
[[nodiscard]] int set_window(const Options& options, Asker& asker);
[[nodiscard]] int list_windows(const Options& options, Asker& asker);
[[nodiscard]] int remove_window(const Options& options, Asker& asker);

// ---- an order to one node, and the commands for a store that was restored from a snapshot
[[nodiscard]] int order_node(const Options& options, Asker& asker);
[[nodiscard]] int restored(const Options& options, Asker& asker);
[[nodiscard]] int accept_epoch(const Options& options, Asker& asker);

// ---- history and settings
[[nodiscard]] int show_events(const Options& options, Asker& asker);
[[nodiscard]] int show_history(const Options& options, Asker& asker);
[[nodiscard]] int list_settings(const Options& options, Asker& asker);
[[nodiscard]] int set_setting(const Options& options, Asker& asker);
[[nodiscard]] int unset_setting(const Options& options, Asker& asker);

// ---- output of all commands; these functions escape the text for a terminal (cell_view.h)

// The functions say...() print their argument, and return exit_done.
int say(const std::string& line);
int say_json(const std::string& json);
int say_all(const std::vector<std::string>& lines);
void complain(const std::string& line);
// Prints why a command has failed, and returns `status`.
[[nodiscard]] int fail(const std::string& why, int status);
// Prints why a command was refused, and returns exit_refused.
[[nodiscard]] int refuse(const std::string& why);
[[nodiscard]] int unreachable(const fleet::Trouble& trouble);
[[nodiscard]] int no_such_node(const Options& options);

// Returns the name of fleetctl's user for records: the name in the certificate or, without one, the
// user's name on this machine.
[[nodiscard]] std::string who_asks(const Options& options);

// Returns whether the transaction was committed: reads the first record that it writes. Needed if
// the store's answer to the transaction was lost.
[[nodiscard]] bool is_written(Asker& asker, const fleet::Transaction& transaction);
// Commits the transaction, and prints `words_if_done` or why it failed. If the store's answer is
// lost, calls is_written(). Returns the exit status.
[[nodiscard]] int commit(Asker& asker, const fleet::Transaction& transaction,
                         const std::string& words_if_done);
// Writes one record by commit(), unless it has changed since its revision was `read` (0: it was
// absent). `note` becomes a record that names the person who ordered the write: see ordering.h.
[[nodiscard]] int write(Asker& asker, const std::string& key, const std::string& record,
                        fleet::Revision read, const fleet::FleetEvent& note,
                        const std::string& words_if_done = {});
// Returns why the store has refused a transaction: the first compare that does not hold for the
// records in `now`. Returns an empty string if all hold.
[[nodiscard]] std::string why_refused(const fleet::Transaction& refused, const fleet::Reading& now);
// Writes the records of a new rollout or plan, in several transactions. Returns the exit status.
[[nodiscard]] int write_all(Asker& asker, fleet::Creation& creation);
// Prints why a transaction was not committed, and returns the exit status for that reason.
[[nodiscard]] int not_committed(const fleet::Outcome& outcome, const std::string& about = {});

// One record of the store, as read by a command that shows or changes it.
template <class Record>
struct OneRecord {
  std::optional<Record> record = std::nullopt;  // no value if absent or damaged
  fleet::Revision revision = 0;                 // the record's revision; 0 if the record is absent
  std::string damage = {};                      // why the record cannot be parsed; empty if it can
};

// Reads the record at `key` into `one`. Returns exit_done even if it is absent or damaged. If the
// store does not answer, prints the reason and returns another exit status.
template <class Record>
[[nodiscard]] int read_one(Asker& asker, const std::string& key, OneRecord<Record>& one) {
  const auto reply = asker.read({key});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const fleet::KeyValue* found = std::get<fleet::Reading>(reply).find(key);
  if (found == nullptr) return exit_done;
  one.revision = found->modified;
  const auto record = fleet::read_record<Record>(found->value);
  if (record) {
    one.record = record.value();
  } else {
    one.damage = record.reason();
  }
  return exit_done;
}

}  // namespace fleetctl
