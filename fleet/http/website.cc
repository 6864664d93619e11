#include "fleet/http/website.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "fleet/common/identity.h"
#include "fleet/common/text_file.h"
#include "fleet/http/access.h"
#include "fleet/http/message.h"
#include "fleet/http/metrics.h"
#include "fleet/http/peer.h"
#include "fleet/http/state.h"

namespace fleet {
namespace {

bool is_as_seen(const struct stat& now, const struct stat& seen) {
  return now.st_dev == seen.st_dev && now.st_ino == seen.st_ino && now.st_size == seen.st_size &&
         now.st_mtim.tv_sec == seen.st_mtim.tv_sec && now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec &&
         now.st_ctim.tv_sec == seen.st_ctim.tv_sec && now.st_ctim.tv_nsec == seen.st_ctim.tv_nsec;
}

using std::chrono::milliseconds;

// Changes are collected for this time and sent to the clients in one event. Nobody notices the
// delay.
constexpr milliseconds gather_time{250};
// The time between two beats on a stream. They keep proxies and libmicrohttpd from closing the
// connection as idle, and show the page that the stream lives: follow.js waits for three of them.
constexpr milliseconds beat_time{15'000};
// The maximum number of clients that follow the cell, since the unread text of each needs memory.
constexpr std::size_t streams_max = 50;

ServerCertificates certificates_of(const WebsiteSettings& settings) {
  if (settings.certificate.empty()) return {};
  // Send the authority's certificate, too. A joining machine needs it, since it knows only the
  // digest of the authority's key.
  return {.own = content_of_file(settings.certificate) + content_of_file(settings.authority),
          .key = content_of_file(settings.key),
          .authority = content_of_file(settings.authority)};
}

// Returns why a file for TLS cannot be used, such as `PATH: No such file or directory`. Returns an
// empty string if all can be used. Without this, libmicrohttpd would fail without a reason, or
// would refuse every client.
std::string why_no_tls(const WebsiteSettings& settings) {
  if (settings.certificate.empty()) return "";
  for (const std::string& file : {settings.certificate, settings.key, settings.authority}) {
    if (std::string why = why_unread(file); !why.empty()) return why;
  }
  const std::string certificate = content_of_file(settings.certificate);
  for (const std::string& file : {settings.certificate, settings.authority}) {
    if (const auto why = why_no_certificate(content_of_file(file)); !why.empty()) {
      return file + ": " + why;
    }
  }
  const std::string why = why_not_key_of(certificate, content_of_file(settings.key));
  return why.empty() ? "" : settings.key + ": " + why;
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

RevocationFile::RevocationFile(std::string path) : path_(std::move(path)) {
  look();
}

// Reads the file if it has changed. Calls stat() first, so that a change during the reading is seen
// by the next call.
bool RevocationFile::look() {
  if (path_.empty()) return false;
  struct stat now = {};
  if (::stat(path_.c_str(), &now) != 0) {
    trouble_ = path_ + ": " + std::strerror(errno);
    seen_ = {};
    return false;
  }
  if (is_as_seen(now, seen_)) return false;
  seen_ = now;
  std::string list = content_of_file(path_);
  const bool is_good = is_revocation_list(list);
  trouble_ = is_good ? "" : path_ + ": not a list of revoked certificates in PEM";
  if (!is_good) seen_ = {};  // read the file again next time, even if it has not changed
  if (!is_good || list == list_) return false;
  list_ = std::move(list);
  return true;
}

Website::Website(const Surroundings& surroundings, const WebsiteSettings& settings)
    : world_(surroundings),
      certificates_(!settings.certificate.empty()),
      desired_(settings.desired),
      revocations_(settings.revocations),
      error_(why_no_tls(settings)),
      joins_({.store = world_.store,
              .timers = world_.timers,
              .mirror = world_.mirror,
              .answer = [this](HttpServer::Number number,
                               Response response) { answer(number, std::move(response)); }}),
      server_({.loop = world_.loop,
               .timers = world_.timers,
               .host = settings.address.host,
               .port = settings.address.port,
               .certificates = certificates_of(settings),
               .asked = [this](HttpServer::Number number,
                               const Request& request) { take(number, request); },
               .stream_ended = [this](HttpServer::Number number) { streams_.erase(number); },
               .revocations =
                   [this] {
                     look_at_revocations();
                     return revocations_.list();
                   }}) {
  if (error_.empty()) error_ = revocations_.trouble();
  if (error_.empty()) error_ = server_.error();
  beat();
}

void Website::take(HttpServer::Number number, const Request& request) {
  const Route route = route_of(request.path);
  if (route.place == Place::join && certificates_) return joins_.take(number, request);
  if (auto refused = why_not_let_in(request, route, {certificates_, server_.port()})) {
    return answer(number, std::move(*refused));
  }
  if (auto refused = why_not_enrolled(request.visitor)) {
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
      return begin_stream(number, request);
    case Place::state:
      return answer(
          number,
          state_answer(request, route.rest, {world_.mirror.records(), world_.cell, world_.health},
                       {.now = std::time(nullptr), .zone = zone_named, .desired = desired_}));
    case Place::config:
    case Place::apply:
      return begin_errand(number, request, route);
    case Place::join:
      return answer(number, problem(404, "machines join a controller that uses TLS"));
    case Place::nowhere:
      return;  // cannot happen: why_not_let_in() has refused this
  }
}

void Website::answer(HttpServer::Number number, Response response) {
  ++world_.health.responses[response.status];
  server_.answer(number, std::move(response));
}

// ---- admission of clients

std::optional<Response> Website::why_not_enrolled(const std::optional<Visitor>& visitor) const {
  if (!visitor) return std::nullopt;  // without TLS, clients have no certificates
  const auto key = identity_key(visitor->name);
  const KeyValue* record = key ? world_.mirror.find(*key) : nullptr;
  return fleet::why_not_enrolled(*visitor, record, world_.mirror.revision() != 0);
}

// ---- clients that follow the cell

void Website::begin_stream(HttpServer::Number number, const Request& request) {
  if (streams_.size() >= streams_max) {
    return answer(number, problem(503, std::to_string(streams_max) +
                                           " clients follow the cell already; ask again later"));
  }
  ++world_.health.responses[200];
  streams_[number] = request.visitor;
  server_.stream(number);
  server_.push(number, hello_events(world_.mirror.revision(), world_.health));
}

void Website::push_all(const std::string& text) {
  for (const auto& [number, visitor] : streams_) {
    server_.push(number, text);
  }
}

void Website::take_changes(const Changes& changes) {
  joins_.take_changes(changes);
  if (streams_.empty()) return untold_.clear();
  const bool is_about_people =
      std::any_of(changes.changes.begin(), changes.changes.end(), [](const Change& change) {
        return change.now.key.starts_with(prefix_of(KeyKind::identity));
      });
  if (is_about_people) end_streams_of_revoked();
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

// Ends the streams of clients that were revoked or whose certificates have expired.
void Website::end_streams_of_revoked() {
  const std::int64_t now = std::time(nullptr);
  for (const auto& [number, visitor] : streams_) {
    const bool has_ended = visitor && visitor->expires <= now;
    if (has_ended || why_not_enrolled(visitor)) server_.end_stream(number);
  }
}

// Reads the revocation list. If it has changed, ends the streams of all clients; those with good
// certificates connect again.
void Website::look_at_revocations() {
  const std::string before = revocations_.trouble();
  const bool is_another = revocations_.look();
  const std::string& trouble = revocations_.trouble();
  if (!trouble.empty() && trouble != before) {
    std::fprintf(stderr, "fleet-controller: %s; the list that was read before is kept\n",
                 trouble.c_str());
  }
  if (!is_another) return;
  for (const auto& [number, visitor] : streams_) {
    server_.end_stream(number);
  }
}

void Website::beat() {
  look_at_revocations();
  end_streams_of_revoked();
  push_all(beat_event(world_.mirror.revision(), world_.health.follows));
  beat_ = world_.timers.after(beat_time, [this] { beat(); });
}

}  // namespace fleet
