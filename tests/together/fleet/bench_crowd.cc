#include "tests/together/fleet/bench_crowd.h"

#include <curl/curl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "tests/together/fleet/etcd_cluster.h"
#include "tests/together/fleet/sim_node.h"

namespace fleet::test {
namespace {

// The maximum number of nodes, in all processes together, that may be connecting to the store at
// the same time. Without this limit, each process would make a thousand TLS handshakes at once. All
// nodes connect before a rollout is measured, so this limit does not change the measured cost.
constexpr std::size_t entering_together = 20;
constexpr std::size_t groups = 100;
constexpr std::chrono::milliseconds count_time{200};

std::int64_t steady_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::size_t board_size(std::size_t nodes) {
  return sizeof(CrowdBoard) + nodes * sizeof(NodeTimes);
}

// Maps the shared memory of all processes of the benchmark. The memory is filled with zeros at
// first.
std::pair<CrowdBoard*, std::span<NodeTimes>> map_board(int memory, std::size_t nodes) {
  void* at = mmap(nullptr, board_size(nodes), PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
  if (at == MAP_FAILED) throw std::runtime_error("no shared memory");
  auto* board = static_cast<CrowdBoard*>(at);
  return {board, {reinterpret_cast<NodeTimes*>(board + 1), nodes}};
}

// The nodes that one process of the benchmark simulates.
class Part {
 public:
  Part(CrowdCounts& counts, std::span<NodeTimes> times, std::size_t first, std::size_t count,
       std::size_t together, int lease_s, EtcdStore::Settings store)
      : counts_(counts),
        times_(times),
        next_(first),
        end_(first + count),
        together_(together),
        lease_(lease_s),
        store_(std::move(store)) {
    if (uv_loop_init(&loop_) != 0) std::abort();
  }

  [[noreturn]] void run() {
    const std::size_t to = std::min(end_, next_ + together_);
    while (next_ < to)
      add_node();
    count_connected();
    while (true)
      uv_run(&loop_, UV_RUN_ONCE);
  }

 private:
  void add_node() {
    const std::size_t number = next_++;
    EtcdStore::Settings store = store_;
    store.seed = number + 1;
    NodeTimes& times = times_[number];
    nodes_.push_back(std::make_unique<SimNode>(
        loop_,
        SimNode::Settings{.store = std::move(store),
                          .name = "n" + std::to_string(100'000 + number),
                          .group = "g" + std::to_string(number % groups),
                          .lease = std::chrono::seconds(lease_)},
        SimNode::Observer{
            .registered =
                [this] {
                  ++counts_.registered;
                  if (next_ < end_)
                    soon_ = timers_.after(std::chrono::milliseconds(0), [this] { add_waiting(); });
                },
            .ordered =
                [&times](const Command& command) {
                  if (command.action == CommandAction::prepare && times.ordered == 0)
                    times.ordered = steady_ns();
                },
            .answered =
                [&times](const NodeLedger& ledger) {
                  if (ledger.progress.phase == UpgradePhase::done && times.answered == 0)
                    times.answered = steady_ns();
                },
            .wished = [this](const std::string&) { ++counts_.wished; },
            .wrote = [this] { ++counts_.writes; },
            .asked = [this] { ++counts_.questions; },
            .renewed = [this] { ++counts_.renewals; },
            .troubled = [this](const std::string&) { ++counts_.troubles; }}));
  }

  // Starts more nodes, until the allowed number of nodes is connecting at the same time.
  void add_waiting() {
    while (next_ < end_ && nodes_.size() < counts_.registered + together_)
      add_node();
  }

  void count_connected() {
    counts_.connected = static_cast<std::uint64_t>(std::count_if(
        nodes_.begin(), nodes_.end(), [](const auto& node) { return node->is_connected(); }));
    count_ = timers_.after(count_time, [this] { count_connected(); });
  }

  CrowdCounts& counts_;
  std::span<NodeTimes> times_;
  std::size_t next_;
  std::size_t end_;
  std::size_t together_;
  int lease_;
  EtcdStore::Settings store_;
  uv_loop_t loop_{};
  UvTimers timers_{loop_};
  std::unique_ptr<Timer> soon_;
  std::unique_ptr<Timer> count_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
};

}  // namespace

Crowd::Crowd(const Settings& settings) : memory_(memfd_create("crowd", 0)) {
  const std::size_t all = settings.nodes;
  if (memory_ < 0 || ftruncate(memory_, static_cast<off_t>(board_size(all))) != 0)
    throw std::runtime_error("no shared memory");
  std::tie(board_, times_) = map_board(memory_, all);
  const std::size_t processes =
      std::min(crowd_processes_max, (all + nodes_a_process - 1) / nodes_a_process);
  for (std::size_t i = 0; i < processes; ++i) {
    const std::size_t from = all * i / processes;
    const std::size_t to = all * (i + 1) / processes;
    std::vector<std::string> words{
        "/proc/self/exe",
        crowd_word,
        std::to_string(memory_),
        std::to_string(all),
        std::to_string(i),
        std::to_string(from),
        std::to_string(to - from),
        std::to_string(std::max<std::size_t>(1, entering_together / processes)),
        std::to_string(settings.lease_s),
        settings.certificates.authority,
        settings.certificates.own,
        settings.certificates.key};
    words.insert(words.end(), settings.endpoints.begin(), settings.endpoints.end());
    pids_.push_back(start_process(std::move(words)));
  }
}

Crowd::~Crowd() {
  for (const pid_t pid : pids_)
    kill(pid, SIGKILL);
  for (const pid_t pid : pids_)
    waitpid(pid, nullptr, 0);
  munmap(board_, board_size(times_.size()));
  close(memory_);
}

std::uint64_t Crowd::sum(Count count) const {
  std::uint64_t all = 0;
  for (const CrowdCounts& one : board_->processes)
    all += one.*count;
  return all;
}

void Crowd::forget_times() {
  for (NodeTimes& one : times_) {
    one.ordered = 0;
    one.answered = 0;
  }
}

std::size_t Crowd::answered() const {
  return static_cast<std::size_t>(std::count_if(
      times_.begin(), times_.end(), [](const NodeTimes& one) { return one.answered != 0; }));
}

double Crowd::median_gap_ms(std::size_t batch) const {
  // For each node, the time of its order and the time of its answer.
  std::vector<std::pair<std::int64_t, std::int64_t>> nodes;
  for (const NodeTimes& one : times_) {
    if (one.ordered != 0 && one.answered != 0) nodes.emplace_back(one.ordered, one.answered);
  }
  std::sort(nodes.begin(), nodes.end());
  std::vector<double> gaps;
  for (std::size_t at = batch; at < nodes.size(); at += batch) {
    std::int64_t last = 0;
    for (std::size_t i = at - batch; i < at; ++i)
      last = std::max(last, nodes[i].second);
    gaps.push_back(static_cast<double>(nodes[at].first - last) / 1e6);
  }
  if (gaps.empty()) return 0;
  std::nth_element(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2),
                   gaps.end());
  return gaps[gaps.size() / 2];
}

int crowd_main(int argc, char** argv) {
  constexpr int words_min = 13;
  if (argc < words_min) return 2;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  const auto number = [argv](int i) { return std::strtoul(argv[i], nullptr, 10); };
  const auto [board, times] = map_board(static_cast<int>(number(2)), number(3));
  EtcdStore::Settings store{.endpoints = {},
                            .certificates = {argv[9], argv[10], argv[11]},
                            .deadline = std::chrono::milliseconds(60'000),
                            .is_one_of_many = true};
  for (int i = words_min - 1; i < argc; ++i)
    store.endpoints.emplace_back(argv[i]);
  auto part = std::make_unique<Part>(board->processes.at(number(4)), times, number(5), number(6),
                                     number(7), static_cast<int>(number(8)), std::move(store));
  part->run();
}

}  // namespace fleet::test
