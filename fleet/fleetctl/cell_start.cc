// Implements the commands `fleetctl cell start` and `fleetctl cell check`. `cell start` adds users,
// roles and enrolments to the running store of a new cell. `cell check` shows which parts of a cell
// work and which do not.

#include <curl/curl.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>

#include "fleet/cell/cell_check.h"
#include "fleet/cell/machine_files.h"
#include "fleet/common/certificate.h"
#include "fleet/common/text_file.h"
#include "fleet/fleetctl/asker.h"
#include "fleet/fleetctl/cell_directory.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/enrolment.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/settings.h"
#include "fleet/store/http2.h"

namespace fleetctl {
namespace {

// Time limits for the connection to a server and for the whole request, in milliseconds. They are
// short, since a person is waiting.
constexpr long connect_ms = 2'000;
constexpr long answer_ms = 4'000;
// The maximum size of an answer's body, which is ignored: only the certificate and the headers
// matter.
constexpr std::size_t answer_bytes_max = 65'536;

std::size_t drop(char*, std::size_t, std::size_t size, void* dropped) {
  auto& count = *static_cast<std::size_t*>(dropped);
  count += size;
  return count > answer_bytes_max ? 0 : size;
}

std::size_t take_header(char* bytes, std::size_t, std::size_t size, void* clock) {
  constexpr std::string_view name = "date: ";
  const std::string line(bytes, size);
  if (line.size() <= name.size() || !curl_strnequal(line.c_str(), name.data(), name.size()))
    return size;
  const time_t time = curl_getdate(line.c_str() + name.size(), nullptr);
  if (time >= 0) *static_cast<std::optional<fleet::UnixSeconds>*>(clock) = time;
  return size;
}

// Returns the validity of the server's own certificate, which is the first certificate that the
// server has sent.
std::optional<fleet::Validity> validity_of_server(CURL* easy) {
  curl_certinfo* found = nullptr;
  if (curl_easy_getinfo(easy, CURLINFO_CERTINFO, &found) != CURLE_OK || found == nullptr ||
      found->num_of_certs < 1)
    return std::nullopt;
  for (const curl_slist* line = found->certinfo[0]; line != nullptr; line = line->next) {
    constexpr std::string_view name = "Cert:";
    const std::string_view text = line->data;
    if (text.starts_with(name)) return fleet::validity_of(std::string(text.substr(name.size())));
  }
  return std::nullopt;
}

// Sends the server a request that changes nothing, with the user's certificate, and returns facts
// about the server's certificate and clock, even after a refusal. Sends nothing if the authority
// has not signed the server's certificate. Blocks for some seconds at most.
[[nodiscard]] fleet::ServerFact look_at_server(const std::string& url,
                                               const fleet::Certificates& files) {
  fleet::ServerFact fact{.url = url};
  const std::unique_ptr<CURL, void (*)(CURL*)> easy(curl_easy_init(), curl_easy_cleanup);
  if (easy == nullptr) return fact;
  const auto set = [&easy](CURLoption option, auto value) {
    curl_easy_setopt(easy.get(), option, value);
  };
  std::size_t dropped = 0;
  set(CURLOPT_URL, (url + "/version").c_str());
  set(CURLOPT_PROTOCOLS_STR, "https");
  set(CURLOPT_PROXY, "");
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_CONNECTTIMEOUT_MS, connect_ms);
  set(CURLOPT_TIMEOUT_MS, answer_ms);
  set(CURLOPT_CAINFO, files.authority.c_str());
  set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  set(CURLOPT_SSLCERT, files.own.c_str());
  set(CURLOPT_SSLKEY, files.key.c_str());
  set(CURLOPT_CERTINFO, 1L);
  set(CURLOPT_WRITEFUNCTION, &drop);
  set(CURLOPT_WRITEDATA, &dropped);
  set(CURLOPT_HEADERFUNCTION, &take_header);
  set(CURLOPT_HEADERDATA, &fact.clock);
  const CURLcode code = curl_easy_perform(easy.get());
  if (code != CURLE_OK) fact.trouble = curl_easy_strerror(code);
  fact.certificate = validity_of_server(easy.get());
  return fact;
}

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

// Returns whether a majority of the store's members answer and have a leader. Prints how many do.
// For each other member, prints the fault on standard error.
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
    if (!issued) return refuse(file + " is not a certificate in PEM; fleetctl cell init makes it");
    if (const int status = let_in(options, asker, {"controller", one.name}, *issued);
        status != exit_done)
      return status;
    say("controller:" + one.name + " is let in");
  }
  return exit_done;
}

// Sets the cell's setting `controllers`, the URLs that new machines use to join, unless it is set
// already. If it has other URLs than the cell's controllers, prints the command that changes it: a
// person may have set other URLs on purpose.
int name_controllers_once(const Options& options, Asker& asker, const fleet::CellTerms& terms) {
  OneRecord<fleet::Settings> set;
  const int status = read_one(asker, fleet::key_of(fleet::KeyKind::settings), set);
  if (status != exit_done) return status;
  const std::vector<std::string> ours = controller_urls(terms);
  const auto named =
      set.record ? cell_settings(*set.record).controllers : std::vector<std::string>();
  if (ours.empty() || std::ranges::is_permutation(named, ours)) return exit_done;
  if (named.empty()) return name_controllers(options, asker, ours);
  say("the setting controllers, by which new machines join, is not the list of this cell's "
      "controllers; to change that: fleetctl settings set controllers " +
      controllers_value(ours));
  return exit_done;
}

// Asks the members and the controllers, and collects facts about their certificates and clocks.
// Skips plain HTTP URLs, as in a cell without certificates.
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
    return refuse(why);
  }
  const auto terms = directory.terms();
  if (!terms || !terms.value()) {
    return refuse(terms ? directory.path() + " has no cell; fleetctl cell init makes one"
                        : terms.reason());
  }
  Options options = asked;
  const std::string root = directory.path() + "/root";
  options.store = {
      .endpoints = endpoints_of(*terms.value()),
      .certificates = {
          .authority = directory.path() + "/ca.pem", .own = root + ".pem", .key = root + ".key"}};
  Asker asker(options);
  if (!do_most_answer(ask_members(options, asker))) {
    return fail("without a majority nothing can be written; start etcd on the others",
                exit_unreachable);
  }
  if (const int status = secure_store(asker); status != exit_done) return status;
  say("the store knows its clients by their certificates, and refuses all others");
  if (const int status = let_controllers_in(options, asker, directory.path(), *terms.value());
      status != exit_done)
    return status;
  if (const int status = name_controllers_once(options, asker, *terms.value()); status != exit_done)
    return status;
  return say("next: . " + directory.path() + "/env && fleetctl cell check");
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
