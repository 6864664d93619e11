#include "tests/benchmark/contender.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

namespace benchmark {
namespace {

std::string fresh_directory(const Place& place) {
  static int count = 0;
  std::string path = place.directory + "/" + std::to_string(++count);
  std::filesystem::create_directory(path);
  return path;
}

std::vector<Contender> installed(const std::vector<Contender>& wanted) {
  std::vector<Contender> found;
  for (Contender contender : wanted) {
    const auto path = find_installed(contender.argv[0]);
    if (!path) continue;
    contender.argv[0] = *path;
    found.push_back(std::move(contender));
  }
  return found;
}

// The number of the descriptor on which the agent notifies s6 that it works now. Without this
// notification, s6 pauses for a second before each restart, even if the agent has worked for a long
// time, so the hand-overs under s6 would look too slow.
constexpr char ready_descriptor[] = "3";

// Makes a service directory for runit or s6. The program `run` in this directory is the agent
// itself, not a shell script.
std::string make_service(const std::string& agent, const std::string& directory) {
  std::string service = directory + "/service";
  std::filesystem::create_directory(service);
  std::filesystem::create_symlink(agent, service + "/run");
  std::ofstream(service + "/notification-fd") << ready_descriptor << "\n";
  return service;
}

Command command_of(const Contender& contender, const Task& task, const std::string& agent,
                   const std::string& directory) {
  Command command{.argv = contender.argv, .settings = {}, .log = directory + "/log"};
  const bool serves = contender.kind == Contender::Kind::service;
  if (contender.as_service) {
    const std::string link = directory + "/current";
    std::filesystem::create_symlink(agent, link);
    for (const std::string name : {"lock", "control", "previous"})
      command.argv.push_back("--" + name + "=" + directory + "/" + name);
    command.argv.emplace_back("--relink");
    command.argv.push_back(link);
  } else {
    command.argv.push_back(serves ? make_service(agent, directory) : agent);
  }
  command.settings = {
      STAMP_PAGE "=" + directory + "/stamps",
      STAMP_HANDOVERS "=" + std::to_string(task.handovers),
      STAMP_START_MS "=" + std::to_string(task.start_ms),
      STAMP_WORK_MS "=" + std::to_string(task.work_ms),
  };
  if (task.ticks) command.settings.emplace_back(STAMP_TICKS "=1");
  if (task.fail_ms > 0) {
    command.settings.push_back(STAMP_FAIL_MS "=" + std::to_string(task.fail_ms));
  }
  // Makes the last agent of the run stay alive if the task demands it. Under runit and s6, the last
  // agent always stays alive: if it exited, these programs would start it again and again.
  if (task.stays || serves) command.settings.emplace_back(STAMP_STAYS "=1");
  if (contender.hears_ready) {
    command.settings.emplace_back(STAMP_READY_FD "=" + std::string(ready_descriptor));
  }
  if (contender.kind != Contender::Kind::upgrader) command.settings.emplace_back(STAMP_ALONE "=1");
  return command;
}

}  // namespace

Contender the_upgrader(const Place& place) {
  return {"upgrader", Contender::Kind::upgrader, {place.upgrader}};
}

Contender the_warm_upgrader(const Place& place) {
  return {"upgrader", Contender::Kind::upgrader, {place.upgrader, "--fallback=warm"}};
}

Contender the_service_upgrader(const Place& place) {
  Contender contender = the_upgrader(place);
  contender.as_service = true;
  return contender;
}

Contender the_minimal(const Place& place) {
  return {"minimal C program", Contender::Kind::upgrader, {place.minimal}};
}

Contender direct_exec() {
  return {"direct exec", Contender::Kind::command, {}};
}

std::vector<Contender> installed_reapers() {
  // With -s, tini does not warn that it does not run as process 1.
  return installed({{"tini", Contender::Kind::command, {"tini", "-s", "--"}},
                    {"tini-static", Contender::Kind::command, {"tini-static", "-s", "--"}}});
}

std::vector<Contender> installed_supervisors() {
  return installed({{"runit (runsv)", Contender::Kind::service, {"runsv"}},
                    {"s6 (s6-supervise)", Contender::Kind::service, {"s6-supervise"}, true}});
}

void StampFile::Unmap::operator()(stamp_page* page) const {
  ::munmap(page, sizeof *page);
}

StampFile::StampFile(std::string path) : path_(std::move(path)) {
  const int fd = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, sizeof(stamp_page)) != 0) give_up("cannot create " + path_);
  void* const mapped =
      ::mmap(nullptr, sizeof(stamp_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  ::close(fd);
  if (mapped == MAP_FAILED) give_up("cannot map " + path_);
  page_.reset(static_cast<stamp_page*>(mapped));
}

std::size_t StampFile::count(stamp_kind kind) const {
  std::size_t found = 0;
  for (const stamp& entry : page_->all) {
    if (__atomic_load_n(&entry.kind, __ATOMIC_ACQUIRE) == kind) ++found;
  }
  return found;
}

std::optional<std::int64_t> StampFile::time_of(stamp_kind kind, std::uint32_t generation) const {
  for (const stamp& entry : page_->all) {
    if (__atomic_load_n(&entry.kind, __ATOMIC_ACQUIRE) == kind && entry.generation == generation) {
      return entry.time_ns;
    }
  }
  return std::nullopt;
}

std::vector<Milliseconds> StampFile::from(stamp_kind last) const {
  std::vector<Milliseconds> found;
  for (std::uint32_t generation = 1;; ++generation) {
    const auto end = time_of(last, generation);
    const auto begin = time_of(stamp_activated, generation + 1);
    if (!end || !begin) return found;
    found.push_back(static_cast<double>(*begin - *end) / 1e6);
  }
}

Run::Run(const Place& place, const Contender& contender, const Task& task)
    : Run(contender, task, place.agent, fresh_directory(place)) {}

Run::Run(const Contender& contender, const Task& task, const std::string& agent,
         const std::string& directory)
    : name_(contender.name),
      ends_by_itself_(contender.kind != Contender::Kind::service && !task.stays),
      agents_(static_cast<std::size_t>(task.handovers) + 1),
      stamps_(directory + "/stamps"),
      child_(command_of(contender, task, agent, directory)) {}

void Run::wait_for_last_agent() {
  wait_until([this] { return stamps_.count(stamp_activated) == agents_; },
             "the last agent of " + name_);
}

void Run::finish() {
  if (ends_by_itself_) return child_.wait_for_success();
  wait_for_last_agent();
  end();
}

void Run::end() {
  child_.end();
}

}  // namespace benchmark
