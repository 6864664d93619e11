// An agent that breaks one rule of agent-protocol(7), which its first argument selects, and obeys
// all other rules. agent-conformance must find the broken rule. This agent shares no code with
// agent-conformance or with the library for agents.
//
// usage: double MODE
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <rapidjson/document.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;
using Message = rapidjson::Document;

std::string mode;

// Returns whether this agent was started with the argument MODE equal to `name`.
bool is(const char* name) {
  return mode == name;
}

constexpr std::size_t line_bytes_max = 65'536;
constexpr int first_private = 10;

std::string text(const Message& message, const char* name) {
  const auto found = message.FindMember(name);
  if (found == message.MemberEnd() || !found->value.IsString()) return {};
  return {found->value.GetString(), found->value.GetStringLength()};
}

bool has_text(const Message& message, const char* name) {
  return message.HasMember(name) && message[name].IsString();
}

bool has_twice(const Message& message, std::string_view name) {
  return std::count_if(message.MemberBegin(), message.MemberEnd(),
                       [&](const auto& member) { return name == member.name.GetString(); }) > 1;
}

bool is_well_formed_stop(const Message& message) {
  const std::string reason = text(message, "reason");
  const bool is_known = reason == "upgrade" || reason == "rollback" || reason == "shutdown";
  return is_known && message.HasMember("deadline_ms") && message["deadline_ms"].IsInt64() &&
         !has_twice(message, "type");
}

class Agent {
 public:
  int run();

 private:
  void take_pipes();
  int run_alone();
  void say(const std::string& members);
  void write_all(const std::string& bytes);
  bool read_input();
  void take_bytes(std::string_view bytes);
  void take_line(const std::string& line);
  void take_broken_line(const std::string& line);
  void take(const Message& message);
  void welcome(const Message& message);
  void become_ready();
  void activate(const Message& message);
  void refuse_state(const Message& message);
  void stop(const Message& message);
  void lose_candidate(const Message& message);
  void finish();
  void behave_behind_stopped();
  void on_end_of_input();
  void on_sigterm();
  void listen_on_port(bool is_held);
  void start_child(bool keeps_output, bool keeps_variables);
  void end_child();
  void talk_while_active();
  void beat();
  [[nodiscard]] int timeout() const;
  [[noreturn]] void leave(int status);

  int input_ = -1, output_ = -1, signals_ = -1, listener_ = -1;
  pid_t child_ = 0;
  std::string unread_;
  bool skips_ = false, said_ready_ = false, active_ = false, is_stopping_ = false;
  std::string role_, upgrade_, state_;
  std::int64_t generation_ = 0;
  std::optional<Milliseconds> beat_every_;
  Clock::time_point next_beat_{}, ready_at_{};
  std::optional<Clock::time_point> leave_at_;
};

void Agent::leave(int status) {
  end_child();
  ::_exit(status);
}

// ---- messages to the upgrader

void Agent::write_all(const std::string& bytes) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t count = ::write(output_, rest.data(), rest.size());
    if (count <= 0) return;  // the nonblocking pipe is full: the rest is lost
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Agent::say(const std::string& members) {
  write_all("{\"type\":" + members + "}\n");
}

void Agent::take_pipes() {
  input_ = ::fcntl(0, F_DUPFD_CLOEXEC, first_private);
  output_ = ::fcntl(1, is("child-has-output") ? F_DUPFD : F_DUPFD_CLOEXEC, first_private);
  const int null = ::open("/dev/null", O_RDWR);
  ::dup2(null, 0);
  ::dup2(2, 1);
  ::close(null);
  if (const char* lock = std::getenv("AGENT_PROTOCOL_LOCK_FD")) {
    if (is("closes-lock"))
      ::close(std::atoi(lock));
    else
      ::fcntl(std::atoi(lock), F_SETFD, FD_CLOEXEC);
  }
  if (is("loses-words")) ::fcntl(output_, F_SETFL, O_NONBLOCK);
}

// ---- messages from the upgrader

// Reads the next messages. Returns false at the end of the input.
bool Agent::read_input() {
  if (is("reads-lines")) ::poll(nullptr, 0, 30);
  std::array<char, 200'000> bytes{};
  std::size_t size = 0;
  for (;;) {
    const ssize_t count = ::read(input_, bytes.data() + size, bytes.size() - size);
    if (count <= 0) {
      if (size == 0) return false;
      break;
    }
    size += static_cast<std::size_t>(count);
    pollfd more{.fd = input_, .events = POLLIN, .revents = 0};
    if (size == bytes.size() || ::poll(&more, 1, 0) != 1 || (more.revents & POLLIN) == 0) break;
  }
  std::string_view all(bytes.data(), size);
  if (is("reads-lines") && !all.ends_with('\n')) return true;
  const std::size_t newline = all.find('\n');
  if (is("one-message-a-read") && newline != all.npos) all = all.substr(0, newline + 1);
  take_bytes(all);
  return true;
}

void Agent::take_bytes(std::string_view bytes) {
  for (const char c : bytes) {
    if (c != '\n') {
      if (!skips_) unread_ += c;
      if (unread_.size() < line_bytes_max) continue;
      if (is("long-line-exits")) leave(9);
      skips_ = true;
      unread_.clear();
      continue;
    }
    if (!std::exchange(skips_, false)) take_line(std::exchange(unread_, {}));
  }
}

void Agent::take_broken_line(const std::string& line) {
  if (is("bad-utf8-exits") && line.find('\xff') != std::string::npos) leave(9);
  if (is("empty-line-exits") && line.empty()) leave(9);
}

void Agent::take_line(const std::string& line) {
  Message message;
  constexpr unsigned flags = rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;
  message.Parse<flags>(line.data(), line.size());
  if (message.HasParseError()) return take_broken_line(line);
  if (!message.IsObject()) return is("no-object-exits") ? leave(9) : void();
  if (!has_text(message, "type")) return is("no-type-exits") ? leave(9) : void();
  if (is("tab-exits") && line.find('\t') != std::string::npos) leave(9);
  if (is("long-state-line-exits") && line.size() > 60'000) leave(9);
  if (is("no-escaped-names") && line.find("typ\\u0065") != std::string::npos) return;
  take(message);
}

void Agent::take(const Message& message) {
  const std::string type = text(message, "type");
  if (is("unknown-member-exits") && message.HasMember("novelty")) leave(9);
  if (type == "welcome") return welcome(message);
  if (type == "activate") return activate(message);
  if (type == "stop") {
    if (is_well_formed_stop(message) || is("obeys-malformed")) stop(message);
    return;
  }
  if (type == "candidate_lost") return lose_candidate(message);
  if (type == "committed") {
    const bool is_boot = text(message, "id") == "boot";
    if (is("committed-exits") || (is("boot-committed-exits") && is_boot)) leave(9);
    return;
  }
  if (type == "error") return is("error-exits") ? leave(9) : void();
  if (type == "novelty" && is("unknown-type-exits")) leave(9);
}

// ---- while the agent is held: it has been started, and is not active yet

void Agent::welcome(const Message& message) {
  role_ = text(message, "role");
  generation_ = message["generation"].GetInt64();
  if (message.HasMember("watchdog_ms") && !is("no-heartbeats")) {
    const std::int64_t watchdog = message["watchdog_ms"].GetInt64();
    beat_every_ = Milliseconds(is("slow-heartbeats") ? watchdog * 3 / 2 : watchdog / 3);
  }
  if (is("candidate-exits") && role_ == "candidate") leave(9);
  if (is("fallback-exits") && role_ == "fallback") leave(9);
  const bool is_standby = role_ == "fallback" && !message.HasMember("failure");
  if (is("standby-exits") && is_standby) leave(9);
  if (is("standby-binds") && is_standby) listen_on_port(true);
  if (is("seventh-exits") && generation_ == 7) leave(9);
  if (is("exits-before-ready")) leave(9);
  become_ready();
}

void Agent::become_ready() {
  if (is("never-ready")) return;
  if (is("unfit")) return say("\"unfit\",\"reason\":\"no configuration\"");
  if (is("heartbeat-held")) say("\"heartbeat\"");
  if (is("held-binds") || is("held-listens")) listen_on_port(true);
  // This line of 70,000 bytes is longer than a pipe's buffer, so write() blocks until the upgrader
  // reads the line's first part. Before `ready`, that is harmless, since the upgrader waits for the
  // agent. After `ready`, write() might block while the agent should read its input.
  if (is("prints-long")) say("\"status\",\"text\":\"" + std::string(70'000, 'x') + "\"");
  say("\"ready\"");
  said_ready_ = true;
  ready_at_ = Clock::now();
  if (is("ready-twice")) say("\"ready\"");
  if (is("held-exits")) leave_at_ = Clock::now() + Milliseconds(30);
  if (is("held-closes-output")) ::close(output_);
  if (is("held-closes-input")) {
    ::close(input_);
    input_ = -1;
  }
}

void Agent::listen_on_port(bool is_held) {
  listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "conformance-double-" + std::to_string(::getpid());
  // An abstract socket: the first byte of its name is NUL.
  std::copy(name.begin(), name.end(), address.sun_path + 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (is_held && is("held-binds")) {
    sockaddr_in internet{};
    internet.sin_family = AF_INET;
    internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    internet.sin_port = htons(static_cast<std::uint16_t>(20'000 + ::getpid() % 10'000));
    ::close(listener_);
    listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ::bind(listener_, reinterpret_cast<sockaddr*>(&internet), sizeof internet);
  } else {
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
  }
  ::listen(listener_, 1);
}

// ---- while the agent is active

void Agent::refuse_state(const Message& message) {
  if (role_ != "candidate") return;
  if (is("trial-exits") && message.HasMember("trial_ms")) leave(9);
  if (!has_text(message, "state")) return is("needs-state") ? leave(9) : void();
  state_ = text(message, "state");
  const bool is_clean = message["clean"].GetBool();
  if (is("empty-state-exits") && state_.empty()) leave(9);
  if (is("unclean-exits") && !is_clean) leave(9);
  if (is("long-state-exits") && state_.size() >= 32'768) leave(9);
  if (is("emoji-exits") && state_.find("\xf0\x9f\x98\x80") != std::string::npos) leave(9);
}

void Agent::activate(const Message& message) {
  if (active_ || !message.HasMember("clean") || !message["clean"].IsBool()) return;
  refuse_state(message);
  active_ = true;
  if (is("activate-exits")) leave(9);
  if (is("late-failure-exits") && message.HasMember("failure")) leave(9);
  if (listener_ < 0) listen_on_port(false);
  if (is("right") || mode.starts_with("child-")) {
    start_child(is("child-has-output"), is("child-has-variables"));
  }
  if (is("active-closes-output")) ::close(output_);
  if (is("sigterm-kills")) {
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
  }
  next_beat_ = Clock::now();
  talk_while_active();
}

void Agent::talk_while_active() {
  if (is("prints")) write_all("2 things done\n");
  if (is("prints-object")) write_all("{\"level\":\"info\",\"text\":\"at work\"}\n");
  if (is("prints-deep")) {
    write_all("{\"type\":\"status\",\"text\":\"x\",\"of\":" + std::string(40, '[') +
              std::string(40, ']') + "}\n");
  }
  if (is("unknown-word")) say("\"alive\"");
  if (is("long-status")) say("\"status\",\"text\":\"" + std::string(300, 'x') + "\"");
  if (is("null-member")) say("\"status\",\"text\":null");
  if (is("healthy-first") && role_ == "first") say("\"healthy\"");
  if (is("hello-twice")) say("\"hello\",\"protocol\":1");
  if (is("stopped-unasked")) say("\"stopped\"");
  if (is("confirms")) say("\"confirm\",\"id\":\"u1\"");
}

// Starts a child of the agent. The child is killed when the agent ends. The child has the agent's
// output pipe open only if `keeps_output` is true, and an environment variable of the upgrader only
// if `keeps_variables` is true. It never has the agent's input pipe open.
void Agent::start_child(bool keeps_output, bool keeps_variables) {
  child_ = ::fork();
  if (child_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (keeps_variables) ::setenv("AGENT_PROTOCOL", "1", 1);
  if (!keeps_output) ::close(output_);
  ::execlp("sleep", "sleep", "600", nullptr);
  ::_exit(127);
}

void Agent::end_child() {
  if (child_ <= 0) return;
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  child_ = 0;
}

void Agent::beat() {
  if (!active_ || !beat_every_ || Clock::now() < next_beat_) return;
  next_beat_ = Clock::now() + *beat_every_;
  say("\"heartbeat\"");
}

// ---- the end of the agent

void Agent::stop(const Message& message) {
  const std::string reason = text(message, "reason");
  upgrade_ = text(message, "id");
  if (!active_ || is("ignores-stop")) return;
  if (is("ignores-shutdown") && reason == "shutdown") return;
  if (is("ignores-rollback") && reason == "rollback") return;
  if (is("exits-without-stopped")) leave(0);
  const std::int64_t deadline =
      text(message, "deadline_ms").empty() && message.HasMember("deadline_ms")
          ? message["deadline_ms"].GetInt64()
          : 1'000;
  is_stopping_ = true;
  leave_at_ = Clock::now();
  if (is("extends-a-bit")) say("\"extend\",\"ms\":1");
  if (is("extends-by-none")) say("\"extend\",\"ms\":0");
  const bool dawdles = is("dawdles") || is("extends-a-bit");
  if (dawdles && deadline < 8'000) leave_at_ = Clock::now() + Milliseconds(deadline * 3);
  if (is("right") || mode.starts_with("lost-")) leave_at_ = Clock::now() + Milliseconds(20);
}

void Agent::lose_candidate(const Message& message) {
  const std::string id = text(message, "id");
  if (!is_stopping_) return;
  if (is("lost-exits")) leave(0);
  if (!is("right") && !mode.starts_with("lost-")) return;
  is_stopping_ = false;
  leave_at_.reset();
  say("\"cancel\",\"id\":\"" + (is("lost-cancels-another") ? "u9" : id) + "\"");
  if (is("lost-cancels-and-exits")) leave(0);
  if (is("lost-cancels-and-stops")) leave_at_ = Clock::now(), is_stopping_ = true;
}

void Agent::finish() {
  if (!is("keeps-port")) ::close(listener_);
  std::string state;
  if (is("growing-state") && generation_ >= 3) {
    state = state_.empty() ? std::string(100, 'x') : state_ + state_ + state_ + state_;
  } else if (generation_ >= 1) {
    state = "of generation " + std::to_string(generation_);
  }
  if (is("state-is-number"))
    say("\"stopped\",\"state\":7");
  else
    say("\"stopped\",\"state\":\"" + state + "\"");
  behave_behind_stopped();
}

void Agent::behave_behind_stopped() {
  if (is("talks-on")) say("\"status\",\"text\":\"stopped\"");
  if (is("stopped-twice")) say("\"stopped\"");
  if (is("rest-behind")) write_all("Segmentation");
  if (is("orphan-has-output") && ::fork() == 0) {
    ::setsid();
    ::alarm(8);
    for (;;)
      ::pause();
  }
  if (is("dies-at-end")) {
    end_child();
    ::signal(SIGSEGV, SIG_DFL);
    ::raise(SIGSEGV);
  }
  if (is("lingers") || is("keeps-port")) {
    leave_at_.reset();
    if (is("keeps-port")) leave_at_ = Clock::now() + std::chrono::seconds(5);
    is_stopping_ = false;
    return;
  }
  leave(is("status-3") ? 3 : 0);
}

void Agent::on_end_of_input() {
  if (active_ && is("active-ignores-end"))
    input_ = -1;
  else if (said_ready_ && !active_ && is("held-ignores-end"))
    input_ = -1;
  else if (role_.empty() && is("early-ignores-end"))
    input_ = -1;
  else if (active_ && is("end-crashes"))
    end_child(), ::abort();
  else if (!active_ && said_ready_ && is("end-listens"))
    listen_on_port(true), leave(1);
  else
    leave(active_ ? 0 : 1);
}

void Agent::on_sigterm() {
  signalfd_siginfo info{};
  if (::read(signals_, &info, sizeof info) < 0) return;
  if (!active_ && is("held-ignores-sigterm")) return;
  if (active_ && is("active-ignores-sigterm")) return;
  leave(active_ ? 0 : 143);
}

int Agent::timeout() const {
  std::optional<Clock::time_point> next = leave_at_;
  if (active_ && beat_every_ && (!next || next_beat_ < *next)) next = next_beat_;
  if (!next) return -1;
  const auto left = std::chrono::ceil<Milliseconds>(*next - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(left, 0));
}

int Agent::run_alone() {
  if (is("alone-says-hello")) std::cout << "{\"type\":\"hello\",\"protocol\":1}" << std::endl;
  if (is("alone-exits")) return 1;
  for (;;) {
    signalfd_siginfo info{};
    if (::read(signals_, &info, sizeof info) > 0 && !is("alone-ignores-sigterm")) return 0;
  }
}

int Agent::run() {
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &mask, nullptr);
  signals_ = ::signalfd(-1, &mask, SFD_CLOEXEC);
  if (std::getenv("AGENT_PROTOCOL") == nullptr) return run_alone();
  take_pipes();
  ::unsetenv("AGENT_PROTOCOL");
  ::unsetenv("AGENT_PROTOCOL_LOCK_FD");
  if (is("exits-first")) return 9;
  if (is("banner")) write_all("double, version 1.0\n");
  if (is("ready-first")) say("\"ready\"");
  if (is("hello-malformed"))
    say("\"hello\",\"protocol\":\"1\"");
  else if (is("hello-long-version"))
    say("\"hello\",\"protocol\":1,\"version\":\"" + std::string(129, '1') + "\"");
  else if (!is("silent"))
    say("\"hello\",\"protocol\":1,\"version\":\"1.0\"");
  for (;;) {
    std::array<pollfd, 2> watched{pollfd{.fd = input_, .events = POLLIN, .revents = 0},
                                  pollfd{.fd = signals_, .events = POLLIN, .revents = 0}};
    ::poll(watched.data(), watched.size(), timeout());
    if (watched[1].revents != 0) on_sigterm();
    if (watched[0].revents != 0 && !read_input()) on_end_of_input();
    beat();
    if (!leave_at_ || Clock::now() < *leave_at_) continue;
    if (is_stopping_)
      finish();
    else
      leave(is("keeps-port") ? 0 : 9);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  mode = argv[1];
  return Agent().run();
}
