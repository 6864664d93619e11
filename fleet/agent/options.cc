#include "fleet/agent/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <optional>

#include "fleet/agent/health_keeper.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_rules.h"

namespace fleet {
namespace {

CLI::Validator id_form() {
  const auto judge = [](std::string& text) -> std::string {
    if (is_id(text)) return "";
    return "needs small letters, digits, `.` and `-`, at most 63";
  };
  return {judge, "", "id"};
}

CLI::Validator label_form() {
  const auto judge = [](std::string& text) -> std::string {
    const std::size_t at = text.find('=');
    if (at != text.npos && is_id(text.substr(0, at))) return "";
    return "needs NAME=VALUE";
  };
  return {judge, "", "label"};
}

CLI::Validator absolute_form() {
  const auto judge = [](std::string& text) -> std::string {
    return text.starts_with('/') ? "" : "needs an absolute path";
  };
  return {judge, "", "directory"};
}

// Parses NAME=CONTROL:RELEASES.
std::optional<AgentOptions::Component> component_from(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t colon = equals == text.npos ? text.npos : text.find(':', equals);
  if (colon == text.npos) return std::nullopt;
  AgentOptions::Component component{
      text.substr(0, equals), text.substr(equals + 1, colon - equals - 1), text.substr(colon + 1)};
  const bool is_good = is_component(component.name) && component.name != "agent" &&
                       component.control.starts_with('/') && component.releases.starts_with('/');
  if (!is_good) return std::nullopt;
  return component;
}

CLI::Validator component_form() {
  const auto judge = [](std::string& text) -> std::string {
    if (component_from(text)) return "";
    return "needs NAME=/CONTROL:/RELEASES, and a name that is not `agent`";
  };
  return {judge, "", "component"};
}

CLI::Validator measure_form() {
  const auto judge = [](std::string& text) -> std::string {
    const std::size_t at = text.find('=');
    const std::string form = "needs COMPONENT=exec:/PROGRAM or COMPONENT=http:URL";
    if (at == text.npos || !parse_measure_source(text.substr(at + 1))) return form;
    const std::string component = text.substr(0, at);
    if (is_component(component)) return "";
    return form + "; the name of the component: " + why_no_id(component);
  };
  return {judge, "", "measure"};
}

// Adds the options about releases: where they are kept, and which of them are accepted.
void add_release_options(CLI::App& app, AgentOptions& options) {
  app.add_option("--releases", options.releases, "directory of the releases of fleet-agent itself")
      ->type_name("DIR");
  app.add_option("--keys", options.keys,
                 "directory of the minisign public keys that verify releases")
      ->type_name("DIR");
  app.add_option("--allow-file", options.allowed_files,
                 "allow releases from files below DIR, too; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false)
      ->check(absolute_form());
  app.add_option("--keep", options.keep,
                 "number of releases of each program that stay on disk; 0 for all")
      ->type_name("N")
      ->check(CLI::Range(0, 1'000'000));
}

// Adds the options about this machine: the reboot command, the files with its ids, and its labels.
void add_machine_options(CLI::App& app, AgentOptions& options) {
  app.add_option("--reboot-command", options.reboot_command,
                 "program to reboot the machine; by default the machine is not rebooted")
      ->type_name("PROGRAM");
  app.add_option("--reboot-asked", options.reboot_asked,
                 "file with which an upgraded program requests a reboot")
      ->type_name("FILE");
  app.add_option("--boot-id", options.boot_id,
                 "file whose first line identifies this boot of the machine")
      ->type_name("FILE");
  app.add_option("--machine-id", options.machine_id, "file whose first line identifies the machine")
      ->type_name("FILE");
  const auto take = [&options](const std::vector<std::string>& labels) {
    if (labels.size() > record_entries_max)
      throw CLI::ValidationError("--label", "a record has at most 256 labels");
    options.labels = labels;
  };
  app.add_option_function<std::vector<std::string>>(
         "--label", take, "fact about the machine, for use in targets; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false)
      ->check(label_form());
}

void add_evidence(CLI::App& app, AgentOptions& options) {
  static const std::map<std::string, EvidenceLevel> levels{{"none", EvidenceLevel::none},
                                                           {"reason", EvidenceLevel::reason},
                                                           {"lines", EvidenceLevel::lines}};
  const auto take = [&options](const std::string& word) { options.evidence = levels.at(word); };
  app.add_option_function<std::string>(
         "--evidence", take, "evidence about a failed upgrade that is written into the store")
      ->type_name("none|reason|lines")
      ->check(CLI::IsMember(levels).description(""));
}

void add_join(CLI::App& app, AgentOptions& options, JoinOptions& join) {
  CLI::App& one = *app.add_subcommand("join", "make this machine a node of a cell, with a token");
  one.add_option("FILE", join.token, "file of the token; `-` or no FILE means standard input")
      ->type_name("");
  one.add_option("--node", join.node,
                 "name of the machine; by default its host name without the domain")
      ->type_name("ID")
      ->check(id_form());
  one.add_option("--root", join.root, "write all files below DIR instead of /")
      ->type_name("DIR")
      ->check(absolute_form());
  one.add_option("--wait", join.wait_s, "number of seconds for which to ask the controllers")
      ->type_name("S")
      ->check(CLI::Range(1, 86'400));
  one.callback([&options, &join] { options.join = join; });
}

// The values of --component and --measure, before they are parsed.
struct ComponentTexts {
  std::vector<std::string> components = {};
  std::vector<std::string> measures = {};
};

void add_component_options(CLI::App& app, ComponentTexts& texts) {
  app.add_option("--component", texts.components,
                 "name, control directory and releases directory of another upgrader")
      ->type_name("NAME=DIR:DIR")
      ->allow_extra_args(false)
      ->check(component_form());
  app.add_option("--measure", texts.measures,
                 "program or URL of component measures, to judge rollouts; may be repeated")
      ->type_name("COMPONENT=exec:COMMAND|http:URL")
      ->allow_extra_args(false)
      ->check(measure_form());
}

void take_components(AgentOptions& options, const ComponentTexts& texts) {
  for (const std::string& component : texts.components)
    options.components.push_back(*component_from(component));
  for (const std::string& measure : texts.measures) {
    const std::size_t at = measure.find('=');
    options.measures.push_back({measure.substr(0, at), measure.substr(at + 1)});
  }
}

// Returns why the values of --measure are wrong, or an empty string if they are good.
std::string wrong_measures(const AgentOptions& options) {
  for (const AgentOptions::Measures& one : options.measures) {
    const bool is_there =
        one.component == "agent" ||
        std::any_of(options.components.begin(), options.components.end(),
                    [&](const auto& component) { return component.name == one.component; });
    if (!is_there) return "there is no --component " + one.component;
  }
  if (options.measures.size() <= measures_max) return "";
  return "there are more than " + std::to_string(measures_max) + " of these options";
}

}  // namespace

std::variant<AgentOptions, Text> agent_options(int argc, char** argv, const std::string& version) {
  AgentOptions options;
  CLI::App app("register a machine in a fleet, report its versions, and carry out its upgrades",
               "fleet-agent");
  add_help_options(app, "fleet-agent " + version);
  app.add_option("--node", options.node, "name of the machine")->type_name("ID")->check(id_form());
  add_store_options(app, options.store, "the machine's");
  add_release_options(app, options);
  app.add_option("--state", options.state,
                 "directory for the records of fleet-agent, which must survive a reboot")
      ->type_name("DIR");
  app.add_option("--hooks", options.hooks, "directory of the programs that steps of plans run")
      ->type_name("DIR");
  add_machine_options(app, options);
  ComponentTexts texts;
  add_component_options(app, texts);
  app.add_option("--lease", options.lease_s,
                 "seconds without contact to the store after which the machine is silent")
      ->type_name("S")
      ->check(CLI::Range(2, 3'600));
  app.add_option("--trial", options.trial_s,
                 "seconds within which a new version of fleet-agent must reach the store")
      ->type_name("S")
      ->check(CLI::Range(1, 86'400));
  add_evidence(app, options);
  app.add_flag("--self-test", options.self_test,
               "print the version and `ok` to show that fleet-agent can run, and exit");
  JoinOptions join;
  add_join(app, options, join);
  try {
    parse(app, argc, argv);
    if (options.join) return options;
    if (options.node.empty()) throw CLI::RequiredError("--node");
    if (options.store.endpoints.empty()) throw CLI::RequiredError("--endpoint");
    if (options.releases.empty()) throw CLI::RequiredError("--releases");
    if (options.keys.empty()) throw CLI::RequiredError("--keys");
    if (options.state.empty()) throw CLI::RequiredError("--state");
    take_components(options, texts);
    const std::string wrong = wrong_measures(options);
    if (!wrong.empty()) throw CLI::ValidationError("--measure", wrong);
  } catch (const CLI::Error& error) {
    return text_for(app, error);
  }
  return options;
}

}  // namespace fleet
