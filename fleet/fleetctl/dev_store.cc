#include "fleet/fleetctl/dev_store.h"

#include <algorithm>

#include "fleet/common/certificate.h"
#include "fleet/common/text_file.h"
#include "fleet/fleetctl/asker.h"
#include "fleet/fleetctl/commands.h"
#include "fleet/fleetctl/dev_setup.h"
#include "fleet/fleetctl/enrolment.h"
#include "fleet/model/keys.h"
#include "fleet/model/node_view.h"

namespace fleetctl {
namespace {

Options options_of(const fleet::DevTerms& terms, const std::string& who) {
  const std::string own = terms.directory + "/" + who;
  Options options;
  options.store = {
      .endpoints = endpoints_of(dev_cell_terms(terms.ports)),
      .certificates = {
          .authority = terms.directory + "/ca.pem", .own = own + ".pem", .key = own + ".key"}};
  return options;
}

// Enrols in the store the owner of each certificate whose name has the form KIND:WHO.
std::string let_all_in(const fleet::DevTerms& terms, const Options& options, Asker& asker) {
  for (const fleet::CertificateWanted& one : dev_certificates(terms)) {
    const std::size_t colon = one.name.find(':');
    if (colon == std::string::npos) continue;
    const std::string file = terms.directory + "/" + one.file + ".pem";
    const auto issued = fleet::issued_of(fleet::content_of_file(file));
    if (!issued) return file + " is not a certificate in PEM";
    const Owner owner{one.name.substr(0, colon), one.name.substr(colon + 1)};
    if (let_in(options, asker, owner, *issued) != exit_done)
      return one.name + " is not let into the store";
  }
  return "";
}

bool does_report(const fleet::NodeView& node) {
  return node.reports() && node.versions.running.contains(std::string(fleet::dev_component));
}

}  // namespace

bool is_store_ready(const fleet::DevTerms& terms) {
  if (!is_served(terms.ports.clients)) return false;
  const Options options = options_of(terms, "root");
  Asker asker(options);
  const auto reply = asker.status(options.store.endpoints.front());
  const auto* status = std::get_if<fleet::MemberStatus>(&reply);
  return status != nullptr && status->has_leader;
}

std::string fill_store(const fleet::DevTerms& terms) {
  const Options root = options_of(terms, "root");
  {
    Asker asker(root);
    if (secure_store(asker) != exit_done) return "the store cannot be secured";
    if (std::string why = let_all_in(terms, root, asker); !why.empty()) return why;
    if (name_controllers(root, asker, {dev_https(terms)}) != exit_done)
      return "the address for machines that join is not set";
  }
  Options person = options_of(terms, std::string(fleet::dev_person));
  person.component = fleet::dev_component;
  person.url = "file://" + terms.directory + "/releases";
  for (const std::string_view version : {fleet::dev_good, fleet::dev_bad}) {
    person.manifests = {release_manifest(terms.directory, version)};
    Asker asker(person);
    if (publish(person, asker) != exit_done)
      return std::string(fleet::dev_component) + " " + std::string(version) + " is not published";
  }
  return "";
}

bool do_all_report(const fleet::DevTerms& terms) {
  if (!is_served(terms.ports.page) || !is_served(terms.ports.https)) return false;
  const Options options = options_of(terms, std::string(fleet::dev_person));
  Asker asker(options);
  const auto reply = asker.read({fleet::prefix_of(fleet::KeyKind::node_info), true});
  const auto* reading = std::get_if<fleet::Reading>(&reply);
  if (reading == nullptr) return false;
  const auto nodes = fleet::nodes_in(*reading);
  for (int i = 1; i <= terms.nodes; ++i) {
    const auto is_it = [name = fleet::dev_node(i)](const auto& node) { return node.id == name; };
    const auto found = std::find_if(nodes.begin(), nodes.end(), is_it);
    if (found == nodes.end() || !does_report(*found)) return false;
  }
  return true;
}

}  // namespace fleetctl
