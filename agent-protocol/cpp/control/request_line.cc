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

using agent_protocol::absolute_path;
using agent_protocol::identifier;
using agent_protocol::limited;
using agent_protocol::ranged;
using agent_protocol::timeout_ms_max;
using cereal::make_nvp;

// The text that a request has as its member `type`.
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
  archive(make_nvp("mode", agent_protocol::text(terms.mode)),
          make_nvp("gate", agent_protocol::text(terms.gate)),
          make_nvp("commit", agent_protocol::text(terms.commit)),
          make_nvp("start_timeout_ms", ranged<0, timeout_ms_max>(terms.start_timeout_ms)),
          make_nvp("confirm_timeout_ms", ranged<0, timeout_ms_max>(terms.confirm_timeout_ms)),
          make_nvp("stop_timeout_ms", ranged<1, timeout_ms_max>(terms.stop_timeout_ms)),
          make_nvp("trial_ms", ranged<0, timeout_ms_max>(terms.trial_ms)),
          make_nvp("on_unclean_stop", agent_protocol::text(terms.on_unclean_stop)),
          make_nvp("fallback", agent_protocol::text(terms.fallback)));
}

template <class Archive>
void serialize(Archive& archive, UpgradeRequest& request) {
  using agent_protocol::Member;
  using agent_protocol::TextsRule;
  archive(make_nvp("request", identifier(request.request)), make_nvp("id", identifier(request.id)),
          make_nvp("executable",
                   absolute_path<agent_protocol::executable_bytes_max>(request.executable)),
          make_nvp("args",
                   agent_protocol::texts<agent_protocol::args_max, agent_protocol::line_bytes_max>(
                       request.args)));
  serialize(archive, request.terms);
}

// Writes the members of any request but `upgrade`: all have a name, some the id of an upgrade, some
// a reason.
template <class Archive, class Other>
requires std::is_constructible_v<Request, Other>
void serialize(Archive& archive, Other& request) {
  archive(make_nvp("request", identifier(request.request)));
  if constexpr (requires { request.id; }) archive(make_nvp("id", identifier(request.id)));
  if constexpr (requires { request.reason; }) {
    archive(make_nvp("reason", limited<agent_protocol::reason_bytes_max>(request.reason)));
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
