#include "fleet/fleetctl/commands.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "base/shown.h"
#include "fleet/common/certificate.h"
#include "fleet/common/identity.h"
#include "fleet/common/text_file.h"
#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/reasons/stop_words.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"

namespace fleetctl {

using fleet::KeyKind;

namespace {

// Returns whether the text may be a person's name. Records contain it and other people read it, so
// it must be short and printable.
bool is_name(std::string_view text) {
  constexpr std::size_t longest = 128;
  return !text.empty() && text.size() <= longest &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

// Returns why the store has refused to write the record `key` of a new rollout or plan, or an empty
// string if that is unknown. Reads the other records on which the transaction depends.
std::string find_refusal(Asker& asker, fleet::Transaction refused, const std::string& key) {
  std::erase_if(refused.compares, [&key](const auto& one) { return one.key == key; });
  std::vector<std::string> keys;
  for (const fleet::Compare& compare : refused.compares)
    keys.push_back(compare.key);
  const auto reply = read_keys(asker, keys);
  const auto* now = std::get_if<fleet::Reading>(&reply);
  return now == nullptr ? "" : why_refused(refused, *now);
}

}  // namespace

int perform(const Options& options) {
  if (const auto* local = std::get_if<LocalCommand>(&options.command)) return (*local)(options);
  Asker asker(options);
  return std::get<StoreCommand>(options.command)(options, asker);
}

int say(const std::string& line) {
  std::printf("%s\n", upgraderctl::shown(line).c_str());
  return exit_done;
}

int say_json(const std::string& json) {
  std::printf("%s\n", upgraderctl::shown_json(json).c_str());
  return exit_done;
}

int say_all(const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    say(line);
  return exit_done;
}

std::string who_asks(const Options& options) {
  const std::string& file = options.store.certificates.own;
  const auto name = file.empty() ? std::nullopt : fleet::name_in(fleet::content_of_file(file));
  if (name && is_name(*name)) return *name;
  const char* user = std::getenv("USER");
  return user != nullptr && is_name(user) ? user : std::to_string(::getuid());
}

void complain(const std::string& line) {
  std::fprintf(stderr, "fleetctl: %s\n", upgraderctl::shown(line).c_str());
}

int fail(const std::string& why, int status) {
  complain(why);
  return status;
}

int refuse(const std::string& why) {
  return fail(why, exit_refused);
}

int unreachable(const fleet::Trouble& trouble) {
  switch (trouble.kind) {
    case fleet::Trouble::Kind::denied:
      return refuse(trouble.reason);
    case fleet::Trouble::Kind::unreachable:
      break;
  }
  return fail("the store cannot be reached: " + trouble.reason, exit_unreachable);
}

int no_such_node(const Options& options) {
  return refuse(options.node + ": no such node");
}

bool is_written(Asker& asker, const fleet::Transaction& transaction) {
  if (transaction.puts.empty()) return false;
  const fleet::Put& put = transaction.puts.front();
  const auto reply = asker.read({put.key});
  const auto* reading = std::get_if<fleet::Reading>(&reply);
  const fleet::KeyValue* found = reading == nullptr ? nullptr : reading->find(put.key);
  return found != nullptr && found->value == put.value;
}

int write(Asker& asker, const std::string& key, const std::string& record, fleet::Revision read,
          const fleet::FleetEvent& note, const std::string& words_if_done) {
  fleet::Transaction transaction{.compares = {{.key = key, .revision = read}},
                                 .puts = {{key, record}}};
  add_note(transaction, note);
  return commit(asker, transaction, words_if_done);
}

int commit(Asker& asker, const fleet::Transaction& transaction, const std::string& words_if_done) {
  const fleet::Outcome outcome = asker.commit(transaction);
  const bool is_done =
      std::holds_alternative<fleet::Committed>(outcome) ||
      (std::holds_alternative<fleet::Unknown>(outcome) && is_written(asker, transaction));
  if (!is_done) return not_committed(outcome);
  return words_if_done.empty() ? exit_done : say(words_if_done);
}

int not_committed(const fleet::Outcome& outcome, const std::string& about) {
  const std::string begin = about.empty() ? "" : about + ": ";
  if (const auto* unknown = std::get_if<fleet::Unknown>(&outcome)) {
    return fail(begin + "it cannot be known whether it was written: " + unknown->reason,
                exit_unknown);
  }
  if (const auto* denied = std::get_if<fleet::Denied>(&outcome))
    return refuse(begin + denied->reason);
  return refuse(begin + "somebody else has written it at this moment; look, and try again");
}

std::string why_refused(const fleet::Transaction& refused, const fleet::Reading& now) {
  for (const fleet::Compare& compare : refused.compares) {
    const fleet::KeyValue* found = now.find(compare.key);
    const bool by_creation = compare.of == fleet::Compare::Of::created;
    const fleet::Revision revision =
        found == nullptr ? 0 : (by_creation ? found->created : found->modified);
    if (revision == compare.revision) continue;
    if (compare.key == fleet::key_of(KeyKind::stop))
      return fleet::why_nothing_begins(found == nullptr ? "" : found->value);
    const std::string record = compare.key.substr(fleet::key_root.size());
    return compare.revision == 0 ? "the record " + record + " is there already"
                                 : "the record " + record + " has changed meanwhile";
  }
  return "";
}

int write_all(Asker& asker, fleet::Creation& creation) {
  std::optional<fleet::Outcome> last;
  fleet::Transaction written;
  while (true) {
    const auto reply = asker.read({creation.key()});
    if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) {
      if (!last) return unreachable(*trouble);
      return fail("it cannot be known how much of it was written; it does not begin half: " +
                      trouble->reason,
                  exit_unknown);
    }
    const fleet::KeyValue* found = std::get<fleet::Reading>(reply).find(creation.key());
    const auto next = creation.next(found, last ? &*last : nullptr);
    if (const auto* not_begun = std::get_if<fleet::Creation::NotBegun>(&next)) {
      const bool is_refused = last && std::holds_alternative<fleet::Refused>(*last);
      const std::string why = is_refused ? find_refusal(asker, written, creation.key()) : "";
      complain(why.empty() ? not_begun->reason : why);
      return not_begun->is_known ? exit_refused : exit_unknown;
    }
    const auto* transaction = std::get_if<fleet::Transaction>(&next);
    if (transaction == nullptr) return exit_done;
    written = *transaction;
    last = asker.commit(written);
  }
}

namespace {

// Removes the desired version of the cell, or the version to which a person has pinned one node.
// Keeps a node's record that a rollout or a controller has written.
int remove_wish(const Options& options, Asker& asker, const std::string& subject) {
  OneRecord<fleet::Desired> there;
  const std::string key = std::string(fleet::key_root) + subject;
  if (const int status = read_one(asker, key, there); status != exit_done) return status;
  const bool is_of_node = !options.node.empty();
  const std::string none =
      options.component +
      (is_of_node ? ": " + options.node + " has no version of its own" : " has no desired version");
  const bool is_other = is_of_node && there.record && !there.record->pinned;
  if (there.revision == 0 || is_other) return say(none + ", as before");
  const Placed placed = place(options, asker, {.deed = fleet::Deed::erase, .subject = subject});
  if (placed.status != exit_done) return say_refused(placed);
  return say(none + " now; " +
             (is_of_node ? "the desired version of the cell applies to it"
                         : "each node keeps the version that it runs"));
}

}  // namespace

int desire(const Options& options, Asker& asker) {
  const std::string of_node = options.node.empty() ? "" : "node/" + options.node + "/";
  if (options.remove) return remove_wish(options, asker, of_node + "desired/" + options.component);
  if (options.version.empty()) return fail("a VERSION is needed, or --remove", exit_usage);
  const fleet::Desired wish{.version = options.version,
                            .why = options.why,
                            .downgrade = options.downgrade,
                            .ignore_window = options.ignore_window};
  const Placed placed = place(
      options, asker,
      {.subject = of_node + "desired/" + options.component, .body = fleet::write_record(wish)});
  if (placed.status != exit_done) return say_refused(placed);
  return say(placed.taken.event.text + (options.node.empty() ? "" : " of " + options.node) +
             " (trace " + placed.trace + ")");
}

namespace {

// Returns the message that `fleetctl stop off` prints if the cell was not stopped.
std::string words_without_stop(const OneRecord<fleet::Epoch>& epoch) {
  if (epoch.revision == 0 || (epoch.record && epoch.record->accepted))
    return "everything may begin, as before";
  return "there is no stop, but no node acts before fleetctl accept-epoch accepts the restored "
         "store";
}

}  // namespace

int halt(const Options& options, Asker& asker) {
  OneRecord<fleet::Stop> there;
  OneRecord<fleet::Epoch> epoch;
  int status = read_one(asker, fleet::key_of(KeyKind::stop), there);
  const bool was_stopped = there.revision != 0;
  if (status == exit_done && !options.on && !was_stopped) {
    status = read_one(asker, fleet::key_of(KeyKind::epoch), epoch);
  }
  if (status != exit_done) return status;
  if (options.on && was_stopped) return say("nothing begins, as before");
  if (!options.on && !was_stopped) return say(words_without_stop(epoch));
  const fleet::Order order{.deed = options.on ? fleet::Deed::put : fleet::Deed::erase,
                           .subject = "stop",
                           .body = fleet::write_record(fleet::Stop{.why = options.why})};
  const Placed placed = place(options, asker, order);
  if (placed.status != exit_done) return say_refused(placed);
  if (options.on) return say("nothing begins from now on; confirmations and roll-backs go on");
  return say(placed.taken.event.text);
}

}  // namespace fleetctl
