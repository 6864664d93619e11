#include "node/upgraderctl/core/errand.h"

#include <utility>

#include "node/upgraderctl/core/exit_status.h"
#include "node/upgraderctl/core/sentences.h"
#include "node/upgraderctl/wire/request_line.h"
#include "node/upgraderctl/wire/shown.h"

namespace upgraderctl {
namespace {

using Goal = Errand::Goal;

// A rehearsal that loses its upgraderctl is over after so long at the gate.
constexpr std::int64_t rehearsal_gate_ms = 60'000;

// What every errand has.
Errand errand_with(Goal goal, const Options& options, const Status& status,
                   const std::string& command) {
  Errand errand;
  errand.goal = goal;
  errand.life = status.upgrader;
  errand.timeout = options.timeout;
  errand.tells = command + " status";
  errand.shows = command + " status";
  for (const Answer& answer : status.requests)
    errand.answers_before.push_back(answer.request);
  return errand;
}

std::variant<Errand, NoErrand> with_line(Errand errand, const Request& request) {
  agent_protocol::Result<std::string> line = line_of(request);
  if (!line) return Finish{exit_usage, line.reason()};
  errand.line = std::move(line.value());
  return errand;
}

UpgradeRequest upgrade_request(const Options& options, const std::string& name) {
  UpgradeRequest request;
  request.request = name;
  request.id = options.id.value_or(name);
  request.executable = options.executable;
  if (!options.args.empty() || options.no_args) request.args = options.args;
  request.terms = options.terms;
  return request;
}

// Of an id that somebody has given, and that this upgrader's previous life has seen to its end: its
// present life does not know it, and would begin it anew.
std::optional<NoErrand> ended_before(const Options& options,
                                     const std::optional<Status>& previous) {
  if (!options.id || !previous) return std::nullopt;
  const Ending* ending = find_ending(*previous, *options.id);
  if (ending == nullptr) return std::nullopt;
  int status = exit_unknown;
  if (ending->outcome == "committed") status = exit_done;
  if (ending->outcome == "kept") status = exit_kept;
  if (ending->outcome == "fell_back") status = exit_fell_back;
  if (ending->outcome == "ended") status = exit_ended;
  return Finish{status, "upgrade " + shown(*options.id) +
                            " has ended in the upgrader's previous life, and is not begun again: " +
                            ending_sentence(*ending)};
}

// The executable that the upgrade called so is to, or was to; empty where the status does not tell.
std::string executable_of(const std::string& id, const Status& status) {
  if (const Ending* ending = find_ending(status, id)) return ending->to.executable;
  if (!is_under_way(status, id)) return {};
  if (status.candidate && status.candidate->role == "candidate")
    return status.candidate->executable;
  if (status.phase == "trial" && status.active) return status.active->executable;
  return {};
}

// Of an id that somebody has given with another EXECUTABLE before: what came of that one would be
// told as if it had come of this one. Nothing is said against an EXECUTABLE that is not there, or
// where the status spells a path with U+FFFD for bytes that are no UTF-8.
std::optional<NoErrand> of_another_executable(const Options& options, const Status& status,
                                              const std::optional<Status>& previous) {
  if (!options.id || !options.executable || !options.resolved) return std::nullopt;
  std::string known = executable_of(*options.id, status);
  if (known.empty() && previous) known = executable_of(*options.id, *previous);
  if (known.empty() || known.find("\xEF\xBF\xBD") != std::string::npos) return std::nullopt;
  if (known == *options.executable || known == *options.resolved) return std::nullopt;
  return Finish{exit_refused, "upgrade " + shown(*options.id) + " is one to " + shown(known) +
                                  ", and not to " + shown(*options.executable) +
                                  ": nothing was sent; another upgrade needs another --id"};
}

std::variant<Errand, NoErrand> upgrade_errand(const Options& options, const Status& status,
                                              const std::optional<Status>& previous,
                                              const std::string& name, const std::string& command) {
  if (auto another = of_another_executable(options, status, previous)) return *std::move(another);
  if (std::optional<NoErrand> ended = ended_before(options, previous)) return *std::move(ended);
  Errand errand =
      errand_with(options.no_wait ? Goal::answer : Goal::ending, options, status, command);
  const UpgradeRequest request = upgrade_request(options, name);
  errand.request = request.request;
  errand.id = request.id;
  errand.asks_upgrade = true;
  errand.deed = "upgrade " + shown(request.id);
  errand.tells = command + " history";
  return with_line(std::move(errand), request);
}

std::variant<Errand, NoErrand> rehearsal_errand(const Options& options, const Status& status,
                                                const std::string& name,
                                                const std::string& command) {
  Errand errand = errand_with(Goal::rehearsal, options, status, command);
  UpgradeRequest request = upgrade_request(options, name);
  request.terms.mode = "parallel";
  request.terms.gate = "confirm";
  if (!request.terms.confirm_timeout_ms) request.terms.confirm_timeout_ms = rehearsal_gate_ms;
  const CancelRequest cancel{name + "-cancel", request.id, "rehearsed"};
  agent_protocol::Result<std::string> cancel_line = line_of(cancel);
  if (!cancel_line) return Finish{exit_usage, cancel_line.reason()};
  errand.request = request.request;
  errand.id = request.id;
  errand.asks_upgrade = true;
  errand.cancel_request = cancel.request;
  errand.cancel_line = std::move(cancel_line.value());
  errand.deed = "rehearsal " + shown(request.id);
  errand.tells = command + " history";
  return with_line(std::move(errand), request);
}

Request deed_request(const Options& options, const std::string& name, const std::string& id) {
  if (options.command == Command::confirm) return ConfirmRequest{name, id};
  if (options.command == Command::commit) return CommitRequest{name, id};
  if (options.command == Command::cancel) return CancelRequest{name, id, options.reason};
  return RollbackRequest{name, id, options.reason};
}

// confirm, cancel, commit, rollback.
std::variant<Errand, NoErrand> deed_errand(const Options& options, const Status& status,
                                           const std::string& name, const std::string& command) {
  if (!options.id && (!status.upgrade || status.upgrade->id.empty())) {
    return Finish{exit_refused, std::string(name_of(options.command)) +
                                    ": no upgrade is under way: " + phase_sentence(status)};
  }
  Errand errand = errand_with(Goal::answer, options, status, command);
  errand.id = options.id ? *options.id : status.upgrade->id;
  errand.request = name;
  errand.deed = std::string(name_of(options.command)) + " of " + shown(errand.id);
  return with_line(std::move(errand), deed_request(options, name, errand.id));
}

// wait without a phase: the upgrade under way is followed.
std::variant<Errand, NoErrand> wait_errand(const Options& options, const Status& status,
                                           const std::string& command) {
  if (!status.upgrade || status.upgrade->id.empty()) {
    return Finish{exit_done, "no upgrade is under way: " + phase_sentence(status)};
  }
  Errand errand = errand_with(Goal::ending, options, status, command);
  errand.id = status.upgrade->id;
  errand.deed = "upgrade " + shown(errand.id);
  errand.tells = command + " history";
  return errand;
}

std::variant<Errand, NoErrand> shutdown_errand(const Options& options, const Status& status,
                                               const std::string& name,
                                               const std::string& command) {
  Errand errand = errand_with(Goal::shutdown, options, status, command);
  errand.request = name;
  errand.deed = "shutdown";
  return with_line(std::move(errand), ShutdownRequest{name});
}

}  // namespace

std::string request_name(Moment now, std::uint32_t chance) {
  constexpr int chance_digits = 6;
  std::string name = "ctl-";
  for (const char c : show_moment(now).substr(11, 8)) {  // of 2026-11-22 08:15:04 UTC
    if (c != ':') name += c;
  }
  name += '-';
  for (int i = 0; i < chance_digits; ++i, chance /= 16)
    name += "0123456789abcdef"[chance % 16];
  return name;
}

std::variant<Errand, NoErrand> errand_of(const Options& options, const Status& status,
                                         const std::optional<Status>& previous,
                                         const std::string& name, const std::string& command) {
  switch (options.command) {
    case Command::upgrade:
      return upgrade_errand(options, status, previous, name, command);
    case Command::rehearse:
      return rehearsal_errand(options, status, name, command);
    case Command::confirm:
    case Command::cancel:
    case Command::commit:
    case Command::rollback:
      return deed_errand(options, status, name, command);
    case Command::wait:
      return wait_errand(options, status, command);
    case Command::shutdown:
      return shutdown_errand(options, status, name, command);
    case Command::list:
    case Command::status:
    case Command::history:
      break;
  }
  return Finish{exit_usage, std::string(name_of(options.command)) + " asks for nothing"};
}

}  // namespace upgraderctl
