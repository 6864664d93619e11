// Defines the part of a controller that serves people: the web server, the history of events,
// notices to people, and the search for new releases. This part has its own thread, event loop and
// connection to the store, so that its slow work never delays a driver of rollouts or plans.
#pragma once

#include <uv.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "fleet/common/outside.h"
#include "fleet/common/release_draft.h"
#include "fleet/controller/campaign.h"
#include "fleet/controller/driving.h"
#include "fleet/http/website.h"
#include "fleet/model/history/events.h"
#include "fleet/model/releases/release_watcher.h"
#include "fleet/store/alive.h"
#include "fleet/store/etcd_admin.h"

namespace fleet {

// Fetches the manifests of a new release, each with its signature, one after the other.
// release_watcher.h decides which releases are fetched.
class ReleaseSource {
 public:
  using Then = std::function<void(const agent_protocol::Result<Release>&)>;

  // `outside` sends the HTTP requests, and must live longer than this object.
  explicit ReleaseSource(Outside& outside) : outside_(outside) {}

  void fetch(const std::string& component, std::vector<std::string> urls,
             const std::string& version, Then then);

 private:
  struct Fetch {
    std::string component;
    std::vector<std::string> urls;  // the URLs of the manifests that are not fetched yet
    std::string version;
    ReleaseDraft draft;
    Then then;
  };

  void fetch_next(const std::shared_ptr<Fetch>& fetch);

  Outside& outside_;
};

struct FrontSettings {
  std::string controller = {};
  std::vector<std::string> endpoints = {};
  Certificates certificates = {};  // the certificate files for connections to the store
  std::chrono::seconds lease{15};
  std::string webhook_secret = {};  // a file of secrets; if empty, notices are not signed
  std::optional<WebsiteSettings> website = {};
};

class Front {
 public:
  explicit Front(FrontSettings settings);
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;
  ~Front();

  // Returns why the web server cannot be used, or an empty string if start() may be called.
  [[nodiscard]] std::string error() const;
  [[nodiscard]] std::uint16_t port() const;
  void start();

 private:
  struct Member {
    std::unique_ptr<EtcdStore> store;
    std::unique_ptr<EtcdAdmin> admin;
  };

  void follow();
  void look_at_members();
  void look_at_ourselves();
  void take_changes(const Changes& changes);
  void look_soon();
  void look();
  void begin(const std::string& id);
  void tell_people();
  void post(const Notices::Post& post);
  void posted(const std::string& error);
  void watch_releases();
  void perform(const ReleaseWatcher::AskSource& step);
  void perform(const ReleaseWatcher::AskManifests& step);
  void perform(const ReleaseWatcher::Order& step);
  void perform(const ReleaseWatcher::Rest& step);
  // Returns the revision at which this controller created the key `driver/events`, or 0 if it does
  // not have this key. The controller with the key is the only one that writes the history.
  [[nodiscard]] Revision fence() const;
  [[nodiscard]] bool writes_history() const;
  void leave();
  void end();

  FrontSettings settings_;
  uv_loop_t loop_{};
  std::unique_ptr<UvTimers> timers_;
  std::unique_ptr<EtcdStore> store_;
  std::map<std::string, Member> members_;
  CellState cell_;
  Health health_;
  std::unique_ptr<Mirror> mirror_;
  std::unique_ptr<Website> website_;
  std::unique_ptr<Timer> look_;
  std::unique_ptr<Timer> soon_;
  std::unique_ptr<Timer> later_;
  std::unique_ptr<Timer> notice_;
  std::unique_ptr<Timer> watch_;
  std::unique_ptr<Timer> settled_;
  std::unique_ptr<Timer> left_;
  Campaign campaign_;
  // The drivers of duties (work that one controller does for the whole cell, such as writing the
  // history), by name.
  std::map<std::string, std::unique_ptr<Driving>> duties_;
  Notices notices_;
  ReleaseWatcher watcher_;
  std::unique_ptr<Outside> outside_;
  std::unique_ptr<ReleaseSource> source_;
  bool leaving_ = false;
  Alive alive_;
  upgrader::UvHandle<uv_async_t> over_;
  std::thread thread_;
};

}  // namespace fleet
