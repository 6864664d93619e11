#include "agent-protocol/cpp/control/status_reader.h"

#include <cereal/cereal.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/json_line.h"
#include "base/moment.h"

namespace upgraderctl {
namespace {

// A cereal archive that reads as much as it can of one line of JSON. The writer of the file may be
// newer or older than this program, so nothing is ever refused. If a member is absent, occurs
// twice, or has another type than its destination, the destination is left unchanged.
class LenientArchive : public cereal::InputArchive<LenientArchive> {
 public:
  // The JsonLine must outlive the archive.
  explicit LenientArchive(const agent_protocol::JsonLine& line)
      : cereal::InputArchive<LenientArchive>(this), line_(line) {}

  template <class Value>
  void read_member(std::string_view name, Value& value) {
    const agent_protocol::JsonLine::Found found = line_.find(object_, name);
    if (found.index != agent_protocol::JsonLine::root && !found.twice) read(found.index, value);
  }

 private:
  using Kind = agent_protocol::JsonLine::Kind;

  [[nodiscard]] bool is(std::size_t index, Kind kind) const {
    return line_.node(index).kind == kind;
  }

  bool read(std::size_t index, std::string& value);
  bool read(std::size_t index, bool& value);
  bool read(std::size_t index, std::int64_t& value);
  bool read(std::size_t index, Moment& value);

  template <class Value>
  bool read(std::size_t index, std::optional<Value>& value) {
    Value present{};
    if (!read(index, present)) return false;
    value = std::move(present);
    return true;
  }

  // Reads an array of JSON. Leaves out the elements whose type is not `Value`.
  template <class Value>
  bool read(std::size_t index, std::vector<Value>& values) {
    if (!is(index, Kind::array)) return false;
    const std::size_t end = line_.after(index);
    for (std::size_t element = index + 1; element < end; element = line_.after(element)) {
      Value value{};
      if (read(element, value)) values.push_back(std::move(value));
    }
    return true;
  }

  // Reads a structure that has a function `serialize` of its own.
  template <class Value>
  bool read(std::size_t index, Value& value) {
    if (!is(index, Kind::object)) return false;
    const std::size_t outer = std::exchange(object_, index);
    (*this)(value);
    object_ = outer;
    return true;
  }

  const agent_protocol::JsonLine& line_;
  // the index of the JSON object whose members are being read
  std::size_t object_ = agent_protocol::JsonLine::root;
};

// The function that cereal calls for each name-value pair, which is one member.
template <class Value>
void load(LenientArchive& archive, cereal::NameValuePair<Value>& pair) {
  archive.read_member(pair.name, pair.value);
}

bool LenientArchive::read(std::size_t index, std::string& value) {
  if (!is(index, Kind::text)) return false;
  value = line_.text(index);
  return true;
}

bool LenientArchive::read(std::size_t index, bool& value) {
  if (!is(index, Kind::boolean)) return false;
  value = line_.node(index).size == 1;
  return true;
}

bool LenientArchive::read(std::size_t index, std::int64_t& value) {
  if (!is(index, Kind::number)) return false;
  const std::string_view digits = line_.text(index);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return false;
  value = number;
  return true;
}

bool LenientArchive::read(std::size_t index, Moment& value) {
  if (!is(index, Kind::text)) return false;
  const std::optional<Moment> moment = parse_moment(line_.text(index));
  if (!moment) return false;
  value = *moment;
  return true;
}

// The names of the members of status.json: one function `serialize` for each structure, for any
// cereal archive.

// Appends "..." to `text` if the upgrader has cut it, so that nobody mistakes the beginning of a
// path for the whole path. The upgrader marks a JSON object with a cut text by the member `cut`;
// only one text of each object can be long enough to be cut.
template <class Archive>
void serialize_cut(Archive& archive, std::string& text) {
  bool cut = false;
  archive(cereal::make_nvp("cut", cut));
  if (cut) text += "...";
}

template <class Archive>
void serialize(Archive& archive, Life& life) {
  using cereal::make_nvp;
  archive(make_nvp("pid", life.pid), make_nvp("version", life.version),
          make_nvp("started", life.started), make_nvp("started", life.since),
          make_nvp("protocol", life.protocol));
}

template <class Archive>
void serialize(Archive& archive, AgentStatus& agent) {
  using cereal::make_nvp;
  archive(make_nvp("generation", agent.generation), make_nvp("role", agent.role),
          make_nvp("pid", agent.pid), make_nvp("version", agent.version),
          make_nvp("executable", agent.executable), make_nvp("args", agent.args),
          make_nvp("args_omitted", agent.args_omitted), make_nvp("started", agent.started),
          make_nvp("activated", agent.activated), make_nvp("status", agent.status),
          make_nvp("silent", agent.silent));
  serialize_cut(archive, agent.executable);
}

template <class Archive>
void serialize(Archive& archive, UpgradeStatus& upgrade) {
  using cereal::make_nvp;
  archive(make_nvp("id", upgrade.id), make_nvp("origin", upgrade.origin),
          make_nvp("executable", upgrade.executable), make_nvp("mode", upgrade.mode),
          make_nvp("gate", upgrade.gate), make_nvp("commit", upgrade.commit),
          make_nvp("trial_ms", upgrade.trial_ms), make_nvp("accepted", upgrade.accepted),
          make_nvp("ready", upgrade.ready), make_nvp("stop_sent", upgrade.stop_sent),
          make_nvp("stopped", upgrade.stopped), make_nvp("activated", upgrade.activated));
}

template <class Archive>
void serialize(Archive& archive, Side& side) {
  using cereal::make_nvp;
  archive(make_nvp("version", side.version), make_nvp("executable", side.executable));
  serialize_cut(archive, side.executable);
}

template <class Archive>
void serialize(Archive& archive, Ending& ending) {
  using cereal::make_nvp;
  archive(make_nvp("id", ending.id), make_nvp("origin", ending.origin),
          make_nvp("outcome", ending.outcome), make_nvp("stage", ending.stage),
          make_nvp("reason", ending.reason), make_nvp("exit_status", ending.exit_status),
          make_nvp("signal", ending.signal), make_nvp("errno", ending.error),
          make_nvp("from", ending.from), make_nvp("to", ending.to),
          make_nvp("accepted", ending.accepted), make_nvp("ended", ending.ended),
          make_nvp("start_ms", ending.start_ms), make_nvp("stop_ms", ending.stop_ms),
          make_nvp("gap_us", ending.gap_us));
  serialize_cut(archive, ending.reason);
}

template <class Archive>
void serialize(Archive& archive, Answer& answer) {
  using cereal::make_nvp;
  archive(make_nvp("request", answer.request), make_nvp("type", answer.type),
          make_nvp("ok", answer.ok), make_nvp("reason", answer.reason));
  serialize_cut(archive, answer.reason);
}

template <class Archive>
void serialize(Archive& archive, Ended& ended) {
  using cereal::make_nvp;
  archive(make_nvp("exit_status", ended.exit_status), make_nvp("reason", ended.reason),
          make_nvp("at", ended.at));
  serialize_cut(archive, ended.reason);
}

template <class Archive>
void serialize(Archive& archive, Boot& boot) {
  using cereal::make_nvp;
  archive(make_nvp("attempts", boot.attempts), make_nvp("previous", boot.previous));
  serialize_cut(archive, boot.previous);
}

template <class Archive>
void serialize(Archive& archive, Status& status) {
  using cereal::make_nvp;
  archive(make_nvp("upgrader", status.upgrader), make_nvp("phase", status.phase),
          make_nvp("since", status.since), make_nvp("deadline", status.deadline),
          make_nvp("active", status.active), make_nvp("candidate", status.candidate),
          make_nvp("standby", status.standby), make_nvp("upgrade", status.upgrade),
          make_nvp("endings", status.endings), make_nvp("requests", status.requests),
          make_nvp("ended", status.ended), make_nvp("boot", status.boot));
}

constexpr std::string_view white_space = " \t\r\n";

std::size_t skip_white(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(white_space, at), text.size());
}

// Returns the index after the string that begins at `at`. The text must be valid JSON.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// Returns the index after the value that begins at `at`.
std::size_t value_end(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = string_end(text, at);
      if (depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return at;
      if (--depth == 0) return at + 1;
    }
    if (depth == 0 && (c == ',' || white_space.find(c) != std::string_view::npos)) return at;
    ++at;
  }
  return at;
}

}  // namespace

agent_protocol::Result<Status> read_status(std::string_view text) {
  const auto line = agent_protocol::JsonLine::parse(text);
  if (!line) return agent_protocol::Refusal{"is no status of an upgrader: " + line.reason()};
  Status status;
  LenientArchive archive(line.value());
  archive(status);
  if (status.upgrader.started.empty()) {
    return agent_protocol::Refusal{"is no status of an upgrader: it has no upgrader.started"};
  }
  return status;
}

std::string raw_member(std::string_view text, std::string_view name, std::string_view otherwise) {
  std::size_t at = skip_white(text, 0) + 1;
  for (at = skip_white(text, at); at < text.size() && text[at] == '"'; at = skip_white(text, at)) {
    const std::size_t name_end = string_end(text, at);
    const std::string_view spelled = text.substr(at + 1, name_end - at - 2);
    const std::size_t begin = skip_white(text, skip_white(text, name_end) + 1);
    const std::size_t end = value_end(text, begin);
    if (spelled == name) return std::string(text.substr(begin, end - begin));
    at = skip_white(text, skip_white(text, end) + 1);
  }
  return std::string(otherwise);
}

std::string_view one_line(std::string_view text) {
  const std::size_t last = text.find_last_not_of(white_space);
  return last == std::string_view::npos ? std::string_view{} : text.substr(0, last + 1);
}

}  // namespace upgraderctl
