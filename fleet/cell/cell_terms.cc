#include "fleet/cell/cell_terms.h"

#include <algorithm>
#include <set>

#include "fleet/model/records/keys.h"

namespace fleet {
namespace {

constexpr int machine_days = 730;

std::string url(const CellMachine& machine, int port) {
  return "https://" + host_in_url(machine.address) + ":" + std::to_string(port);
}

std::vector<std::string> with_loopback(const std::string& address) {
  std::vector<std::string> all{address};
  for (const std::string loopback : {"127.0.0.1", "::1"}) {
    if (loopback != address) all.push_back(loopback);
  }
  return all;
}

std::string why_no_name(const std::string& name) {
  return name + ": a name has at most 63 small letters, digits, `.` and `-`";
}

// Returns why these machines cannot all have this role, or an empty string. Their names must be
// valid ids, and no two may have the same name, or the same address and port.
std::string why_not_different(const std::vector<CellMachine>& machines, const std::string& role) {
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const CellMachine& one = machines[i];
    if (!is_id(one.name)) return why_no_name(one.name);
    for (std::size_t j = 0; j < i; ++j) {
      if (machines[j].name == one.name) return one.name + " is twice a " + role;
      if (machines[j].address == one.address && machines[j].client_port == one.client_port)
        return one.name + " and " + machines[j].name + " have one address, " + one.address;
    }
  }
  return "";
}

const CertificateThere& found(const std::map<std::string, CertificateThere>& there,
                              const std::string& file) {
  static const CertificateThere none;
  const auto at = there.find(file);
  return at == there.end() ? none : at->second;
}

// Returns an error message if two certificates would have the same file, or an empty string. For
// example, the certificate of a member called `ca` would replace the authority's.
std::string why_no_files(const CellTerms& terms) {
  std::set<std::string> files;
  for (const CertificateWanted& one : certificates_of(terms)) {
    if (!files.insert(one.file).second)
      return one.name + ": " + one.file + ".pem is another certificate; give it another name";
  }
  return "";
}

// Returns the name FILE of an existing certificate that `authority` has signed, or an empty string
// if there is none.
std::string signed_before(const std::vector<CertificateWanted>& wanted,
                          const std::map<std::string, CertificateThere>& there,
                          const std::string& authority) {
  for (const CertificateWanted& one : wanted) {
    if (one.authority == authority && found(there, one.file).certificate) return one.file;
  }
  return "";
}

// Returns how a person can replace an existing certificate that cannot be used. `older` is the FILE
// of a certificate that this one, an authority's, has signed, or empty.
std::string way_out(const CertificateThere& now, const std::string& older) {
  std::string way = "move it and its key away, and a new one is made";
  if (!older.empty()) {
    way = now.wrong_time
              ? "sign it again with its own key: see fleet(7), The certificate of an authority ends"
              : "put back the certificate and the key that have signed " + older + ".pem";
  }
  return (now.wrong_time ? "set the clock if it is wrong; otherwise " : "") + way;
}

}  // namespace

std::string why_no_cell(const CellTerms& terms) {
  if (terms.members.empty()) return "a cell needs at least one --member";
  if (std::string why = why_not_different(terms.members, "member"); !why.empty()) return why;
  if (std::string why = why_not_different(terms.controllers, "controller"); !why.empty())
    return why;
  for (const std::string& signer : terms.signers) {
    if (!is_id(signer)) return why_no_name(signer);
    if (std::count(terms.signers.begin(), terms.signers.end(), signer) > 1)
      return signer + " is twice a signer";
  }
  for (const CellMachine& member : terms.members) {
    for (const CellMachine& controller : terms.controllers) {
      if (member.name == controller.name && member.address != controller.address)
        return member.name + " has two addresses, " + member.address + " and " + controller.address;
    }
  }
  return why_no_files(terms);
}

std::string advice_on_members(const CellTerms& terms) {
  const std::size_t members = terms.members.size();
  if (members % 2 != 0) return "";
  const std::size_t may_fail = members / 2 - 1;
  return std::to_string(members) + " members: the store stops when more than " +
         std::to_string(may_fail) + " of them fail, as with " + std::to_string(members - 1) +
         "; use an odd number";
}

std::string controller_file(const std::string& machine) {
  return machine + "-controller";
}

std::vector<CertificateWanted> certificates_of(const CellTerms& terms) {
  std::vector<CertificateWanted> all{
      {.file = "ca", .name = "ca", .days = authority_days},
      {.file = "members", .name = "members", .days = authority_days},
      {.file = "root", .name = "root", .authority = "ca", .days = machine_days}};
  const auto add = [&all](const std::string& file, const std::string& name,
                          const std::string& authority, std::vector<std::string> addresses) {
    all.push_back({.file = file,
                   .name = name,
                   .authority = authority,
                   .addresses = std::move(addresses),
                   .days = machine_days});
  };
  for (const CellMachine& member : terms.members) {
    add(member.name, member.name, "ca", with_loopback(member.address));
    add(member.name + "-members", member.name, "members", with_loopback(member.address));
  }
  for (const CellMachine& controller : terms.controllers) {
    add(controller_file(controller.name), "controller:" + controller.name, "ca", {});
    add(controller.name + "-http", controller.name, "ca", with_loopback(controller.address));
  }
  return all;
}

CertificatePlan plan_certificates(const std::vector<CertificateWanted>& wanted,
                                  const std::map<std::string, CertificateThere>& there) {
  CertificatePlan plan;
  for (const CertificateWanted& one : wanted) {
    const CertificateThere& now = found(there, one.file);
    if (!now.unread.empty()) {
      plan.refused.push_back(now.unread + "; mend this file" +
                             (one.authority.empty()
                                  ? ""
                                  : ", or move " + one.file + ".pem and " + one.file +
                                        ".key away, and new ones are made"));
      continue;
    }
    const std::string older =
        one.authority.empty() ? signed_before(wanted, there, one.file) : std::string();
    if (now.certificate && !now.unfit.empty())
      plan.refused.push_back(one.file + ".pem " + now.unfit + "; " + way_out(now, older));
    if (now.certificate && !now.key && !one.authority.empty())
      plan.refused.push_back(one.file + ".pem is there without " + one.file +
                             ".key; put the key back, or move the certificate away");
    if (now.certificate) continue;
    const CertificateThere& authority = found(there, one.authority);
    if (!one.authority.empty() && authority.certificate && !authority.key) {
      plan.refused.push_back(one.file + ".pem is missing, and " + one.authority +
                             ".key, which would sign it, is not there; put it back");
    }
    if (!older.empty() && !now.key) {
      plan.refused.push_back(one.file + ".pem and " + one.file + ".key are missing, but " + older +
                             ".pem, which they have signed, is there; put them back");
    }
    plan.make.push_back(one);
  }
  if (!plan.refused.empty()) plan.make.clear();
  return plan;
}

std::vector<std::string> etcd_settings(const CellTerms& terms, const CellMachine& member,
                                       const std::string& files, const std::string& data) {
  std::string peers;
  for (const CellMachine& one : terms.members) {
    peers += (peers.empty() ? "" : ",") + one.name + "=" + url(one, one.peer_port);
  }
  const std::string own = files + "/" + member.name;
  const std::string clients = url(member, member.client_port);
  const std::string members = url(member, member.peer_port);
  return {"ETCD_NAME=" + member.name,
          "ETCD_DATA_DIR=" + data,
          "ETCD_LISTEN_CLIENT_URLS=" + clients,
          "ETCD_ADVERTISE_CLIENT_URLS=" + clients,
          "ETCD_LISTEN_PEER_URLS=" + members,
          "ETCD_INITIAL_ADVERTISE_PEER_URLS=" + members,
          "ETCD_INITIAL_CLUSTER=" + peers,
          "ETCD_INITIAL_CLUSTER_TOKEN=cell1",
          "ETCD_TRUSTED_CA_FILE=" + files + "/ca.pem",
          "ETCD_CERT_FILE=" + own + ".pem",
          "ETCD_KEY_FILE=" + own + ".key",
          "ETCD_CLIENT_CERT_AUTH=true",
          "ETCD_PEER_TRUSTED_CA_FILE=" + files + "/members.pem",
          "ETCD_PEER_CERT_FILE=" + own + "-members.pem",
          "ETCD_PEER_KEY_FILE=" + own + "-members.key",
          "ETCD_PEER_CLIENT_CERT_AUTH=true",
          "ETCD_AUTO_COMPACTION_MODE=periodic",
          "ETCD_AUTO_COMPACTION_RETENTION=1h",
          "ETCD_QUOTA_BACKEND_BYTES=4294967296"};
}

const CellMachine* machine_named(const std::vector<CellMachine>& machines,
                                 const std::string& name) {
  const auto found = std::find_if(machines.begin(), machines.end(),
                                  [&name](const auto& one) { return one.name == name; });
  return found == machines.end() ? nullptr : &*found;
}

std::string host_in_url(const std::string& address) {
  return address.find(':') == std::string::npos ? address : "[" + address + "]";
}

std::vector<std::string> endpoints_of(const CellTerms& terms) {
  std::vector<std::string> urls;
  for (const CellMachine& member : terms.members) {
    urls.push_back(url(member, member.client_port));
  }
  return urls;
}

namespace {

constexpr std::string_view member_word = "member ";
constexpr std::string_view controller_word = "controller ";
constexpr std::string_view signer_word = "signer ";
constexpr std::string_view new_member =
    "fleet(7), Replacing a member, says how a store gets a member with another name or address";

std::string other_address(const CellMachine& before, const CellMachine& wanted) {
  return wanted.name + " has the address " + before.address + " in this cell, not " +
         wanted.address;
}

std::optional<CellMachine> split(std::string_view text, char between) {
  const std::size_t at = text.find(between);
  if (at == 0 || at == std::string_view::npos || at + 1 == text.size()) return std::nullopt;
  return CellMachine{.name = std::string(text.substr(0, at)),
                     .address = std::string(text.substr(at + 1))};
}

}  // namespace

std::string cell_text(const CellTerms& terms) {
  std::string text;
  for (const CellMachine& one : terms.members) {
    text += std::string(member_word) + one.name + " " + one.address + "\n";
  }
  for (const CellMachine& one : terms.controllers) {
    text += std::string(controller_word) + one.name + " " + one.address + "\n";
  }
  for (const std::string& one : terms.signers) {
    text += std::string(signer_word) + one + "\n";
  }
  return text;
}

upgrader::Result<CellTerms> cell_in(std::string_view text) {
  CellTerms terms;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.starts_with(signer_word)) {
      terms.signers.emplace_back(line.substr(signer_word.size()));
      continue;
    }
    const bool is_member = line.starts_with(member_word);
    const bool is_controller = line.starts_with(controller_word);
    line.remove_prefix(is_member ? member_word.size() : is_controller ? controller_word.size() : 0);
    const auto machine = split(line, ' ');
    if (!machine || !(is_member || is_controller)) {
      return upgrader::Refusal{
          "line " + std::to_string(number) +
          " is not `member NAME ADDRESS`, `controller NAME ADDRESS` or `signer "
          "NAME`"};
    }
    (is_member ? terms.members : terms.controllers).push_back(*machine);
  }
  if (const std::string why = why_no_cell(terms); !why.empty()) return upgrader::Refusal{why};
  return terms;
}

std::optional<CellMachine> machine_in(std::string_view text) {
  return split(text, '=');
}

upgrader::Result<CellTerms> merged(const std::optional<CellTerms>& before,
                                   const CellTerms& wanted) {
  CellTerms terms = before.value_or(wanted);
  if (before) {
    for (const CellMachine& one : wanted.members) {
      const CellMachine* there = machine_named(terms.members, one.name);
      if (there == nullptr) {
        return upgrader::Refusal{one.name + " is no member of this cell; " +
                                 std::string(new_member)};
      }
      if (there->address != one.address) {
        return upgrader::Refusal{other_address(*there, one) + "; " + std::string(new_member)};
      }
    }
    for (const CellMachine& one : wanted.controllers) {
      const CellMachine* there = machine_named(terms.controllers, one.name);
      if (there == nullptr) {
        terms.controllers.push_back(one);
      } else if (there->address != one.address) {
        return upgrader::Refusal{other_address(*there, one)};
      }
    }
    for (const std::string& one : wanted.signers) {
      const auto& all = terms.signers;
      if (std::find(all.begin(), all.end(), one) == all.end()) terms.signers.push_back(one);
    }
  }
  if (const std::string why = why_no_cell(terms); !why.empty()) return upgrader::Refusal{why};
  return terms;
}

}  // namespace fleet
