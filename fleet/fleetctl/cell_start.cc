// fleetctl cell start makes users, roles and enrolments in a running store. fleetctl cell check
// says which parts of a cell work and which do not.
#include <ctime>

#include "fleet/cell/cell_check.h"
#include "fleet/cell/machine_files.h"
#include "fleet/common/certificate.h"
#include "fleet/common/text_file.h"
#include "fleet/fleetctl/cell_directory.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/exit_status.h"
#include "fleet/fleetctl/letting_in.h"
#include "fleet/fleetctl/one_record.h"
#include "fleet/fleetctl/own_certificate.h"
#include "fleet/fleetctl/server_look.h"
#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"
#include "fleet/model/settings.h"

namespace fleetctl {
namespace {

using fleet::content_of_file;

fleet::MemberFact ask_member(Asker& asker, const std::string& endpoint) {
  fleet::MemberFact fact{.url = endpoint};
  const auto reply = asker.status(endpoint);
  if (const auto* trouble = std::get_if<fleet::Trouble>(&reply)) {
    fact.trouble = trouble->reason;
    return fact;
  }
  const auto& member = std::get<fleet::MemberStatus>(reply);
  if (!member.has_leader) fact.trouble = "has no leader";
  for (const std::string& error : member.errors) {
    const bool is_about_space = error.find("NOSPACE") != std::string::npos;
    fact.is_full = fact.is_full || is_about_space;
    if (!is_about_space && fact.trouble.empty()) fact.trouble = error;
  }
  return fact;
}

std::vector<fleet::MemberFact> ask_members(const Options& options, Asker& asker) {
  std::vector<fleet::MemberFact> members;
  for (const std::string& endpoint : options.store.endpoints) {
    members.push_back(ask_member(asker, endpoint));
  }
  return members;
}

// Returns whether more than half of the store's members answer and have a leader. Prints their
// number, and the trouble of each other member on standard error.
bool do_most_answer(const std::vector<fleet::MemberFact>& members) {
  std::size_t good = 0;
  for (const fleet::MemberFact& member : members) {
    if (member.trouble.empty()) {
      ++good;
    } else {
      complain("member " + member.url + ": " + member.trouble);
    }
  }
  say("members: " + std::to_string(good) + " of " + std::to_string(members.size()) +
      " answer and have a leader");
  return 2 * good > members.size();
}

int let_controllers_in(const Options& options, Asker& asker, const std::string& directory,
                       const fleet::CellTerms& terms) {
  for (const fleet::CellMachine& one : terms.controllers) {
    const std::string file = directory + "/" + fleet::controller_file(one.name) + ".pem";
    const auto issued = fleet::issued_of(content_of_file(file));
    if (!issued) {
      complain(file + " is not a certificate in PEM; fleetctl cell init makes it");
      return exit_refused;
    }
    if (const int status = let_in(options, asker, {"controller", one.name}, *issued);
        status != exit_done)
      return status;
    say("controller:" + one.name + " is let in");
  }
  return exit_done;
}

// Sets the URLs at which machines that join reach the controllers, unless a person has set them.
int name_controllers_once(const Options& options, Asker& asker, const fleet::CellTerms& terms) {
  OneRecord<fleet::Settings> set;
  const int status = read_one(asker, fleet::key_of(fleet::KeyKind::settings), set);
  if (status != exit_done) return status;
  const bool is_set = set.record && !cell_settings(*set.record).controllers.empty();
  if (is_set || terms.controllers.empty()) return exit_done;
  return name_controllers(options, asker, controller_urls(terms));
}

// Contacts the members and controllers whose URLs begin with `https://`, and collects the facts
// about their certificates and clocks. A cell without certificates has no such URLs.
void look_at_servers(const Options& options, fleet::CellFacts& facts) {
  const auto& files = options.store.certificates;
  const auto look = [&files](const std::vector<std::string>& urls) {
    std::vector<fleet::ServerFact> seen;
    for (const std::string& url : urls) {
      if (!url.starts_with("https://")) continue;
      seen.push_back(look_at_server(url, files));
      seen.back().asked = std::time(nullptr);
    }
    return seen;
  };
  facts.servers = look(options.store.endpoints);
  if (!facts.records) return;
  const fleet::KeyValue* found = facts.records->find(fleet::key_of(fleet::KeyKind::settings));
  if (found == nullptr) return;
  const auto settings = fleet::read_record<fleet::Settings>(found->value);
  if (settings) facts.controllers = look(cell_settings(settings.value()).controllers);
}

}  // namespace

int start_cell(const Options& asked) {
  CellDirectory directory;
  if (const std::string why = directory.open(asked.directory, false); !why.empty()) {
    complain(why);
    return exit_refused;
  }
  const auto terms = directory.terms();
  if (!terms || !terms.value()) {
    complain(terms ? directory.path() + " has no cell; fleetctl cell init makes one"
                   : terms.reason());
    return exit_refused;
  }
  Options options = asked;
  const std::string root = directory.path() + "/root";
  options.store = {
      .endpoints = endpoints_of(*terms.value()),
      .certificates = {
          .authority = directory.path() + "/ca.pem", .own = root + ".pem", .key = root + ".key"}};
  Asker asker(options);
  if (!do_most_answer(ask_members(options, asker))) {
    complain("without a majority nothing can be written; start etcd on the others");
    return exit_unreachable;
  }
  if (const int status = secure_store(asker); status != exit_done) return status;
  say("the store knows its clients by their certificates, and refuses all others");
  if (const int status = let_controllers_in(options, asker, directory.path(), *terms.value());
      status != exit_done)
    return status;
  if (const int status = name_controllers_once(options, asker, *terms.value()); status != exit_done)
    return status;
  say("next: . " + directory.path() + "/env && fleetctl cell check");
  return exit_done;
}

int check_cell(const Options& options, Asker& asker) {
  fleet::CellFacts facts{.members = ask_members(options, asker), .now = std::time(nullptr)};
  const auto& files = options.store.certificates;
  facts.own = fleet::validity_of(content_of_file(files.own));
  facts.authority = fleet::validity_of(content_of_file(files.authority));
  const auto reply = asker.read({std::string(fleet::key_root), true});
  if (const auto* reading = std::get_if<fleet::Reading>(&reply)) {
    facts.records = *reading;
  } else {
    facts.unread = std::get<fleet::Trouble>(reply).reason;
  }
  look_at_servers(options, facts);
  bool is_well = true;
  for (const fleet::CheckLine& line : fleet::judge_cell(facts)) {
    is_well = is_well && line.is_well;
    say((line.is_well ? "well  " : "NOT   ") + line.text);
    if (!line.advice.empty()) say("      " + line.advice);
  }
  return is_well ? exit_done : exit_failed;
}

}  // namespace fleetctl
