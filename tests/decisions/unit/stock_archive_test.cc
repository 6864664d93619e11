// Tests the `serialize` functions of the messages with the JSON archives of the library cereal.
// These archives and the project's own codec must agree on every well-formed message. Cereal's
// archives have neither limits nor optional members. So this file adds the functions by which
// cereal's archives save and load a Member (member.h), a value that has limits and may be optional.

// These lines switch off a check of clang's sanitizer for RapidJSON, which adds to a null pointer:
// see json_line.cc.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <cereal/archives/json.hpp>
#if defined(__clang__)
#pragma clang attribute pop
#endif

#include <catch2/catch.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include "agent-protocol/cpp/wire/codec.h"
#include "agent-protocol/cpp/wire/serialize.h"
#include "tests/decisions/unit/sample_messages.h"

namespace agent_protocol {

template <class Value>
inline constexpr bool is_optional = false;
template <class Value>
inline constexpr bool is_optional<std::optional<Value>> = true;

template <class Rule, class Value>
void save_value(cereal::JSONOutputArchive& archive, const char* name, const Value& value,
                const Rule& rule) {
  if constexpr (std::is_same_v<Rule, TextsRule>) {
    if (value.empty() && rule.may_be_absent) return;
  }
  archive.setNextName(name);
  if constexpr (std::is_same_v<Rule, NameRule>) {
    archive(std::string(name_of(value)));
  } else if constexpr (requires { value.later; }) {
    archive(value.later ? *value.later : std::string(name_of(value.known)));
  } else {
    archive(value);
  }
}

template <class Rule, class Value>
void save(cereal::JSONOutputArchive& archive,
          const cereal::NameValuePair<Member<Rule, Value>>& pair) {
  const Value& value = pair.value.value;
  if constexpr (is_optional<Value>) {
    if (value) save_value(archive, pair.name, *value, pair.value.rule);
  } else {
    save_value(archive, pair.name, value, pair.value.rule);
  }
}

// Reads a member if it is the next member in the line. Lines have their members in the order of
// `serialize`. So if the next member has another name, this member is absent, and keeps its value.
template <class Rule, class Value>
void load(cereal::JSONInputArchive& archive, cereal::NameValuePair<Member<Rule, Value>>& pair) {
  const char* const next = archive.getNodeName();
  if (next == nullptr || std::string_view(next) != pair.name) return;
  const auto read = [&archive](auto& value) {
    if constexpr (std::is_same_v<Rule, NameRule>) {
      std::string name;
      archive(name);
      value = named<std::remove_reference_t<decltype(value)>>(name).value();
    } else if constexpr (requires { value.later; }) {
      std::string name;
      archive(name);
      value.known = named<std::remove_reference_t<decltype(value.known)>>(name).value();
    } else {
      archive(value);
    }
  };
  if constexpr (is_optional<Value>) {
    read(pair.value.value.emplace());
  } else {
    read(pair.value.value);
  }
}

}  // namespace agent_protocol

namespace stock_archive_test {

using namespace agent_protocol;

namespace {

template <class Variant>
std::string written_by_stock(const Variant& message) {
  std::ostringstream stream;
  {
    cereal::JSONOutputArchive archive(stream);
    archive(cereal::make_nvp("type", std::string(type_name(message))));
    Variant copy = message;
    std::visit([&archive](auto& alternative) { serialize(archive, alternative); }, copy);
  }
  return stream.str();
}

// Reads a line into a new message that has the same type as `like`.
template <class Variant>
Variant read_by_stock(const std::string& line, const Variant& like) {
  std::istringstream stream(line);
  cereal::JSONInputArchive archive(stream);
  std::string type;
  archive(cereal::make_nvp("type", type));
  return std::visit(
      [&archive](const auto& alternative) {
        std::decay_t<decltype(alternative)> fresh{};
        serialize(archive, fresh);
        return Variant(std::move(fresh));
      },
      like);
}

std::string without_layout(const std::string& json) {
  std::string compact;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    if (in_text && json[i] == '\\')
      compact += json[i++];
    else if (json[i] == '"')
      in_text = !in_text;
    const bool is_layout = json[i] == ' ' || json[i] == '\n';
    if (in_text || !is_layout) compact += json[i];
  }
  return compact;
}

Decoded<AgentMessage> decoded(const std::string& line, const AgentMessage&) {
  return decode_agent_message(line);
}

Decoded<UpgraderMessage> decoded(const std::string& line, const UpgraderMessage&) {
  return decode_upgrader_message(line);
}

template <class Message>
void check_agreement(const wire_test::Sample<Message>& sample) {
  CAPTURE(sample.line);

  const std::string stock = written_by_stock(sample.message);

  CHECK(decoded(stock, sample.message) == Decoded<Message>(sample.message));
  CHECK(read_by_stock(encode(sample.message).value(), sample.message) == sample.message);
  // Lines with an escape such as `\u001f` are not compared, because cereal writes this escape as
  // `\u001F`.
  if (sample.line.find("\\u001f") == std::string::npos) CHECK(without_layout(stock) == sample.line);
}

}  // namespace

TEST_CASE("cereal's own archives write what is read, and read what is written, from an agent") {
  for (const auto& sample : wire_test::agent_samples())
    check_agreement(sample);
}

TEST_CASE("cereal's own archives write what is read, and read what is written, to an agent") {
  for (const auto& sample : wire_test::upgrader_samples())
    check_agreement(sample);
}

}  // namespace stock_archive_test
