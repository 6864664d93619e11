#include "tests/adversity/fuzz/second_decoder.h"

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tests/adversity/fuzz/second_json.h"
#include "tests/adversity/fuzz/target.h"

namespace fuzz {

namespace {

constexpr std::int64_t day_ms = 86'400'000;
// The largest number that is accepted if agent-protocol(7) gives no limit. All JSON readers agree
// on the value of numbers up to this limit (RFC 8259, section 6).
constexpr std::int64_t any_number = 9'007'199'254'740'991;
constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();

enum class Kind { text, id, path, state, word, open_word, integer, boolean, texts, failure };

// The rule for one member of a message. `least` and `most` limit a number, `bytes` limits a text
// and each text of an array, `items` limits the length of an array.
struct Rule {
  std::string_view name;
  Kind kind;
  bool required = false;
  std::int64_t least = 0;
  std::int64_t most = any_number;
  std::size_t bytes = any_size;
  std::size_t items = any_size;
  std::vector<std::string_view> words{};
};

struct Type {
  Sender sender;
  std::string_view name;
  std::vector<Rule> rules;
};

const Rule id{.name = "id", .kind = Kind::id, .required = true};
const Rule generation{.name = "generation", .kind = Kind::integer, .required = true, .least = 1};
const Rule reason{.name = "reason", .kind = Kind::text, .required = true, .bytes = 1'024};

Rule optional(Rule rule) {
  rule.required = false;
  return rule;
}

Rule version(std::string_view name) {
  return {.name = name, .kind = Kind::text, .bytes = 128};
}

Rule timeout(std::string_view name, std::int64_t least) {
  return {.name = name, .kind = Kind::integer, .least = least, .most = day_ms};
}

Rule word(std::string_view name, std::vector<std::string_view> words) {
  return {.name = name, .kind = Kind::word, .words = std::move(words)};
}

Rule required_word(std::string_view name, std::vector<std::string_view> words) {
  Rule rule = word(name, std::move(words));
  rule.required = true;
  return rule;
}

Rule protocol() {
  return {.name = "protocol",
          .kind = Kind::integer,
          .required = true,
          .least = 1,
          .most = 2'147'483'647};
}

Rule features() {
  return {.name = "features", .kind = Kind::texts, .bytes = 32, .items = 16};
}

std::vector<Rule> failure_rules() {
  return {id,
          {.name = "stage", .kind = Kind::text, .required = true},
          reason,
          {.name = "exit_status", .kind = Kind::integer, .least = -any_number},
          {.name = "signal", .kind = Kind::integer, .least = -any_number},
          {.name = "errno", .kind = Kind::text}};
}

std::vector<Rule> upgrade_rules() {
  return {id,
          {.name = "executable", .kind = Kind::path, .required = true, .bytes = 4'095},
          {.name = "args", .kind = Kind::texts, .items = 1'024},
          word("mode", {"parallel", "sequential"}),
          word("gate", {"none", "confirm"}),
          word("commit", {"survive", "healthy"}),
          timeout("start_timeout_ms", 0),
          timeout("confirm_timeout_ms", 0),
          timeout("stop_timeout_ms", 1),
          timeout("trial_ms", 0),
          word("on_unclean_stop", {"fallback", "continue"}),
          word("fallback", {"cold", "warm"})};
}

std::vector<Rule> welcome_rules() {
  Rule required_features = features();
  required_features.required = true;
  return {protocol(),
          required_features,
          generation,
          required_word("role", {"first", "candidate", "fallback"}),
          version("previous_version"),
          {.name = "failure", .kind = Kind::failure},
          {.name = "watchdog_ms", .kind = Kind::integer, .least = 1}};
}

std::vector<Type> all_types() {
  const Rule state{.name = "state", .kind = Kind::state, .bytes = 32'768};
  return {
      {Sender::agent, "hello", {protocol(), version("version"), features()}},
      {Sender::agent, "ready", {}},
      {Sender::agent, "unfit", {reason}},
      {Sender::agent, "upgrade", upgrade_rules()},
      {Sender::agent, "confirm", {id}},
      {Sender::agent, "cancel", {id, optional(reason)}},
      {Sender::agent, "stopped", {state}},
      {Sender::agent, "healthy", {}},
      {Sender::agent,
       "extend",
       {{.name = "ms", .kind = Kind::integer, .required = true, .least = 1, .most = day_ms}}},
      {Sender::agent, "heartbeat", {}},
      {Sender::agent,
       "status",
       {{.name = "text", .kind = Kind::text, .required = true, .bytes = 256}}},

      {Sender::upgrader, "welcome", welcome_rules()},
      {Sender::upgrader,
       "activate",
       {state,
        {.name = "clean", .kind = Kind::boolean, .required = true},
        {.name = "failure", .kind = Kind::failure},
        {.name = "trial_ms", .kind = Kind::integer, .least = 1},
        {.name = "commit", .kind = Kind::open_word, .words = {"survive", "healthy"}}}},
      {Sender::upgrader,
       "stop",
       {required_word("reason", {"upgrade", "rollback", "shutdown"}),
        {.name = "deadline_ms", .kind = Kind::integer, .required = true, .least = 1},
        optional(id),
        optional(generation)}},
      {Sender::upgrader, "accepted", {id, generation}},
      {Sender::upgrader, "candidate_ready", {id, generation, version("version")}},
      {Sender::upgrader,
       "candidate_lost",
       {id, {.name = "reason", .kind = Kind::text, .required = true}}},
      {Sender::upgrader, "upgrade_failed", failure_rules()},
      {Sender::upgrader, "committed", {id, generation}},
      {Sender::upgrader, "error", {{.name = "about", .kind = Kind::text, .bytes = 64}, reason}},
  };
}

// Returns the size of a text when it is written with the escapes that agent-protocol(7) requires,
// without the quotes around the text.
std::size_t escaped_size(std::string_view text) {
  std::size_t size = 0;
  for (const char byte : text) {
    const bool two = std::string_view("\"\\\b\f\n\r\t").find(byte) != std::string_view::npos;
    size += two ? 2 : static_cast<unsigned char>(byte) < 0x20 ? 6 : 1;
  }
  return size;
}

bool is_text(const Json& value, std::size_t bytes) {
  return value.kind == Json::Kind::text && !value.lone_surrogate &&
         value.text.find('\0') == std::string::npos && value.text.size() <= bytes;
}

bool is_id(const Json& value) {
  if (!is_text(value, planted("longer-id") ? 65 : 64) || value.text.empty()) return false;
  for (const char byte : value.text) {
    if (byte < ' ' || byte > '~') return false;
  }
  return true;
}

bool is_one_of(const Json& value, const std::vector<std::string_view>& words) {
  if (!is_text(value, any_size)) return false;
  for (const std::string_view word : words) {
    if (value.text == word) return true;
  }
  return false;
}

bool are_texts(const Json& value, const Rule& rule) {
  if (value.kind != Json::Kind::array || value.items.size() > rule.items) return false;
  for (const Json& item : value.items) {
    if (!is_text(item, rule.bytes)) return false;
  }
  return true;
}

std::optional<std::int64_t> whole_number(const Json& value) {
  if (value.kind != Json::Kind::number) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = value.number.data() + value.number.size();
  const auto [stop, error] = std::from_chars(value.number.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

bool is_in_range(const Json& value, const Rule& rule) {
  const std::optional<std::int64_t> number = whole_number(value);
  return number && *number >= rule.least && *number <= rule.most;
}

// The result of looking for a member by its name. `twice` is true if the object has several members
// of this name.
struct Found {
  const Json* value = nullptr;
  bool twice = false;
};

Found find(const Json& object, std::string_view name) {
  Found found;
  for (std::size_t index = 0; index < object.names.size(); ++index) {
    const Json& key = object.names[index];
    if (key.lone_surrogate || key.text != name) continue;
    found.twice = found.value != nullptr;
    found.value = &object.items[index];
    if (found.twice) break;
  }
  return found;
}

bool take_members(const Json& object, const std::vector<Rule>& rules, const std::string& prefix,
                  SecondOpinion& opinion);

// Checks one member of a message against its rule. If the member is good, adds its value to the
// opinion, the decoder's result.
bool take_member(const Json& value, const Rule& rule, const std::string& name,
                 SecondOpinion& opinion) {
  bool good = false;
  std::string as_shown = shown(std::string_view(value.text));
  switch (rule.kind) {
    case Kind::text:
      good = is_text(value, rule.bytes);
      break;
    case Kind::id:
      good = is_id(value);
      break;
    case Kind::path:
      good = is_text(value, rule.bytes) && value.text.starts_with('/');
      break;
    case Kind::state:
      good = is_text(value, rule.bytes) && escaped_size(value.text) <= 65'000;
      break;
    case Kind::word:
      good = is_one_of(value, rule.words);
      break;
    case Kind::open_word:
      // An unknown word may be one that a later upgrader knows, so it counts as absent.
      if (!is_one_of(value, rule.words)) return is_text(value, any_size);
      good = true;
      break;
    case Kind::integer:
      good = is_in_range(value, rule);
      if (good) as_shown = std::to_string(*whole_number(value));
      break;
    case Kind::boolean:
      good = value.kind == Json::Kind::boolean;
      as_shown = shown(value.boolean);
      break;
    case Kind::texts:
      good = are_texts(value, rule);
      as_shown.clear();
      for (const Json& item : value.items)
        as_shown += shown(std::string_view(item.text)) + ",";
      break;
    case Kind::failure: {
      if (value.kind != Json::Kind::object) return false;
      std::vector<Rule> rules = failure_rules();
      rules.push_back(version("version"));
      return take_members(value, rules, name + ".", opinion);
    }
  }
  // An empty list of features means the same as an absent member, so it is not added.
  const bool none = rule.name == "features" && as_shown.empty();
  if (good && !none) opinion.members[name] = as_shown;
  return good;
}

bool take_members(const Json& object, const std::vector<Rule>& rules, const std::string& prefix,
                  SecondOpinion& opinion) {
  for (const Rule& rule : rules) {
    const std::string name = prefix + std::string(rule.name);
    const Found found = find(object, rule.name);
    if (found.value == nullptr && !rule.required) continue;
    if (found.value == nullptr) {
      opinion.why = name + " is not there";
    } else if (found.twice && !planted("duplicate")) {
      opinion.why = name + " is there twice";
    } else if (!take_member(*found.value, rule, name, opinion)) {
      if (opinion.why.empty()) opinion.why = name + " is wrong";
    }
    if (!opinion.why.empty()) return false;
  }
  return true;
}

bool is_word(const Json& object, std::string_view name, std::string_view text) {
  const Found found = find(object, name);
  return found.value != nullptr && found.value->text == text;
}

// Checks the rules that concern several members of a message together. Returns the rule that the
// message breaks, or an empty text.
std::string broken_together(const Json& object, std::string_view type) {
  if (type == "upgrade" && is_word(object, "gate", "confirm") &&
      is_word(object, "mode", "sequential")) {
    return "a gate is for parallel only";
  }
  const Found trial = find(object, "trial_ms");
  const bool no_trial = trial.value != nullptr && whole_number(*trial.value) == 0;
  if (type == "upgrade" && is_word(object, "commit", "healthy") && no_trial) {
    return "without a trial it cannot be healthy";
  }
  const bool has_id = find(object, "id").value != nullptr;
  const bool has_generation = find(object, "generation").value != nullptr;
  if (type == "stop" && is_word(object, "reason", "upgrade") && !(has_id && has_generation)) {
    return "a stop for which upgrade";
  }
  return "";
}

}  // namespace

std::string shown(std::string_view text) {
  return "'" + std::to_string(text.size()) + ":" + std::string(text) + "'";
}

std::string shown(bool value) {
  return value ? "true" : "false";
}

SecondOpinion second_opinion(std::string_view line, Sender sender) {
  static const std::vector<Type> types = all_types();
  SecondOpinion opinion;
  const std::optional<Json> object = read_json(line, 32);
  if (!object || object->kind != Json::Kind::object) {
    opinion.why = "no object";
    return opinion;
  }
  const Found type = find(*object, "type");
  if (type.value == nullptr || type.twice || type.value->kind != Json::Kind::text) {
    opinion.why = "no type";
    return opinion;
  }
  opinion.type = type.value->text;
  opinion.judgement = Judgement::unknown;
  opinion.why = "no such type";
  opinion.lone = type.value->lone_surrogate;
  if (opinion.lone) return opinion;
  for (const Type& known : types) {
    if (known.sender != sender || known.name != opinion.type) continue;
    opinion.why.clear();
    bool good = take_members(*object, known.rules, "", opinion);
    if (good) opinion.why = broken_together(*object, known.name);
    good = opinion.why.empty();
    opinion.judgement = good ? Judgement::good : Judgement::malformed;
    if (!good) opinion.members.clear();
    const Found its_id = find(*object, "id");
    const bool has_id = its_id.value != nullptr && !its_id.twice && is_id(*its_id.value);
    if (!good && known.name == "upgrade" && has_id) opinion.id = its_id.value->text;
    return opinion;
  }
  return opinion;
}

}  // namespace fuzz
