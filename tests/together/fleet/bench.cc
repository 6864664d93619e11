// make bench-fleet: measures the cost of a rollout itself. Uses three real members of etcd with
// mutual TLS, and the real fleet-controller. A node is only the part of fleet-agent that decides
// about commands (NodeCommander), with a client of the store. The time in which a machine fetches,
// starts and observes a version is left out: here that takes no time.
// usage: bench BUILD NODES...    prints a row of a table for each number of nodes
// Rows: H-70
#include <curl/curl.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "fleet/model/keys.h"
#include "fleet/model/record_text.h"
#include "tests/together/fleet/etcd_cluster.h"
#include "tests/together/fleet/sim_node.h"

namespace fleet::test {
namespace {

constexpr std::size_t entering_together = 20;
// The limits for the cost of a rollout: see fleet/SCALE.md.
constexpr double writes_a_node_max = 12;
constexpr double gap_ms_max = 50;

using Clock = std::chrono::steady_clock;

double ms_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// Runs the real controller until end() is called, which returns its cost.
class RealController {
 public:
  RealController(const std::string& build, const EtcdCluster& cluster, const Certificates& who) {
    std::vector<std::string> words{build + "/fleet-controller", "--name=c1",
                                   "--ca=" + who.authority, "--cert=" + who.own,
                                   "--key=" + who.key};
    for (const std::string& url : cluster.endpoints())
      words.push_back("--endpoint=" + url);
    std::vector<char*> pointers;
    for (std::string& word : words)
      pointers.push_back(word.data());
    pointers.push_back(nullptr);
    process_ = fork();
    if (process_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(quiet, 2);
    execv(pointers[0], pointers.data());
    _exit(127);
  }
  RealController(const RealController&) = delete;
  RealController& operator=(const RealController&) = delete;
  ~RealController() {
    if (process_ > 0) static_cast<void>(end());
  }

  // The processor time in milliseconds, and the most memory in KiB, of the controller.
  struct Cost {
    double processor_ms = 0;
    long memory_kib = 0;
  };
  Cost end() {
    rusage used{};
    const long memory_kib = most_memory_kib();
    kill(process_, SIGTERM);
    wait4(std::exchange(process_, -1), nullptr, 0, &used);
    const auto ms = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
    };
    return {ms(used.ru_utime) + ms(used.ru_stime), memory_kib};
  }

 private:
  // Returns the most memory that the controller has used. wait4() would give a wrong value: it
  // counts the memory of this program at the fork, too.
  [[nodiscard]] long most_memory_kib() const {
    std::ifstream status("/proc/" + std::to_string(process_) + "/status");
    std::string word;
    while (status >> word && word != "VmHWM:")
      continue;
    long kib = 0;
    status >> kib;
    return kib;
  }

  pid_t process_ = -1;
};

// Measures the gaps between the batches of a rollout: from the last answer of a batch to the first
// order of the next one.
struct Course {
  // The time at which each node's last answer was in the store.
  std::map<std::string, Clock::time_point> confirmed = {};
  std::vector<std::pair<Clock::time_point, Clock::time_point>> gaps = {};
  std::optional<Clock::time_point> last_answer = {};

  void ordered(const Command& command, std::size_t batch) {
    if (command.action != CommandAction::prepare || !last_answer) return;
    if (confirmed.empty() || confirmed.size() % batch != 0) return;
    gaps.emplace_back(*last_answer, Clock::now());
    last_answer = std::nullopt;
  }
  void answered(const std::string& node, const NodeLedger& ledger) {
    if (ledger.progress.phase != UpgradePhase::done) return;
    if (confirmed.emplace(node, Clock::now()).second) last_answer = Clock::now();
  }
  [[nodiscard]] double median_gap_ms() const {
    std::vector<double> all;
    for (const auto& [from, to] : gaps)
      all.push_back(ms_between(from, to));
    if (all.empty()) return 0;
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                     all.end());
    return all[all.size() / 2];
  }
};

class Bench {
 public:
  Bench(std::string build, std::size_t count)
      : build_(std::move(build)), count_(count), batch_(std::max<std::size_t>(1, count / 10)) {
    if (uv_loop_init(&loop_) != 0) std::abort();
    who_ = cluster_.certificates("root");
    mine_ = std::make_unique<EtcdStore>(loop_, settings(0));
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  ~Bench() = default;  // the process ends with this object, so the loop is left as it is

  void run() {
    publish();
    const auto begins = Clock::now();
    enter_all();
    std::fprintf(stderr, "%zu nodes have entered after %.1f s\n", count_,
                 ms_between(begins, Clock::now()) / 1e3);
    RealController controller(build_, cluster_, who_);
    const Revision before = revision();
    const auto [writes, questions] = of_nodes();
    const auto began = Clock::now();
    start_rollout();
    until([this] { return state() == RolloutState::completed; });
    const double took_ms = ms_between(began, Clock::now());
    const Revision after = revision();
    const auto [writes_after, questions_after] = of_nodes();
    const auto cost = controller.end();
    const auto n = static_cast<double>(count_);
    const auto nodes_wrote = static_cast<double>(writes_after - writes);
    std::printf("| %zu | %zu | %.1f | %.2f | %.2f | %.2f | %.2f | %.1f | %.1f | %ld |\n", count_,
                batch_, took_ms / 1e3, static_cast<double>(after - before) / n, nodes_wrote / n,
                (static_cast<double>(after - before) - nodes_wrote) / n,
                static_cast<double>(questions_after - questions) / n, cost.processor_ms / n,
                course_.median_gap_ms(), cost.memory_kib / 1'024);
    const double writes_a_node = static_cast<double>(after - before) / n;
    const bool met = writes_a_node <= writes_a_node_max && course_.median_gap_ms() < gap_ms_max;
    std::printf(
        "result: fleet | make bench-fleet NODES=%zu | %zu nodes: %.2f writes a node, %.1f ms of the"
        " controller's processor a node, %.1f ms between batches (median) | at most 12 writes a"
        " node, under 50 ms between batches | %s\n",
        count_, count_, writes_a_node, cost.processor_ms / n, course_.median_gap_ms(),
        met ? "met" : "not met");
    std::fflush(stdout);
    if (troubles_ != 0) std::fprintf(stderr, "%zu times a node lost the store\n", troubles_);
  }

 private:
  [[nodiscard]] EtcdStore::Settings settings(std::uint64_t seed) const {
    return {.endpoints = cluster_.endpoints(),
            .certificates = who_,
            .deadline = std::chrono::milliseconds(60'000),
            .seed = seed};
  }

  void add_node(std::size_t number) {
    std::string name = "n" + std::to_string(100'000 + number);
    nodes_.push_back(std::make_unique<SimNode>(
        loop_, settings(number + 1), name,
        SimNode::Observer{
            .registered = [this] { ++registered_; },
            .ordered = [this](const Command& command) { course_.ordered(command, batch_); },
            .answered = [this, name](const NodeLedger& ledger) { course_.answered(name, ledger); },
            .troubled = [this](const std::string&) { ++troubles_; }}));
  }

  // Starts only some nodes at a time. If all began at once, this process would make a thousand TLS
  // handshakes at one moment, and their cost would be counted as that of the rollout.
  void enter_all() {
    while (nodes_.size() < count_) {
      const std::size_t to = std::min(count_, nodes_.size() + entering_together);
      while (nodes_.size() < to) {
        add_node(nodes_.size());
        nodes_.back()->enter();
      }
      until([this] { return registered_ == nodes_.size(); });
    }
  }

  template <class Condition>
  void until(const Condition& condition) {
    while (!condition())
      uv_run(&loop_, UV_RUN_ONCE);
  }

  void publish() {
    bool done = false;
    mine_->commit({.puts = {{key_of(KeyKind::release, {"agent", "1.1.0"}),
                             write_record(Release{.digest = "d", .min_protocol = 1})}}},
                  [&done](const Outcome&) { done = true; });
    until([&done] { return done; });
    rollout_ = std::make_unique<Mirror>(*mine_, timers_, Keys{key_of(KeyKind::rollout, {"r"})},
                                        Mirror::Observer{.changed = [](const Changes&) {}}, 0);
  }

  void start_rollout() {
    std::string command =
        build_ + "/fleetctl --ca=" + who_.authority + " --cert=" + who_.own + " --key=" + who_.key;
    for (const std::string& url : cluster_.endpoints())
      command += " --endpoint=" + url;
    command += " rollout start agent 1.1.0 --name=r --target='*' --soak=1ms --spread=0ms --batch=" +
               std::to_string(batch_) + " 2>&1";
    const Ran ran = test::run(command);
    if (ran.good) return;
    std::fprintf(stderr, "%s\n", ran.output.c_str());
    std::exit(1);
  }

  [[nodiscard]] RolloutState state() const {
    const KeyValue* there = rollout_->find(key_of(KeyKind::rollout, {"r"}));
    if (there == nullptr) return RolloutState::unknown;
    const auto read = read_record<Rollout>(there->value);
    if (!read) return RolloutState::unknown;
    const RolloutState state = read.value().state;
    if (state == RolloutState::aborted || state == RolloutState::paused) {
      std::fprintf(stderr, "the rollout: %s\n", read.value().reason.c_str());
      std::exit(1);
    }
    return state;
  }

  // Returns the store's revision, which grows by one with each transaction that writes.
  [[nodiscard]] Revision revision() {
    Revision found = 0;
    mine_->read({key_of(KeyKind::stop)}, [&found](const Reply<Reading>& reply) {
      found = std::get<Reading>(reply).revision;
    });
    until([&found] { return found != 0; });
    return found;
  }

  [[nodiscard]] std::pair<std::size_t, std::size_t> of_nodes() const {
    std::pair<std::size_t, std::size_t> all;
    for (const auto& node : nodes_) {
      all.first += node->writes();
      all.second += node->questions();
    }
    return all;
  }

  std::string build_;
  std::size_t count_;
  std::size_t batch_;
  EtcdCluster cluster_{3};
  uv_loop_t loop_{};
  UvTimers timers_{loop_};
  Certificates who_;
  std::unique_ptr<EtcdStore> mine_;
  std::unique_ptr<Mirror> rollout_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::size_t registered_ = 0;
  std::size_t troubles_ = 0;
  Course course_;
};

}  // namespace
}  // namespace fleet::test

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: bench BUILD NODES...\n", stderr);
    return 2;
  }
  curl_global_init(CURL_GLOBAL_DEFAULT);
  std::puts(
      "| nodes | a batch | whole s | writes a node | by nodes | by driver | questions a node "
      "| controller ms a node | gap ms | controller MiB |");
  std::puts("|---|---|---|---|---|---|---|---|---|---|");
  std::fflush(stdout);
  for (int i = 2; i < argc; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      auto* bench = new fleet::test::Bench(argv[1], std::strtoul(argv[i], nullptr, 10));
      bench->run();
      delete bench;
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) return 1;
  }
  return 0;
}
