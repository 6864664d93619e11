#include "tests/adversity/kill/step.h"

#include <sys/syscall.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "tests/together/integration/puppet_rules.h"

namespace kill_points {
namespace {

constexpr std::size_t line_bytes_max = 65'536;
constexpr std::size_t slug_words_max = 6;

// Returns the types of the messages in these bytes, or "" if the bytes do not begin with a message.
std::string types_in(const std::string& bytes) {
  std::string types;
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = std::min(bytes.find('\n', begin), bytes.size());
    const std::string_view type =
        puppet::type_of(std::string_view(bytes).substr(begin, end - begin));
    if (type.empty()) return types;
    types += (types.empty() ? "" : "+") + std::string(type);
    begin = end + 1;
  }
  return types;
}

// Returns the beginning of a log line, without paths and long numbers, which differ in every run.
std::string slug(const std::string& line) {
  const std::string told = line.substr(line.find(' ') + 1);
  std::string words;
  std::string word;
  std::size_t count = 0;
  for (const char byte : told.substr(0, told.find('/')) + " ") {
    if (std::isalnum(static_cast<unsigned char>(byte)) != 0) {
      word += byte;
      continue;
    }
    const bool number = !word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0;
    if (!word.empty() && !(number && word.size() > 1) && count < slug_words_max) {
      words += (count++ == 0 ? "" : "-") + word;
    }
    word.clear();
  }
  return words;
}

std::string call_name(long number) {
  switch (number) {
    case SYS_read:
      return "read";
    case SYS_write:
      return "write";
    case SYS_close:
      return "close";
    case SYS_openat:
      return "openat";
    case SYS_epoll_ctl:
      return "epoll_ctl";
    case SYS_epoll_pwait:
      return "epoll_pwait";
    case SYS_wait4:
      return "wait4";
    case SYS_waitid:
      return "waitid";
    case SYS_pipe2:
      return "pipe2";
    case SYS_fcntl:
      return "fcntl";
    case SYS_clone:
      return "clone";
    case SYS_rt_sigprocmask:
      return "rt_sigprocmask";
    case SYS_ioctl:
      return "ioctl";
    case SYS_pread64:
      return "pread64";
    case SYS_newfstatat:
      return "newfstatat";
    case SYS_fsync:
      return "fsync";
    case SYS_fdatasync:
      return "fdatasync";
    case SYS_lseek:
      return "lseek";
    case SYS_faccessat2:
      return "faccessat2";
    default:
      return "call-" + std::to_string(number);
  }
}

bool is_fork(long number) {
#ifdef SYS_fork
  if (number == SYS_fork || number == SYS_vfork) return true;
#endif
  return number == SYS_clone || number == SYS_clone3;
}

bool renames_news(const Tracee& who) {
  constexpr std::size_t name_bytes = 64;
  const std::string name = Tracer::peek(who, who.args[3], name_bytes).c_str();
  return name.ends_with(".json");
}

bool is_rename(long number) {
#ifdef SYS_rename
  if (number == SYS_rename) return true;
#endif
  return number == SYS_renameat || number == SYS_renameat2;
}

}  // namespace

std::string actor(int generation) {
  return generation == 0 ? "upgrader" : "agent-" + std::to_string(generation);
}

std::string Step::name() const {
  std::string text = (after ? "after-" : "before-") + actor(who) + "-" + verb;
  if (!object.empty()) text += "-" + object;
  return text;
}

bool Step::is(int agent, std::string_view deed, std::string_view type) const {
  if (who != agent || verb != deed) return false;
  const std::string padded = "+" + object + "+";
  return padded.find("+" + std::string(type) + "+") != std::string::npos;
}

std::optional<Step> Steps::step_of(const Stop& stop) {
  const Tracee& who = stop.who;
  if (stop.what == Stop::What::ended) {
    return Step{.after = true, .who = who.generation, .verb = "ends"};
  }
  if (stop.what == Stop::What::call_begins) {
    begun_[who.pid] = step_of_call(stop);
    // The entry of a wait4() is not a step: only the return shows whether the call has reaped a
    // process.
    if (begun_[who.pid] && begun_[who.pid]->verb == "reaps") return std::nullopt;
    return begun_[who.pid];
  }
  // The step of a read() can only be found at its return, when its bytes are known. For other
  // calls, the step was found when the call began.
  std::optional<Step> step =
      who.call == SYS_read ? step_of_call(stop) : std::exchange(begun_[who.pid], std::nullopt);
  if (!step) return std::nullopt;
  step->after = true;
  step->result = who.result;
  if (step->verb == "reaps") {
    if (step->result <= 0) return std::nullopt;
    step->object = actor_of(step->result);
  }
  return step;
}

std::optional<Step> Steps::step_of_call(const Stop& stop) const {
  const Tracee& who = stop.who;
  Step step{.who = who.generation};
  if (who.call == SYS_write || who.call == SYS_read) {
    const auto size = who.call == SYS_write
                          ? static_cast<std::size_t>(who.args[2])
                          : static_cast<std::size_t>(std::max<std::int64_t>(who.result, 0));
    const bool known = who.call == SYS_write || stop.what == Stop::What::call_ends;
    const std::string bytes =
        known ? Tracer::peek(who, who.args[1], std::min(size, line_bytes_max)) : "";
    step.verb = who.call == SYS_write ? "writes" : "reads";
    // Bytes that begin like a message are one or several messages. All other bytes are a part of
    // status.json.
    if (bytes.starts_with(R"({"type":)")) step.object = types_in(bytes);
    if (!step.object.empty()) return step;
    if (who.generation == 0 && bytes.starts_with("upgrader: ")) {
      return Step{.verb = "logs", .object = slug(bytes)};
    }
  }
  if (who.call == SYS_exit_group) return Step{.who = who.generation, .verb = "exits"};
  if (who.call == SYS_execve || who.call == SYS_execveat) {
    return Step{.who = who.generation, .verb = "executes"};
  }
  return who.generation == 0 ? step_of_upgrader(who) : std::nullopt;
}

std::optional<Step> Steps::step_of_upgrader(const Tracee& who) const {
  if (is_fork(who.call)) return Step{.verb = "forks"};
  // Renames of status.json are not steps, since they come at different moments in each run.
  if (is_rename(who.call) && !renames_news(who)) return Step{.verb = "renames"};
  if (who.call == SYS_kill) {
    return Step{.verb = "kills", .object = actor_of(static_cast<std::int64_t>(who.args[0]))};
  }
  if (who.call == SYS_wait4) return Step{.verb = "reaps"};
  if (every_call_) return Step{.verb = "calls", .object = call_name(who.call)};
  return std::nullopt;
}

std::string Steps::actor_of(std::int64_t pid) const {
  for (const Tracee& tracee : tracer_.tracees()) {
    if (tracee.pid == pid) return actor(tracee.generation);
  }
  return "";
}

std::string Steps::numbered(const Step& step) {
  const std::string name = step.name();
  const int count = ++seen_[name];
  return count == 1 ? name : name + "-" + std::to_string(count);
}

}  // namespace kill_points
