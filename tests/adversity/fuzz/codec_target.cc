// This target gives the codec arbitrary bytes as a line of an agent and as a line of an upgrader.
// The codec must accept exactly the lines that the tests' own decoder (second_decoder.h) accepts,
// and give a reason for each refusal. A message that the codec has read must be the same after it
// is written and read again.
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "agent-protocol/cpp/wire/codec.h"
#include "agent-protocol/cpp/wire/message.h"
#include "tests/adversity/fuzz/second_decoder.h"
#include "tests/adversity/fuzz/target.h"

namespace fuzz {

namespace {

using namespace agent_protocol;

// ---- the members of a message

// Collects, by name, the members of a message that the codec has decoded. The result has the form
// that the second decoder uses, so the two can be compared. Absent members are left out. This class
// was written from message.h, and shares no code with the codec's archives, which read and write
// the members.
class Notes {
 public:
  void note(const std::string& name, const std::string& text) { members[name] = shown(text); }
  void note(const std::string& name, std::int64_t number) {
    members[name] = std::to_string(number);
  }
  void note(const std::string& name, bool truth) { members[name] = shown(truth); }
  void note(const std::string& name, const std::vector<std::string>& texts) {
    members[name] = shown_all(texts);
  }
  // Records the list of features, unless it is empty: an empty list means the same as an absent
  // member.
  void note_features(const std::vector<std::string>& features) {
    if (!features.empty()) note("features", features);
  }
  void note(const std::string& name, Mode mode) {
    note(name, std::string(mode == Mode::parallel ? "parallel" : "sequential"));
  }
  void note(const std::string& name, Gate gate) {
    note(name, std::string(gate == Gate::none ? "none" : "confirm"));
  }
  void note(const std::string& name, CommitRule rule) {
    note(name, std::string(rule == CommitRule::survive ? "survive" : "healthy"));
  }
  void note(const std::string& name, FallbackMode mode) {
    note(name, std::string(mode == FallbackMode::warm ? "warm" : "cold"));
  }
  void note(const std::string& name, UncleanStop then) {
    note(name, std::string(then == UncleanStop::fall_back ? "fallback" : "continue"));
  }
  void note(const std::string& name, Role role);
  void note(const std::string& name, StopReason reason);
  void note(const std::string& name, Stage stage);
  void note(const std::string& prefix, const Failure& failure);

  template <class Value>
  void note(const std::string& name, const std::optional<Value>& value) {
    if (value) note(name, *value);
  }

  // These functions, one for each type of message, record the members of the message.
  void operator()(const Hello& hello);
  void operator()(const Ready&) { type = "ready"; }
  void operator()(const Unfit& unfit);
  void operator()(const Upgrade& upgrade);
  void operator()(const Confirm& confirm);
  void operator()(const Cancel& cancel);
  void operator()(const Stopped& stopped);
  void operator()(const Healthy&) { type = "healthy"; }
  void operator()(const Extend& extend);
  void operator()(const Heartbeat&) { type = "heartbeat"; }
  void operator()(const Status& status);
  void operator()(const Welcome& welcome);
  void operator()(const Activate& activate);
  void operator()(const Stop& stop);
  void operator()(const Accepted& accepted);
  void operator()(const CandidateReady& candidate);
  void operator()(const CandidateLost& candidate);
  void operator()(const UpgradeFailed& failed);
  void operator()(const Committed& committed);
  void operator()(const Error& error);

  std::string type;
  Members members;
};

void Notes::note(const std::string& name, Role role) {
  switch (role) {
    case Role::first:
      return note(name, std::string("first"));
    case Role::candidate:
      return note(name, std::string("candidate"));
    case Role::fallback:
      return note(name, std::string("fallback"));
  }
}

void Notes::note(const std::string& name, StopReason reason) {
  switch (reason) {
    case StopReason::upgrade:
      return note(name, std::string("upgrade"));
    case StopReason::rollback:
      return note(name, std::string("rollback"));
    case StopReason::shutdown:
      return note(name, std::string("shutdown"));
  }
}

void Notes::note(const std::string& name, Stage stage) {
  switch (stage) {
    case Stage::request:
      return note(name, std::string("request"));
    case Stage::spawn:
      return note(name, std::string("spawn"));
    case Stage::start:
      return note(name, std::string("start"));
    case Stage::confirm:
      return note(name, std::string("confirm"));
    case Stage::cancel:
      return note(name, std::string("cancel"));
    case Stage::stop:
      return note(name, std::string("stop"));
    case Stage::trial:
      return note(name, std::string("trial"));
    case Stage::commit:
      return note(name, std::string("commit"));
    case Stage::shutdown:
      return note(name, std::string("shutdown"));
    case Stage::boot:
      return note(name, std::string("boot"));
  }
}

void Notes::note(const std::string& prefix, const Failure& failure) {
  note(prefix + "id", failure.id);
  note(prefix + "stage", failure.stage);
  note(prefix + "stage", failure.later_stage);
  note(prefix + "reason", failure.reason);
  note(prefix + "exit_status", failure.exit_status);
  note(prefix + "signal", failure.signal);
  note(prefix + "errno", failure.errno_name);
}

void Notes::operator()(const Hello& hello) {
  type = "hello";
  note("protocol", hello.protocol);
  note("version", hello.version);
  note_features(hello.features);
}

void Notes::operator()(const Unfit& unfit) {
  type = "unfit";
  note("reason", unfit.reason);
}

void Notes::operator()(const Upgrade& upgrade) {
  type = "upgrade";
  note("id", upgrade.id);
  note("executable", upgrade.executable);
  note("args", upgrade.args);
  note("mode", upgrade.mode);
  note("gate", upgrade.gate);
  note("commit", upgrade.commit);
  note("start_timeout_ms", upgrade.start_timeout_ms);
  note("confirm_timeout_ms", upgrade.confirm_timeout_ms);
  note("stop_timeout_ms", upgrade.stop_timeout_ms);
  note("trial_ms", upgrade.trial_ms);
  note("on_unclean_stop", upgrade.on_unclean_stop);
  note("fallback", upgrade.fallback);
}

void Notes::operator()(const Confirm& confirm) {
  type = "confirm";
  note("id", confirm.id);
}

void Notes::operator()(const Cancel& cancel) {
  type = "cancel";
  note("id", cancel.id);
  note("reason", cancel.reason);
}

void Notes::operator()(const Stopped& stopped) {
  type = "stopped";
  note("state", stopped.state);
}

void Notes::operator()(const Extend& extend) {
  type = "extend";
  note("ms", extend.ms);
}

void Notes::operator()(const Status& status) {
  type = "status";
  note("text", status.text);
}

void Notes::operator()(const Welcome& welcome) {
  type = "welcome";
  note("protocol", welcome.protocol);
  note_features(welcome.features);
  note("generation", welcome.generation);
  note("role", welcome.role);
  note("previous_version", welcome.previous_version);
  if (welcome.failure) {
    note("failure.", welcome.failure->failure);
    note("failure.version", welcome.failure->version);
  }
  note("watchdog_ms", welcome.watchdog_ms);
}

void Notes::operator()(const Activate& activate) {
  type = "activate";
  note("state", activate.state);
  note("clean", activate.clean);
  if (activate.failure) {
    note("failure.", activate.failure->failure);
    note("failure.version", activate.failure->version);
  }
  note("trial_ms", activate.trial_ms);
  note("commit", activate.commit);
}

void Notes::operator()(const Stop& stop) {
  type = "stop";
  note("reason", stop.reason);
  note("deadline_ms", stop.deadline_ms);
  note("id", stop.id);
  note("generation", stop.generation);
}

void Notes::operator()(const Accepted& accepted) {
  type = "accepted";
  note("id", accepted.id);
  note("generation", accepted.generation);
}

void Notes::operator()(const CandidateReady& candidate) {
  type = "candidate_ready";
  note("id", candidate.id);
  note("generation", candidate.generation);
  note("version", candidate.version);
}

void Notes::operator()(const CandidateLost& candidate) {
  type = "candidate_lost";
  note("id", candidate.id);
  note("reason", candidate.reason);
}

void Notes::operator()(const UpgradeFailed& failed) {
  type = "upgrade_failed";
  note("", failed.failure);
}

void Notes::operator()(const Committed& committed) {
  type = "committed";
  note("id", committed.id);
  note("generation", committed.generation);
}

void Notes::operator()(const Error& error) {
  type = "error";
  note("about", error.about);
  note("reason", error.reason);
}

template <class Message>
Notes notes_of(const Message& message) {
  Notes notes;
  std::visit(notes, message);
  return notes;
}

Members members_of(const AgentMessage& message) {
  return notes_of(message).members;
}

Members members_of(const UpgraderMessage& message) {
  return notes_of(message).members;
}

// Returns the `type` that the message has on the wire.
std::string type_of(const AgentMessage& message) {
  return notes_of(message).type;
}

std::string type_of(const UpgraderMessage& message) {
  return notes_of(message).type;
}

// ---- the comparison with the second decoder

template <class Message>
inline constexpr bool is_agents = std::is_same_v<Message, AgentMessage>;

template <class Message>
constexpr Sender sender_of = is_agents<Message> ? Sender::agent : Sender::upgrader;

template <class Message>
Decoded<Message> decode(std::string_view line) {
  // Copies the line to memory of exactly its size, so that the sanitizer notices a read beyond the
  // line's end.
  const std::unique_ptr<char[]> bytes(new char[line.size()]);
  line.copy(bytes.get(), line.size());
  const std::string_view copy(bytes.get(), line.size());
  if (planted("over-read") && copy.ends_with('}') && copy.data()[copy.size()] == '}')
    return Stray{};
  if constexpr (is_agents<Message>) {
    Decoded<Message> decoded = decode_agent_message(copy);
    auto* malformed = std::get_if<Malformed>(&decoded);
    if (planted("silent-refusal") && malformed && malformed->type == "extend") {
      malformed->reason.clear();
    }
    return decoded;
  } else {
    return decode_upgrader_message(copy);
  }
}

std::string told(const Members& members) {
  std::string text;
  for (const auto& [name, value] : members)
    text += name + "=" + value + " ";
  return text;
}

std::string told(const SecondOpinion& opinion) {
  switch (opinion.judgement) {
    case Judgement::stray:
      return "stray output: " + opinion.why;
    case Judgement::unknown:
      return "the unknown type " + opinion.type;
    case Judgement::malformed:
      return "a malformed " + opinion.type + ": " + opinion.why;
    case Judgement::good:
      return opinion.type + " " + told(opinion.members);
  }
  return "";
}

// Converts the codec's result for a line into a SecondOpinion, which is the type of the second
// decoder's result, so that the two can be compared.
template <class Message>
SecondOpinion in_words(const Decoded<Message>& decoded) {
  if (const auto* unknown = std::get_if<Unknown>(&decoded)) {
    return {Judgement::unknown, unknown->type, "no such type", {}};
  }
  if (const auto* malformed = std::get_if<Malformed>(&decoded)) {
    return {Judgement::malformed, malformed->type, malformed->reason, {}};
  }
  if (const auto* message = std::get_if<Message>(&decoded)) {
    return {Judgement::good, type_of(*message), "", members_of(*message)};
  }
  return {Judgement::stray, "", "no object", {}};
}

void compare(std::string_view line, const SecondOpinion& ours, const SecondOpinion& second) {
  const bool same = ours.judgement == second.judgement && ours.members == second.members &&
                    (ours.type == second.type || second.lone);
  ++comparisons;
  if (same) return;
  throw Finding{"the codec says: " + printable(told(ours)) + "\n  the second decoder: " +
                printable(told(second)) + "\n  of the line: " + printable(line)};
}

// Checks that a message that the codec has read can be written, and that reading the written line
// gives the same message.
template <class Message>
void check_round_trip(const Message& message) {
  const Result<std::string> line = encode(message);
  must(bool(line), "what was read cannot be written");
  std::string_view written = line.value();
  must(written.size() <= line_bytes_max && written.ends_with('\n'), "a line that is none");
  written.remove_suffix(1);
  must(written.find('\n') == std::string_view::npos, "one message, two lines");
  Decoded<Message> again = decode<Message>(written);
  if constexpr (is_agents<Message>) {
    auto* read = std::get_if<Message>(&again);
    auto* status = read ? std::get_if<Status>(read) : nullptr;
    if (planted("lossy") && status && status->text.ends_with('\n')) status->text.pop_back();
  }
  const auto* read = std::get_if<Message>(&again);
  must(read != nullptr && *read == message, "read, written and read is another message", written);
  must(encode(*read).value() == line.value(), "written twice, and not alike");
  compare(written, in_words<Message>(again), second_opinion(written, sender_of<Message>));
}

template <class Message>
void check_line(std::string_view line) {
  const Decoded<Message> decoded = decode<Message>(line);
  const SecondOpinion second = second_opinion(line, sender_of<Message>);
  compare(line, in_words<Message>(decoded), second);
  if (const auto* stray = std::get_if<Stray>(&decoded)) {
    must(stray->reason.empty() != line.starts_with('{'), "a stray line without its reason", line);
  }
  if (const auto* malformed = std::get_if<Malformed>(&decoded)) {
    must(!malformed->reason.empty(), "a malformed message without a reason");
    must(malformed->id == second.id, "the id of a malformed upgrade is another");
  }
  if (const auto* message = std::get_if<Message>(&decoded)) check_round_trip(*message);
}

}  // namespace

void take_codec(std::string_view input) {
  const std::string line = unfold(input, line_bytes_max - 1);
  check_line<AgentMessage>(line);
  check_line<UpgraderMessage>(line);
}

}  // namespace fuzz
