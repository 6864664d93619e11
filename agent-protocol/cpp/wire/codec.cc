#include "agent-protocol/cpp/wire/codec.h"

#include <cstddef>
#include <utility>

#include "agent-protocol/cpp/wire/archive.h"
#include "agent-protocol/cpp/wire/serialize.h"
#include "base/escape.h"
#include "base/form.h"
#include "base/json_line.h"

namespace agent_protocol {
namespace {

// Finds the message with the type `type` among the alternatives of the variant, beginning with the
// `index`-th alternative, and reads the message's members. Returns false if no alternative has that
// type.
template <class Variant, std::size_t index = 0>
bool read_message(std::string_view type, ReadingArchive& archive, Variant& message) {
  if constexpr (index < std::variant_size_v<Variant>) {
    using Message = std::variant_alternative_t<index, Variant>;
    if (type != Message::type) return read_message<Variant, index + 1>(type, archive, message);
    serialize(archive, message.template emplace<index>());
    return true;
  }
  return false;
}

// Returns the id that the reply to a malformed message names. Returns nothing if the id itself is
// malformed: ReadingArchive leaves it empty then, and no valid id is empty.
std::optional<std::string> id_of(const AgentMessage& message) {
  const auto* const upgrade = std::get_if<Upgrade>(&message);
  if (upgrade == nullptr || upgrade->id.empty()) return std::nullopt;
  return upgrade->id;
}

std::optional<std::string> id_of(const UpgraderMessage&) {
  return std::nullopt;
}

// Returns the value of the object's member `type`, which must be a text and occur once; otherwise a
// refusal that says what is wrong.
Result<std::string_view> type_in(const JsonLine& object) {
  const JsonLine::Found found = object.find(JsonLine::root, "type");
  if (found.twice) return Refusal{"two types"};
  // If there is no member `type`, found.index is the index of the whole object. That is not a text,
  // so this check refuses it as well.
  if (object.node(found.index).kind != JsonLine::Kind::text) return Refusal{"no text as its type"};
  return object.text(found.index);
}

Stray stray(std::string_view line, const std::string& reason) {
  return line.starts_with('{') ? Stray{reason} : Stray{};
}

template <class Variant>
Decoded<Variant> decode(std::string_view line) {
  const Result<JsonLine> parsed = JsonLine::parse(line);
  if (!parsed) return stray(line, parsed.reason());
  const Result<std::string_view> type_found = type_in(parsed.value());
  if (!type_found) return stray(line, type_found.reason());
  const std::string_view type = type_found.value();
  ReadingArchive archive(parsed.value());
  Variant message;
  if (!read_message(type, archive, message)) return Unknown{std::string(type)};
  if (!archive.refusal()) return message;
  return Malformed{.type = std::string(type), .reason = *archive.refusal(), .id = id_of(message)};
}

template <class Variant>
Result<std::string> encode_message(const Variant& message) {
  WritingArchive archive(type_name(message));
  std::visit([&archive](const auto& alternative) { archive.write_all(alternative); }, message);
  return archive.line();
}

}  // namespace

Decoded<AgentMessage> decode_agent_message(std::string_view line) {
  return decode<AgentMessage>(line);
}

Decoded<UpgraderMessage> decode_upgrader_message(std::string_view line) {
  return decode<UpgraderMessage>(line);
}

Stray without_newline(std::string_view line) {
  return stray(line, "no newline within {} bytes"_with(line_bytes_max));
}

Result<std::string> encode(const AgentMessage& message) {
  return encode_message(message);
}

Result<std::string> encode(const UpgraderMessage& message) {
  return encode_message(message);
}

void fit_line(Activate& activate) {
  if (!activate.failure || encode(activate)) return;
  activate.failure->version.reset();
  if (encode(activate)) return;
  const std::string reason = std::exchange(activate.failure->failure.reason, "");
  const std::size_t room = line_bytes_max - encode(activate).value().size();
  activate.failure->failure.reason = fit_escaped(reason, room);
}

}  // namespace agent_protocol
