// Implements the commands `fleetctl revoke` and `fleetctl forget`. `revoke` excludes a node or a
// person from the cell. `forget` erases the records of a node or controller that is gone.
#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <variant>
#include <vector>

#include "fleet/cell/cell_terms.h"
#include "fleet/common/certificate.h"
#include "fleet/common/identity.h"
#include "fleet/common/text_file.h"
#include "fleet/fleetctl/cell_view.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/enrolment.h"
#include "fleet/fleetctl/ordering.h"
#include "fleet/model/nodes/identities.h"
#include "fleet/model/records/keys.h"

extern char** environ;

namespace fleetctl {
namespace {

using fleet::KeyKind;

// The maximum number of times that a restarted member of the store is asked whether it has a leader
// again, with a pause after each question.
constexpr int rests_max = 120;
// How many days a revocation list is valid: as long as an authority. etcd refuses all clients once
// its list has expired, and the next list may be made only years later.
constexpr int list_days = fleet::authority_days;

// Runs the program until it exits. Returns how it failed, or an empty string after exit status 0.
std::string run(const std::string& program, const std::string& argument) {
  std::string name = program;
  std::string given = argument;
  char* arguments[] = {name.data(), given.data(), nullptr};
  pid_t child = -1;
  int status = 0;
  const int error = posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments, environ);
  if (error != 0) return std::strerror(error);
  if (waitpid(child, &status, 0) != child) return std::strerror(errno);
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) == 0) return "";
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

// Returns the id of the member at this endpoint, or nothing if the member does not answer or has no
// leader.
std::optional<std::uint64_t> working_member(Asker& asker, const std::string& endpoint) {
  const auto reply = asker.status(endpoint);
  const auto* member = std::get_if<fleet::MemberStatus>(&reply);
  if (member == nullptr || !member->has_leader) return std::nullopt;
  return member->id;
}

// Prints the members that this command has not restarted, since no --endpoint names them: a revoked
// client may still be connected to them. Returns exit_failed if there are any. Ignores members that
// were never started, which have no clients.
int complain_of_others(Asker& asker, const std::set<std::uint64_t>& restarted) {
  const auto reply = asker.members();
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  int status = exit_done;
  for (const fleet::StoreMember& member : std::get<std::vector<fleet::StoreMember>>(reply)) {
    if (restarted.contains(member.id) || member.urls.empty()) continue;
    complain("the member " + member.name + ", " + member.urls.front() +
             ", is not restarted, since no --endpoint names it; connections to it stay open");
    status = exit_failed;
  }
  return status;
}

// Restarts the members one after the other, so that a majority of them always works. This closes
// the connections of revoked clients: etcd checks a certificate only at the start of a connection.
int restart_members(const Options& options, Asker& asker) {
  std::set<std::uint64_t> restarted;
  for (const std::string& endpoint : options.store.endpoints) {
    if (const std::string why = run(options.restart, endpoint); !why.empty()) {
      return fail(options.restart + " " + endpoint + ": " + why +
                      "; neither this member nor those after it are restarted",
                  exit_failed);
    }
    int rests = 0;
    std::optional<std::uint64_t> member = working_member(asker, endpoint);
    while (!member) {
      if (++rests > rests_max) {
        return fail(endpoint + " does not come back; the members behind it are not restarted",
                    exit_failed);
      }
      asker.rest();
      member = working_member(asker, endpoint);
    }
    restarted.insert(*member);
    say(endpoint + ": restarted");
  }
  return complain_of_others(asker, restarted);
}

// Records that the connections of these revoked people and nodes are closed. Skips a record that
// has changed since it was read: its owner may have been revoked after some members were restarted.
int record_shut_out(Asker& asker, const fleet::Reading& before) {
  for (const fleet::KeyValue& found : before.found) {
    const auto read = fleet::read_record<fleet::Identity>(found.value);
    if (!read || !may_have_streams(read.value())) continue;
    fleet::Identity identity = read.value();
    identity.shut_out = fleet::time_text();
    const fleet::Outcome outcome =
        asker.commit({.compares = {{.key = found.key, .revision = found.modified}},
                      .puts = {{found.key, fleet::write_record(identity)}}});
    if (!std::holds_alternative<fleet::Committed>(outcome) &&
        !std::holds_alternative<fleet::Refused>(outcome))
      return not_committed(outcome, "the members are restarted, but that is not recorded");
  }
  return exit_done;
}

// Restarts the members of the store, to close the connections of all revoked people and nodes.
int shut_out(const Options& options, Asker& asker) {
  const auto reply = asker.read({fleet::prefix_of(KeyKind::identity), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const int status = restart_members(options, asker);
  return status == exit_done ? record_shut_out(asker, std::get<fleet::Reading>(reply)) : status;
}

// Makes the revocation list, if its option is given. Returns the exit status.
int make_list(const Options& options, const std::string& name, const fleet::Identity& identity,
              std::string& list) {
  if (options.revocations.empty()) return exit_done;
  const std::string not_revoked = name + " is not revoked: ";
  if (const std::string why = why_no_signer(options); !why.empty())
    return refuse(not_revoked + why);
  std::vector<std::string> serials;
  for (const fleet::IssuedCertificate& one : identity.certificates) {
    serials.push_back(one.serial);
  }
  const fleet::RevocationList made = fleet::with_revoked(
      fleet::content_of_file(options.revocations), serials, signer_of(options), list_days);
  if (made.error.empty()) {
    list = made.list;
    return exit_done;
  }
  return refuse(not_revoked + "--crl: " + made.error);
}

}  // namespace

// Revokes a node or a person. Marks the identity record first: from then on, no fleet-signer renews
// the certificate.
int revoke(const Options& options, Asker& asker) {
  const std::string key = fleet::key_of(KeyKind::identity, {options.role, options.node});
  const std::string name = fleet::certificate_name(options.role, options.node);
  OneRecord<fleet::Identity> before;
  if (const int status = read_one(asker, key, before); status != exit_done) return status;
  if (before.revision == 0) return refuse(name + ": nobody of that name was enrolled");
  if (!before.damage.empty()) {
    complain(name + ": its record " + before.damage +
             ", so its certificates are on no list of revocations");
  }
  fleet::Identity identity = before.record.value_or(fleet::Identity{});
  std::string list;
  if (const int status = make_list(options, name, identity, list); status != exit_done)
    return status;
  identity = revoked(std::move(identity), fleet::time_text());
  const int written =
      write(asker, key, fleet::write_record(identity), before.revision,
            note_of(options, "identity/" + options.role + "/" + options.node, "is revoked"));
  if (written != exit_done) return written;
  if (const auto trouble = asker.revoke(name)) return unreachable(*trouble);
  const std::string why = list.empty() ? "" : fleet::replace_file(options.revocations, list);
  if (!why.empty()) return fail(why, exit_failed);
  say(name + " is revoked" +
      (options.restart.empty() ? "; what it has open lasts until each member is restarted" : ""));
  return options.restart.empty() ? exit_done : shut_out(options, asker);
}

namespace {

// Erases the record of a controller, so that it is no longer reported as silent. Refuses while the
// controller is running. If it runs again later, it writes a new record.
int forget_controller(const Options& options, Asker& asker) {
  const std::string key = fleet::key_of(KeyKind::controller, {options.node});
  const auto reply = asker.read({fleet::prefix_of(KeyKind::controller), true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto& reading = std::get<fleet::Reading>(reply);
  const fleet::KeyValue* there = reading.find(key);
  if (there == nullptr) return refuse(options.node + ": there is no such controller");
  const std::string below = fleet::key_below(key);
  for (const fleet::KeyValue& one : reading.found) {
    if (!one.key.starts_with(below)) continue;
    return refuse(options.node + " is at work: stop its fleet-controller first");
  }
  fleet::Transaction transaction{.compares = {{.key = key, .revision = there->modified}},
                                 .erases = {{key}}};
  add_note(transaction, note_of(options, "controller/" + options.node, "is forgotten"));
  return commit(asker, transaction, options.node + " is forgotten");
}

}  // namespace

// Erases the records of a node. Refuses if the node still reports and was not revoked, since it
// would write new records. The store refuses the writes of a revoked node.
int forget(const Options& options, Asker& asker) {
  if (options.is_controller) return forget_controller(options, asker);
  const std::string enrolled = fleet::key_of(KeyKind::identity, {"node", options.node});
  OneRecord<fleet::Identity> identity;
  if (const int status = read_one(asker, enrolled, identity); status != exit_done) return status;
  const bool is_revoked = identity.record && !identity.record->revoked.empty();
  const std::string below = fleet::node_prefix(options.node);
  const auto reply = asker.read({below, true});
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) return unreachable(*trouble);
  const auto& reading = std::get<fleet::Reading>(reply);
  const auto nodes = nodes_in(reading);
  if (nodes.empty()) return no_such_node(options);
  if (nodes.front().reports() && !is_revoked) {
    return refuse(options.node +
                  " reports: stop its fleet-agent and wait until its lease has ended, " +
                  "or revoke it, first");
  }
  const std::string active = fleet::key_of(KeyKind::node_active, {options.node});
  const fleet::KeyValue* there = reading.find(active);
  fleet::Transaction transaction{
      .compares = {{.key = active, .revision = there == nullptr ? 0 : there->modified},
                   {.key = enrolled, .revision = identity.revision}},
      .erases = {{below, true}}};
  add_note(transaction, note_of(options, "node/" + options.node, "is forgotten"));
  return commit(asker, transaction, options.node + " is forgotten");
}

}  // namespace fleetctl
