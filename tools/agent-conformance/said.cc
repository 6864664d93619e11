// Parses and judges a line of an agent. RapidJSON checks that the line is valid JSON. This file
// checks the rules in the sections LINES and MESSAGES FROM AN AGENT of agent-protocol(7).
#include "tools/agent-conformance/said.h"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "tools/agent-conformance/messages.h"

namespace conformance {

namespace {

using Value = rapidjson::Value;

constexpr std::size_t nesting_max = 32;
constexpr std::int64_t day_ms = 86'400'000;

enum class Form : std::uint8_t { text, name, path, integer, texts, choice };

struct Member {
  const char* name;
  Form form;
  bool required;
  std::int64_t least;  // for an integer: its least value; for an array: the most elements
  // for an integer: its largest value; for a text, or an element of an array: the most bytes
  std::int64_t most;
  const char* choices = "";
};

struct Grammar {
  const char* type;
  std::span<const Member> members;
};

constexpr Member id_member{"id", Form::name, true, 0, 64};
constexpr Member duration(const char* name, std::int64_t least) {
  return {name, Form::integer, false, least, day_ms};
}

constexpr std::array greeting{Member{"protocol", Form::integer, true, 1, 2'147'483'647},
                              Member{"version", Form::text, false, 0, 128},
                              Member{"features", Form::texts, false, 16, 32}};
constexpr std::array unfit{Member{"reason", Form::text, true, 0, 1'024}};
constexpr std::array upgrade{
    id_member,
    Member{"executable", Form::path, true, 0, 4'095},
    Member{"args", Form::texts, false, 1'024, static_cast<std::int64_t>(line_bytes_max)},
    Member{"mode", Form::choice, false, 0, 0, " parallel sequential "},
    Member{"gate", Form::choice, false, 0, 0, " none confirm "},
    Member{"commit", Form::choice, false, 0, 0, " survive healthy "},
    Member{"on_unclean_stop", Form::choice, false, 0, 0, " fallback continue "},
    Member{"fallback", Form::choice, false, 0, 0, " cold warm "},
    duration("start_timeout_ms", 0),
    duration("confirm_timeout_ms", 0),
    duration("stop_timeout_ms", 1),
    duration("trial_ms", 0)};
constexpr std::array confirm{id_member};
constexpr std::array cancel{id_member, Member{"reason", Form::text, false, 0, 1'024}};
constexpr std::array stopped{
    Member{"state", Form::text, false, 0, static_cast<std::int64_t>(state_bytes_max)}};
constexpr std::array extend{Member{"ms", Form::integer, true, 1, day_ms}};
constexpr std::array status{Member{"text", Form::text, true, 0, 256}};

const std::array<Grammar, 11> grammars{{{"hello", greeting},
                                        {"ready", {}},
                                        {"unfit", unfit},
                                        {"upgrade", upgrade},
                                        {"confirm", confirm},
                                        {"cancel", cancel},
                                        {"stopped", stopped},
                                        {"healthy", {}},
                                        {"extend", extend},
                                        {"heartbeat", {}},
                                        {"status", status}}};

std::string_view text_of(const Value& value) {
  return {value.GetString(), value.GetStringLength()};
}

std::string wrong_text(const Value& value, std::int64_t most) {
  if (!value.IsString()) return "is no text";
  const std::string_view text = text_of(value);
  if (text.find('\0') != std::string_view::npos) return "holds U+0000";
  if (static_cast<std::int64_t>(text.size()) <= most) return {};
  return "has " + std::to_string(text.size()) + " bytes, and may have " + std::to_string(most);
}

std::string wrong_texts(const Value& value, const Member& member) {
  if (!value.IsArray()) return "is no array";
  if (static_cast<std::int64_t>(value.Size()) > member.least) {
    return "has " + std::to_string(value.Size()) + " elements, and may have " +
           std::to_string(member.least);
  }
  for (const Value& element : value.GetArray()) {
    if (const std::string wrong = wrong_text(element, member.most); !wrong.empty()) {
      return "has an element that " + wrong;
    }
  }
  return {};
}

std::string wrong_integer(const Value& value, const Member& member) {
  if (!value.IsNumber()) return "is no number";
  if (!value.IsInt64()) return "is no integer";
  const std::int64_t number = value.GetInt64();
  if (number >= member.least && number <= member.most) return {};
  return "is " + std::to_string(number) + ", and must be from " + std::to_string(member.least) +
         " to " + std::to_string(member.most);
}

std::string wrong_name(std::string_view text) {
  const bool printable =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  if (text.empty()) return "is empty";
  return printable ? "" : "is not printable ASCII";
}

std::string wrong_value(const Value& value, const Member& member) {
  switch (member.form) {
    case Form::integer:
      return wrong_integer(value, member);
    case Form::texts:
      return wrong_texts(value, member);
    case Form::choice: {
      if (!value.IsString()) return "is no text";
      const std::string wanted = " " + std::string(text_of(value)) + " ";
      const bool known = std::string_view(member.choices).find(wanted) != std::string_view::npos;
      return known ? "" : "is none of" + std::string(member.choices);
    }
    case Form::text:
    case Form::name:
    case Form::path:
      break;
  }
  const std::string wrong = wrong_text(value, member.most);
  if (!wrong.empty() || member.form == Form::text) return wrong;
  if (member.form == Form::name) return wrong_name(text_of(value));
  return text_of(value).starts_with('/') ? "" : "is no absolute path";
}

std::string wrong_member(const Value& object, const Member& member) {
  const Value* found = nullptr;
  for (const auto& entry : object.GetObject()) {
    if (text_of(entry.name) != member.name) continue;
    if (found != nullptr) return "is there twice";
    found = &entry.value;
  }
  if (found == nullptr) return member.required ? "is missing" : "";
  return wrong_value(*found, member);
}

std::string wrong_state(const Said& said) {
  if (!said.state) return {};
  const std::size_t escaped = conformance::quoted(*said.state).size() - 2;
  if (escaped <= state_escaped_bytes_max) return {};
  return "its state has " + std::to_string(escaped) + " bytes when it is escaped, and may have " +
         std::to_string(state_escaped_bytes_max);
}

// Returns true if the brackets in a line of valid JSON are nested too deep.
bool nests_too_deep(std::string_view json) {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_text && c == '\\')
      ++at;
    else if (c == '"')
      in_text = !in_text;
    else if (in_text)
      continue;
    else if (c == '{' || c == '[')
      ++depth;
    else if (c == '}' || c == ']')
      --depth;
    if (depth > nesting_max) return true;
  }
  return false;
}

Said stray(std::string why) {
  Said said;
  said.why = std::move(why);
  return said;
}

std::optional<std::string> member_text(const Value& object, const char* name) {
  const auto found = object.FindMember(name);
  if (found == object.MemberEnd() || !found->value.IsString()) return std::nullopt;
  return std::string(text_of(found->value));
}

// Copies members of a valid message to `said`, but only those members that the checks use.
void take_members(const Value& object, Said& said) {
  said.id = member_text(object, "id");
  said.state = member_text(object, "state");
  said.version = member_text(object, "version");
  said.reason = member_text(object, "reason");
  if (said.type == "extend") said.ms = object["ms"].GetInt64();
  if (said.type != "hello" || !object.HasMember("features")) return;
  for (const Value& feature : object["features"].GetArray())
    said.readiness = said.readiness || text_of(feature) == "readiness";
}

Said judge_object(const Value& object) {
  Said said;
  const Member type_member{"type", Form::text, true, 0, static_cast<std::int64_t>(line_bytes_max)};
  if (const std::string wrong = wrong_member(object, type_member); !wrong.empty()) {
    return stray("its member `type` " + wrong);
  }
  said.type = *member_text(object, "type");
  const auto grammar = std::find_if(grammars.begin(), grammars.end(),
                                    [&](const Grammar& known) { return said.type == known.type; });
  if (grammar == grammars.end()) {
    said.kind = Said::Kind::unknown;
    said.why = "there is no message of type `" + said.type + "` from an agent";
    return said;
  }
  said.kind = Said::Kind::malformed;
  for (const Member& member : grammar->members) {
    const std::string wrong = wrong_member(object, member);
    if (wrong.empty()) continue;
    said.why = "its member `" + std::string(member.name) + "` " + wrong;
    return said;
  }
  take_members(object, said);
  said.why = wrong_state(said);
  if (said.why.empty()) said.kind = Said::Kind::message;
  return said;
}

}  // namespace

Said judge(const Line& line) {
  if (line.end == Line::End::too_long) return stray("it is longer than 65,536 bytes");
  if (line.end == Line::End::output) return stray("the end of the output cuts it off");
  rapidjson::Document document;
  constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  document.Parse<flags>(line.bytes.data(), line.bytes.size());
  if (document.HasParseError()) {
    return stray("it is no JSON at byte " + std::to_string(document.GetErrorOffset() + 1) + " (" +
                 rapidjson::GetParseError_En(document.GetParseError()) + ")");
  }
  if (!document.IsObject()) return stray("it is no JSON object");
  if (nests_too_deep(line.bytes)) return stray("it nests deeper than 32 levels");
  return judge_object(document);
}

}  // namespace conformance
