#include "tools/agentify/stop_plan.h"

#include <signal.h>

#include <algorithm>
#include <cstddef>

#include "base/signals.h"

namespace agentify {
namespace {

constexpr Duration stop_margin_max = std::chrono::seconds{1};
constexpr int stop_margin_divisor = 5;

// The most steps of a plan. A plan with more steps is probably a mistake.
constexpr std::size_t stop_steps_max = 16;

std::string complaint_about(std::string_view step, std::string_view what) {
  return "\"" + std::string(step) + "\" " + std::string(what);
}

std::variant<StopStep, std::string> parse_step(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::optional<int> signal = upgrader::parse_signal(name);
  if (!signal) return complaint_about(name, "names no signal, such as TERM or QUIT");
  StopStep step{.signal = *signal};
  if (colon == std::string_view::npos) return step;
  step.time = parse_duration(text.substr(colon + 1));
  if (!step.time || *step.time == Duration{0}) {
    return complaint_about(text, "needs a time behind its colon that is not 0");
  }
  return step;
}

}  // namespace

bool StopPlan::names(int signal) const {
  return std::any_of(steps.begin(), steps.end(),
                     [signal](const StopStep& step) { return step.signal == signal; });
}

std::variant<StopPlan, std::string> parse_stop_plan(std::string_view text) {
  StopPlan plan;
  for (bool last = false; !last;) {
    const std::size_t comma = text.find(',');
    last = comma == std::string_view::npos;
    const std::string_view part = text.substr(0, comma);
    auto parsed = parse_step(part);
    if (const auto* complaint = std::get_if<std::string>(&parsed)) return *complaint;
    const StopStep step = std::get<StopStep>(parsed);
    if (!last && !step.time) return complaint_about(part, "needs a time, since another follows");
    plan.steps.push_back(step);
    if (plan.steps.size() > stop_steps_max) return "more than 16 signals";
    if (!last) text.remove_prefix(comma + 1);
  }
  return plan;
}

StopPlan default_stop_plan() {
  return StopPlan{{StopStep{.signal = SIGTERM}}};
}

Duration stop_margin(Duration deadline) {
  return std::min(stop_margin_max, deadline / stop_margin_divisor);
}

std::vector<StopMoment> schedule(const StopPlan& plan, Time now, std::optional<Duration> deadline) {
  const Duration limit = deadline ? *deadline - stop_margin(*deadline) : stop_time_default;
  std::vector<StopMoment> moments;
  Duration passed{0};
  bool limited = true;
  for (const StopStep& step : plan.steps) {
    if (passed >= limit && !moments.empty()) break;
    moments.push_back({now + passed, step.signal});
    limited = step.time.has_value();  // only the last step may be without a time
    passed += step.time.value_or(Duration{0});
  }
  const Duration kill = limited ? std::min(passed, limit) : limit;
  moments.push_back({now + kill, SIGKILL});
  return moments;
}

}  // namespace agentify
