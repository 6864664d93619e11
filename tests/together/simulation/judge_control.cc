// The judge's checks of the control directory. Each request of an operator must be answered once
// and obeyed at most once, in the order of writing. status.json must be complete and true, and must
// not be written too often. The rules are in upgrader(8), CONTROL DIRECTORY.
#include <rapidjson/document.h>

#include <algorithm>

#include "tests/together/simulation/judge.h"
#include "upgrader/shell/agents.h"

namespace upgrader::simulation {
namespace {

constexpr std::size_t kept = 16;  // how many answers and how many ended upgrades status.json has
constexpr std::size_t status_bytes_max = 65'536;
// The shortest time between two writes of status.json. The upgrader waits 100 ms. The judge sees a
// write only at the end of the system call, which takes some time, so 2 ms are subtracted.
constexpr Duration status_pause{100 - 2};

using Value = rapidjson::Value;

std::string text_of(const Value& object, const char* name) {
  const auto found = object.FindMember(name);
  return found != object.MemberEnd() && found->value.IsString() ? found->value.GetString() : "";
}

std::size_t count_of(const Value& object, const char* name) {
  const auto found = object.FindMember(name);
  return found != object.MemberEnd() && found->value.IsArray() ? found->value.Size() : 0;
}

}  // namespace

// ---- the lines that the upgrader reads from the FIFO

// Cuts the bytes into lines without the upgrader's own code. Text that ends with a newline is a
// line. Text after the last newline, at the end of the file, is an incomplete line.
void Judge::control_read(std::string_view bytes) {
  if (bytes.empty()) {
    // An incomplete line is no request, even if its text is one. So the judge records an empty line
    // in its place, which the upgrader must ignore, too.
    if (!control_line_.empty()) control_lines_.emplace_back();
    control_line_.clear();
  }
  for (const char byte : bytes) {
    if (byte != '\n') {
      control_line_ += byte;
      continue;
    }
    control_lines_.push_back(std::exchange(control_line_, {}));
  }
}

bool Judge::is_answered(const std::string& name) const {
  return std::any_of(given_.begin(), given_.end(),
                     [&](const Given& given) { return given.name == name; });
}

bool Judge::is_known(const std::string& id) const {
  return id == id_under_way_ ||
         std::find(ids_ended_.begin(), ids_ended_.end(), id) != ids_ended_.end();
}

void Judge::give(Given given) {
  ++tally_.requests;
  if (given.ok == true) ++tally_.granted;
  given_.push_front(std::move(given));
  if (given_.size() > kept) given_.pop_back();
}

// Handles the next line from the FIFO, if the code in upgrader/shell answers or ignores this line
// without the class Supervisor. Returns false if there is no line, or if the Supervisor must get
// it.
bool Judge::take_line_without_supervisor() {
  if (control_lines_.empty()) return false;
  const Asked* asked = machine_.operators.meaning_of(control_lines_.front());
  if (asked != nullptr && !is_answered(asked->name)) {
    const bool known = asked->well_formed && asked->deed == upgrader::Deed::upgrade &&
                       !asked->id.empty() &&
                       (is_known(asked->id) || ids_forgotten_.contains(asked->id));
    if (asked->well_formed && !known) return false;
    give({asked->name, asked->type, known});
  }
  control_lines_.pop_front();
  if (control_lines_.empty()) ids_forgotten_.clear();
  return true;
}

// Returns true if the next line from the FIFO is this request, and the class Supervisor must get
// it. The Supervisor must not get a request that has been answered already, or a request for an
// upgrade whose id is already known.
bool Judge::is_next(const ControlRequest& request) const {
  if (control_lines_.empty()) return false;
  const Asked* asked = machine_.operators.meaning_of(control_lines_.front());
  if (asked == nullptr || asked->name != request.name || asked->deed != request.deed) return false;
  const bool known = asked->deed == upgrader::Deed::upgrade && is_known(asked->id);
  return !is_answered(asked->name) && (asked->id.empty() || !known);
}

void Judge::see_control(const ControlRequest& request) {
  if (++control_lines_in_turn_ > lines_a_turn) {
    broken("IO-5: more requests of operators than a turn may take");
  }
  while (!is_next(request) && take_line_without_supervisor()) {
  }
  if (!is_next(request)) {
    return broken("Control: a request that nobody wrote now, or that has its answer");
  }
  const Asked* asked = machine_.operators.meaning_of(control_lines_.front());
  const std::string& id = request.upgrade.id;
  const bool given = asked->id.empty() && id.starts_with("control-") && !is_known(id);
  if (asked->deed == upgrader::Deed::upgrade && !given && asked->id != id) {
    broken("Control: an upgrade under another id");
  }
  give({asked->name, asked->type, std::nullopt});
  control_lines_.pop_front();
  if (request.deed == upgrader::Deed::shutdown) shutdown_ = true;
}

void Judge::see_answer(const Answer& answer) {
  const auto found = std::find_if(given_.begin(), given_.end(),
                                  [&](const Given& given) { return given.name == answer.name; });
  if (found == given_.end() || found->ok)
    return broken("Control: an answer to nobody, or a second");
  if (found->type != name_of(answer.deed)) broken("Control: an answer to another request");
  found->ok = answer.refusal.empty();
  if (*found->ok) ++tally_.granted;
}

void Judge::see_ending() {
  if (id_under_way_.empty()) return broken("Control: an ending of no upgrade");
  ids_ended_.push_front(std::exchange(id_under_way_, {}));
  if (ids_ended_.size() <= kept) return;
  if (!control_lines_.empty()) ids_forgotten_.insert(ids_ended_.back());
  ids_ended_.pop_back();
}

// Returns the id of the upgrade under way, as an operator reads it in status.json.
std::string Judge::id_under_way() const {
  rapidjson::Document status;
  status.Parse(status_.c_str());
  if (status.HasParseError() || !status.HasMember("upgrade")) return "";
  return text_of(status["upgrade"], "id");
}

// ---- the checks of status.json

void Judge::status_written(std::string_view text, bool well) {
  const bool last = text.find("\"ended\":{") != std::string_view::npos;
  const Time now = machine_.now();
  const bool soon = status_written_at_ && now < *status_written_at_ + status_pause;
  if (soon && !last) broken("Control: status.json is written more than ten times a second");
  status_written_at_ = now;
  const auto waits = [](const auto& process) {
    return process->promised && !process->activated && !process->buried && !process->killed &&
           process->input.reader;
  };
  const auto& all = machine_.processes();
  if (!last && std::any_of(all.begin(), all.end(), waits)) {
    broken("Control: status.json is written while an agent waits for its activate");
  }
  status_is_old_ = !well;
  check_status(std::string(text), last);
  if (well) status_ = text;
}

void Judge::check_status(const std::string& text, bool last) {
  const bool one_line = !text.empty() && text.find('\n') == text.size() - 1;
  rapidjson::Document status;
  status.Parse(text.c_str());
  if (!one_line || text.size() > status_bytes_max || status.HasParseError()) {
    return broken("S12: status.json is not one whole line of JSON");
  }
  const Phase phase = supervisor_ == nullptr ? Phase::starting : supervisor_->phase();
  if (text_of(status, "phase") != (last ? "ended" : name_of(phase))) {
    broken("S12: status.json says another phase: " + text_of(status, "phase"));
  }
  if (last && exit_ && status["ended"]["exit_status"].GetInt() != *exit_) {
    broken("S12: status.json says another exit status");
  }
  const std::size_t endings = count_of(status, "endings");
  if (endings != ids_ended_.size()) broken("S12: status.json says another number of endings");
  for (std::size_t i = 0; i < endings && i < ids_ended_.size(); ++i) {
    if (text_of(status["endings"][static_cast<unsigned>(i)], "id") != ids_ended_[i]) {
      broken("S12: status.json says another ending");
    }
  }
  // The code in upgrader/shell answers some requests without the supervisor, and the judge cannot
  // see when. So the judge regards these requests as answered, one after the other, until its list
  // of answers agrees with status.json.
  const std::size_t requests = count_of(status, "requests");
  const auto newest_is = [&](const Given& given) {
    return requests > 0 && text_of(status["requests"][0U], "request") == given.name;
  };
  const auto agrees = [&] {
    return requests == given_.size() && (requests == 0 || newest_is(given_.front()));
  };
  while (!agrees() && take_line_without_supervisor()) {
  }
  if (!agrees()) return broken("Control: a request that is not answered in its turn");
  for (std::size_t i = 0; i < requests; ++i) {
    const Value& request = status["requests"][static_cast<unsigned>(i)];
    const Given& given = given_[i];
    const bool same = text_of(request, "request") == given.name &&
                      text_of(request, "type") == given.type && request["ok"].IsBool() &&
                      given.ok == request["ok"].GetBool();
    if (!same) broken("Control: status.json has another answer, or another order");
  }
}

// Checks that the upgrader has the FIFO open after the end of all faults. From then on, opening the
// FIFO succeeds, and the upgrader tries to open it every second.
void Judge::check_fifo() {
  const bool taken = machine_.swarm.options.control_directory && started_ && !exit_;
  if (taken && machine_.calm && !machine_.operators.pipe.is_open()) {
    broken("Control: the FIFO is not opened again");
  }
}

// Checks the control directory of an upgrader at rest: every line that the upgrader has read has
// been answered, and status.json shows the current state.
void Judge::check_control() {
  if (!machine_.swarm.options.control_directory || supervisor_ == nullptr) return;
  while (take_line_without_supervisor()) {
  }
  if (!control_lines_.empty()) broken("Control: a request is never taken");
  // While no agent is active, the upgrader may delay writing status.json. So its content is checked
  // only if an agent is active.
  const auto& all = machine_.processes();
  const bool served = std::any_of(all.begin(), all.end(), [](const auto& process) {
    return process->activated && !process->buried;
  });
  if (served && !status_is_old_) check_status(status_, false);
}

}  // namespace upgrader::simulation
