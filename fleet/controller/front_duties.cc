// Implements the duties that one controller does for the whole cell: it writes the history of
// events, sends people notices about events, and looks for new releases at their sources.
#include <algorithm>

#include "fleet/common/identity.h"
#include "fleet/common/log_line.h"
#include "fleet/common/text_file.h"
#include "fleet/controller/front.h"
#include "fleet/controller/webhook.h"
#include "fleet/model/drivers/driver.h"
#include "fleet/model/history/chronicle.h"

namespace fleet {
namespace {

// The pause after a write to the store. After it, the local copy of the records, on which the next
// step depends, usually contains the write.
constexpr std::chrono::milliseconds settle_time{200};
// How long this process waits before its exit for the store to remove the keys of its duties. If a
// key stays, other controllers must wait until its lease has run out.
constexpr std::chrono::milliseconds leases_time{2'000};

}  // namespace

// Lets the event loop call look() later: look() may destroy the Driving object that is calling this
// function.
void Front::look_soon() {
  soon_ = timers_->after(std::chrono::milliseconds(0), [this] { look(); });
}

void Front::look() {
  const Ms now = timers_->now().count();
  std::erase_if(duties_, [&](const auto& one) {
    const Driving& driving = *one.second;
    if (driving.is_over()) campaign_.ended(one.first, driving.drove(), driving.began(), now);
    return driving.is_over();
  });
  if (leaving_) {
    if (!writes_history()) end();
    return;
  }
  const std::vector<Drivable> duties{Drivable{.id = std::string(events_id)}};
  for (const Drivable& one : campaign_.to_begin(duties, mirror_->records(), now)) {
    if (!duties_.contains(one.id)) begin(one.id);
  }
  later_ = nullptr;
  if (const auto due = campaign_.next_deadline(duties, now)) {
    later_ = timers_->after(std::chrono::milliseconds(*due - now), [this] { look(); });
  }
  tell_people();
  watch_releases();
}

void Front::begin(const std::string& id) {
  const auto make = [name = settings_.controller](LeaseId lease) -> std::unique_ptr<AnyDriver> {
    return std::make_unique<DriverOf<Driver<ChronicleTask>>>(
        Driver<ChronicleTask>(name, ChronicleTask(time_text_before), lease));
  };
  duties_[id] = std::make_unique<Driving>(
      Driving::Settings{.store = *store_,
                        .timers = *timers_,
                        .lease = settings_.lease,
                        .seed = std::hash<std::string>()(settings_.controller),
                        .make = make,
                        .log =
                            [id](bool loud, const std::string& text) {
                              if (loud) log_line("fleet-controller", id + ": " + text);
                            },
                        .ended = [this] { look_soon(); }});
}

// Removes the keys of this controller's duties from the store before the exit, so that another
// controller can take over immediately.
void Front::leave() {
  leaving_ = true;
  for (const auto& [id, duty] : duties_) {
    if (!duty->is_over()) duty->leave();
  }
  left_ = timers_->after(leases_time, [this] { end(); });
  look_soon();
}

bool Front::writes_history() const {
  const auto driver = cell_.drivers().find(std::string(events_id));
  return driver != cell_.drivers().end() && driver->second == settings_.controller;
}

Revision Front::fence() const {
  const KeyValue* key = mirror_->find(key_of(KeyKind::driver, {events_id}));
  const bool ours = key != nullptr && writes_history() && duties_.contains(std::string(events_id));
  return ours ? key->created : 0;
}

void Front::tell_people() {
  const Ms now = timers_->now().count();
  auto step = notices_.next(mirror_->records(), fence() != 0, now);
  notice_ = nullptr;
  if (const auto* rest = std::get_if<Notices::Rest>(&step); rest != nullptr && rest->until) {
    notice_ =
        timers_->after(std::chrono::milliseconds(*rest->until - now), [this] { tell_people(); });
  }
  if (const auto* notice = std::get_if<Notices::Post>(&step)) return post(*notice);
  if (const auto* transaction = std::get_if<Transaction>(&step)) {
    store_->commit(*transaction, alive_.guard([this](const Outcome& outcome) {
      const std::string complaint = notices_.written(outcome, timers_->now().count());
      if (!complaint.empty()) log_line("fleet-controller", complaint);
      notice_ = timers_->after(settle_time, [this] { tell_people(); });
    }));
  }
}

// Sends a notice about an event. Reads the files with the URL and the secrets each time, so that a
// person can change them at any time.
void Front::post(const Notices::Post& post) {
  const auto file = webhook_file(post.webhook);
  const std::string url = file ? webhook_url(content_of_file(*file)) : post.webhook;
  if (url.empty()) return posted(*file + " cannot be read, or does not begin with a URL");
  std::vector<std::string> headers = cloud_event_headers(post.event, post.happened);
  if (!settings_.webhook_secret.empty()) {
    const auto secrets = webhook_secrets(content_of_file(settings_.webhook_secret));
    if (!secrets) return posted(settings_.webhook_secret + ": " + secrets.reason());
    for (std::string& header : signature_headers(
             secrets.value(), webhook_id(post.event, post.happened), std::time(nullptr), post.body))
      headers.push_back(std::move(header));
  }
  outside_->post(url, post.body, headers, [this](const OutsideAnswer& answer) {
    posted(answer.is_good() ? "" : answer.error);
  });
}

void Front::posted(const std::string& error) {
  if (!error.empty()) log_line("fleet-controller", "the webhook does not take an event: " + error);
  notices_.posted(error.empty(), timers_->now().count());
  tell_people();
}

// ---- new releases

void Front::watch_releases() {
  watch_ = nullptr;
  const auto step = watcher_.next(mirror_->records(), {.fence = fence(),
                                                       .now = timers_->now().count(),
                                                       .time = time_text(),
                                                       .trace = new_instance_id().substr(0, 8)});
  std::visit([this](const auto& what) { perform(what); }, step);
}

void Front::perform(const ReleaseWatcher::Rest& step) {
  if (!step.until) return;
  const auto rest = std::max<Ms>(*step.until - timers_->now().count(), 0);
  watch_ = timers_->after(std::chrono::milliseconds(rest), [this] { watch_releases(); });
}

void Front::perform(const ReleaseWatcher::AskSource& step) {
  outside_->get(step.url, [this, url = step.url](const OutsideAnswer& answer) {
    std::string complaint = url + ": " + answer.error;
    if (answer.is_good()) {
      complaint = watcher_.source_said(mirror_->records(), answer.body);
    } else {
      watcher_.source_failed();
    }
    if (!complaint.empty()) log_line("fleet-controller", complaint);
    look_soon();
  });
}

void Front::perform(const ReleaseWatcher::AskManifests& step) {
  source_->fetch(step.component, step.urls, step.version,
                 [this](const agent_protocol::Result<Release>& release) {
                   const auto complaint = watcher_.manifests_came(release);
                   if (!complaint.empty()) log_line("fleet-controller", complaint);
                   look_soon();
                 });
}

void Front::perform(const ReleaseWatcher::Order& step) {
  store_->commit(step.transaction, alive_.guard([this, news = step.news](const Outcome& outcome) {
    if (std::holds_alternative<Committed>(outcome)) log_line("fleet-controller", news);
    settled_ = timers_->after(settle_time, [this, outcome] {
      const std::string complaint = watcher_.written(outcome);
      if (!complaint.empty()) log_line("fleet-controller", complaint);
      look_soon();
    });
  }));
}

}  // namespace fleet
