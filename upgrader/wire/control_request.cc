#include "upgrader/wire/control_request.h"

#include "agent-protocol/cpp/wire/archive.h"
#include "agent-protocol/cpp/wire/serialize.h"
#include "base/utf8.h"

namespace upgrader {

using namespace agent_protocol;

namespace {

void read_upgrade(ReadingArchive& archive, Upgrade& upgrade) {
  std::optional<std::string> id;
  std::optional<std::string> executable;
  archive(make_nvp("id", Member{id, id_rule}),
          make_nvp("executable", Member{executable, executable_rule}));
  upgrade.id = id.value_or("");
  upgrade.executable = executable.value_or("");
  serialize_terms(archive, upgrade);
}

void read_members(ReadingArchive& archive, ControlRequest& request) {
  if (request.deed == Deed::upgrade) return read_upgrade(archive, request.upgrade);
  if (request.deed == Deed::shutdown) return;
  archive(make_nvp("id", Member{request.upgrade.id, id_rule}));
  if (request.deed != Deed::cancel && request.deed != Deed::rollback) return;
  archive(make_nvp("reason", Member{request.reason, reason_rule}));
}

}  // namespace

ControlLine decode_control_line(std::string_view line) {
  const Result<JsonLine> parsed = JsonLine::parse(line);
  if (!parsed) return ControlStray{parsed.reason()};
  const JsonLine::Found found = parsed.value().find(JsonLine::root, "type");
  // If the line has no member "type", found.index is the index of the whole object. The object is
  // not a text, so this check refuses it as well.
  if (found.twice || parsed.value().node(found.index).kind != JsonLine::Kind::text)
    return ControlStray{"no one text as its type"};
  const std::string_view type = parsed.value().text(found.index);
  ControlRequest request;
  ReadingArchive archive(parsed.value());
  archive(make_nvp("request", Member{request.name, id_rule}));
  if (archive.refusal()) return ControlStray{*archive.refusal()};
  const auto refused = [&](const std::string& reason) {
    return ControlRefused{request.name, fit_text(type, about_bytes_max), reason};
  };
  const std::optional<Deed> deed = named<Deed>(type);
  if (!deed) return refused("this type of request is not known here");
  request.deed = *deed;
  read_members(archive, request);
  if (archive.refusal()) return refused(*archive.refusal());
  return request;
}

}  // namespace upgrader
