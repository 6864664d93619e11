// `make bench-fleet` measures the cost of the rollout itself. It uses three real members of etcd
// with mutual TLS, and the real fleet-controller. Nodes are simulated: a node is only the part of
// fleet-agent that decides (SimNode). So the measured time does not include the time that a real
// machine needs to fetch, start and observe a version.
//
// usage: bench BUILD NODES...             prints a row of a table for each number of nodes
//        bench BUILD cell SECONDS NODES   prints a row for each part of a cell's life, including
//                                         SECONDS in which no order is given
//
// Requirements (tests/judging/rows): H-70

#include <curl/curl.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "fleet/model/records/keys.h"
#include "fleet/model/records/plan_records.h"
#include "fleet/model/records/record_text.h"
#include "fleet/model/records/rollout_records.h"
#include "fleet/store/etcd_store.h"
#include "fleet/store/http2.h"
#include "fleet/store/mirror.h"
#include "fleet/store/uv_timers.h"
#include "tests/together/fleet/bench_crowd.h"
#include "tests/together/fleet/etcd_cluster.h"
#include "tests/together/fleet/sim_node.h"

namespace fleet::test {
namespace {

// ---- the cell that is measured

// In a cell with more nodes than this, each lease lasts longer, so that at most a thousand leases
// are renewed in a second.
constexpr std::size_t short_leases_max = 3'000;
constexpr int fleetctl_tries_max = 20;

// The processor time and the memory of one process.
struct ProcessUse {
  double processor_ms = 0;
  long memory_kib = 0;       // current memory, in KiB
  long most_memory_kib = 0;  // the maximum so far, in KiB
};

// Returns the processor time and the memory of a process on this machine. All values are 0 if the
// process does not exist.
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
  constexpr int skipped = 11;  // how many fields are between the name and the processor time
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

// A running process of the real fleet-controller. The destructor kills it.
class RealController {
 public:
  RealController(const std::string& build, const std::vector<std::string>& endpoints,
                 const Certificates& who, const std::string& name,
                 const std::vector<std::string>& options = {});
  RealController(const RealController&) = delete;
  RealController& operator=(const RealController&) = delete;
  ~RealController();

  [[nodiscard]] pid_t pid() const { return process_; }
  void kill();

 private:
  pid_t process_ = -1;
};

RealController::RealController(const std::string& build, const std::vector<std::string>& endpoints,
                               const Certificates& who, const std::string& name,
                               const std::vector<std::string>& options) {
  std::vector<std::string> words{build + "/fleet-controller", "--name=" + name,
                                 "--ca=" + who.authority, "--cert=" + who.own, "--key=" + who.key};
  for (const std::string& url : endpoints)
    words.push_back("--endpoint=" + url);
  words.insert(words.end(), options.begin(), options.end());
  // The controller's log is written beside its certificates.
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

// A cell for benchmarks: three real members of etcd, which use mutual TLS and sync each write to
// disk, real controllers, and simulated nodes that run in processes of their own.
class BenchBed {
 public:
  BenchBed(std::string build, std::size_t nodes);
  BenchBed(const BenchBed&) = delete;
  BenchBed& operator=(const BenchBed&) = delete;
  // The destructor does not close the loop, since this process exits soon.
  ~BenchBed() = default;

  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  [[nodiscard]] EtcdCluster& cluster() { return cluster_; }
  [[nodiscard]] Crowd& crowd() { return *crowd_; }
  [[nodiscard]] std::map<std::string, std::unique_ptr<RealController>>& controllers() {
    return controllers_;
  }

  // Starts the nodes. Waits until all nodes have registered in the cell and follow the store.
  void enter();
  void start_controller(const std::string& name);
  void publish(const std::string& version);
  // Runs fleetctl with these arguments. If fleetctl fails, ends the benchmark.
  void fleetctl(const std::string& arguments);
  // Begins a rollout over all nodes, in batches of this size and in the order of the nodes' names.
  // This order switches off the judge, which compares the failures of the old and the new version
  // and needs batches drawn at random. The judge would slow down each batch, since it looks at the
  // nodes only every ten seconds.
  void start_rollout(const std::string& name, const std::string& version, std::size_t batch);

  // Runs the loop until the condition holds.
  template <class Condition>
  void until(const Condition& condition) {
    while (!condition())
      uv_run(&loop_, UV_RUN_ONCE);
  }
  void wait(std::chrono::milliseconds time);

  // Returns the store's revision. It grows by one with each transaction that writes, so it serves
  // to count the writes.
  [[nodiscard]] Revision revision();
  // Returns the state of a rollout. If the rollout is aborted or paused, prints the reason and ends
  // the benchmark.
  [[nodiscard]] RolloutState state(const std::string& rollout);
  // Reads a record from the store. Returns its value, or an empty text if the record is absent.
  [[nodiscard]] std::string value(const std::string& key);

 private:
  [[nodiscard]] Reading read(const std::string& key);
  // Starts a timer that soon wakes the loop. The loop must check its condition again and again,
  // since the condition may depend on shared memory, and a change of that memory does not wake the
  // loop.
  void tick();

  std::string build_;
  std::size_t nodes_;
  EtcdCluster cluster_{3, EtcdCluster::Speech::tls, EtcdCluster::Peers::direct};
  uv_loop_t loop_{};
  UvTimers timers_{loop_};
  Certificates who_;
  std::unique_ptr<EtcdStore> mine_;
  std::unique_ptr<Timer> tick_;
  std::unique_ptr<Crowd> crowd_;
  std::map<std::string, std::unique_ptr<RealController>> controllers_;
};

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
  // Repeats a failed call of fleetctl, since on a busy machine the members of etcd may be too slow
  // for the first call.
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

// ---- measurements

using Clock = std::chrono::steady_clock;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// Measures these parts of a cell's life, one after the other:
// * All nodes enter the cell.
// * The nodes get no orders for a while.
// * A first rollout runs.
// * A second rollout runs, with a hundred windows (times in which nodes may be upgraded) in the
//   store. The controller that drives it and the leader of the store's members are killed
//   meanwhile.
// * A plan runs on a thousand nodes, and all nodes get a desired version.
class CellBench {
 public:
  CellBench(const std::string& build, std::size_t nodes)
      : bed_(build, nodes), batch_(std::clamp<std::size_t>(nodes / 10, 1, 1'000)) {
    for (const char* version : {"1.1.0", "1.2.0", "2.0.0"})
      bed_.publish(version);
  }

  void run(std::chrono::seconds rest) {
    std::puts(
        "| part | s | writes | writes a node | renewals a second | questions a node "
        "| controllers, s of processor | ms a node | MiB at most | members, s of processor "
        "| MiB at most |");
    std::puts("|---|---|---|---|---|---|---|---|---|---|---|");
    part("entering", [this] { bed_.enter(); });
    bed_.start_controller("c1");
    bed_.start_controller("c2");
    part("controllers begin", [this] { bed_.until([this] { return is_driven("events"); }); });
    part("rest", [&] { bed_.wait(rest); });
    part("a rollout of all", [this] { roll("r1", "1.1.0", [] {}); });
    part("a hundred windows", [this] { set_windows(); });
    part("a rollout under them, its driver and the leader killed", [this] {
      roll("r2", "1.2.0", [this] {
        kill_driver("r2");
        bed_.until([this] { return bed_.crowd().answered() >= 2 * bed_.nodes() / 3; });
        kill_leader();
      });
    });
    part("a plan over 1,000", [this] { plan(); });
    part("a desired version", [this] { desire(); });
    std::printf("%zu times a node lost the store\n",
                static_cast<std::size_t>(bed_.crowd().sum(&CrowdCounts::troubles)));
  }

 private:
  struct Sample {
    Clock::time_point time = Clock::now();
    Revision revision = 0;
    std::uint64_t renewals = 0;
    std::uint64_t questions = 0;
    ProcessUse controllers = {};
    ProcessUse members = {};
  };

  // Returns the processor time of all controllers and of all members of the store, added up, and
  // the largest memory of one process of each kind. The processor time includes the time that
  // killed processes have used: kill_driver() and kill_leader() record it before they kill a
  // process.
  [[nodiscard]] Sample sample() {
    Sample now;
    now.revision = bed_.revision();
    if (entered_) {
      now.renewals = bed_.crowd().sum(&CrowdCounts::renewals);
      now.questions = bed_.crowd().sum(&CrowdCounts::questions);
    }
    now.controllers.processor_ms = gone_controllers_ms_;
    now.members.processor_ms = gone_members_ms_;
    const auto add = [](ProcessUse& all, const ProcessUse& one) {
      all.processor_ms += one.processor_ms;
      all.memory_kib = std::max(all.memory_kib, one.memory_kib);
      all.most_memory_kib = std::max(all.most_memory_kib, one.most_memory_kib);
    };
    for (const auto& [name, controller] : bed_.controllers())
      add(now.controllers, use_of(controller->pid()));
    for (std::size_t i = 0; i < bed_.cluster().count(); ++i)
      add(now.members, use_of(bed_.cluster().process(i)));
    return now;
  }

  void part(const char* name, const std::function<void()>& deed) {
    const Sample before = sample();
    deed();
    entered_ = true;
    const Sample after = sample();
    const auto n = static_cast<double>(bed_.nodes());
    const double seconds = seconds_between(before.time, after.time);
    const auto writes = static_cast<double>(after.revision - before.revision);
    const double controllers_ms = after.controllers.processor_ms - before.controllers.processor_ms;
    const double members_ms = after.members.processor_ms - before.members.processor_ms;
    std::printf("| %s | %.1f | %.0f | %.2f | %.0f | %.2f | %.1f | %.2f | %ld | %.1f | %ld |\n",
                name, seconds, writes, writes / n,
                static_cast<double>(after.renewals - before.renewals) / seconds,
                static_cast<double>(after.questions - before.questions) / n, controllers_ms / 1e3,
                controllers_ms / n, after.controllers.most_memory_kib / 1'024, members_ms / 1e3,
                after.members.most_memory_kib / 1'024);
    std::fflush(stdout);
  }

  // ---- parts

  // Rolls out a version to all nodes. Calls `meanwhile` when a third of the nodes have reported
  // that their upgrade is done.
  void roll(const std::string& name, const std::string& version,
            const std::function<void()>& meanwhile) {
    const auto from = Clock::now();
    bed_.start_rollout(name, version, batch_);
    std::printf("%s was ordered after %.1f s\n", name.c_str(), seconds_between(from, Clock::now()));
    bed_.until([this] { return bed_.crowd().answered() >= bed_.nodes() / 3; });
    meanwhile();
    bed_.until([&] { return bed_.state(name) == RolloutState::completed; });
    std::printf("%s: %.1f ms between batches (median)\n", name.c_str(),
                bed_.crowd().median_gap_ms(batch_));
  }

  [[nodiscard]] std::string driver_of(const std::string& id) {
    const auto read = read_record<DriverRecord>(bed_.value(key_of(KeyKind::driver, {id})));
    return read ? read.value().controller : "";
  }
  [[nodiscard]] bool is_driven(const std::string& id) { return !driver_of(id).empty(); }

  void kill_driver(const std::string& rollout) {
    const std::string first = driver_of(rollout);
    RealController& killed = *bed_.controllers().at(first);
    gone_controllers_ms_ += use_of(killed.pid()).processor_ms;
    killed.kill();
    const auto from = Clock::now();
    bed_.until([&] {
      const std::string now = driver_of(rollout);
      return !now.empty() && now != first;
    });
    std::printf("another driver went on after %.1f s\n", seconds_between(from, Clock::now()));
    bed_.start_controller(first);
  }

  // Kills the leader among the store's members. Starts this member again when all nodes are
  // connected to the other members.
  void kill_leader() {
    const std::size_t leader = bed_.cluster().leader();
    gone_members_ms_ += use_of(bed_.cluster().process(leader)).processor_ms;
    bed_.cluster().kill(leader);
    const auto from = Clock::now();
    std::size_t fewest = bed_.nodes();
    const auto connected = [&] {
      const std::size_t now = bed_.crowd().sum(&CrowdCounts::connected);
      fewest = std::min(fewest, now);
      return now;
    };
    const auto soon = from + std::chrono::seconds(5);
    bed_.until([&] { return connected() < bed_.nodes() || Clock::now() > soon; });
    bed_.until([&] { return connected() == bed_.nodes(); });
    std::printf("the leader was killed: %zu nodes lost it, and all follow again after %.1f s\n",
                bed_.nodes() - fewest, seconds_between(from, Clock::now()));
    bed_.cluster().start(leader);
  }

  void plan() {
    const std::string file = bed_.cluster().directory() + "/plan.json";
    std::ofstream(file) << R"({"version": "2", "steps": [
      {"name": "fetch", "class": "any", "hook": "work"},
      {"name": "convert", "class": "together", "hook": "work"}]})";
    // The plan runs only on the first thousand nodes, which the pattern n100* selects.
    const auto from = Clock::now();
    bed_.fleetctl("plan run --name=p --target='n100*' " + file);
    std::printf("the plan was ordered after %.1f s\n", seconds_between(from, Clock::now()));
    bed_.until([this] {
      const auto plan = read_record<Plan>(bed_.value(key_of(KeyKind::plan, {"p"})));
      if (plan && plan.value().state == PlanState::stopping) std::exit(1);
      return plan && plan.value().state == PlanState::completed;
    });
  }

  void set_windows() {
    const std::string file = bed_.cluster().directory() + "/windows.json";
    std::ofstream out(file);
    for (int i = 0; i < 100; ++i) {
      out << (i == 0 ? "{\"window\": {" : ", ") << "\"g" << i
          << R"(": {"start": "00:00", "duration_s": 604800, "time_zone": "Europe/Berlin"})";
    }
    out << "}}";
    out.close();
    bed_.fleetctl("apply " + file);
  }

  void desire() {
    const auto before = bed_.crowd().sum(&CrowdCounts::wished);
    const auto from = Clock::now();
    bed_.fleetctl("desire " + std::string(SimNode::component) + " 2.0.0");
    std::printf("a version was desired after %.1f s\n", seconds_between(from, Clock::now()));
    bed_.until([&] { return bed_.crowd().sum(&CrowdCounts::wished) >= before + bed_.nodes(); });
  }

  BenchBed bed_;
  std::size_t batch_;
  bool entered_ = false;
  double gone_controllers_ms_ = 0;
  double gone_members_ms_ = 0;
};

// Measures a whole cell. Prints a row of a table for each part of the measurement, and a line for
// each process that the benchmark kills.
void measure_cell(const std::string& build, std::chrono::seconds rest, std::size_t nodes) {
  CellBench(build, nodes).run(rest);
}

// The limits that a rollout must keep: how many writes to the store it may need for each node, and
// how long the median gap between two batches may be. fleet/SCALE.md explains them.
constexpr double writes_a_node_max = 12;
constexpr double gap_ms_max = 50;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

void measure_rollout(const std::string& build, std::size_t count) {
  BenchBed bed(build, count);
  const std::size_t batch = std::clamp<std::size_t>(count / 10, 1, 1'000);
  bed.publish("1.1.0");
  auto begins = Clock::now();
  bed.enter();
  std::fprintf(stderr, "%zu nodes have entered after %.1f s\n", count, seconds_since(begins));
  bed.start_controller("c1");
  const Revision before = bed.revision();
  const std::uint64_t writes = bed.crowd().sum(&CrowdCounts::writes);
  const std::uint64_t questions = bed.crowd().sum(&CrowdCounts::questions);
  begins = Clock::now();
  bed.start_rollout("r", "1.1.0", batch);
  bed.until([&bed] { return bed.state("r") == RolloutState::completed; });
  const double took_s = seconds_since(begins);
  const auto all = static_cast<double>(bed.revision() - before);
  const auto by_nodes = static_cast<double>(bed.crowd().sum(&CrowdCounts::writes) - writes);
  const auto asked = static_cast<double>(bed.crowd().sum(&CrowdCounts::questions) - questions);
  const ProcessUse cost = use_of(bed.controllers().at("c1")->pid());
  const double gap_ms = bed.crowd().median_gap_ms(batch);
  const auto n = static_cast<double>(count);
  std::printf("| %zu | %zu | %.1f | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f | %ld |\n", count,
              batch, took_s, all / n, by_nodes / n, (all - by_nodes) / n, asked / n,
              cost.processor_ms / n, gap_ms, cost.most_memory_kib / 1'024);
  const bool met = all / n <= writes_a_node_max && gap_ms < gap_ms_max;
  std::printf(
      "result: fleet | make bench-fleet NODES=%zu | %zu nodes: %.2f writes a node, %.1f ms of the"
      " controller's processor a node, %.1f ms between batches (median) | at most 12 writes a"
      " node, under 50 ms between batches | %s\n",
      count, count, all / n, cost.processor_ms / n, gap_ms, met ? "met" : "not met");
  std::fflush(stdout);
  if (const auto troubles = bed.crowd().sum(&CrowdCounts::troubles); troubles != 0)
    std::fprintf(stderr, "%zu times a node lost the store\n", static_cast<std::size_t>(troubles));
}

// Runs `deed` in a child process. The child exits without running destructors. Returns whether the
// child exited with status 0.
bool in_child(const auto& deed) {
  const pid_t child = fork();
  if (child == 0) {
    deed();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0;
}

int measure(int argc, char** argv) {
  const auto number = [argv](int i) -> std::size_t { return std::strtoul(argv[i], nullptr, 10); };
  curl_global_init(CURL_GLOBAL_DEFAULT);
  if (argc == 5 && std::strcmp(argv[2], "cell") == 0) {
    const auto rest = std::chrono::seconds(number(3));
    return in_child([&] { measure_cell(argv[1], rest, number(4)); }) ? 0 : 1;
  }
  std::puts(
      "| nodes | a batch | whole s | writes a node | by nodes | by driver | questions a node "
      "| controller ms a node | gap ms | controller MiB |");
  std::puts("|---|---|---|---|---|---|---|---|---|---|");
  std::fflush(stdout);
  for (int i = 2; i < argc; ++i) {
    if (!in_child([&] { measure_rollout(argv[1], number(i)); })) return 1;
  }
  return 0;
}

}  // namespace

}  // namespace fleet::test

int main(int argc, char** argv) {
  if (argc > 2 && std::strcmp(argv[1], fleet::test::crowd_word) == 0)
    return fleet::test::crowd_main(argc, argv);
  if (argc < 3) {
    std::fputs("usage: bench BUILD NODES...\n       bench BUILD cell SECONDS NODES\n", stderr);
    return 2;
  }
  return fleet::test::measure(argc, argv);
}
