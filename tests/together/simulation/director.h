// The director controls the end of a run. It injects no more faults, and all agents cooperate. The
// upgrader must come to rest, and a good upgrade must be committed. At the very end the upgrader
// gets a signal to stop. In a guided run, the director first lets the guide choose
// each step: see guide.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tests/together/simulation/machine.h"
#include "upgrader/core/supervisor.h"

namespace upgrader::simulation {

// Takes the next step of a run whenever the simulated machine is at rest.
class Guide {
 public:
  virtual ~Guide() = default;
  // Takes the next step of the run. Returns false if no step is left.
  virtual bool act(const Supervisor& supervisor) = 0;
};

class Director {
 public:
  Director(Machine& machine, Guide* guide);

  // Takes the run's next step, such as a step of the guide or of an agent, the end of all faults,
  // the request for the good upgrade, or the signal to stop. Must be called when no descriptor is
  // ready and no timer has run out. Returns false if there was no step to take.
  bool act(const Supervisor* supervisor);
  // Counts an event of the supervisor. Must be called for each event.
  void count_event(const Supervisor& supervisor);
  // Returns what was wrong at the run's end, or "".
  [[nodiscard]] const std::string& complaint() const { return complaint_; }
  [[nodiscard]] bool expects_clean_end() const { return act_ == Act::stop; }

 private:
  enum class Act { faults, calm, upgrade, stop };

  void begin_calm();
  bool lead_home(const State& state);
  bool lead_agent(const Agent& agent, const State& state);
  bool go_on_from_running(const State& state);

  Machine& machine_;
  Guide* guide_;
  Act act_ = Act::faults;
  Time calm_at_;
  int calm_deeds_ = 0;
  int events_ = 0;
  int upgrade_events_ = 0;
  Generation successor_ = 0;
  std::string complaint_;
};

}  // namespace upgrader::simulation
