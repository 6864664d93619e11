#include "fleet/cell/dev_cell.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "fleet/cell/machine_files.h"

namespace fleet {
namespace {

constexpr int person_days = 90;
constexpr int port_max = 65'535;

// The rounds in which a trial cell's programs are started and stopped. The store is started first
// and stopped last, so that the nodes can still write to it at their end.
constexpr int store_starts = 0, others_start = 1;
constexpr int nodes_stop = 0, controller_stops = 1, store_stops = 2;

std::string program(const DevTerms& terms, const std::string& name) {
  const auto found = terms.programs.find(name);
  return found == terms.programs.end() ? name : found->second;
}

void add_store(const DevTerms& terms, const std::string& who, std::vector<std::string>& arguments) {
  for (const std::string& url : endpoints_of(dev_cell_terms(terms.ports))) {
    arguments.push_back("--endpoint=" + url);
  }
  arguments.push_back("--ca=" + terms.directory + "/ca.pem");
  arguments.push_back("--cert=" + terms.directory + "/" + who + ".pem");
  arguments.push_back("--key=" + terms.directory + "/" + who + ".key");
}

DevProgram etcd(const DevTerms& terms) {
  const CellTerms cell = dev_cell_terms(terms.ports);
  DevProgram one{.name = "etcd",
                 .arguments = {program(terms, "etcd"), "--logger=zap"},
                 .environment = etcd_settings(cell, cell.members.front(), terms.directory,
                                              terms.directory + "/store"),
                 .log = terms.directory + "/log/etcd",
                 .starts = store_starts,
                 .stops = store_stops};
  return one;
}

DevProgram controller(const DevTerms& terms) {
  DevProgram one{
      .name = "fleet-controller",
      .arguments = {program(terms, "fleet-controller"), "--name=c1", "--lease=3", "--observe=2",
                    "--http=127.0.0.1:" + std::to_string(terms.ports.page)},
      .log = terms.directory + "/log/controller",
      .starts = others_start,
      .stops = controller_stops};
  add_store(terms, controller_file("c1"), one.arguments);
  return one;
}

DevProgram agent(const DevTerms& terms, const std::string& node) {
  const std::string home = terms.directory + "/" + node;
  const std::string daemon = home + "/" + std::string(dev_component);
  DevProgram one{
      .name = node,
      .arguments = {program(terms, "upgrader"), "--relink", "--lock=" + home + "/lock",
                    "--control=" + home + "/control", "--previous=" + home + "/previous",
                    home + "/current", "--node=" + node, "--releases=" + home + "/releases",
                    "--keys=" + terms.directory + "/keys",
                    "--allow-file=" + terms.directory + "/releases", "--state=" + home, "--lease=5",
                    "--component=" + std::string(dev_component) + "=" + daemon +
                        "/control:" + daemon + "/releases"},
      .log = terms.directory + "/log/" + node,
      .starts = others_start,
      .stops = nodes_stop};
  add_store(terms, node, one.arguments);
  return one;
}

DevProgram daemon(const DevTerms& terms, const std::string& node) {
  const std::string home = terms.directory + "/" + node + "/" + std::string(dev_component);
  return {.name = node + "'s " + std::string(dev_component),
          .arguments = {program(terms, "upgrader"), "--relink", "--lock=" + home + "/lock",
                        "--control=" + home + "/control", "--previous=" + home + "/previous",
                        "--adapter=" + program(terms, "agentify"), "--adapter=--vouch=no",
                        "--adapter=--version-command=\"$AGENT_PROTOCOL_PROGRAM\" --version",
                        home + "/current"},
          .log = terms.directory + "/log/" + node + "-" + std::string(dev_component),
          .starts = others_start,
          .stops = nodes_stop};
}

}  // namespace

const std::vector<DevNeed>& dev_needs() {
  static const std::vector<DevNeed> needs{{"etcd", "etcd-server"}, {"fleet-controller", ""},
                                          {"fleet-agent", ""},     {"upgrader", ""},
                                          {"agentify", ""},        {"agent-releases", ""}};
  return needs;
}

std::string missing_words(const std::map<std::string, std::string>& programs) {
  std::string ours;
  std::string words;
  for (const DevNeed& need : dev_needs()) {
    if (programs.contains(std::string(need.program))) continue;
    if (need.package.empty()) {
      ours += (ours.empty() ? "" : ", ") + std::string(need.program);
    } else {
      words += std::string(need.program) + " is missing: apt-get install " +
               std::string(need.package) + "; ";
    }
  }
  if (!ours.empty()) words += ours + " must stand beside fleetctl, or in PATH; ";
  return words.substr(0, words.empty() ? 0 : words.size() - 2);
}

CellTerms dev_cell_terms(const DevPorts& ports) {
  return {.members = {{.name = "m1",
                       .address = "127.0.0.1",
                       .client_port = ports.clients,
                       .peer_port = ports.peers}},
          .controllers = {{.name = "c1", .address = "127.0.0.1"}}};
}

std::vector<CertificateWanted> dev_certificates(const DevTerms& terms) {
  std::vector<CertificateWanted> all = certificates_of(dev_cell_terms(terms.ports));
  const auto add = [&all](const std::string& file, const std::string& name) {
    all.push_back({.file = file, .name = name, .authority = "ca", .days = person_days});
  };
  add(std::string(dev_person), "admin:" + std::string(dev_person));
  for (int i = 1; i <= terms.nodes; ++i) {
    add(dev_node(i), "node:" + dev_node(i));
  }
  return all;
}

std::string dev_node(int number) {
  return "n" + std::to_string(number);
}

std::vector<DevProgram> dev_programs(const DevTerms& terms) {
  std::vector<DevProgram> all{etcd(terms), controller(terms)};
  for (int i = 1; i <= terms.nodes; ++i) {
    all.push_back(daemon(terms, dev_node(i)));
    all.push_back(agent(terms, dev_node(i)));
  }
  return all;
}

std::vector<std::string> dev_directories(const DevTerms& terms) {
  std::vector<std::string> all{"log", "keys", "releases"};
  for (int i = 1; i <= terms.nodes; ++i) {
    all.push_back(dev_node(i));
    all.push_back(dev_node(i) + "/" + std::string(dev_component));
  }
  return all;
}

std::string dev_daemon(std::string_view version) {
  const std::string name(dev_component);
  std::string text = "#!/bin/sh\n# A daemon that knows nothing of upgraders.\ncase $1 in\n";
  text += "  --version) echo " + std::string(version) + "; exit ;;\nesac\n";
  text += "echo '" + name + " " + std::string(version) + " is open'\n";
  if (version == dev_bad)
    return text + "sleep 1\necho '" + name + ": the till is gone' >&2\nexit 1\n";
  return text + "exec tail -f /dev/null\n";
}

std::string dev_environment(const DevTerms& terms) {
  const std::string beside = program(terms, "fleetctl");
  std::string text =
      shell_environment(dev_cell_terms(terms.ports), terms.directory, std::string(dev_person));
  text += "PATH=" + shell_quoted(beside.substr(0, beside.rfind('/'))) + ":$PATH\n";
  return text;
}

std::vector<std::string> dev_welcome(const DevTerms& terms, bool is_kept) {
  const std::string component(dev_component);
  const std::string start = "  fleetctl rollout start " + component + " ";
  return {
      "the cell is whole; its page is http://127.0.0.1:" + std::to_string(terms.ports.page) + "/",
      "In another terminal:",
      "  . " + terms.directory + "/env",
      "  fleetctl nodes",
      start + std::string(dev_good) + " --target='*' --soak=2s --name=good",
      "  fleetctl rollout watch good",
      start + std::string(dev_bad) + " --target='*' --soak=5s --name=bad",
      "  fleetctl rollout watch bad",
      is_kept ? "Ctrl-C stops the cell; the same command goes on with it."
              : "Ctrl-C stops the cell, and removes " + terms.directory + "."};
}

std::string ports_text(const DevPorts& ports) {
  return std::to_string(ports.clients) + " " + std::to_string(ports.peers) + " " +
         std::to_string(ports.page) + "\n";
}

DevPorts ports_in(std::string_view text) {
  std::array<int, 3> ports{};
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ports[i]);
    const char behind = i + 1 < ports.size() ? ' ' : '\n';
    if (error != std::errc() || end == text.data() + text.size() || *end != behind) return {};
    if (ports[i] < 1 || ports[i] > port_max) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  }
  return text.empty() ? DevPorts{ports[0], ports[1], ports[2]} : DevPorts{};
}

}  // namespace fleet
