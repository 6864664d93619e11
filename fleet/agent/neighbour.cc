#include "fleet/agent/neighbour.h"

#include <cstring>
#include <utility>

#include "node/upgraderctl/wire/request_line.h"
#include "upgrader/core/check.h"

namespace fleet {
namespace {

// Where the system does not tell of changes, or the directory is not there yet.
constexpr std::uint64_t look_interval_ms = 1'000;

std::string ending_words(const upgraderctl::Ending& ending) {
  return ending.stage.empty() ? ending.outcome : ending.stage + ": " + ending.reason;
}

}  // namespace

Neighbour::Neighbour(uv_loop_t& loop, NodeDesk& desk, Settings settings,
                     std::function<void()> changed)
    : desk_(desk),
      component_(loop, desk, std::move(settings.component),
                 {.ask =
                      [this](const std::string& attempt, const std::string& executable) {
                        asked_ = attempt;
                        request_ = next_name();
                        upgraderctl::UpgradeRequest request{.request = request_,
                                                            .id = attempt,
                                                            .executable = executable,
                                                            .args = {},
                                                            .terms = {}};
                        request.terms.gate = "confirm";
                        return send(request);
                      },
                  .confirm =
                      [this](const std::string& attempt) {
                        return send(upgraderctl::ConfirmRequest{next_name(), attempt});
                      },
                  .cancel =
                      [this](const std::string& attempt, const std::string& reason) {
                        return send(upgraderctl::CancelRequest{next_name(), attempt, reason});
                      }}),
      control_(std::move(settings.control)),
      changed_(std::move(changed)) {
  watch(loop);
}

void Neighbour::watch(uv_loop_t& loop) {
  timer_ = upgrader::make_handle<uv_timer_t>(
      [&loop](uv_timer_t* fresh) { return uv_timer_init(&loop, fresh); });
  event_ = upgrader::make_handle<uv_fs_event_t>(
      [&loop](uv_fs_event_t* fresh) { return uv_fs_event_init(&loop, fresh); });
  UPGRADER_CHECK(timer_ != nullptr && event_ != nullptr);
  timer_->data = this;
  event_->data = this;
  const auto tick = [](uv_timer_t* handle) {
    static_cast<Neighbour*>(handle->data)->look_at_status();
  };
  UPGRADER_CHECK(uv_timer_start(timer_.get(), tick, 0, look_interval_ms) == 0);
  const auto changed = [](uv_fs_event_t* handle, const char*, int, int) {
    static_cast<Neighbour*>(handle->data)->look_at_status();
  };
  // Without it the timer finds what has changed.
  static_cast<void>(uv_fs_event_start(event_.get(), changed, control_.path().c_str(), 0));
}

// Each request is answered under a name of its own, in whichever life of ours it was sent.
std::string Neighbour::next_name() {
  return desk_.instance.substr(0, 36) + "." + std::to_string(++requests_);
}

std::string Neighbour::send(const upgraderctl::Request& request) {
  const auto line = upgraderctl::line_of(request);
  if (!line) return line.reason();
  if (const int error = control_.open(); error != 0)
    return control_.path() + " takes no requests: " + std::strerror(error);
  const upgraderctl::WriteOutcome outcome = control_.write(line.value());
  control_.close();
  if (outcome == upgraderctl::WriteOutcome::written) return "";
  return control_.path() + " takes no requests now";
}

void Neighbour::look_at_status() {
  if (desk_.active == 0) return;
  const upgraderctl::StatusFile file = control_.status();
  if (!file.status || file.status->ended) return;
  const std::string life = file.status->upgrader.started;
  const bool is_another = !life_.empty() && life_ != life;
  life_ = life;
  if (is_another) end_with_life();
  take(*file.status);
}

// What was under way in a life that is over has ended with it, and may have been told there.
void Neighbour::end_with_life() {
  request_.clear();
  if (asked_.empty() || seen_end_ == asked_) return;
  const upgraderctl::StatusFile before = control_.previous();
  if (before.status && find_ending(*before.status, asked_) != nullptr)
    return look_at_attempt(*before.status);
  seen_end_ = asked_;
  component_.upgrade_failed(asked_, "its upgrader has ended");
}

void Neighbour::take(const upgraderctl::Status& status) {
  const std::string version = status.active ? status.active->version : "";
  if (std::exchange(version_, version) != version) changed_();
  const bool is_at_rest = status.phase == "running" && status.active;
  if (!component_.is_settled()) {
    if (!is_at_rest && !status.upgrade) return;
    seen_end_ = "";
    const Upgrade before = component_.recorded();
    const upgraderctl::Ending* ending = find_ending(status, before.attempt);
    const bool is_told = before.phase == UpgradePhase::done || before.phase == UpgradePhase::failed;
    if (ending != nullptr && !is_told) {
      seen_end_ = before.attempt;
      const bool good = ending->outcome == "committed";
      return component_.settle(version, good ? before.attempt : "",
                               good ? "" : ending_words(*ending));
    }
    component_.settle(version, "", "");
    return component_.look();
  }
  look_at_answer(status);
  look_at_attempt(status);
}

// What became of the request to upgrade: a refusal is the attempt's end.
void Neighbour::look_at_answer(const upgraderctl::Status& status) {
  if (request_.empty()) return;
  const upgraderctl::Answer* answer = find_answer(status, request_);
  if (answer == nullptr) return;
  request_.clear();
  if (answer->ok == false) component_.upgrade_failed(asked_, "request: " + answer->reason);
}

void Neighbour::look_at_attempt(const upgraderctl::Status& status) {
  if (asked_.empty() || seen_end_ == asked_) return;
  if (is_under_way(status, asked_)) {
    if (status.phase == "confirming") component_.gate_reached(asked_);
    return;
  }
  const upgraderctl::Ending* ending = find_ending(status, asked_);
  if (ending == nullptr) return;
  seen_end_ = asked_;
  if (ending->outcome == "committed") {
    component_.settle(version_, asked_, "");
  } else {
    component_.upgrade_failed(asked_, ending_words(*ending));
  }
  component_.look();
}

}  // namespace fleet
