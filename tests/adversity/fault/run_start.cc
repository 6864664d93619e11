// Begins a run: makes its directory, the programs in it, the log and init's socket, and starts the
// upgrader. See run.h.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "base/pointers.h"
#include "base/temporary_path.h"
#include "tests/adversity/fault/run.h"
#include "tests/together/integration/process_table.h"

namespace fault {
namespace {

// Returns the first record of a file of --attempts: the text, the record's number 1, and a checksum
// of text and number (FNV-1a with 32 bits).
std::string record_of(const std::string& text) {
  const std::string numbered = text + "1 ";
  std::uint32_t sum = 2'166'136'261U;
  for (const char byte : numbered)
    sum = (sum ^ static_cast<unsigned char>(byte)) * 16'777'619U;
  return numbered + std::to_string(sum) + "\n";
}

void must(bool done, const char* what) {
  if (!done) throw std::runtime_error(std::string(what) + ": " + strerror(errno));
}

void write_file(const std::string& path, const std::string& content) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
  must(fd >= 0, path.c_str());
  must(write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()), "write");
  close(fd);
}

}  // namespace

Run::Run(const Setting& setting, const Play& play, std::optional<Fault> fault)
    : setting_(setting), play_(play), fault_(std::move(fault)) {}

Run::~Run() {
  tracer_.reset();
  for (const auto& [socket, pid] : sockets_)
    close(socket);
  for (const int fd : {listener_, notify_, log_reader_, log_writer_, wake_}) {
    if (fd >= 0) close(fd);
  }
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

void Run::set_up() {
  directory_ = upgrader::temporary_path("upgrader");
  must(mkdtemp(directory_.data()) != nullptr, "mkdtemp");
  must(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "prctl");
  sigset_t told;
  sigemptyset(&told);
  sigaddset(&told, SIGCHLD);
  sigprocmask(SIG_BLOCK, &told, nullptr);
  wake_ = signalfd(-1, &told, SFD_CLOEXEC | SFD_NONBLOCK);
  install("one");
  install("two");
  if (play_.adapter) install("adapter");
  if (play_.link) must(symlink("one", path("current").c_str()) == 0, "symlink");
  if (!play_.previous.empty()) {
    must(symlink(play_.previous.c_str(), path("previous").c_str()) == 0, "symlink");
  }
  if (!play_.attempts.empty()) {
    write_file(path("previous.attempts"),
               record_of(play_.attempts + " " + path("one") + "\nnobody knows\n"));
  }
  listen();
  open_log();
  deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(setting_.patience_ms);

  tracer_ = std::make_unique<Tracer>(
      fault_,
      [this](pid_t pid) {
        agents_.push_back({.pid = pid, .number = static_cast<int>(agents_.size()) + 1});
        agents_.back().pipe = target_of(pid, 0);
      },
      setting_.shows);
  const pid_t upgrader = start_upgrader(true, path("log"));
  struct stat status {};
  fstat(log_writer_, &status);
  std::string log = path("log");
  if (play_.log == LogKind::socket) log = "socket:[" + std::to_string(status.st_ino) + "]";
  tracer_->follow(upgrader, log);
}

void Run::install(std::string_view name) {
  if (play_.script) return write_file(path(name), "#!" + setting_.puppet + "\n");
  // In a play (scripted run) with an adapter, the upgrader starts the adapter instead of the
  // agent's program. No process should execute the agent's program, so a copy of /bin/true stands
  // in for it.
  if (play_.adapter && name != "adapter") {
    return write_file(path(name), integration::read_file("/bin/true"));
  }
  // Copies the puppet, the tests' agent program, to a second file. A hard link is not enough: the
  // upgrader would consider both names to be the same executable, and an upgrade from one to the
  // other would not change the link of --previous.
  std::filesystem::copy_file(setting_.puppet, path(name));
}

void Run::replace_program(std::string_view name) {
  write_file(path("fresh"), integration::read_file(path(name)));
  must(rename(path("fresh").c_str(), path(name).c_str()) == 0, "rename");
}

void Run::point_link_at(std::string_view name) {
  unlink(path("current").c_str());
  must(symlink(std::string(name).c_str(), path("current").c_str()) == 0, "symlink");
}

void Run::listen() {
  listener_ = bound_socket(SOCK_SEQPACKET, "socket");
  must(::listen(listener_, 100) == 0, "listen");
  notify_ = bound_socket(SOCK_DGRAM, "notify");
}

// Binds the socket through a short path (/proc/self/fd), since the path of the directory may be too
// long for a socket address.
int Run::bound_socket(int type, const char* name) const {
  const int made = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int directory = open(directory_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/%s", directory, name);
  must(bind(made, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0, "bind");
  close(directory);
  return made;
}

void Run::open_log() {
  const std::string log = path("log");
  if (play_.log == LogKind::file) {
    log_writer_ = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  } else if (play_.log == LogKind::pipe) {
    must(mkfifo(log.c_str(), 0600) == 0, "mkfifo");
    log_reader_ = open(log.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    log_writer_ = open(log.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
    log_reader_ = ends[0];
    log_writer_ = ends[1];
    fcntl(log_reader_, F_SETFL, O_NONBLOCK);
  }
}

void Run::drain_log() {
  char part[4096];
  for (ssize_t size; (size = recv(notify_, part, sizeof part, MSG_DONTWAIT)) > 0;) {
    const std::string_view told(part, static_cast<std::size_t>(size));
    if (told.starts_with("READY=1\n")) init_heard_ready_ = true;
  }
  if (log_reader_ < 0) return;
  for (ssize_t size; (size = read(log_reader_, part, sizeof part)) > 0;) {
    report_.log.append(part, static_cast<std::size_t>(size));
  }
}

pid_t Run::start_upgrader(bool traced, const std::string& log) {
  Texts argv = {setting_.upgrader};
  for (const std::string& option : play_.options) {
    const bool of_file = option == "--lock=" || option == "--control=" || option == "--previous=";
    argv.push_back(of_file ? option + path(option.substr(2, option.size() - 3)) : option);
  }
  if (play_.adapter) {
    argv.push_back("--adapter=" + path("adapter"));
    argv.emplace_back("--adapter=--ready=notify");
  }
  argv.push_back(path(play_.link ? "current" : "one"));
  Texts environment = {"PATH=/usr/bin:/bin", "PUPPET_DIR=" + directory_,
                       "NOTIFY_SOCKET=" + path("notify")};
  const auto argv_pointers = upgrader::pointers_to(argv);
  const auto environment_pointers = upgrader::pointers_to(environment);
  const pid_t pid = fork();
  must(pid >= 0, "fork");
  if (pid != 0) return pid;
  dup2(traced ? log_writer_ : open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), 2);
  if (traced) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
  }
  execve(argv_pointers[0], argv_pointers.data(), environment_pointers.data());
  _exit(121);
}

}  // namespace fault
