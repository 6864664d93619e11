#include "fleet/model/records/keys.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <span>

#include "fleet/model/records/effort.h"

namespace fleet {
namespace {

// The form of the keys of one kind. In a pattern, `*` stands for an id, `c` for a component, `V`
// for a version, `#` for a number, and `E` for the number of an event.
struct Shape {
  KeyKind kind;
  std::string_view pattern;
};

constexpr std::array shapes = {
    Shape{KeyKind::node_info, "node/*/info"},
    Shape{KeyKind::node_versions, "node/*/versions"},
    Shape{KeyKind::node_instance, "node/*/instance/*"},
    Shape{KeyKind::node_active, "node/*/active"},
    Shape{KeyKind::node_upgrade, "node/*/upgrade/c"},
    Shape{KeyKind::node_desired, "node/*/desired/c"},
    Shape{KeyKind::node_command, "node/*/command/c"},
    Shape{KeyKind::node_answer, "node/*/answer/c"},
    Shape{KeyKind::node_claim, "node/*/claim/c"},
    Shape{KeyKind::node_csr, "node/*/csr"},
    Shape{KeyKind::node_certificate, "node/*/certificate"},
    Shape{KeyKind::node_plan, "node/*/plan/*"},
    Shape{KeyKind::node_health, "node/*/health/c"},
    Shape{KeyKind::node_control, "node/*/control/c"},
    Shape{KeyKind::desired, "desired/c"},
    Shape{KeyKind::release, "release/c/V"},
    Shape{KeyKind::rollout, "rollout/*"},
    Shape{KeyKind::rollout_batch, "rollout/*/batch/#"},
    Shape{KeyKind::rollout_node, "rollout/*/node/*"},
    Shape{KeyKind::rollout_judge, "rollout/*/judge"},
    Shape{KeyKind::plan, "plan/*"},
    Shape{KeyKind::plan_member, "plan/*/member/*"},
    Shape{KeyKind::once, "once/*/*"},
    Shape{KeyKind::driver, "driver/*"},
    Shape{KeyKind::window, "window/*"},
    Shape{KeyKind::stop, "stop"},
    Shape{KeyKind::epoch, "epoch"},
    Shape{KeyKind::settings, "settings"},
    Shape{KeyKind::event, "event/E"},
    Shape{KeyKind::order, "order/*"},
    Shape{KeyKind::history, "history/E"},
    Shape{KeyKind::notified, "notified"},
    Shape{KeyKind::identity, "identity/*/*"},
    Shape{KeyKind::token, "token/*"},
    Shape{KeyKind::join, "join/*"},
    Shape{KeyKind::approval, "approval/*"},
    Shape{KeyKind::signer, "signer/*"},
    Shape{KeyKind::place, "place/*/*/#"},
    Shape{KeyKind::controller, "controller/*"},
    Shape{KeyKind::controller_life, "controller/*/life/*"},
};

constexpr std::string_view pattern_of(KeyKind kind) {
  return shapes[static_cast<std::size_t>(kind)].pattern;
}

constexpr bool shapes_are_in_order() {
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i].kind != static_cast<KeyKind>(i)) return false;
  }
  return true;
}
static_assert(shapes_are_in_order(), "pattern_of() looks a kind up by its number");

std::string_view cut_part(std::string_view& rest) {
  const std::size_t slash = rest.find('/');
  const std::string_view part = rest.substr(0, slash);
  rest = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash + 1);
  return part;
}

bool is_place(std::string_view part) {
  return part == "*" || part == "c" || part == "V" || part == "#" || part == "E";
}

bool is_number(std::string_view text) {
  return !text.empty() && text.size() <= number_digits_max &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool takes(std::string_view place, std::string_view name) {
  switch (place.front()) {
    case 'c':
      return is_component(name);
    case 'V':
      return is_version_name(name);
    case '#':
      return is_number(name);
    case 'E':
      return is_number(name) && name.size() == event_digits;
    default:
      return is_id(name);
  }
}

std::optional<std::vector<std::string>> names_in(std::string_view pattern, std::string_view key) {
  std::vector<std::string> names;
  // No pattern begins with a placeholder. So first compare only the first byte, which is different
  // for most patterns.
  if (!key.starts_with(pattern.front())) return std::nullopt;
  if (std::count(pattern.begin(), pattern.end(), '/') != std::count(key.begin(), key.end(), '/')) {
    return std::nullopt;
  }
  while (!pattern.empty()) {
    const std::string_view wanted = cut_part(pattern);
    const std::string_view part = cut_part(key);
    if (!is_place(wanted)) {
      if (part != wanted) return std::nullopt;
    } else {
      if (!takes(wanted, part)) return std::nullopt;
      names.emplace_back(part);
    }
  }
  return names;
}

using Names = std::span<const std::string_view>;

bool all_are_taken(KeyKind kind, Names names) {
  std::size_t at = 0;
  for (std::string_view pattern = pattern_of(kind); !pattern.empty();) {
    const std::string_view place = cut_part(pattern);
    if (!is_place(place)) continue;
    if (at == names.size() || !takes(place, names[at++])) return false;
  }
  return at == names.size();
}

// Returns the pattern of the kind's keys, with each placeholder, such as `*`, replaced with the
// next name of `names`. There must be as many names as placeholders.
std::string filled_in(KeyKind kind, Names names) {
  std::string key(key_root);
  std::size_t at = 0;
  for (std::string_view pattern = pattern_of(kind); !pattern.empty();) {
    const std::string_view part = cut_part(pattern);
    key += is_place(part) ? names[at++] : part;
    if (!pattern.empty()) key += '/';
  }
  return key;
}

bool is_small(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool is_letter_or_digit(char c) {
  return is_small(c) || (c >= 'A' && c <= 'Z');
}

}  // namespace

std::string key_of(KeyKind kind, std::initializer_list<std::string_view> names) {
  if (!all_are_taken(kind, names)) std::abort();
  return filled_in(kind, names);
}

std::optional<std::string> key_if(KeyKind kind, std::initializer_list<std::string_view> names) {
  if (!all_are_taken(kind, names)) return std::nullopt;
  return filled_in(kind, names);
}

std::string key_of(KeyKind kind, std::initializer_list<std::string_view> names,
                   std::uint64_t number) {
  std::string digits = std::to_string(number);
  const bool is_padded = kind == KeyKind::event || kind == KeyKind::history;
  if (is_padded && digits.size() < event_digits) {
    digits.insert(0, event_digits - digits.size(), '0');
  }
  std::vector<std::string_view> all(names);
  const auto place = all.insert(all.begin() + (all.empty() ? 0 : 1), std::string_view(digits));
  // A wrong name is a bug, and aborts the program. A number that is too large is no bug: the key is
  // made, and parse_key() refuses it. So check the names with a valid number in place of the real
  // one.
  constexpr std::string_view some_number = "000000000000";
  static_assert(some_number.size() == event_digits);
  *place = some_number;
  if (!all_are_taken(kind, all)) std::abort();
  *place = digits;
  return filled_in(kind, all);
}

std::uint64_t ParsedKey::number() const {
  const std::string_view pattern = pattern_of(kind);
  std::size_t place = 0;
  for (std::string_view rest = pattern; !rest.empty();) {
    const std::string_view part = cut_part(rest);
    if (!is_place(part)) continue;
    if ((part == "#" || part == "E") && place < names.size()) {
      std::uint64_t value = 0;
      std::from_chars(names[place].data(), names[place].data() + names[place].size(), value);
      return value;
    }
    ++place;
  }
  return 0;
}

std::string key_below(std::string_view key) {
  return std::string(key) + "/";
}

std::string node_prefix(std::string_view node) {
  if (!is_id(node)) std::abort();
  return std::string(key_root) + "node/" + std::string(node) + "/";
}

std::string prefix_of(KeyKind kind) {
  std::string_view pattern = pattern_of(kind);
  std::string prefix(key_root);
  while (!pattern.empty()) {
    const std::string_view part = cut_part(pattern);
    if (is_place(part)) break;
    prefix += part;
    if (!pattern.empty()) prefix += '/';
  }
  return prefix;
}

std::optional<ParsedKey> parse_key(std::string_view key) {
  ++effort.keys;
  if (!key.starts_with(key_root)) return std::nullopt;
  key.remove_prefix(key_root.size());
  for (const Shape& shape : shapes) {
    if (auto names = names_in(shape.pattern, key)) return ParsedKey{shape.kind, std::move(*names)};
  }
  return std::nullopt;
}

// ---- names

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= id_bytes_max && is_small(text.front()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_small(c) || c == '.' || c == '-'; });
}

std::string why_no_id(std::string_view text) {
  if (is_id(text)) return "";
  if (text.empty()) return "it is empty";
  if (text.size() > id_bytes_max) return "longer than " + std::to_string(id_bytes_max) + " bytes";
  std::string wrong;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (is_small(c) || (i > 0 && (c == '.' || c == '-'))) continue;
    const bool is_visible = c > ' ' && c <= '~';
    wrong += (wrong.empty() ? "" : ", ") +
             (is_visible ? std::string{'"', c, '"'} : std::string("a byte that is no letter")) +
             " at " + std::to_string(i + 1);
  }
  return wrong +
         ": only a-z, 0-9, \".\" and \"-\" may be there, and the first is a letter or digit";
}

std::optional<std::string> why_no_driven_name(std::string_view id) {
  if (id == "desired") return "desired is the name of the driver of desired versions";
  if (id == "events") return "events is the name of the driver that writes the history";
  return std::nullopt;
}

bool is_component(std::string_view text) {
  return is_id(text) && text != "v";
}

bool is_version_name(std::string_view text) {
  constexpr std::string_view others = ".+~_-";
  return !text.empty() && text.size() <= id_bytes_max && is_letter_or_digit(text.front()) &&
         std::all_of(text.begin(), text.end(), [others](char c) {
           return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
         });
}

bool is_command_id(std::string_view text) {
  return !text.empty() && text.size() <= command_id_bytes_max &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
         });
}

}  // namespace fleet
