#include "upgrader/wire/control_request.h"

#include <cereal/cereal.hpp>

#include "agent-protocol/cpp/wire/archive.h"
#include "agent-protocol/cpp/wire/codec.h"
#include "agent-protocol/cpp/wire/serialize.h"

namespace upgrader {
namespace {

using agent_protocol::identifier;
using agent_protocol::JsonLine;
using agent_protocol::ReadingArchive;

// The names of requests, in the order of Deed.
constexpr char names[][9] = {"upgrade", "confirm", "cancel", "commit", "rollback", "shutdown"};

std::optional<Deed> deed_named(std::string_view type) {
  for (std::size_t i = 0; i < std::size(names); ++i) {
    if (type == names[i]) return static_cast<Deed>(i);
  }
  return std::nullopt;
}

void read_upgrade(ReadingArchive& archive, agent_protocol::Upgrade& upgrade) {
  std::optional<std::string> id;
  std::optional<std::string> executable;
  archive(cereal::make_nvp("id", identifier(id)),
          cereal::make_nvp(
              "executable",
              agent_protocol::absolute_path<agent_protocol::executable_bytes_max>(executable)));
  upgrade.id = id.value_or("");
  upgrade.executable = executable.value_or("");
  agent_protocol::serialize_terms(archive, upgrade);
}

void read_members(ReadingArchive& archive, ControlRequest& request) {
  if (request.deed == Deed::upgrade) return read_upgrade(archive, request.upgrade);
  if (request.deed == Deed::shutdown) return;
  archive(cereal::make_nvp("id", identifier(request.upgrade.id)));
  if (request.deed != Deed::cancel && request.deed != Deed::rollback) return;
  archive(cereal::make_nvp(
      "reason", agent_protocol::limited<agent_protocol::reason_bytes_max>(request.reason)));
}

}  // namespace

std::string_view name_of(Deed deed) {
  return names[static_cast<std::size_t>(deed)];
}

ControlLine decode_control_line(std::string_view line) {
  const Result<JsonLine> parsed = JsonLine::parse(line);
  if (!parsed) return ControlStray{parsed.reason()};
  const JsonLine::Found found = parsed.value().find(JsonLine::root, "type");
  const bool once = found.value != nullptr && !found.twice;
  if (!once || found.value->kind != JsonLine::Kind::text)
    return ControlStray{"no one text as its type"};
  const std::string_view type = parsed.value().text(*found.value);
  ControlRequest request;
  ReadingArchive archive(parsed.value());
  archive(cereal::make_nvp("request", identifier(request.name)));
  if (archive.refusal()) return ControlStray{*archive.refusal()};
  const auto refused = [&](const std::string& reason) {
    return ControlRefused{request.name,
                          agent_protocol::fit_text(type, agent_protocol::about_bytes_max), reason};
  };
  const std::optional<Deed> deed = deed_named(type);
  if (!deed) return refused("this type of request is not known here");
  request.deed = *deed;
  read_members(archive, request);
  if (archive.refusal()) return refused(*archive.refusal());
  return request;
}

}  // namespace upgrader
