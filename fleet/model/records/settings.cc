#include "fleet/model/records/settings.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/duration.h"
#include "base/number.h"
#include "fleet/model/drivers/budgets.h"
#include "fleet/model/nodes/target.h"
#include "fleet/model/records/keys.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/rollouts/batch_draft.h"
#include "fleet/model/rollouts/rollout_terms.h"

namespace fleet {
namespace {

// The shortest interval between two queries to a source of releases.
constexpr std::int64_t every_ms_min = 1'000;
constexpr std::int64_t event_count_min = 10;
constexpr std::int64_t event_count_max = 100'000;
constexpr std::string_view unavailable = "unavailable.";

// Why the value of a setting is wrong: the kind of value that the setting needs. std::nullopt if
// the value is right.
using Wrong = std::optional<std::string>;

Wrong take_number(const std::string& text, std::int64_t& number, std::int64_t min,
                  std::int64_t max) {
  const auto found = upgrader::whole_number(text);
  if (!found || *found < min || *found > max) {
    return "a number from " + std::to_string(min) + " to " + std::to_string(max);
  }
  number = *found;
  return std::nullopt;
}

Wrong take_duration(const std::string& text, std::int64_t& ms, std::int64_t min) {
  const auto found = duration_ms(text);
  if (!found || *found < min) return "a time, such as 10m";
  ms = *found;
  return std::nullopt;
}

bool is_url(std::string_view text) {
  return text.starts_with("https://") || text.starts_with("http://");
}

Wrong take_source(const std::string& text, std::string& source) {
  const bool is_github = text.starts_with("github:") && text.find('/') != std::string::npos;
  if (!is_url(text) && !is_github) return "an http or https URL, or github:OWNER/NAME";
  source = text;
  return std::nullopt;
}

Wrong take_batch(const std::string& text, RolloutTerms& terms) {
  const bool percent = text.ends_with('%');
  const auto number = upgrader::whole_number(percent ? text.substr(0, text.size() - 1) : text);
  if (!number || *number == 0 || *number > (percent ? 100 : 1'000)) {
    return "a number of nodes, or a percentage";
  }
  (percent ? terms.batch_percent : terms.batch) = *number;
  return std::nullopt;
}

Wrong take_batches(const std::string& text, std::string& batches) {
  const auto sizes = parse_batches(text);
  if (!sizes) return "sizes such as 1,0.5%,4%,10%: " + sizes.reason();
  batches = text;
  return std::nullopt;
}

template <class Value, std::size_t Size>
Wrong take_word(const std::string& text, Value& value,
                const std::array<std::pair<std::string_view, Value>, Size>& words) {
  std::string wanted;
  for (const auto& [word, meaning] : words) {
    if (text == word) {
      value = meaning;
      return std::nullopt;
    }
    wanted += (wanted.empty() ? "" : ", ") + std::string(word);
  }
  return "one of " + wanted;
}

Wrong take_target(const std::string& text, std::string& target) {
  const auto parsed = parse_target(text);
  if (!parsed) return "a target: " + parsed.reason();
  target = text;
  return std::nullopt;
}

constexpr std::array channels = {std::pair{std::string_view("production"), Channel::production},
                                 std::pair{std::string_view("staging"), Channel::staging}};
constexpr std::array deeds = {std::pair{std::string_view("publish"), ThenDo::publish},
                              std::pair{std::string_view("desire"), ThenDo::desire},
                              std::pair{std::string_view("rollout"), ThenDo::rollout}};

// take_setting() returns one of these messages for a name that is not a setting, and other messages
// for wrong values. is_setting() tells the two cases apart by the message.
constexpr std::string_view no_setting = "another name: there is no such setting";
constexpr std::string_view no_label = "the name of a label behind the dot";
constexpr std::string_view no_component = "the name of a component between the dots";

Wrong take_watch(std::string_view name, const std::string& text, WatchSettings& watch) {
  if (name == "source") return take_source(text, watch.source);
  if (name == "channel") return take_word(text, watch.channel, channels);
  if (name == "then") return take_word(text, watch.then, deeds);
  if (name == "every") return take_duration(text, watch.every_ms, every_ms_min);
  if (name == "target") return take_target(text, watch.terms.target);
  if (name == "batch") return take_batch(text, watch.terms);
  if (name == "batches") return take_batches(text, watch.terms.batches);
  if (name == "canary") return take_number(text, watch.terms.canary, 0, 1'000);
  if (name == "soak") return take_duration(text, watch.terms.soak_ms, 0);
  if (name == "pause") return take_duration(text, watch.terms.pause_ms, 0);
  if (name == "max-failed") return take_number(text, watch.terms.max_failed, 1, 10'000);
  return std::string(no_setting);
}

WatchSettings open_watch() {
  WatchSettings watch{.terms = open_terms()};
  watch.terms.target = "*";
  return watch;
}

// Parses a list of https URLs that are separated by commas.
Wrong take_controllers(std::string_view text, std::vector<std::string>& controllers) {
  std::vector<std::string> urls;
  while (true) {
    const std::string_view url = text.substr(0, text.find(','));
    const bool is_good = url.starts_with("https://") && url.size() > 8 && !url.ends_with('/');
    if (!is_good) return "https URLs of controllers, such as https://192.0.2.1:8443";
    urls.emplace_back(url);
    if (url.size() == text.size()) break;
    text.remove_prefix(url.size() + 1);
  }
  controllers = std::move(urls);
  return std::nullopt;
}

// Returns the component in the name of a setting such as `watch.agent.soak`, or no value if the
// setting has another name.
std::optional<std::string> watched_by(std::string_view name) {
  constexpr std::string_view watch = "watch.";
  const std::size_t dot = name.rfind('.');
  if (!name.starts_with(watch) || dot < watch.size()) return std::nullopt;
  return std::string(name.substr(watch.size(), dot - watch.size()));
}

// Returns why no rollout can have the terms that the watch of this setting has, or no value if one
// can.
Wrong wrong_watch(const std::string& name, const CellSettings& settings) {
  const auto found = settings.watches.find(watched_by(name).value_or(""));
  if (found == settings.watches.end()) return std::nullopt;
  RolloutTerms terms = found->second.terms;
  terms.component = found->first;
  terms.version = "1.0.0";
  settle(terms, 1, "1");
  return wrong_terms(terms);
}

Wrong take_setting(const std::string& name, const std::string& text, CellSettings& settings) {
  std::int64_t ms = 0;
  if (name == "event-age" || name == "keep") {
    Wrong wrong = take_duration(text, ms, 1'000);
    if (!wrong) (name == "keep" ? settings.keep_s : settings.event_age_s) = ms / 1'000;
    return wrong;
  }
  if (name == "event-count") {
    return take_number(text, settings.event_count, event_count_min, event_count_max);
  }
  if (name == secret_setting) {
    if (!is_url(text) && !text.starts_with("file:/")) {
      return "an http or https URL, or file: and the whole path of a file that holds one";
    }
    settings.webhook = text;
    return std::nullopt;
  }
  if (name == "join") {
    constexpr std::array ways = {std::pair{std::string_view("token"), false},
                                 std::pair{std::string_view("ask"), true}};
    return take_word(text, settings.joins_wait, ways);
  }
  if (name == "controllers") return take_controllers(text, settings.controllers);
  if (name.starts_with(unavailable)) {
    const std::string label = name.substr(unavailable.size());
    if (!is_id(label)) return std::string(no_label);
    if (settings.unavailable.size() == budget_labels_max) {
      return "fewer budgets: there are at most " + std::to_string(budget_labels_max);
    }
    std::int64_t most = 0;
    Wrong wrong = take_number(text, most, 1, budget_places_max);
    if (!wrong) settings.unavailable[label] = most;
    return wrong;
  }
  const auto component = watched_by(name);
  if (!component) return std::string(no_setting);
  if (!is_component(*component)) return std::string(no_component);
  WatchSettings& one = settings.watches.try_emplace(*component, open_watch()).first->second;
  return take_watch(std::string_view(name).substr(name.rfind('.') + 1), text, one);
}

}  // namespace

std::map<std::string, std::int64_t> budgets_in(const Reading& reading) {
  const KeyValue* found = reading.find(key_of(KeyKind::settings));
  const auto settings =
      found == nullptr ? Result<Settings>(Refusal{"none"}) : read_record<Settings>(found->value);
  if (!settings) return {};
  return cell_settings(settings.value()).unavailable;
}

std::optional<std::int64_t> duration_ms(std::string_view text) {
  const auto duration = upgrader::parse_length(text);
  if (!duration || text == "0") return std::nullopt;
  return duration->count();
}

std::optional<std::string> why_no_settings(const Settings& settings, const Settings& before) {
  const auto is_kept = [&before](const auto& setting) {
    const auto old = before.values.find(setting.first);
    return old != before.values.end() && old->second == setting.second;
  };
  // First handle the settings that do not change. The number of budgets is limited, so the existing
  // budgets must be counted before a new one.
  CellSettings found;
  for (const auto& setting : settings.values) {
    if (is_kept(setting)) static_cast<void>(take_setting(setting.first, setting.second, found));
  }
  for (const auto& setting : settings.values) {
    if (is_kept(setting)) continue;
    if (const auto wanted = take_setting(setting.first, setting.second, found)) {
      return setting.first + " = \"" + setting.second + "\": needs " + *wanted;
    }
  }
  for (const auto& setting : settings.values) {
    if (is_kept(setting)) continue;
    if (const auto wrong = wrong_watch(setting.first, found))
      return setting.first + " = \"" + setting.second + "\": " + *wrong;
  }
  return std::nullopt;
}

bool is_setting(const std::string& name) {
  CellSettings found;
  const Wrong wrong = take_setting(name, "", found);
  return wrong != no_setting && wrong != no_label && wrong != no_component;
}

CellSettings cell_settings(const Settings& settings) {
  CellSettings found;
  for (const auto& [name, text] : settings.values) {
    static_cast<void>(take_setting(name, text, found));
  }
  std::erase_if(found.watches, [](const auto& one) { return one.second.source.empty(); });
  return found;
}

}  // namespace fleet
