#include "fleet/cell/machine_files.h"

#include <algorithm>
#include <string_view>

namespace fleet {
namespace {

constexpr unsigned int secret_mode = 0600;
// The mode of a file that root owns, and that a service may read as a member of the file's group.
constexpr unsigned int group_mode = 0640;

std::string controller_options(const CellTerms& terms, const CellMachine& controller) {
  std::string options = "--name=" + controller.name;
  for (const std::string& url : endpoints_of(terms)) {
    options += " --endpoint=" + url;
  }
  return options + " --http=" + host_in_url(controller.address) + ":" +
         std::to_string(controller_port) +
         " --http-cert=/etc/fleet/http.pem"
         " --http-key=/run/credentials/fleet-controller.service/http.key"
         " --http-ca=/etc/fleet/ca.pem";
}

std::string signer_options(const CellTerms& terms, const std::string& machine) {
  std::string options = "--name=" + machine;
  for (const std::string& url : endpoints_of(terms)) {
    options += " --endpoint=" + url;
  }
  return options + " --snapshots=/var/lib/fleet-signer";
}

// The programs of the cell that one machine runs.
struct Duties {
  bool member = false;
  bool controller = false;
  bool signer = false;
};

std::string readme(const std::string& machine, const Duties& duties) {
  std::string text = "This archive makes " + machine + " a machine of a cell: see fleet(7).\n\n";
  const bool has_fleet = duties.controller || duties.signer;
  text += "  apt-get install" + std::string(duties.member ? " etcd-server" : "") +
          (has_fleet ? " upgrader-fleet" : "") + "\n";
  text += "  tar -xpf " + machine + ".tar -C /\n  systemctl daemon-reload\n";
  if (duties.member) text += "  systemctl restart etcd\n";
  if (duties.controller) text += "  systemctl enable --now fleet-controller\n";
  if (duties.signer) text += "  systemctl enable --now fleet-signer\n";
  if (duties.member) {
    text +=
        "\nWhen etcd runs on most of the members, the administrator calls\n"
        "`fleetctl cell start DIR`. Controllers and signers work from then on, and\n"
        "machines join by a token: `fleetctl token create`, and on each machine\n"
        "`fleet-agent join`.\n";
  }
  if (duties.signer) {
    text +=
        "\nThis machine has the key of the cell's authority: a person who can read\n"
        "/etc/fleet/ca.key controls the cell. Hourly snapshots of the store are in\n"
        "/var/lib/fleet-signer.\n";
  }
  return text + "\nThe files in /etc/fleet that end in .key are secret.\n";
}

}  // namespace

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

std::vector<std::string> machines_of(const CellTerms& terms) {
  std::vector<std::string> names;
  for (const CellMachine& one : terms.members) {
    names.push_back(one.name);
  }
  for (const CellMachine& one : terms.controllers) {
    if (machine_named(terms.members, one.name) == nullptr) names.push_back(one.name);
  }
  for (const std::string& one : terms.signers) {
    if (std::find(names.begin(), names.end(), one) == names.end()) names.push_back(one);
  }
  return names;
}

std::vector<std::string> controller_urls(const CellTerms& terms) {
  std::vector<std::string> urls;
  for (const CellMachine& one : terms.controllers) {
    urls.push_back("https://" + host_in_url(one.address) + ":" + std::to_string(controller_port));
  }
  return urls;
}

std::vector<MachineFile> machine_files(
    const CellTerms& terms, const std::string& machine,
    const std::function<std::string(const std::string& file)>& content) {
  const CellMachine* const member = machine_named(terms.members, machine);
  const CellMachine* const controller = machine_named(terms.controllers, machine);
  const auto& signers = terms.signers;
  const bool is_signer = std::find(signers.begin(), signers.end(), machine) != signers.end();
  std::vector<MachineFile> files{
      {.path = "etc/fleet/README",
       .content = readme(machine, {member != nullptr, controller != nullptr, is_signer})},
      {.path = "etc/fleet/ca.pem", .content = content("ca.pem")}};
  if (member != nullptr) {
    std::string settings;
    for (const std::string& line :
         etcd_settings(terms, *member, "/etc/fleet", "/var/lib/etcd/fleet")) {
      settings += line + "\n";
    }
    files.push_back({.path = "etc/default/etcd", .content = settings});
    files.push_back({.path = "etc/fleet/members.pem", .content = content("members.pem")});
    for (const std::string& name : {machine, machine + "-members"}) {
      files.push_back({.path = "etc/fleet/" + name + ".pem", .content = content(name + ".pem")});
      files.push_back({.path = "etc/fleet/" + name + ".key",
                       .content = content(name + ".key"),
                       .mode = group_mode,
                       .group = "etcd"});
    }
  }
  if (controller != nullptr) {
    files.push_back({.path = "etc/default/fleet-controller",
                     .content = "FLEET_CONTROLLER_OPTIONS=\"" +
                                controller_options(terms, *controller) + "\"\n"});
    files.push_back({.path = "etc/systemd/system/fleet-controller.service.d/http.conf",
                     .content = "[Service]\nLoadCredential=http.key:/etc/fleet/http.key\n"});
    for (const auto& [name, file] :
         {std::pair<std::string, std::string>{"controller", controller_file(machine)},
          {"http", machine + "-http"}}) {
      files.push_back({.path = "etc/fleet/" + name + ".pem", .content = content(file + ".pem")});
      files.push_back({.path = "etc/fleet/" + name + ".key",
                       .content = content(file + ".key"),
                       .mode = secret_mode});
    }
  }
  if (is_signer) {
    files.push_back(
        {.path = "etc/default/fleet-signer",
         .content = "FLEET_SIGNER_OPTIONS=\"" + signer_options(terms, machine) + "\"\n"});
    files.push_back({.path = "etc/fleet/root.pem", .content = content("root.pem")});
    for (const std::string name : {"root", "ca"}) {
      files.push_back({.path = "etc/fleet/" + name + ".key",
                       .content = content(name + ".key"),
                       .mode = secret_mode});
    }
  }
  return files;
}

std::string shell_environment(const CellTerms& terms, const std::string& directory,
                              const std::string& own) {
  std::string urls;
  for (const std::string& url : endpoints_of(terms)) {
    urls += (urls.empty() ? "" : ",") + url;
  }
  return "# Commands for a shell: `. FILE` lets fleetctl find this cell.\nexport FLEET_ENDPOINT=" +
         shell_quoted(urls) + "\nexport FLEET_CA=" + shell_quoted(directory + "/ca.pem") +
         "\nexport FLEET_CERT=" + shell_quoted(directory + "/" + own + ".pem") +
         "\nexport FLEET_KEY=" + shell_quoted(directory + "/" + own + ".key") + "\n";
}

}  // namespace fleet
