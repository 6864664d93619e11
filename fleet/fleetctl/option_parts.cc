#include "fleet/fleetctl/option_parts.h"

#include "base/duration.h"
#include "fleet/model/ids.h"

namespace fleetctl {

CLI::Validator form(bool (*is_good)(std::string_view), const std::string& wanted) {
  const auto judge = [is_good, wanted](std::string& text) -> std::string {
    return is_good(text) ? "" : text + ": needs " + wanted;
  };
  return {judge, "", "form"};
}

CLI::App& add(CLI::App& parent, Options& options, Command command, const std::string& name,
              const std::string& about) {
  CLI::App& sub = *parent.add_subcommand(name, about);
  sub.fallthrough();
  sub.callback([&options, command] { options.command = command; });
  return sub;
}

void add_duration(CLI::App& app, const std::string& name, std::int64_t& value,
                  std::chrono::milliseconds unit, const std::string& about, bool required) {
  const auto take = [name, unit, &value](const std::string& text) {
    const auto duration = upgrader::parse_length(text);
    if (!duration) {
      throw CLI::ValidationError(name,
                                 text + ": needs a whole number and one of ms, s, m, h and d");
    }
    value = (*duration + unit - std::chrono::milliseconds{1}) / unit;
  };
  app.add_option_function<std::string>(name, take, about)->type_name("TIME")->required(required);
}

void add_component(CLI::App& app, Options& options, bool required) {
  app.add_option("COMPONENT", options.component, "`agent`, or another component")
      ->type_name("")
      ->required(required)
      ->check(form(&fleet::is_component, "the name of a component"));
}

}  // namespace fleetctl
