#include "agent-protocol/cpp/wire/archive.h"

#include <charconv>

#include "base/escape.h"
#include "base/form.h"
#include "base/utf8.h"

namespace agent_protocol {
namespace {

using Kind = JsonLine::Kind;

// The kinds of JSON values as refusals name them, in the order of JsonLine::Kind.
constexpr const char* kind_names[] = {"null",   "a boolean", "a number",
                                      "a text", "an array",  "an object"};

bool is_printable_ascii(std::string_view text) {
  for (const char c : text) {
    if (c < ' ' || c > '~') return false;
  }
  return !text.empty();
}

// Returns the names as a list: "a", "b" or "c".
std::string listed(std::span<const std::string_view> names) {
  std::string list;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) list.append(i + 1 == names.size() ? " or " : ", ");
    append_quoted(list, names[i]);
  }
  return list;
}

}  // namespace

// ---- Refusals

void Refusals::refuse_member(const char* name, std::string_view what, int error_number) {
  std::string path = path_;
  std::string quoted;
  append_quoted(quoted, path.append(name));
  refuse("{}{} {}"_with(element_, quoted, what), error_number);
}

bool Refusals::keeps_rule(const char* name, std::string_view value, const TextRule& rule) {
  using Form = TextRule::Form;
  if (value.size() > rule.bytes_max) {
    refuse_member(name, "is longer than {} bytes"_with(rule.bytes_max), EMSGSIZE);
  } else if (value.find('\0') != std::string_view::npos) {
    refuse_member(name, "holds U+0000 or a lone surrogate");
  } else if (!is_utf8(value)) {
    refuse_member(name, "is no UTF-8", EILSEQ);
  } else if (rule.form == Form::printable_ascii && !is_printable_ascii(value)) {
    refuse_member(name, "is not printable ASCII of at least one byte");
  } else if (rule.form == Form::absolute_path && !value.starts_with('/')) {
    refuse_member(name, "is no absolute path");
  } else if (escaped_bytes(value) > rule.escaped_bytes_max) {
    refuse_member(name, "is longer than {} bytes when it is escaped"_with(rule.escaped_bytes_max),
                  EMSGSIZE);
  } else {
    return true;
  }
  return false;
}

bool Refusals::keeps_rule(const char* name, std::int64_t value, const RangeRule& rule) {
  if (value >= rule.min && value <= rule.max) return true;
  refuse_member(name, "is {}; it must be {} to {}"_with(value, rule.min, rule.max));
  return false;
}

bool Refusals::keeps_count(const char* name, std::size_t count, const TextsRule& rule) {
  if (count <= rule.count_max) return true;
  refuse_member(name, "holds more than {} texts"_with(rule.count_max), EMSGSIZE);
  return false;
}

// ---- WritingArchive

WritingArchive::WritingArchive(std::string_view type) : line_(R"({"type":)") {
  append_quoted(line_, type);
}

Result<std::string> WritingArchive::line() {
  line_.append("}\n");
  if (line_.size() > line_bytes_max) {
    refuse("the message is longer than {} bytes"_with(line_bytes_max), EMSGSIZE);
  }
  if (refusal()) return Refusal{*refusal(), error_number()};
  return std::move(line_);
}

void WritingArchive::begin_member(const char* name) {
  if (!line_.ends_with('{')) line_ += ',';
  append_quoted(line_, name);
  line_ += ':';
}

void WritingArchive::write(const char* name, const std::string& value, const TextRule& rule) {
  if (keeps_rule(name, value, rule)) append_quoted(line_, value);
}

void WritingArchive::write(const char* name, std::int64_t value, const RangeRule& rule) {
  if (keeps_rule(name, value, rule)) line_.append("{}"_with(value));
}

void WritingArchive::write(const char*, bool value, const TruthRule&) {
  line_.append(value ? "true" : "false");
}

void WritingArchive::write(const char* name, const std::vector<std::string>& value,
                           const TextsRule& rule) {
  if (!keeps_count(name, value.size(), rule)) return;
  line_ += '[';
  element_ = "an element of ";
  for (const std::string& text : value) {
    if (!line_.ends_with('[')) line_ += ',';
    write(name, text, rule.each);
  }
  element_.clear();
  line_ += ']';
}

void WritingArchive::write_name(const char* name, std::size_t index, const NameRule& rule) {
  if (index < rule.names.size()) {
    append_quoted(line_, rule.names[index]);
  } else {
    refuse_member(name, "must be " + listed(rule.names));
  }
}

// ---- ReadingArchive

std::optional<std::size_t> ReadingArchive::find(const char* name, bool required) {
  const JsonLine::Found found = line_.find(object_, name);
  if (found.twice) {
    refuse_member(name, "is given twice");
  } else if (found.index != JsonLine::root) {
    return found.index;
  } else if (required) {
    refuse_member(name, "is missing");
  }
  return std::nullopt;
}

bool ReadingArchive::has_kind(const char* name, std::size_t index, Kind kind,
                              std::string_view wanted) {
  const Kind actual = line_.node(index).kind;
  if (actual == kind) return true;
  refuse_member(name,
                "is {}; it must be {}"_with(kind_names[static_cast<std::size_t>(actual)], wanted));
  return false;
}

bool ReadingArchive::read(const char* name, std::size_t index, std::string& value,
                          const TextRule& rule) {
  if (!has_kind(name, index, Kind::text, "a text")) return false;
  const std::string_view text = line_.text(index);
  if (!keeps_rule(name, text, rule)) return false;
  value = text;
  return true;
}

bool ReadingArchive::read(const char* name, std::size_t index, std::int64_t& value,
                          const RangeRule& rule) {
  if (!has_kind(name, index, Kind::number, "a whole number")) return false;
  const std::string_view digits = line_.text(index);
  const char* end = digits.data() + digits.size();
  std::int64_t number = 0;
  if (std::from_chars(digits.data(), end, number).ptr != end) {
    refuse_member(name,
                  "is no whole number from {} to {}, written without fraction and exponent"_with(
                      rule.min, rule.max));
    return false;
  }
  if (!keeps_rule(name, number, rule)) return false;
  value = number;
  return true;
}

bool ReadingArchive::read(const char* name, std::size_t index, bool& value, const TruthRule&) {
  if (!has_kind(name, index, Kind::boolean, "true or false")) return false;
  value = line_.node(index).size != 0;
  return true;
}

bool ReadingArchive::read(const char* name, std::size_t index, std::vector<std::string>& value,
                          const TextsRule& rule) {
  if (!has_kind(name, index, Kind::array, "an array of texts")) return false;
  std::vector<std::string> texts;
  bool all_well = true;
  const std::size_t end = line_.after(index);
  for (std::size_t i = index + 1; i < end && all_well; i = line_.after(i)) {
    if (!keeps_count(name, texts.size() + 1, rule)) return false;
    element_ = "an element of ";
    all_well = read(name, i, texts.emplace_back(), rule.each);
    element_.clear();
  }
  if (all_well) value = std::move(texts);
  return all_well;
}

std::optional<std::size_t> ReadingArchive::read_name(const char* name, std::size_t index,
                                                     const NameRule& rule) {
  if (!has_kind(name, index, Kind::text, "a text")) return std::nullopt;
  const std::string_view text = line_.text(index);
  for (std::size_t i = 0; i < rule.names.size(); ++i) {
    if (rule.names[i] == text) return i;
  }
  if (rule.is_open) {
    keeps_rule(name, text, text_rule);
  } else {
    refuse_member(name, "must be " + listed(rule.names));
  }
  return std::nullopt;
}

}  // namespace agent_protocol
