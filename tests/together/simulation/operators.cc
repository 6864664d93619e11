#include "tests/together/simulation/operators.h"

#include <algorithm>

#include "tests/together/simulation/judge.h"
#include "tests/together/simulation/machine.h"

namespace upgrader::simulation {
namespace {

std::string member(const char* name, const std::string& text) {
  return ",\"" + std::string(name) + "\":\"" + text + "\"";
}

}  // namespace

// ---- the FIFO

void ControlPipe::opened(int fd) {
  // As on Linux, a reader of the FIFO sees the end of the file only if a writer has had the FIFO
  // open since the reader opened it. The number in readers_ serves to find this out: see
  // operators.h.
  readers_.emplace(fd, writers_ == 0 ? came_ : came_ - 1);
}

void ControlPipe::closed(int fd) {
  readers_.erase(fd);
  if (readers_.empty()) bytes_.clear();
}

bool ControlPipe::readable(int fd) const {
  const auto found = readers_.find(fd);
  if (found == readers_.end()) return false;
  return !bytes_.empty() || (writers_ == 0 && came_ != found->second);
}

std::optional<std::size_t> ControlPipe::read(char* buffer, std::size_t size) {
  if (bytes_.empty()) return writers_ == 0 ? std::optional<std::size_t>(0) : std::nullopt;
  const std::size_t count = std::min(size, bytes_.size());
  std::copy_n(bytes_.begin(), count, buffer);
  bytes_.erase(0, count);
  return count;
}

bool ControlPipe::open_to_write() {
  if (!is_open()) return false;
  ++writers_;
  ++came_;
  return true;
}

void ControlPipe::close_to_write() {
  --writers_;
}

void ControlPipe::write(const std::string& text) {
  if (is_open() && bytes_.size() + text.size() <= capacity) bytes_ += text;
}

// ---- the operators

void Operators::expect(Time at, int lines, Duration stays) {
  visits_.push_back({at, lines, stays, false});
}

std::optional<Time> Operators::next() const {
  const auto first = std::min_element(visits_.begin(), visits_.end(),
                                      [](const Visit& a, const Visit& b) { return a.at < b.at; });
  return first == visits_.end() ? std::nullopt : std::optional(first->at);
}

// Takes one step of an operator's visit: begins it, writes a line, or ends it.
void Operators::act() {
  const Time now = machine_.now();
  const auto due = std::find_if(visits_.begin(), visits_.end(),
                                [now](const Visit& visit) { return visit.at <= now; });
  if (due == visits_.end()) return;
  if (!due->began && !pipe.open_to_write()) {
    visits_.erase(due);
    return;
  }
  due->began = true;
  if (due->lines == 0) {
    pipe.close_to_write();
    visits_.erase(due);
    return;
  }
  --due->lines;
  if (due->lines == 0) due->at = now + due->stays;
  if (due->lines > 0 && machine_.random.chance(20)) {
    due->at = now + Duration(machine_.random.between(0, 150));
  }
  write_one();
}

void Operators::go_home() {
  for (const Visit& visit : visits_) {
    if (visit.began) pipe.close_to_write();
  }
  visits_.clear();
}

bool Operators::confirm(const std::string& id) {
  if (!pipe.open_to_write()) return false;
  Asked asked{name(), "confirm", true, upgrader::Deed::confirm, ""};
  pipe.write(request("confirm", std::move(asked), member("id", id)) + '\n');
  pipe.close_to_write();
  return true;
}

const Asked* Operators::meaning_of(const std::string& line) const {
  const auto found = meanings_.find(line);
  return found == meanings_.end() ? nullptr : &found->second;
}

// ---- the lines that operators write

void Operators::write_one() {
  std::string line = line_of_any_kind();
  written_.push_back(line);
  // Sometimes the newline is missing. Then the line is cut off when the writer closes the FIFO, or
  // is continued by the line of the next writer.
  if (!machine_.random.chance(4)) line += '\n';
  if (the_judge != nullptr) the_judge->note("an operator writes " + line.substr(0, 100));
  pipe.write(line);
}

std::string Operators::line_of_any_kind() {
  const bool again = !written_.empty() && machine_.random.chance(12);
  if (again) return machine_.random.one_of(written_);
  if (machine_.random.chance(12)) return malformed_request();
  if (machine_.random.chance(8)) return no_request();
  return good_request();
}

// Returns a name for a request. Sometimes the name was used before.
std::string Operators::name() {
  if (names_ > 0 && machine_.random.chance(6)) {
    return "r" + std::to_string(machine_.random.between(1, names_));
  }
  return "r" + std::to_string(++names_);
}

// Returns an id for a request: mostly the id of the upgrade under way.
std::string Operators::id() {
  const std::string now = the_judge == nullptr ? "" : the_judge->id_under_way();
  if (!now.empty() && !machine_.random.chance(10)) return now;
  return machine_.random.chance(50) ? the_judge->next_request() : "sigusr2-1";
}

std::string Operators::request(const std::string& type, Asked asked, const std::string& members) {
  const std::string line =
      "{\"type\":\"" + type + "\"" + member("request", asked.name) + members + "}";
  meanings_.emplace(line, std::move(asked));
  return line;
}

std::string Operators::good_request() {
  static const std::vector<upgrader::Deed> deeds{upgrader::Deed::upgrade, upgrader::Deed::upgrade,
                                                 upgrader::Deed::upgrade, upgrader::Deed::confirm,
                                                 upgrader::Deed::confirm, upgrader::Deed::cancel,
                                                 upgrader::Deed::commit,  upgrader::Deed::rollback};
  const bool ends = machine_.random.chance(1);
  const upgrader::Deed deed = ends ? upgrader::Deed::shutdown : machine_.random.one_of(deeds);
  if (deed == upgrader::Deed::upgrade) return upgrade(name());
  const std::string type(name_of(deed));
  const std::string members = deed == upgrader::Deed::shutdown ? "" : member("id", id());
  return request(type, {name(), type, true, deed, ""}, members);
}

std::string Operators::upgrade(const std::string& name) {
  Random& random = machine_.random;
  Asked asked{name, "upgrade", true, upgrader::Deed::upgrade, ""};
  std::string members;
  if (random.chance(60)) asked.id = random.chance(15) ? id() : the_judge->next_request();
  if (!asked.id.empty()) members += member("id", asked.id);
  if (random.chance(60)) {
    members += member("executable", random.chance(30) ? "/opt/agent-healthy" : "/opt/agent-3");
  }
  if (random.chance(30)) members += member("gate", "confirm");
  if (random.chance(20)) members += member("mode", "sequential");
  if (random.chance(20)) members += member("commit", "healthy");
  if (random.chance(20)) members += member("fallback", "warm");
  if (random.chance(30)) {
    members += ",\"trial_ms\":" + std::to_string(random.chance(30) ? 0 : random.below(60'000));
  }
  if (random.chance(20)) {
    members += ",\"confirm_timeout_ms\":" + std::to_string(random.below(60'000));
  }
  // A line whose members contradict each other is malformed.
  const auto has = [&members](const char* text) { return members.find(text) != std::string::npos; };
  const bool gate = has("\"gate\"") && has("\"mode\"");
  asked.well_formed = !gate && !(has("\"commit\"") && has("\"trial_ms\":0"));
  return request("upgrade", std::move(asked), members);
}

// Returns a malformed request with a name, so that the upgrader must answer it.
std::string Operators::malformed_request() {
  Random& random = machine_.random;
  const Asked known{name(), "upgrade", false, upgrader::Deed::upgrade, ""};
  switch (random.below(4)) {
    case 0:
      return request("dance", {known.name, "dance", false, upgrader::Deed::upgrade, ""}, "");
    case 1:
      return request("upgrade", known, member("executable", "not/absolute"));
    case 2:
      return request("upgrade", known, ",\"trial_ms\":-1");
    default:
      return request("confirm", {known.name, "confirm", false, upgrader::Deed::confirm, ""}, "");
  }
}

// Returns a line that names no request, so that the upgrader cannot answer it.
std::string Operators::no_request() {
  switch (machine_.random.below(5)) {
    case 0:
      return "stop it";
    case 1:
      return R"({"type":"shutdown"})";
    case 2:
      return R"({"type":"shutdown","request":""})";
    case 3:
      return std::string(5'000, 'x');  // longer than any line may be
    default:
      return "";
  }
}

}  // namespace upgrader::simulation
