#include "fleet/controller/front.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <fstream>
#include <utility>

#include "base/check.h"
#include "fleet/common/certificate.h"
#include "fleet/common/text_file.h"

namespace fleet {

using agent_protocol::Refusal;

void ReleaseSource::fetch(const std::string& component, std::vector<std::string> urls,
                          const std::string& version, Then then) {
  auto fetch = std::make_shared<Fetch>();
  fetch->component = component;
  fetch->urls = std::move(urls);
  fetch->version = version;
  fetch->then = std::move(then);
  fetch_next(fetch);
}

void ReleaseSource::fetch_next(const std::shared_ptr<Fetch>& fetch) {
  if (fetch->urls.empty()) {
    if (fetch->draft.version() == fetch->version)
      return fetch->then(fetch->draft.release(fetch->component));
    return fetch->then(Refusal{"its manifests are of " + fetch->draft.version()});
  }
  const std::string url = fetch->urls.back();
  fetch->urls.pop_back();
  outside_.get(url, [this, fetch, url](const OutsideAnswer& manifest) {
    if (!manifest.is_good()) return fetch->then(Refusal{url + ": " + manifest.error});
    outside_.get(url + ".minisig",
                 [this, fetch, url, text = manifest.body](const OutsideAnswer& signature) {
                   if (!signature.is_good())
                     return fetch->then(Refusal{url + ".minisig: " + signature.error});
                   const std::string why = fetch->draft.add(text, signature.body, url);
                   if (!why.empty()) return fetch->then(Refusal{url + ": " + why});
                   fetch_next(fetch);
                 });
  });
}

namespace {

// The time between two checks of the store's members and of this process.
constexpr std::chrono::milliseconds look_time{10'000};
// How long to wait for a member's answer about its own state. The wait is short, since a silent
// member is also a state to report.
constexpr std::chrono::milliseconds member_deadline{2'000};

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t pages = 0;
  file >> size >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

// Returns the name and the expiry of the first certificate in the PEM file `path`, or a `trouble`
// if there is none. `what` is the use of the certificate.
CertificateHealth certificate_health(const std::string& what, const std::string& path) {
  const std::string text = content_of_file(path);
  const auto validity = validity_of(text);
  if (!validity) return {.what = what, .trouble = path + " holds no certificate"};
  return {.what = what, .name = name_in(text).value_or(""), .expires = validity->until};
}

}  // namespace

Front::Front(FrontSettings settings) : settings_(std::move(settings)) {
  UPGRADER_CHECK(uv_loop_init(&loop_) == 0);
  timers_ = std::make_unique<UvTimers>(loop_);
  // The web server decides by its copy of the records who is let in, so the copy must not be old.
  store_ =
      std::make_unique<EtcdStore>(loop_, EtcdStore::Settings{.endpoints = settings_.endpoints,
                                                             .certificates = settings_.certificates,
                                                             .is_prompt = true});
  for (const std::string& endpoint : settings_.endpoints) {
    Member& member = members_[endpoint];
    member.store = std::make_unique<EtcdStore>(
        loop_, EtcdStore::Settings{.endpoints = {endpoint},
                                   .certificates = settings_.certificates,
                                   .deadline = member_deadline});
    member.admin = std::make_unique<EtcdAdmin>(member.store->line());
  }
  outside_ = std::make_unique<Outside>(loop_, "fleet-controller");
  source_ = std::make_unique<ReleaseSource>(*outside_);
  health_.controller = settings_.controller;
  health_.trouble = "nothing has been read yet";
  follow();
  if (settings_.website) {
    website_ = std::make_unique<Website>(
        Website::Surroundings{*store_, *timers_, loop_, *mirror_, cell_, health_},
        *settings_.website);
  }
  look_at_ourselves();
  over_ = upgrader::make_handle(uv_async_init, &loop_, this, [](uv_async_t* which) {
    static_cast<Front*>(which->data)->leave();
  });
  UPGRADER_CHECK(over_ != nullptr);
}

Front::~Front() {
  if (thread_.joinable()) {
    uv_async_send(over_.get());
    thread_.join();
  } else {
    end();
    uv_run(&loop_, UV_RUN_DEFAULT);
  }
  uv_loop_close(&loop_);
}

std::string Front::error() const {
  return website_ == nullptr ? "" : website_->error();
}

std::uint16_t Front::port() const {
  return website_ == nullptr ? std::uint16_t{0} : website_->port();
}

// Starts the thread, with all signals blocked, so that only the main thread receives signals.
void Front::start() {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { uv_run(&loop_, UV_RUN_DEFAULT); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Front::end() {
  alive_.end();
  for (auto* timer : {&look_, &soon_, &later_, &notice_, &watch_, &settled_, &left_})
    *timer = nullptr;
  outside_ = nullptr;
  duties_.clear();
  website_ = nullptr;
  mirror_ = nullptr;
  members_.clear();
  store_ = nullptr;
  over_ = nullptr;
}

void Front::follow() {
  mirror_ = std::make_unique<Mirror>(
      *store_, *timers_, Keys{std::string(key_root), true},
      Mirror::Observer{.changed = [this](const Changes& changes) { take_changes(changes); },
                       .troubled =
                           [this](const Trouble& trouble) {
                             health_.follows = false;
                             health_.trouble = trouble.reason;
                             if (website_ != nullptr) website_->take_trouble(trouble.reason);
                           }},
      std::hash<std::string>()(settings_.controller));
}

void Front::take_changes(const Changes& changes) {
  const bool is_back = !std::exchange(health_.follows, true);
  health_.revision = changes.revision;
  const UnixSeconds now = std::time(nullptr);
  for (const Change& change : changes.changes) {
    change.erased ? cell_.take_absent(change.now.key) : cell_.take(change.now, now);
  }
  if (is_back) look_at_members();
  if (website_ != nullptr) website_->take_changes(changes);
  look_soon();
}

void Front::look_at_members() {
  for (auto& [endpoint, member] : members_) {
    member.admin->status([this, endpoint = endpoint](const Reply<MemberStatus>& reply) {
      MemberHealth& health = health_.members[endpoint];
      const auto* status = std::get_if<MemberStatus>(&reply);
      health.answers = status != nullptr;
      if (status != nullptr) health.status = *status;
      health.trouble = status != nullptr ? "" : std::get<Trouble>(reply).reason;
    });
  }
}

void Front::look_at_ourselves() {
  look_at_members();
  health_.cpu_seconds = cpu_seconds();
  health_.resident_bytes = resident_bytes();
  health_.certificates.clear();
  if (!settings_.certificates.own.empty()) {
    health_.certificates.push_back(certificate_health("store", settings_.certificates.own));
    health_.certificates.push_back(
        certificate_health("authority", settings_.certificates.authority));
  }
  if (settings_.website && !settings_.website->certificate.empty()) {
    health_.certificates.push_back(certificate_health("http", settings_.website->certificate));
  }
  look_ = timers_->after(look_time, [this] { look_at_ourselves(); });
}

}  // namespace fleet
