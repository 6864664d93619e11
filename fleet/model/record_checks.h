// The checks from which record_rules.cc builds the rules for records. Each check either returns the
// fault that it has found, or cuts a text that is too long.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/model/keys.h"
#include "fleet/model/record_rules.h"
#include "fleet/model/record_text.h"

namespace fleet::record_checks {

using Wrong = std::optional<std::string>;

inline std::string quoted(std::string_view text) {
  return "\"" + brief(text, label_bytes_max) + "\"";
}

// Returns the first fault in the list, or no value if the list has none.
inline Wrong first_of(std::initializer_list<Wrong> all) {
  for (const Wrong& one : all) {
    if (one) return one;
  }
  return std::nullopt;
}

// Returns a fault if `text` is neither empty nor a valid name. If a member is absent in the JSON of
// a record, it is read as an empty text, so an empty name is allowed.
using IsName = bool (*)(std::string_view);
inline Wrong wrong_name(const std::string& text, IsName is_name, std::string_view what) {
  if (text.empty() || is_name(text)) return std::nullopt;
  return quoted(text) + " is no " + std::string(what);
}

inline Wrong wrong_version(const std::string& text) {
  return wrong_name(text, &is_version_name, "version");
}

inline Wrong wrong_number(std::int64_t number, std::int64_t least, std::int64_t most,
                          std::string_view what) {
  if (number >= least && number <= most) return std::nullopt;
  return std::string(what) + " is " + std::to_string(number) + ", not " + std::to_string(least) +
         " to " + std::to_string(most);
}

inline Wrong wrong_time(std::int64_t ms, std::string_view what) {
  return wrong_number(ms, 0, record_ms_max, what);
}

inline Wrong too_many(std::size_t count, std::size_t most, std::string_view what) {
  if (count <= most) return std::nullopt;
  return std::string(what) + ": " + std::to_string(count) + ", at most " + std::to_string(most);
}

inline Wrong wrong_ids(const std::vector<std::string>& ids, std::string_view what) {
  for (const std::string& id : ids) {
    if (!is_id(id)) return std::string(what) + " " + quoted(id) + " is no id";
  }
  if (!std::is_sorted(ids.begin(), ids.end())) return std::string(what) + "s are not sorted";
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) {
    return std::string(what) + " is there twice";
  }
  return std::nullopt;
}

inline void cut_texts(std::initializer_list<std::string*> texts) {
  for (std::string* text : texts)
    *text = brief(*text);
}

inline void cut_labels(std::initializer_list<std::string*> texts) {
  for (std::string* text : texts)
    *text = brief(*text, label_bytes_max);
}

inline void cut_labels(std::map<std::string, std::string>& texts) {
  for (auto& [name, text] : texts)
    text = brief(text, label_bytes_max);
}

}  // namespace fleet::record_checks
