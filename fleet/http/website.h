// Defines a controller's web server. It passes each request to a function that decides which
// records to read and write, and then does so in the store. It runs on the event loop of Front
// (front.h).
#pragma once

#include <sys/stat.h>
#include <uv.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fleet/http/access.h"
#include "fleet/http/cell_state.h"
#include "fleet/http/config.h"
#include "fleet/http/join_door.h"
#include "fleet/http/server.h"
#include "fleet/http/state.h"
#include "fleet/model/desired/desired_decision.h"
#include "fleet/store/alive.h"
#include "fleet/store/etcd_store.h"
#include "fleet/store/mirror.h"

namespace fleet {

// The list of revoked certificates, in the file of --http-crl. It is read again after each change,
// so that a running controller refuses newly revoked certificates. If the file disappears or is
// damaged, the last good list stays in use.
class RevocationFile {
 public:
  // `path` is the file's path, or empty if there is no revocation list.
  explicit RevocationFile(std::string path);

  // Reads the file if it has changed. Returns whether the list has changed.
  bool look();
  // Returns the revocation list in PEM, or an empty string if there is none.
  [[nodiscard]] const std::string& list() const { return list_; }
  // Returns why the file cannot be read now, or an empty string if it can be read.
  [[nodiscard]] const std::string& trouble() const { return trouble_; }

 private:
  std::string path_;
  std::string list_ = {};
  std::string trouble_ = {};
  struct stat seen_ = {};
};

struct WebsiteSettings {
  Address address;
  // The path of the server's certificate. If it is empty, the server does not use TLS.
  std::string certificate = {};
  std::string key = {};
  std::string authority = {};
  std::string revocations = {};
  // How the controller moves nodes to desired versions. The page shows how long an upgrade takes,
  // computed from these settings.
  DesiredSettings desired = {};
};

class Website {
 public:
  struct Surroundings {
    Store& store;
    Timers& timers;
    uv_loop_t& loop;
    const Mirror& mirror;   // a copy of all records
    const CellState& cell;  // the state of the cell, made from `mirror`
    Health& health;
  };

  Website(const Surroundings& surroundings, const WebsiteSettings& settings);
  Website(const Website&) = delete;
  Website& operator=(const Website&) = delete;
  ~Website() = default;

  // Returns why the server cannot be used: a file for TLS or the revocation list could not be read
  // at the start, or the server does not listen. Returns an empty string if it can be used.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::uint16_t port() const { return server_.port(); }

  void take_changes(const Changes& changes);
  void take_trouble(const std::string& reason);

 private:
  struct Errand;  // the state of a request that may write records

  void take(HttpServer::Number number, const Request& request);
  void answer(HttpServer::Number number, Response response);
  [[nodiscard]] std::optional<Response> why_not_enrolled(
      const std::optional<Visitor>& visitor) const;
  [[nodiscard]] std::vector<Compare> still_enrolled(const Request& request) const;
  void look_at_revocations();
  void begin_stream(HttpServer::Number number, const Request& request);
  void end_streams_of_revoked();
  void push_all(const std::string& text);
  void push_changes();
  void beat();
  void begin_errand(HttpServer::Number number, const Request& request, const Route& route);
  void lease(const std::shared_ptr<Errand>& errand);
  void read_next(const std::shared_ptr<Errand>& errand);
  void list(const std::shared_ptr<Errand>& errand);
  void decide(const std::shared_ptr<Errand>& errand);
  void write_next(const std::shared_ptr<Errand>& errand);
  void go_on(const std::shared_ptr<Errand>& errand);
  void take_outcome(const std::shared_ptr<Errand>& errand, const Outcome& outcome);
  void record_creation(const std::shared_ptr<Errand>& errand, const Response& response);
  [[nodiscard]] ConfigMoment moment(const std::string& trace) const;
  [[nodiscard]] std::uint64_t next_event() const;

  Surroundings world_;
  bool certificates_;
  DesiredSettings desired_;
  RevocationFile revocations_;
  std::string error_;
  std::map<HttpServer::Number, std::optional<Visitor>> streams_;
  std::vector<Change> untold_;
  std::unique_ptr<Timer> tell_;
  std::unique_ptr<Timer> beat_;
  std::map<HttpServer::Number, std::unique_ptr<Timer>> retries_;
  JoinDoor joins_;
  Alive alive_;
  HttpServer server_;
};

}  // namespace fleet
