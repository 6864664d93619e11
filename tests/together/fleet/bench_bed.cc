#include "tests/together/fleet/bench_bed.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"
#include "tests/together/fleet/sim_node.h"

namespace fleet::test {
namespace {

// In a cell with more nodes than this, each lease lasts longer. So at most a thousand leases are
// renewed in a second.
constexpr std::size_t short_leases_max = 3'000;
constexpr int fleetctl_tries_max = 20;

}  // namespace

ProcessUse use_of(pid_t process) {
  const std::string place = "/proc/" + std::to_string(process);
  ProcessUse use;
  std::ifstream stat(place + "/stat");
  const std::string line((std::istreambuf_iterator<char>(stat)), std::istreambuf_iterator<char>());
  // In /proc/PID/stat, the second field is the program's name in parentheses, which may contain
  // spaces. So the fields are counted from the closing parenthesis on.
  const std::size_t name = line.rfind(')');
  if (name == std::string::npos) return use;
  std::istringstream fields(line.substr(name + 1));
  std::string field;
  constexpr int skipped = 11;  // how many fields are before the processor time
  for (int i = 0; i < skipped; ++i)
    fields >> field;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  use.processor_ms = (user + system) * 1e3 / static_cast<double>(sysconf(_SC_CLK_TCK));
  std::ifstream status(place + "/status");
  while (status >> field) {
    if (field == "VmHWM:") status >> use.most_memory_kib;
    if (field == "VmRSS:") status >> use.memory_kib;
  }
  return use;
}

RealController::RealController(const std::string& build, const std::vector<std::string>& endpoints,
                               const Certificates& who, const std::string& name,
                               const std::vector<std::string>& options) {
  std::vector<std::string> words{build + "/fleet-controller", "--name=" + name,
                                 "--ca=" + who.authority, "--cert=" + who.own, "--key=" + who.key};
  for (const std::string& url : endpoints)
    words.push_back("--endpoint=" + url);
  words.insert(words.end(), options.begin(), options.end());
  // The controller's log is written to the directory of its certificates.
  process_ = start_process(std::move(words),
                           std::filesystem::path(who.authority).replace_filename(name + ".log"));
}

RealController::~RealController() {
  kill();
}

void RealController::kill() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  waitpid(std::exchange(process_, -1), nullptr, 0);
}

BenchBed::BenchBed(std::string build, std::size_t nodes)
    : build_(std::move(build)), nodes_(nodes), who_(cluster_.certificates("root")) {
  if (uv_loop_init(&loop_) != 0) std::abort();
  mine_ = std::make_unique<EtcdStore>(
      loop_, EtcdStore::Settings{.endpoints = cluster_.endpoints(),
                                 .certificates = who_,
                                 .deadline = std::chrono::milliseconds(60'000)});
  tick();
}

void BenchBed::tick() {
  tick_ = timers_.after(std::chrono::milliseconds(50), [this] { tick(); });
}

void BenchBed::enter() {
  crowd_ = std::make_unique<Crowd>(Crowd::Settings{.nodes = nodes_,
                                                   .lease_s = nodes_ > short_leases_max ? 60 : 30,
                                                   .certificates = who_,
                                                   .endpoints = cluster_.endpoints()});
  until([this] { return crowd_->sum(&CrowdCounts::registered) == nodes_; });
  until([this] { return crowd_->sum(&CrowdCounts::connected) == nodes_; });
}

void BenchBed::start_controller(const std::string& name) {
  controllers_[name] = std::make_unique<RealController>(build_, cluster_.endpoints(), who_, name,
                                                        std::vector<std::string>{"--observe=1"});
}

void BenchBed::publish(const std::string& version) {
  bool done = false;
  mine_->commit({.puts = {{key_of(KeyKind::release, {SimNode::component, version}),
                           write_record(Release{.digest = "d", .min_protocol = 1})}}},
                [&done](const Outcome&) { done = true; });
  until([&done] { return done; });
}

void BenchBed::fleetctl(const std::string& arguments) {
  std::string command =
      build_ + "/fleetctl --ca=" + who_.authority + " --cert=" + who_.own + " --key=" + who_.key;
  for (const std::string& url : cluster_.endpoints())
    command += " --endpoint=" + url;
  Ran ran = test::run(command + " " + arguments);
  // Repeats a failed call of fleetctl: on a busy machine, the members of etcd may be too slow for
  // the first one.
  for (int tries = 1; !ran.good && tries < fleetctl_tries_max; ++tries) {
    wait(std::chrono::milliseconds(1'000));
    ran = test::run(command + " " + arguments);
  }
  if (ran.good) return;
  std::fprintf(stderr, "fleetctl %s: %s\n", arguments.c_str(), ran.output.c_str());
  std::exit(1);
}

void BenchBed::start_rollout(const std::string& name, const std::string& version,
                             std::size_t batch) {
  crowd_->forget_times();
  fleetctl("rollout start " + std::string(SimNode::component) + " " + version + " --name=" + name +
           " --target='*' --soak=1ms --spread=0ms --order=name --batch=" + std::to_string(batch));
}

void BenchBed::wait(std::chrono::milliseconds time) {
  bool is_over = false;
  const auto timer = timers_.after(time, [&is_over] { is_over = true; });
  until([&is_over] { return is_over; });
}

Reading BenchBed::read(const std::string& key) {
  std::optional<Reading> found;
  while (!found) {
    bool done = false;
    mine_->read({key}, [&](const Reply<Reading>& reply) {
      done = true;
      if (const auto* reading = std::get_if<Reading>(&reply)) found = *reading;
    });
    until([&done] { return done; });
  }
  return *found;
}

Revision BenchBed::revision() {
  return read(key_of(KeyKind::stop)).revision;
}

std::string BenchBed::value(const std::string& key) {
  const Reading reading = read(key);
  return reading.found.empty() ? "" : reading.found.front().value;
}

RolloutState BenchBed::state(const std::string& rollout) {
  const auto read = read_record<Rollout>(value(key_of(KeyKind::rollout, {rollout})));
  if (!read) return RolloutState::unknown;
  const RolloutState state = read.value().state;
  if (state == RolloutState::aborted || state == RolloutState::paused) {
    std::fprintf(stderr, "rollout %s: %s\n", rollout.c_str(), read.value().reason.c_str());
    std::exit(1);
  }
  return state;
}

}  // namespace fleet::test
