#include "fleet/cell/dev_cell.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "fleet/cell/machine_files.h"

namespace fleet {
namespace {

constexpr int person_days = 90;
constexpr int port_max = 65'535;
constexpr std::string_view snapshots_directory = "snapshots";
constexpr std::string_view hooks_directory = "hooks";

// The rounds in which the programs of a trial cell start and stop. The store starts first and stops
// last, so that nodes can write to it until they exit.
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

DevProgram controller(const DevTerms& terms, const std::string& name, int port) {
  DevProgram one{.name = "fleet-controller " + name,
                 .arguments = {program(terms, "fleet-controller"), "--name=" + name, "--lease=3",
                               "--observe=2", "--http=127.0.0.1:" + std::to_string(port)},
                 .log = terms.directory + "/log/" + name,
                 .starts = others_start,
                 .stops = controller_stops};
  add_store(terms, controller_file(name), one.arguments);
  return one;
}

// Returns the first of the trial cell's two controllers. It serves HTTPS, as in a real cell; the
// second one serves plain HTTP.
DevProgram open_controller(const DevTerms& terms) {
  DevProgram one = controller(terms, "c1", terms.ports.https);
  const std::string own = terms.directory + "/c1-http";
  for (const std::string& option : {"--http-cert=" + own + ".pem", "--http-key=" + own + ".key",
                                    "--http-ca=" + terms.directory + "/ca.pem"}) {
    one.arguments.push_back(option);
  }
  return one;
}

DevProgram signer(const DevTerms& terms) {
  DevProgram one{
      .name = "fleet-signer",
      .arguments = {program(terms, "fleet-signer"), "--name=s1",
                    "--signer=" + terms.directory + "/ca.pem",
                    "--signer-key=" + terms.directory + "/ca.key",
                    "--snapshots=" + terms.directory + "/" + std::string(snapshots_directory)},
      .log = terms.directory + "/log/signer",
      .starts = others_start,
      .stops = controller_stops};
  add_store(terms, "root", one.arguments);
  return one;
}

// Returns the command line that runs a machine's upgrader with fleet-agent. The options about the
// store are not included. `home` is the machine's directory, or `$home` in a shell script.
std::vector<std::string> agent_line(const DevTerms& terms, const std::string& home) {
  const std::string daemon = home + "/" + std::string(dev_component);
  return {program(terms, "upgrader"),
          "--relink",
          "--lock=" + home + "/lock",
          "--control=" + home + "/control",
          "--previous=" + home + "/previous",
          home + "/current",
          "--releases=" + home + "/releases",
          "--keys=" + terms.directory + "/keys",
          "--allow-file=" + terms.directory + "/releases",
          "--state=" + home,
          "--hooks=" + terms.directory + "/" + std::string(hooks_directory),
          "--lease=5",
          "--component=" + std::string(dev_component) + "=" + daemon + "/control:" + daemon +
              "/releases"};
}

// Returns the command line of the sample daemon of a machine. `home` is the daemon's directory.
std::vector<std::string> daemon_line(const DevTerms& terms, const std::string& home) {
  return {program(terms, "upgrader"),
          "--relink",
          "--lock=" + home + "/lock",
          "--control=" + home + "/control",
          "--previous=" + home + "/previous",
          "--adapter=" + program(terms, "agentify"),
          "--adapter=--vouch=no",
          "--adapter=--version-command=\"$AGENT_PROTOCOL_PROGRAM\" --version",
          home + "/current"};
}

DevProgram agent(const DevTerms& terms, const std::string& node) {
  DevProgram one{.name = node,
                 .arguments = agent_line(terms, terms.directory + "/" + node),
                 .log = terms.directory + "/log/" + node,
                 .starts = others_start,
                 .stops = nodes_stop};
  one.arguments.push_back("--node=" + node);
  add_store(terms, node, one.arguments);
  return one;
}

DevProgram daemon(const DevTerms& terms, const std::string& node) {
  const std::string component(dev_component);
  return {.name = node + "'s " + component,
          .arguments = daemon_line(terms, terms.directory + "/" + node + "/" + component),
          .log = terms.directory + "/log/" + node + "-" + component,
          .starts = others_start,
          .stops = nodes_stop};
}

}  // namespace

const std::vector<DevNeed>& dev_needs() {
  static const std::vector<DevNeed> needs{
      {"etcd", "etcd-server"}, {"fleet-controller", ""}, {"fleet-signer", ""},  {"fleet-agent", ""},
      {"upgrader", ""},        {"agentify", ""},         {"agent-releases", ""}};
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
          .controllers = {{.name = "c1", .address = "127.0.0.1"},
                          {.name = "c2", .address = "127.0.0.1"}}};
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
  std::vector<DevProgram> all{etcd(terms), open_controller(terms),
                              controller(terms, "c2", terms.ports.page), signer(terms)};
  for (int i = 1; i <= terms.nodes; ++i) {
    all.push_back(daemon(terms, dev_node(i)));
    all.push_back(agent(terms, dev_node(i)));
  }
  return all;
}

std::vector<std::string> dev_directories(const DevTerms& terms) {
  std::vector<std::string> all{"log", "keys", "releases", std::string(hooks_directory),
                               std::string(snapshots_directory)};
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

std::vector<std::string> dev_install(const DevTerms& terms, const std::string& home) {
  const std::string component(dev_component);
  // The sample daemon is a script, so its release is for all processors.
  const std::string manifest = component + "-" + std::string(dev_installed) + "-any.json";
  return {program(terms, "agent-releases"),
          "--dir=" + home + "/releases",
          "--name=" + component,
          "--keys=" + terms.directory + "/keys",
          "add",
          terms.directory + "/releases/" + manifest};
}

std::string dev_installed_release(const std::string& home) {
  return home + "/releases/" + std::string(dev_component) + "-v" + std::string(dev_installed);
}

std::string dev_environment(const DevTerms& terms) {
  const std::string beside = program(terms, "fleetctl");
  std::string text =
      shell_environment(dev_cell_terms(terms.ports), terms.directory, std::string(dev_person));
  text += "PATH=" + shell_quoted(beside.substr(0, beside.rfind('/'))) + ":$PATH\n";
  return text;
}

std::string dev_https(const DevTerms& terms) {
  return "https://127.0.0.1:" + std::to_string(terms.ports.https);
}

std::string dev_machine(const DevTerms& terms) {
  const std::string component(dev_component);
  // Returns a command line as text for a shell script, spread over several lines.
  const auto line = [](const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) {
      const bool is_path = word.find("$home") != std::string::npos;
      text += text.empty() ? "" : " \\\n  ";
      text += is_path ? "\"" + word + "\"" : shell_quoted(word);
    }
    return text;
  };
  std::vector<std::string> agent = agent_line(terms, "$home");
  for (const std::string option : {"ca=$home/etc/fleet/ca.pem", "cert=$home/etc/fleet/node.pem",
                                   "key=$home/etc/fleet/node.key"}) {
    agent.push_back("--" + option);
  }
  const std::string home = "$home/" + component;
  const std::string installed = dev_installed_release(home);
  return "#!/bin/sh\n"
         "# Joins the trial cell as another machine, and runs it until it is interrupted:\n"
         "# machine NAME\n"
         "set -e\n"
         "umask 077\n"
         "name=${1:?usage: machine NAME}\n"
         ". " +
         shell_quoted(terms.directory + "/env") + "\nhome=" + shell_quoted(terms.directory) +
         "/$name\nmkdir -p \"" + home +
         "\"\n"
         "test -e \"$home/etc/fleet/node.pem\" || fleetctl token create --node=\"$name\" |\n"
         "  fleet-agent join - --node=\"$name\" --root=\"$home\"\n"
         ". \"$home/etc/default/fleet-agent\"\n" +
         "test -L \"$home/current\" || ln -s " + shell_quoted(program(terms, "fleet-agent")) +
         " \"$home/current\"\n"
         "test -e \"" +
         installed + "\" || " + line(dev_install(terms, home)) +
         "\n"
         "test -L \"" +
         home + "/current\" || ln -s \"" + installed + "\" \"" + home +
         "/current\"\n"
         "trap 'kill $daemon $agent 2>/dev/null; wait' EXIT\n"
         "trap 'exit 0' INT TERM HUP\n" +
         line(daemon_line(terms, home)) + " >>\"$home/log-" + component + "\" 2>&1 &\ndaemon=$!\n" +
         line(agent) +
         " $FLEET_AGENT_OPTIONS >>\"$home/log\" 2>&1 &\n"
         "agent=$!\n"
         "echo \"$name runs; Ctrl-C ends it\"\n"
         "wait\n";
}

std::vector<std::string> dev_welcome(const DevTerms& terms, bool is_kept) {
  const std::string component(dev_component);
  const std::string start = "  fleetctl rollout start " + component + " ";
  const std::string own = terms.directory + "/" + std::string(dev_person);
  return {
      "the cell is whole; its page is http://127.0.0.1:" + std::to_string(terms.ports.page) + "/",
      "In another terminal:",
      "  . " + terms.directory + "/env",
      "  fleetctl nodes",
      start + std::string(dev_good) + " --target='*' --soak=2s --name=good",
      "  fleetctl rollout watch good",
      start + std::string(dev_bad) + " --target='*' --soak=5s --name=bad",
      "  fleetctl rollout watch bad",
      "Another machine joins by a token, and runs until Ctrl-C:",
      "  " + terms.directory + "/machine " + dev_node(terms.nodes + 1),
      "Orders by HTTPS need a certificate, such as yours:",
      "  curl --cacert " + terms.directory + "/ca.pem --cert " + own + ".pem --key " + own +
          ".key " + dev_https(terms) + "/v1/state",
      is_kept ? "Ctrl-C stops the cell; the same command goes on with it."
              : "Ctrl-C stops the cell, and removes " + terms.directory + "."};
}

std::string ports_text(const DevPorts& ports) {
  return std::to_string(ports.clients) + " " + std::to_string(ports.peers) + " " +
         std::to_string(ports.page) + " " + std::to_string(ports.https) + "\n";
}

DevPorts ports_in(std::string_view text) {
  std::array<int, 4> ports{};
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ports[i]);
    const char behind = i + 1 < ports.size() ? ' ' : '\n';
    if (error != std::errc() || end == text.data() + text.size() || *end != behind) return {};
    if (ports[i] < 1 || ports[i] > port_max) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()) + 1);
  }
  return text.empty() ? DevPorts{ports[0], ports[1], ports[2], ports[3]} : DevPorts{};
}

}  // namespace fleet
