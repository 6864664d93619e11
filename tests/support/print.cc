#include "tests/support/print.h"

namespace upgrader::test {
namespace {

class Printer {
 public:
  // Prints a text in quotes, because an agent's text could otherwise look like another part of the
  // output.
  void put(const char* name, const std::string& text) {
    text_ += std::string(name) + "=\"";
    for (const char byte : text) {
      if (byte == '"' || byte == '\\') text_ += '\\';
      text_ += byte;
    }
    text_ += "\" ";
  }
  void put(const char* name, std::int64_t value) {
    text_ += std::string(name) + "=" + std::to_string(value) + " ";
  }
  void put(const char* name, Duration value) { put(name, value.count()); }
  void flag(const char* name, bool value) {
    if (value) text_ += std::string(name) + " ";
  }
  template <class Value>
  void put(const char* name, const std::optional<Value>& value) {
    if (value) put(name, *value);
  }
  template <class Enum>
  void put_enum(const char* name, Enum value) {
    put(name, static_cast<std::int64_t>(value));
  }

  void put(const char* name, const Agent& agent) {
    text_ += std::string(name) + "{ ";
    put("generation", agent.generation);
    put_enum("role", agent.role);
    put("program", agent.program);
    flag("greeted", agent.greeted);
    put("version", agent.version);
    flag("ready", agent.ready);
    flag("activate_waits", agent.activate_waits);
    flag("activate_late", agent.activate_late);
    flag("activated", agent.activated);
    flag("has_readiness", agent.has_readiness);
    flag("works", agent.works);
    if (agent.told) put_enum("told", *agent.told);
    put("told_id", agent.told_id);
    flag("stopped", agent.stopped);
    put("state", agent.state);
    put("unfit", agent.unfit);
    flag("output_closed", agent.output_closed);
    flag("input_closed", agent.input_closed);
    flag("terminated", agent.terminated);
    flag("killed", agent.killed);
    flag("standby", agent.standby);
    flag("knows_failure", agent.knows_failure);
    put("deadline", agent.deadline);
    put("allowed", agent.allowed);
    put("extended", agent.extended);
    put("hello_deadline", agent.hello_deadline);
    put("close_deadline", agent.close_deadline);
    put("heartbeat_deadline", agent.heartbeat_deadline);
    flag("silent", agent.silent);
    text_ += "} ";
  }

  void put(const char* name, const UpgradeUnderWay& upgrade) {
    text_ += std::string(name) + "{ ";
    put("id", upgrade.id);
    put_enum("origin", upgrade.origin);
    flag("names_agent", upgrade.names_agent);
    put("unanswered_name", upgrade.unanswered_name);
    put("terms", upgrade.terms);
    put("previous", upgrade.previous);
    put("previous_version", upgrade.previous_version);
    put("program", upgrade.program);
    put("generation", upgrade.generation);
    put("version", upgrade.version);
    flag("waits_for_confirm", upgrade.waits_for_confirm);
    flag("known_to_agent", upgrade.known_to_agent);
    put("deadline", upgrade.deadline);
    put("failure", upgrade.failure);
    if (upgrade.boot) put("boot", upgrade.boot->failure);
    if (upgrade.boot) put("boot_version", upgrade.boot->version);
    put("boot_status", std::int64_t{upgrade.boot_status});
    text_ += "} ";
  }

  void put(const char* name, const Terms& terms) {
    text_ += std::string(name) + "{ ";
    put_enum("mode", terms.mode);
    put_enum("gate", terms.gate);
    put_enum("commit", terms.commit);
    put("start_timeout", terms.start_timeout);
    put("confirm_timeout", terms.confirm_timeout);
    put("stop_timeout", terms.stop_timeout);
    put("trial", terms.trial);
    put_enum("on_unclean_stop", terms.on_unclean_stop);
    put_enum("fallback", terms.fallback);
    text_ += "} ";
  }

  void put(const char* name, const agent_protocol::Failure& failure) {
    text_ += std::string(name) + "{ ";
    put("id", failure.id);
    put_enum("stage", failure.stage);
    put("reason", failure.reason);
    put("exit_status", failure.exit_status);
    put("signal", failure.signal);
    put("errno", failure.errno_name);
    text_ += "} ";
  }

  void put(const char* name, const LeftBehind& left_behind) {
    text_ += std::string(name) + "{ ";
    flag("clean", left_behind.clean);
    put("state", left_behind.state);
    put("exit_status", left_behind.exit_status);
    text_ += "} ";
  }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

}  // namespace

std::string print(const Supervisor& supervisor) {
  const Policy& policy = supervisor.policy();
  const State& state = supervisor.state();
  Printer printer;
  printer.put("phase", std::string(name_of(supervisor.phase())));
  printer.put("defaults", policy.defaults);
  printer.put("exit_grace", policy.exit_grace);
  printer.put("watchdog", policy.watchdog);
  printer.flag("relink", policy.relink);
  printer.flag("previous", policy.previous);
  printer.flag("attempts", policy.attempts);
  printer.put("incumbent", state.incumbent);
  printer.put("candidate", state.candidate);
  printer.put("upgrade", state.upgrade);
  printer.put("left_behind", state.left_behind);
  printer.put("last_failure", state.last_failure);
  printer.put("exit_with", state.exit_with);
  printer.flag("shutdown", state.shutdown);
  printer.flag("quit", state.quit);
  printer.flag("ended", state.ended);
  printer.put("last_generation", state.last_generation);
  printer.put("upgrade_signals", state.upgrade_signals);
  printer.put("control_reloads", state.control_reloads);
  printer.put("attempts_deadline", state.attempts_deadline);
  printer.flag("start_is_judged", state.start_is_judged);
  printer.flag("proved_good", state.proved_good);
  for (const Time deadline : state.put_off)
    printer.put("put_off", deadline);
  printer.put_enum("pending", state.pending);
  printer.put("spawning", state.spawning);
  return printer.take();
}

}  // namespace upgrader::test
