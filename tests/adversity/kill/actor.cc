// The actor is the scripted agent of the kill points (tests that signal a process at one step of an
// upgrade) and of the endurance run. It acts by itself, quickly and in the same order every time.
// It reports the lines that it reads to the driver, which is the test. It shares no code with the
// product.
//
// usage: actor [PART]
//
// PART says how the actor behaves at its start and on trial: see play_held() and play_trial(). The
// id of an upgrade says how the actor stops for that upgrade: see play_stop().
//
// ACTOR_SOCKET is the driver's abstract socket, and ACTOR_DIR is a directory. The active agent
// holds a lock on the file `active` in this directory until its process dies. If the directory has
// a file `request`, the first agent that removes this file sends the file's line to the upgrader.
// With ACTOR_STAYS set, the actor breaks the protocol: it does not exit at the end of its input.
//
// Packets to the driver: I introduction (pid and executable), L line read, E end of input, V
// violation, P answer to a ping, S served (a piece of work is done). Packets from the driver:
// `ping`, `say LINE` (send LINE to the upgrader), `serve N` (do piece of work N).
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/together/integration/puppet_rules.h"

namespace {

using puppet::type_of;

constexpr std::size_t packet_bytes_max = 70'000;
constexpr int gone_wrong = 99;
constexpr std::string_view gossip = "upgrader: what no page knows of\n";

std::string executable() {
  char path[4096];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return {path, size < 0 ? 0 : static_cast<std::size_t>(size)};
}

// The name of the executable is the agent's version.
std::string version() {
  const std::string path = executable();
  return path.substr(path.rfind('/') + 1);
}

// Returns the value of a string member of the line. Only searches for the member's name, and does
// not parse the JSON.
std::string_view text_of(std::string_view line, const std::string& member) {
  const std::string key = "\"" + member + "\":\"";
  const std::size_t at = line.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = line.substr(at + key.size());
  return rest.substr(0, rest.find('"'));
}

std::string id_member(std::string_view line) {
  return ",\"id\":\"" + std::string(text_of(line, "id")) + "\"";
}

class Actor {
 public:
  explicit Actor(std::string part);
  [[noreturn]] void run();

 private:
  void introduce();
  void read_input();
  void read_command();
  void hear(const std::string& line);
  void play_held();
  void play_active();
  void play_trial();
  void tell_that_it_stands_by();
  void play_stop(std::string_view line);
  void play_lost(std::string_view line);
  void hold_active_lock();
  void ask_as_told();
  void spam();
  void serve(const std::string& number);
  void say(std::string_view type, const std::string& members = "");
  void say_line(std::string line);
  void tell(char kind, const std::string& text);
  [[nodiscard]] bool plays(std::string_view part) const { return part_ == part; }

  const std::string part_;
  puppet::Rules rules_;
  std::string input_;
  std::string role_;
  bool active_ = false;
  long served_ = 0;
  bool reading_ = true;
  int lock_ = -1;
  // On trial: a FIFO that becomes readable when a standby (a fallback that is started at the
  // beginning of the trial) runs.
  int beside_ = -1;
  // True if this agent is active, but has not got the lock of the active agent yet.
  bool lacks_lock_ = false;
  int socket_;
};

Actor::Actor(std::string part)
    : part_(std::move(part)), socket_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
  signal(SIGPIPE, SIG_IGN);
  // Switches off the signal that the kernel sends at the upgrader's death, since the actor must
  // exit by itself when its input ends.
  prctl(PR_SET_PDEATHSIG, 0);
  const char* name = std::getenv("ACTOR_SOCKET");
  if (name == nullptr) _exit(gone_wrong);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::size_t size = strnlen(name, sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name, size);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
  if (connect(socket_, reinterpret_cast<sockaddr*>(&address), length) != 0) _exit(gone_wrong);
}

void Actor::run() {
  if (std::getenv("ACTOR_GOSSIPS") != nullptr) {
    static_cast<void>(write(2, gossip.data(), gossip.size()));
  }
  tell('I', std::to_string(getpid()) + " " + executable());
  introduce();
  for (;;) {
    pollfd polled[] = {{reading_ ? 0 : -1, POLLIN, 0}, {socket_, POLLIN, 0}, {beside_, POLLIN, 0}};
    if (poll(polled, 3, lacks_lock_ ? 1 : -1) < 0) continue;
    if (polled[0].revents != 0) read_input();
    if (polled[1].revents != 0) read_command();
    if (lacks_lock_) hold_active_lock();
    if (polled[2].revents != 0) _exit(4);
  }
}

void Actor::introduce() {
  if (plays("silent")) return;
  if (plays("spams")) spam();
  say("hello", ",\"protocol\":1,\"version\":\"" + version() + "\"");
}

// Sends lines that no agent should send: lines that are not messages, a `ready` before `hello`, and
// messages of unknown types. The caller sends a correct `hello` after them.
void Actor::spam() {
  for (int count = 0; count < 40; ++count) {
    say_line("no message at all, number " + std::to_string(count));
    say_line(R"({"type":"ready"})");
    say_line(R"({"type":"unheard-of"})");
  }
  say_line(std::string(packet_bytes_max, 'x'));
}

void Actor::read_input() {
  char part[65'536];
  const ssize_t size = read(0, part, sizeof part);
  if (size <= 0) {
    tell('E', "");
    if (std::getenv("ACTOR_STAYS") == nullptr) _exit(0);
    reading_ = false;
    return;
  }
  input_.append(part, static_cast<std::size_t>(size));
  for (std::size_t end; (end = input_.find('\n')) != std::string::npos;) {
    const std::string line = input_.substr(0, end);
    input_.erase(0, end + 1);
    hear(line);
  }
}

void Actor::hear(const std::string& line) {
  const std::string wrong = rules_.hears(line);
  if (!wrong.empty()) tell('V', wrong + ": " + line);
  tell('L', line);
  const std::string_view type = type_of(line);
  if (type == "welcome") {
    role_ = text_of(line, "role");
    play_held();
  } else if (type == "activate") {
    play_active();
  } else if (type == "stop") {
    play_stop(line);
  } else if (type == "candidate_ready") {
    say("confirm", id_member(line));
  } else if (type == "candidate_lost") {
    play_lost(line);
  }
}

// Plays an agent that has just started, and must not work yet. With some values of `part_`, a new
// version fails here. With all others, the agent says `ready`.
void Actor::play_held() {
  const bool candidate = role_ == "candidate";
  if (candidate && plays("dies-held")) _exit(3);
  if (plays("v2-is-bad") && version() == "v2") _exit(3);
  if (candidate && plays("crashes-held")) kill(getpid(), SIGSEGV);
  if (candidate && plays("dies-when-ready")) {
    say("ready");
    _exit(6);
  }
  if (candidate && (plays("unfit-held") || plays("spams"))) {
    return say("unfit", R"(,"reason":"not fit at all")");
  }
  if (candidate && plays("closes-output")) {
    close(1);
    return;
  }
  if (candidate && plays("never-ready")) return;
  say("ready");
  if (role_ == "fallback") tell_that_it_stands_by();
}

void Actor::play_active() {
  active_ = true;
  hold_active_lock();
  ask_as_told();
  if (role_ == "candidate") play_trial();
}

// Writes a byte to the FIFO `standby`. The new version, which is on trial, reads this byte, and so
// knows that a standby runs (a fallback that was started at the beginning of the trial). The FIFO
// is opened for reading and writing, so that the byte stays in it until it is read.
void Actor::tell_that_it_stands_by() {
  const int fd = open((std::string(std::getenv("ACTOR_DIR")) + "/standby").c_str(),
                      O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd >= 0) static_cast<void>(write(fd, "!", 1));
}

// Takes the lock of the active agent, which the kernel releases when this process dies. If another
// process has the lock, tries again later: that process may be about to exit.
void Actor::hold_active_lock() {
  const std::string path = std::string(std::getenv("ACTOR_DIR")) + "/active";
  const int fd = lock_ < 0 ? open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600) : lock_;
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lacks_lock_ = fcntl(fd, F_SETLK, &lock) != 0;
  if (lacks_lock_ && lock_ < 0) {
    fcntl(fd, F_GETLK, &lock);
    tell('V', "two agents are active: this one and " + std::to_string(lock.l_pid));
  }
  lock_ = fd;
}

void Actor::ask_as_told() {
  const std::string path = std::string(std::getenv("ACTOR_DIR")) + "/request";
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char text[8192];
  const ssize_t size = read(fd, text, sizeof text);
  close(fd);
  if (size <= 0 || unlink(path.c_str()) != 0) return;
  say_line(std::string(text, static_cast<std::size_t>(size)));
}

void Actor::play_trial() {
  if (plays("dies-on-trial")) _exit(4);
  if (plays("crashes-on-trial")) kill(getpid(), SIGSEGV);
  if (plays("dies-beside")) {
    beside_ = open((std::string(std::getenv("ACTOR_DIR")) + "/standby").c_str(),
                   O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    return;
  }
  if (plays("unfit-on-trial")) return say("unfit", R"(,"reason":"not fit for the work")");
  if (plays("never-healthy")) return;
  say("healthy");
}

// Stops as a word in the upgrade's id says: cleanly, uncleanly, or not at all.
void Actor::play_stop(std::string_view line) {
  const std::string_view id = text_of(line, "id");
  const bool upgrade = text_of(line, "reason") == "upgrade";
  if (upgrade && id.find("unclean") != std::string_view::npos) _exit(5);
  if (upgrade && id.find("never-stops") != std::string_view::npos) return;
  if (upgrade && id.find("waits") != std::string_view::npos) return;
  if (upgrade && id.find("cancel") != std::string_view::npos) {
    return say("cancel", id_member(line) + R"(,"reason":"not now")");
  }
  say("stopped", ",\"state\":\"left by " + version() + "\"");
  _exit(0);
}

void Actor::play_lost(std::string_view line) {
  const std::string_view id = text_of(line, "id");
  if (id.find("waits") == std::string_view::npos) return;
  say("cancel", id_member(line) + R"(,"reason":"taken back")");
}

void Actor::read_command() {
  static char packet[packet_bytes_max];
  const ssize_t size = recv(socket_, packet, sizeof packet, 0);
  if (size <= 0) _exit(0);  // the driver has ended
  const std::string command(packet, static_cast<std::size_t>(size));
  if (command == "ping") {
    tell('P', active_ ? "active " + version() : "held " + version());
  } else if (command.starts_with("say ")) {
    say_line(command.substr(4));
  } else if (command.starts_with("serve ") && active_) {
    serve(command.substr(6));
  }
}

// Reports to the driver that a piece of work is done, and sends a heartbeat to the upgrader.
void Actor::serve(const std::string& number) {
  tell('S', number);
  say("heartbeat");
  if (++served_ % 16 == 0) say("status", R"(,"text":"served )" + std::to_string(served_) + "\"");
}

void Actor::say(std::string_view type, const std::string& members) {
  say_line("{\"type\":\"" + std::string(type) + "\"" + members + "}");
}

void Actor::say_line(std::string line) {
  rules_.says(line);
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t size = write(1, line.data() + sent, line.size() - sent);
    if (size <= 0) return;  // the upgrader has ended, so the next read will find the end of input
    sent += static_cast<std::size_t>(size);
  }
}

void Actor::tell(char kind, const std::string& text) {
  const std::string packet = kind + text;
  if (send(socket_, packet.data(), packet.size(), MSG_NOSIGNAL) < 0) _exit(gone_wrong);
}

}  // namespace

int main(int argc, char** argv) {
  Actor actor(argc > 1 ? argv[1] : "good");
  actor.run();
}
