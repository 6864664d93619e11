#include "tools/upgraderctl/core/errand.h"

#include <utility>

#include "agent-protocol/cpp/control/hearing.h"
#include "agent-protocol/cpp/control/request_line.h"
#include "base/shown.h"
#include "tools/upgraderctl/core/options.h"
#include "tools/upgraderctl/core/sentences.h"

namespace upgraderctl {
namespace {

using Goal = Errand::Goal;

// How long the candidate waits for a confirmation in a rehearsal, if no option says how long. A
// rehearsal is an upgrade that upgraderctl cancels as soon as the candidate is ready. So this time
// limit ends the rehearsal only if upgraderctl is killed.
constexpr std::int64_t rehearsal_gate_ms = 60'000;

// Makes an errand, which is the request and the goal of a command of upgraderctl. Sets only the
// members that do not depend on the command.
Errand errand_with(Goal goal, const Options& options, const Seen& seen) {
  const Status& status = seen.status;
  const std::string& command = seen.command;
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

// Returns the exit status and message of a command if the upgrade that --id names has ended
// already, as `status` shows. The request must not be sent then: a restarted upgrader would begin
// the upgrade a second time. Otherwise returns nothing. The message names `life`, the upgrader
// process that has written `status`.
std::optional<NoErrand> ended_before(const Options& options, const std::optional<Status>& status,
                                     const std::string& life) {
  if (!options.id || !status) return std::nullopt;
  const Ending* ending = find_ending(*status, *options.id);
  if (ending == nullptr) return std::nullopt;
  int exit_status = exit_unknown;
  if (ending->outcome == "committed") exit_status = exit_done;
  if (ending->outcome == "kept") exit_status = exit_kept;
  if (ending->outcome == "fell_back") exit_status = exit_fell_back;
  if (ending->outcome == "ended") exit_status = exit_ended;
  const std::string when = ending->ended ? ", on " + show_moment(*ending->ended) : "";
  return Finish{exit_status, "upgrade " + shown(*options.id) + " ended earlier" + life + when +
                                 ", and is not begun again: " + ending_sentence(*ending)};
}

// Returns the executable of the command, to be compared with the executable of an upgrade with the
// same id. Returns nothing if the command has no --id or no EXECUTABLE. Returns nothing if the file
// of EXECUTABLE is not found, because the upgrader may see a different file system. Returns nothing
// with --previous, whose link leads to a different executable after the next commit.
std::optional<Executable> to_compare(const Options& options) {
  if (!options.id || !options.executable || !options.resolved || options.previous) {
    return std::nullopt;
  }
  return Executable{*options.executable, *options.resolved};
}

// Returns the exit status and message of a command if the upgrade that --id names is to a different
// EXECUTABLE. The request must not be sent then: the command would report the outcome of that
// upgrade as its own. Otherwise returns nothing.
std::optional<NoErrand> of_another_executable(const Options& options, const Seen& seen) {
  const std::optional<Executable> asked = to_compare(options);
  if (!asked) return std::nullopt;
  std::optional<std::string> other = other_executable(*asked, *options.id, seen.status);
  if (!other && seen.previous) other = other_executable(*asked, *options.id, *seen.previous);
  if (!other) return std::nullopt;
  return Finish{exit_refused,
                "refused: " + *other + ": nothing was sent. Another upgrade needs another --id"};
}

// Returns the exit status and message of a command if the upgrade that --id names may have ended
// under the previous upgrader, whose status cannot be read. The request must not be sent then,
// because the upgrade could begin a second time. Returns nothing in all other cases, for example if
// the upgrade is under way now.
std::optional<NoErrand> of_an_unknown_life(const Options& options, const Seen& seen) {
  if (!options.id || seen.previous_trouble.empty()) return std::nullopt;
  if (is_under_way(seen.status, *options.id)) return std::nullopt;
  return Finish{exit_unknown, "whether upgrade " + shown(*options.id) +
                                  " has ended in the upgrader's previous life is not known: " +
                                  seen.previous_trouble +
                                  ": nothing was sent. Without --id it is sent"};
}

std::variant<Errand, NoErrand> upgrade_errand(const Options& options, const Seen& seen,
                                              const std::string& name) {
  if (auto another = of_another_executable(options, seen)) return *std::move(another);
  if (auto ended = ended_before(options, seen.status, "")) return *std::move(ended);
  if (auto ended = ended_before(options, seen.previous, " in the upgrader's previous life")) {
    return *std::move(ended);
  }
  if (auto unknown = of_an_unknown_life(options, seen)) return *std::move(unknown);
  Errand errand = errand_with(options.no_wait ? Goal::answer : Goal::ending, options, seen);
  errand.executable = to_compare(options);
  const UpgradeRequest request = upgrade_request(options, name);
  errand.request = request.request;
  errand.id = request.id;
  errand.asks_upgrade = true;
  errand.deed = "upgrade " + shown(request.id);
  errand.tells = seen.command + " history";
  return with_line(std::move(errand), request);
}

std::variant<Errand, NoErrand> rehearsal_errand(const Options& options, const Seen& seen,
                                                const std::string& name) {
  Errand errand = errand_with(Goal::rehearsal, options, seen);
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
  errand.tells = seen.command + " history";
  return with_line(std::move(errand), request);
}

Request deed_request(const Options& options, const std::string& name, const std::string& id) {
  if (options.command == Command::confirm) return ConfirmRequest{name, id};
  if (options.command == Command::commit) return CommitRequest{name, id};
  if (options.command == Command::cancel) return CancelRequest{name, id, options.reason};
  return RollbackRequest{name, id, options.reason};
}

// Returns the exit status and message of a command that has no --id, if the status shows no upgrade
// under way. If the status may be out of date, the message says that it is not known whether an
// upgrade is under way.
NoErrand none_under_way(const Options& options, const Seen& seen, int status) {
  if (is_behind(seen.hearing)) {
    return {exit_unknown, std::string(name_of(options.command)) +
                              ": whether an upgrade is under way is not known: the upgrader " +
                              hearing_clause(seen.hearing) +
                              (options.command == Command::wait ? "" : "; nothing was sent")};
  }
  return {status, std::string(name_of(options.command)) +
                      ": no upgrade is under way: " + phase_sentence(seen.status)};
}

// Makes the errand (the request and the goal) of the commands `confirm`, `cancel`, `commit` and
// `rollback`.
std::variant<Errand, NoErrand> deed_errand(const Options& options, const Seen& seen,
                                           const std::string& name) {
  const Status& status = seen.status;
  if (!options.id && (!status.upgrade || status.upgrade->id.empty())) {
    return none_under_way(options, seen, exit_refused);
  }
  Errand errand = errand_with(Goal::answer, options, seen);
  errand.id = options.id ? *options.id : status.upgrade->id;
  errand.request = name;
  errand.deed = std::string(name_of(options.command)) + " of " + shown(errand.id);
  if (options.command == Command::cancel) errand.on_trial = seen.command + " rollback";
  const Request request = deed_request(options, name, errand.id);
  return with_line(std::move(errand), request);
}

// Makes the errand of the command `wait` without a phase: it sends no request, and its goal is the
// end of the upgrade that is under way.
std::variant<Errand, NoErrand> wait_errand(const Options& options, const Seen& seen) {
  const Status& status = seen.status;
  if (!status.upgrade || status.upgrade->id.empty()) {
    return none_under_way(options, seen, exit_done);
  }
  Errand errand = errand_with(Goal::ending, options, seen);
  errand.id = status.upgrade->id;
  errand.accepted = status.upgrade->accepted;
  errand.deed = "upgrade " + shown(errand.id);
  errand.tells = seen.command + " history";
  return errand;
}

std::variant<Errand, NoErrand> shutdown_errand(const Options& options, const Seen& seen,
                                               const std::string& name) {
  Errand errand = errand_with(Goal::shutdown, options, seen);
  errand.request = name;
  errand.deed = "shutdown";
  return with_line(std::move(errand), ShutdownRequest{name});
}

}  // namespace

std::string request_name(Moment now, std::uint32_t chance) {
  constexpr int chance_digits = 6;
  std::string name = "ctl-";
  // Append the digits of the time of day from a text such as "2026-11-22 08:15:04 UTC".
  for (const char c : show_moment(now).substr(11, 8)) {
    if (c != ':') name += c;
  }
  name += '-';
  for (int i = 0; i < chance_digits; ++i, chance /= 16)
    name += "0123456789abcdef"[chance % 16];
  return name;
}

std::variant<Errand, NoErrand> errand_of(const Options& options, const Seen& seen,
                                         const std::string& name) {
  switch (options.command) {
    case Command::upgrade:
      return upgrade_errand(options, seen, name);
    case Command::rehearse:
      return rehearsal_errand(options, seen, name);
    case Command::confirm:
    case Command::cancel:
    case Command::commit:
    case Command::rollback:
      return deed_errand(options, seen, name);
    case Command::wait:
      return wait_errand(options, seen);
    case Command::shutdown:
      return shutdown_errand(options, seen, name);
    case Command::list:
    case Command::status:
    case Command::history:
    case Command::why:
    case Command::on:
      break;
  }
  return Finish{exit_usage, std::string(name_of(options.command)) + " asks for nothing"};
}

}  // namespace upgraderctl
