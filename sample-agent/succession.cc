#include "sample-agent/succession.h"

#include <unistd.h>

#include <chrono>
#include <utility>

#include "sample-agent/words.h"

namespace sample_agent {
namespace {

using namespace std::chrono_literals;

// A self-test opens files and no more: whatever takes longer hangs.
constexpr auto self_test_limit = 5s;

// Where the system does not tell of changes they are found as soon as this.
constexpr std::uint64_t look_interval_ms = 1'000;

// After a failure that says nothing about the release.
constexpr std::uint64_t pause_ms = 10'000;

// Whether the failure is the release's own, so that trying it again is of no use.
bool blames_release(const UpgradeEnd& end) {
  if (end.stage == "request") return end.has_errno;
  return end.stage != "shutdown" && end.stage != "cancel" && end.stage != "confirm";
}

}  // namespace

Succession::Succession(uv_loop_t& loop, Settings settings, Callbacks callbacks)
    : loop_(loop),
      settings_(std::move(settings)),
      callbacks_(std::move(callbacks)),
      releases_(settings_.releases),
      failures_(settings_.state_directory),
      soon_(loop, [this] { look(); }),
      now_and_then_(loop, [this] { look(); }),
      pause_(loop, [this] { look(); }) {
  failures_.load();
}

void Succession::begin() {
  watch_.emplace(loop_, settings_.releases, "", [this] { soon_.start(0); });
  now_and_then_.start(0, look_interval_ms);
}

void Succession::upgrade_failed(const UpgradeEnd& end) {
  std::string_view id = end.id;
  const std::optional<Version> version = parse_version(cut_off(id, '/'));
  if (!version) return;  // somebody else has asked for that one
  const auto asked_for = std::exchange(chosen_, std::nullopt);
  if (!blames_release(end)) return pause_.start(pause_ms);
  const auto release = asked_for ? asked_for : releases_.find(*version);
  if (release) remember(*release, "its upgrade failed");
  soon_.start(0);
}

void Succession::look() {
  if (chosen_ || pause_.is_running()) return;
  const auto has_failed = [this](const Release& release) { return failures_.contains(release); };
  chosen_ = choose_release(releases_.list(), releases_.desired(), settings_.present, has_failed);
  if (!chosen_) return;
  self_test_.emplace(loop_, releases_.path(chosen_->version), settings_.arguments, chosen_->version,
                     self_test_limit, [this](const auto& failure) { tested(failure); });
}

void Succession::tested(const std::optional<std::string>& failure) {
  if (failure) {
    remember(*chosen_, "its self-test failed: " + *failure);
    chosen_.reset();
    return soon_.start(0);
  }
  const std::string id = to_string(chosen_->version) + "/" + std::to_string(getpid()) + "/" +
                         std::to_string(++requests_);
  if (callbacks_.ask(id, releases_.path(chosen_->version))) return;
  chosen_.reset();
  pause_.start(pause_ms);
}

void Succession::remember(const Release& release, const std::string& why) {
  callbacks_.report("release " + to_string(release.version) +
                    " is not tried again until its file changes: " + why);
  const Outcome remembered = failures_.remember(release);
  if (!remembered) callbacks_.report(remembered.reason());
}

}  // namespace sample_agent
