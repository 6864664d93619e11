#include "agent-protocol/cpp/control/request_line.h"

#include <string_view>
#include <type_traits>
#include <utility>

#include <cereal/cereal.hpp>

#include "agent-protocol/cpp/wire/archive.h"
#include "agent-protocol/cpp/wire/member.h"
#include "agent-protocol/cpp/wire/message.h"

namespace upgraderctl {
namespace {

using agent_protocol::id_rule;
using agent_protocol::Member;
using agent_protocol::text_rule;
using agent_protocol::timeout_rule;
using cereal::make_nvp;

// The value of the member `type` in the JSON of a request.
template <class Request>
constexpr std::string_view type_of;
template <>
constexpr std::string_view type_of<UpgradeRequest> = "upgrade";
template <>
constexpr std::string_view type_of<ConfirmRequest> = "confirm";
template <>
constexpr std::string_view type_of<CancelRequest> = "cancel";
template <>
constexpr std::string_view type_of<CommitRequest> = "commit";
template <>
constexpr std::string_view type_of<RollbackRequest> = "rollback";
template <>
constexpr std::string_view type_of<ShutdownRequest> = "shutdown";

}  // namespace

template <class Archive>
void serialize(Archive& archive, Terms& terms) {
  archive(make_nvp("mode", Member{terms.mode, text_rule}),
          make_nvp("gate", Member{terms.gate, text_rule}),
          make_nvp("commit", Member{terms.commit, text_rule}),
          make_nvp("start_timeout_ms", Member{terms.start_timeout_ms, timeout_rule}),
          make_nvp("confirm_timeout_ms", Member{terms.confirm_timeout_ms, timeout_rule}),
          make_nvp("stop_timeout_ms",
                   Member{terms.stop_timeout_ms, agent_protocol::positive_timeout_rule}),
          make_nvp("trial_ms", Member{terms.trial_ms, timeout_rule}),
          make_nvp("on_unclean_stop", Member{terms.on_unclean_stop, text_rule}),
          make_nvp("fallback", Member{terms.fallback, text_rule}));
}

template <class Archive>
void serialize(Archive& archive, UpgradeRequest& request) {
  archive(make_nvp("request", Member{request.request, id_rule}),
          make_nvp("id", Member{request.id, id_rule}),
          make_nvp("executable", Member{request.executable, agent_protocol::executable_rule}),
          make_nvp("args", Member{request.args, agent_protocol::args_rule}));
  serialize(archive, request.terms);
}

// Writes the members of all requests but `upgrade`: each of them has a name; some have the id of an
// upgrade, and some have a reason.
template <class Archive, class Other>
requires std::is_constructible_v<Request, Other>
void serialize(Archive& archive, Other& request) {
  archive(make_nvp("request", Member{request.request, id_rule}));
  if constexpr (requires { request.id; }) archive(make_nvp("id", Member{request.id, id_rule}));
  if constexpr (requires { request.reason; }) {
    archive(make_nvp("reason", Member{request.reason, agent_protocol::reason_rule}));
  }
}

agent_protocol::Result<std::string> line_of(const Request& request) {
  return std::visit(
      [](auto asked) -> agent_protocol::Result<std::string> {
        agent_protocol::WritingArchive archive(type_of<decltype(asked)>);
        archive.write_all(asked);
        agent_protocol::Result<std::string> line = archive.line();
        if (line && line.value().size() > request_bytes_max) {
          return agent_protocol::Refusal{
              "the request would take " + std::to_string(line.value().size()) +
              " bytes, and only " + std::to_string(request_bytes_max) +
              " fit: give fewer or shorter arguments, or leave them to the command line of the "
              "upgrader"};
        }
        return line;
      },
      request);
}

}  // namespace upgraderctl
