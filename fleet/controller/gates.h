// Asks the gates of rollouts whether a new version works well. A gate is a query to Prometheus, or
// a program on this machine; options of the controller define them. fleet/model/rollouts/gates.h
// decides what an answer means.
#pragma once

#include <uv.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fleet/agent/hook_run.h"
#include "fleet/common/outside.h"
#include "fleet/model/drivers/driver_events.h"
#include "fleet/model/rollouts/gates.h"
#include "fleet/store/timers.h"

namespace fleet {

class Gates {
 public:
  struct Settings {
    std::string controller = {};  // the controller's name, for messages to people
    std::vector<PrometheusGate> prometheus = {};
    std::string programs = {};  // a directory whose programs are gates; may be empty
  };
  using Then = std::function<void(const GatesAnswered&)>;

  Gates(uv_loop_t& loop, Timers& timers, Settings settings)
      : loop_(loop),
        timers_(timers),
        settings_(std::move(settings)),
        outside_(loop, "fleet-controller") {}
  Gates(const Gates&) = delete;
  Gates& operator=(const Gates&) = delete;
  // Aborts all queries, and kills all running programs. Functions `then` that wait for answers are
  // not called.
  ~Gates() = default;

  // Asks all gates in `asked` at the same time. Calls `then` once, when each has answered or
  // exceeded its time limit.
  void ask(const AskGates& asked, Then then);

 private:
  // One question to all gates of one rollout.
  struct Round {
    GatesAnswered answers = {};
    std::size_t missing = 0;
    Then then = {};
  };

  // The rounds that wait for the answer of one Prometheus gate. At most one query of a gate is
  // under way, so that a silent server occupies only one thread. A round that begins during a query
  // waits for the next query, since the current answer may already be out of date.
  struct Query {
    std::vector<std::shared_ptr<Round>> asking = {};  // the rounds of the query under way
    std::vector<std::shared_ptr<Round>> next = {};    // the rounds of the next query
  };

  void ask(const std::string& gate, const AskGates& asked, const std::shared_ptr<Round>& round);
  void ask_next(const PrometheusGate& gate);
  void run(const std::string& gate, const AskGates& asked, const std::shared_ptr<Round>& round);
  // Makes the event loop call answer() later.
  void answer_soon(const GateStand& stand, const std::shared_ptr<Round>& round);
  static void answer(const GateStand& stand, Round& round);

  uv_loop_t& loop_;
  Timers& timers_;
  Settings settings_;
  Outside outside_;
  std::uint64_t number_ = 0;
  std::map<std::string, Query> queries_;  // the queries, by the gates' names
  std::map<std::uint64_t, std::unique_ptr<HookRun>> runs_;
  std::map<std::uint64_t, std::unique_ptr<Timer>> soon_;
};

}  // namespace fleet
