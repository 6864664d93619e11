// Asks the gates of rollouts, which decide whether a rollout may go on. A gate is a query to a
// Prometheus server, or a program on this machine. The options of the controller name the server
// and the directory of the programs. Decides nothing: see fleet/model/gates.h.
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
#include "fleet/model/driver_events.h"
#include "fleet/model/gates.h"
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
  // Breaks off all queries, and kills the programs. Does not call the functions `then` that wait
  // for their answers.
  ~Gates() = default;

  // Asks all of these gates at the same time. Later calls `then` once, when each gate has answered
  // or has exceeded its time limit.
  void ask(const AskGates& asked, Then then);

 private:
  struct Round {
    GatesAnswered answers = {};
    std::size_t missing = 0;
    Then then = {};
  };

  // The rounds that wait for one Prometheus query. In a round, all gates of one rollout are asked
  // once. While the query of a gate is under way, further rounds wait, and share the next query. So
  // even if many rollouts ask a server that does not answer, the queries occupy only few threads,
  // and other requests of the controller can still be sent.
  struct Query {
    std::vector<std::shared_ptr<Round>> asking = {};
    std::vector<std::shared_ptr<Round>> next = {};
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
  std::map<std::string, Query> queries_;  // the queries, by the names of their gates
  std::map<std::uint64_t, std::unique_ptr<HookRun>> runs_;
  std::map<std::uint64_t, std::unique_ptr<Timer>> soon_;
};

}  // namespace fleet
