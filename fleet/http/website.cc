#include "fleet/http/website.h"

#include <algorithm>
#include <ctime>
#include <utility>

#include "fleet/agent/identity.h"
#include "fleet/agent/text_file.h"
#include "fleet/http/changes.h"
#include "fleet/http/metrics.h"
#include "fleet/http/page.h"
#include "fleet/http/route.h"

namespace fleet {
namespace {

using std::chrono::milliseconds;

// Changes within this time are told together: a person cannot read faster.
constexpr milliseconds gather_time{250};
// Shorter than what proxies and libmicrohttpd take for a dead connection.
constexpr milliseconds beat_time{15'000};
// Of a request whose record others write at the same moment.
constexpr int tries_max = 10;
constexpr milliseconds again_time{50};

ServerCertificates certificates_of(const WebsiteSettings& settings) {
  if (settings.certificate.empty()) return {};
  return {.own = content_of_file(settings.certificate),
          .key = content_of_file(settings.key),
          .authority = content_of_file(settings.authority),
          .revocations = settings.revocations.empty() ? "" : content_of_file(settings.revocations)};
}

std::optional<TimeZone> zone_named(const std::string& name) {
  if (name.find("..") != std::string::npos || name.starts_with('/')) return std::nullopt;
  const auto zone = TimeZone::parse(content_of_file("/usr/share/zoneinfo/" + name));
  if (!zone) return std::nullopt;
  return zone.value();
}

Response page_part(const std::string& path) {
  const PageFile* file = page_file(path);
  if (file == nullptr) return problem(404, "there is nothing here");
  return {.body = std::string(file->text), .type = std::string(file->type)};
}

}  // namespace

struct Website::Errand {
  HttpServer::Number number = 0;
  Request request = {};
  std::string rest = {};
  std::vector<std::string> unread = {};
  Reading reading = {};
  ConfigDecision decision = {};
  std::optional<Outcome> last = {};  // of the creation of a rollout
  int tries = 0;
};

Website::Website(const Surroundings& surroundings, const WebsiteSettings& settings)
    : world_(surroundings),
      certificates_(!settings.certificate.empty()),
      server_({.loop = world_.loop,
               .timers = world_.timers,
               .host = settings.address.host,
               .port = settings.address.port,
               .certificates = certificates_of(settings),
               .asked = [this](HttpServer::Number number,
                               const Request& request) { take(number, request); },
               .stream_ended = [this](HttpServer::Number number) { streams_.erase(number); }}) {
  beat();
}

void Website::take(HttpServer::Number number, const Request& request) {
  const Route route = route_of(request.path);
  if (auto refused = why_not_let_in(request, route, {certificates_, server_.port()})) {
    return answer(number, std::move(*refused));
  }
  switch (route.place) {
    case Place::page:
      return answer(number, page_part(request.path));
    case Place::metrics:
      world_.health.streams = static_cast<std::int64_t>(streams_.size());
      return answer(number,
                    {.body = metrics_text(world_.cell, world_.health), .type = metrics_type});
    case Place::changes:
      return begin_stream(number);
    case Place::state:
      return answer(number, state_answer(request, route.rest,
                                         {world_.mirror.records(), world_.cell, world_.health},
                                         {.now = std::time(nullptr), .zone = zone_named}));
    case Place::config:
      break;
    case Place::nowhere:
      return;  // was refused
  }
  auto errand = std::make_shared<Errand>();
  *errand = {.number = number, .request = request, .rest = route.rest};
  errand->unread = config_reads(request, route.rest);
  read_next(errand);
}

void Website::answer(HttpServer::Number number, Response response) {
  ++world_.health.responses[response.status];
  server_.answer(number, std::move(response));
}

// ---- what people set

void Website::read_next(const std::shared_ptr<Errand>& errand) {
  if (errand->unread.empty()) return decide(errand);
  const std::string key = errand->unread.back();
  errand->unread.pop_back();
  const std::weak_ptr<char> alive = alive_;
  world_.store.read({key, key.ends_with('/')}, [this, alive, errand](const Reply<Reading>& reply) {
    if (alive.expired()) return;
    if (const auto* trouble = std::get_if<Trouble>(&reply)) {
      return answer(errand->number, problem(503, "the store: " + trouble->reason));
    }
    const auto& found = std::get<Reading>(reply).found;
    auto& all = errand->reading.found;
    all.insert(all.end(), found.begin(), found.end());
    std::sort(all.begin(), all.end(),
              [](const KeyValue& one, const KeyValue& other) { return one.key < other.key; });
    read_next(errand);
  });
}

void Website::decide(const std::shared_ptr<Errand>& errand) {
  errand->decision = decide_config(
      errand->request, errand->rest, errand->reading,
      {.time = time_text(), .trace = new_instance_id().substr(0, 8), .next_event = next_event()});
  const bool writes = errand->decision.transaction || errand->decision.creation;
  if (!writes) return answer(errand->number, errand->decision.response);
  if (!world_.health.follows) {
    return answer(errand->number, problem(503, "the store: " + world_.health.trouble));
  }
  if (errand->decision.creation) return go_on(errand);
  const std::weak_ptr<char> alive = alive_;
  world_.store.commit(*errand->decision.transaction, [this, alive, errand](const Outcome& outcome) {
    if (!alive.expired()) take_outcome(errand, outcome);
  });
}

// A rollout takes several transactions, each decided on what stands there after the one before.
void Website::go_on(const std::shared_ptr<Errand>& errand) {
  const std::weak_ptr<char> alive = alive_;
  const std::string key = errand->decision.creation->key();
  world_.store.read({key}, [this, alive, errand, key](const Reply<Reading>& reply) {
    if (alive.expired()) return;
    if (const auto* trouble = std::get_if<Trouble>(&reply)) {
      return answer(errand->number,
                    problem(503,
                            "it cannot be known how much of it was written; it does not "
                            "begin half: " +
                                trouble->reason));
    }
    const KeyValue* found = std::get<Reading>(reply).find(key);
    const auto next =
        errand->decision.creation->next(found, errand->last ? &*errand->last : nullptr);
    const auto* transaction = std::get_if<Transaction>(&next);
    if (transaction == nullptr) {
      return answer(errand->number, creation_answer(errand->decision, next, found));
    }
    world_.store.commit(*transaction, [this, alive, errand](const Outcome& outcome) {
      if (alive.expired()) return;
      errand->last = outcome;
      go_on(errand);
    });
  });
}

void Website::take_outcome(const std::shared_ptr<Errand>& errand, const Outcome& outcome) {
  if (auto response = config_answer(errand->decision, outcome)) {
    return answer(errand->number, std::move(*response));
  }
  if (++errand->tries == tries_max) {
    return answer(errand->number, problem(503, errand->rest + " is written all the time"));
  }
  retries_[errand->number] = world_.timers.after(again_time, [this, errand] {
    errand->reading = {};
    errand->unread = config_reads(errand->request, errand->rest);
    const auto timer = retries_.extract(errand->number);  // lives until we are done
    read_next(errand);
  });
}

std::uint64_t Website::next_event() const {
  const std::string below = prefix_of(KeyKind::event);
  const auto& records = world_.mirror.records();
  for (auto at = records.upper_bound(below + "~"); at != records.begin();) {
    --at;
    if (!at->first.starts_with(below)) break;
    const auto key = parse_key(at->first);
    // What else somebody has written there is no event.
    if (key && key->kind == KeyKind::event) return key->number() + 1;
  }
  return 1;
}

// ---- those who follow

void Website::begin_stream(HttpServer::Number number) {
  ++world_.health.responses[200];
  streams_.insert(number);
  server_.stream(number);
  server_.push(number, hello_event(world_.mirror.revision(), world_.health.follows));
}

void Website::push_all(const std::string& text) {
  for (const HttpServer::Number number : streams_) {
    server_.push(number, text);
  }
}

void Website::take_changes(const Changes& changes) {
  if (streams_.empty()) return untold_.clear();
  untold_.insert(untold_.end(), changes.changes.begin(), changes.changes.end());
  if (tell_ == nullptr) tell_ = world_.timers.after(gather_time, [this] { push_changes(); });
}

void Website::push_changes() {
  tell_ = nullptr;
  const std::string text = changes_event(world_.mirror.revision(), std::exchange(untold_, {}));
  if (!text.empty()) push_all(text);
}

void Website::take_trouble(const std::string& reason) {
  push_all(trouble_event(reason));
}

void Website::beat() {
  push_all(":\n\n");
  beat_ = world_.timers.after(beat_time, [this] { beat(); });
}

}  // namespace fleet
